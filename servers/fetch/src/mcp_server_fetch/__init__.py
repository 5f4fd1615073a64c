"""An MCP server: fetch."""

__version__ = "0.1.0"
