"""An MCP server: memory."""

__version__ = "0.1.0"
