"""An MCP server: sequential-thinking."""

__version__ = "0.1.0"
