"""From a brand's templates to the plain pages that the edge serves."""

from admin.publish.errors import PublishError
from admin.publish.publish import Publication, publish
from admin.publish.versions import Store, in_force

__all__ = ["Publication", "PublishError", "Store", "in_force", "publish"]
