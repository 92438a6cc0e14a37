"""Redis over REST: the Upstash protocol in front of an embedded Redis or a real one.

`python -m host.rest` runs it (settings: settings.py), `create_app` gives the ASGI app.
"""
