"""From a brand's templates to the plain pages that the edge serves."""

from admin.publish.errors import PublishError
from admin.publish.publish import Store, publish, put_pages

__all__ = ["PublishError", "Store", "publish", "put_pages"]
