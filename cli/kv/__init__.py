"""`stanchion kv`: configuration and pages between the folder, Fastly's KV store and a Redis over REST."""
