"""From a brand's templates to the plain pages that the edge serves."""

from admin.publish.errors import PublishError
from admin.publish.publish import Publication, Store, in_force, publish, put_pages, rollback

__all__ = ["Publication", "PublishError", "Store", "in_force", "publish", "put_pages", "rollback"]
