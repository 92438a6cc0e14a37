"""The origin admin: queues, pages and operations; HTML console and REST API."""
