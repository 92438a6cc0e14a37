"""`stanchion queues`: what operators do, from a shell, over the API of the admin app."""
