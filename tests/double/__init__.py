"""A thin double of Fastly's platform: it runs the really compiled component, and does what other local hosts cannot.

Short writes, rate counters that count, a cache whose clock is the test's, and the fuel of every request.
"""
