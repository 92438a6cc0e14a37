"""The gate for Fastly Compute: its component, built with Fastly's own SDK, and the package that `fastly compute deploy` takes."""
