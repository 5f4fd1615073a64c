"""The protocol core: everything a server or a client of the Model Context Protocol needs.

These are the public names. Each is loaded when it is first used, because a host starts every server it knows
at once and waits for all of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import cli as cli
    from .channel import Channel as Channel
    from .errors import (
        ConnectionLost as ConnectionLost,
    )
    from .errors import (
        InvalidCursor as InvalidCursor,
    )
    from .errors import (
        InvalidParams as InvalidParams,
    )
    from .errors import (
        McpError as McpError,
    )
    from .errors import (
        MissingCapability as MissingCapability,
    )
    from .errors import (
        RequestTimeout as RequestTimeout,
    )
    from .errors import (
        ResourceNotFound as ResourceNotFound,
    )
    from .errors import (
        ToolError as ToolError,
    )
    from .protocol.cursors import read_cursor as read_cursor
    from .protocol.cursors import write_cursor as write_cursor
    from .protocol.profile import CacheHint as CacheHint
    from .server.app import Server as Server
    from .server.arguments import Arg as Arg
    from .server.asking import (
        Accepted as Accepted,
    )
    from .server.asking import (
        Cancelled as Cancelled,
    )
    from .server.asking import (
        Declined as Declined,
    )
    from .server.asking import (
        Root as Root,
    )
    from .server.asking import (
        Sampled as Sampled,
    )
    from .server.content import (
        Audio as Audio,
    )
    from .server.content import (
        Contents as Contents,
    )
    from .server.content import (
        Embedded as Embedded,
    )
    from .server.content import (
        Image as Image,
    )
    from .server.content import (
        Link as Link,
    )
    from .server.content import (
        Message as Message,
    )
    from .server.content import (
        Result as Result,
    )
    from .server.content import (
        Text as Text,
    )
    from .server.context import Context as Context
    from .server.registry import Registry as Registry

__version__ = "0.1.0"

_HOMES = {
    "Accepted": "server.asking",
    "Arg": "server.arguments",
    "Audio": "server.content",
    "CacheHint": "protocol.profile",
    "Cancelled": "server.asking",
    "Channel": "channel",
    "ConnectionLost": "errors",
    "Contents": "server.content",
    "Context": "server.context",
    "Declined": "server.asking",
    "Embedded": "server.content",
    "Image": "server.content",
    "InvalidCursor": "errors",
    "InvalidParams": "errors",
    "Link": "server.content",
    "McpError": "errors",
    "Message": "server.content",
    "MissingCapability": "errors",
    "Registry": "server.registry",
    "RequestTimeout": "errors",
    "ResourceNotFound": "errors",
    "Result": "server.content",
    "Root": "server.asking",
    "Sampled": "server.asking",
    "Server": "server.app",
    "Text": "server.content",
    "ToolError": "errors",
    "read_cursor": "protocol.cursors",
    "write_cursor": "protocol.cursors",
}
__all__ = ["__version__", "cli", *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll] - loaded on first use


def __getattr__(name: str) -> Any:
    if name == "cli":
        return import_module(".cli", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
