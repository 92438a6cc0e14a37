"""The gatekeeper component: how it is built, compiled and asked."""
