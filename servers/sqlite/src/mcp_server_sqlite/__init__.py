"""An MCP server: sqlite."""

__version__ = "0.1.0"
