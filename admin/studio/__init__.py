"""The studio: brands as documents that are edited, looked at, published and brought back."""
