"""The protocol core: everything a server or a client of the Model Context Protocol needs.

These are the public names. Each is loaded when it is first used, because a host starts every server it knows
at once and waits for all of them. Two packages are public besides: `mcp_server_core.places` for work with files
inside allowed directories, and `mcp_server_core.testing` for tests of servers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import cli
    from .budgets import Page, Piece, fit_items, fit_text
    from .channel import Channel
    from .client.answers import Answers
    from .client.changes import Change
    from .client.client import Client
    from .errors import (
        ConnectionLost,
        InvalidCursor,
        InvalidParams,
        McpError,
        MissingCapability,
        RequestTimeout,
        ResourceNotFound,
        ToolError,
    )
    from .protocol.cursors import read_cursor, write_cursor
    from .protocol.profile import CacheHint
    from .server.app import Server
    from .server.arguments import Arg
    from .server.asking import Accepted, Cancelled, Declined, Question, Root, Sampled
    from .server.content import Audio, Contents, Embedded, Encoded, Image, Link, Message, Result, Text
    from .server.context import Context
    from .server.registry import Registry
    from .server.threads import Threads
    from .transports.child import stdio
    from .transports.remote.access import Challenge, TokenProvider, Unauthorized
    from .transports.remote.channel import http

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "Answers",
    "Arg",
    "Audio",
    "CacheHint",
    "Cancelled",
    "Challenge",
    "Change",
    "Channel",
    "Client",
    "ConnectionLost",
    "Contents",
    "Context",
    "Declined",
    "Embedded",
    "Encoded",
    "Image",
    "InvalidCursor",
    "InvalidParams",
    "Link",
    "McpError",
    "Message",
    "MissingCapability",
    "Page",
    "Piece",
    "Question",
    "Registry",
    "RequestTimeout",
    "ResourceNotFound",
    "Result",
    "Root",
    "Sampled",
    "Server",
    "Text",
    "Threads",
    "TokenProvider",
    "ToolError",
    "Unauthorized",
    "__version__",
    "cli",
    "fit_items",
    "fit_text",
    "http",
    "read_cursor",
    "stdio",
    "write_cursor",
]

_HOMES = {
    "budgets": "Page Piece fit_items fit_text",
    "channel": "Channel",
    "client.answers": "Answers",
    "client.changes": "Change",
    "client.client": "Client",
    "errors": "ConnectionLost InvalidCursor InvalidParams McpError MissingCapability RequestTimeout "
    "ResourceNotFound ToolError",
    "protocol.cursors": "read_cursor write_cursor",
    "protocol.profile": "CacheHint",
    "server.app": "Server",
    "server.arguments": "Arg",
    "server.asking": "Accepted Cancelled Declined Question Root Sampled",
    "server.content": "Audio Contents Embedded Encoded Image Link Message Result Text",
    "server.context": "Context",
    "server.registry": "Registry",
    "server.threads": "Threads",
    "transports.child": "stdio",
    "transports.remote.access": "Challenge TokenProvider Unauthorized",
    "transports.remote.channel": "http",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "cli":
        return import_module(".cli", __name__)
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
    return value
