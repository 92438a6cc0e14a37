"""The studio's pages: brands, a brand's look, words and source, publishing and history."""

from admin.console.studio import brands, editing, publishing

ROUTES = [*brands.ROUTES, *editing.ROUTES, *publishing.ROUTES]
