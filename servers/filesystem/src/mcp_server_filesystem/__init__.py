"""An MCP server: filesystem."""

__version__ = "0.1.0"
