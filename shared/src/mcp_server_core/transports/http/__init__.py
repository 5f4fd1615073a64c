"""A server over HTTP: streamable HTTP in both forms on one endpoint, and the old HTTP+SSE pair beside it.

Loaded only for `--transport http`. It runs on uvicorn, so on asyncio; what is served knows nothing of that.
"""
