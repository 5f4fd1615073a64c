"""A client for both eras, for tests, scripts and diagnosis. Knows nothing of servers but the wire."""
