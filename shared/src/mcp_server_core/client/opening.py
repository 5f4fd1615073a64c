"""The first exchange with a server, in either era, and what both sides agree on by it."""

from typing import Any, NamedTuple

from ..errors import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, McpError
from ..protocol.messages import Json, notification
from ..protocol.revisions import HANDSHAKE, META_SERVER, STATELESS, Revision
from .peer import Peer


class Agreement(NamedTuple):
    """Which revision is spoken, and what the server said of itself."""

    revision: Revision
    server: Json
    capabilities: Json
    instructions: str | None


async def discover(peer: Peer, envelope: Json, timeout: float) -> Agreement:
    """Ask a stateless server what it is; McpError if it is none (L-25)."""
    peer.answers_requests = False
    try:
        result = await peer.request("server/discover", {"_meta": envelope}, timeout=timeout)
    except McpError as error:
        if error.code != UNSUPPORTED_VERSION or STATELESS[0] not in _named(error):
            raise
        # L-48: refused, and yet our revision is among those it names: once more, with one that both know.
        result = await peer.request("server/discover", {"_meta": envelope}, timeout=timeout)
    supported = result.get("supportedVersions")
    if not isinstance(supported, list) or STATELESS[0] not in supported:
        raise McpError("The server's answer to server/discover does not name a revision we speak")
    server = as_object(as_object(result.get("_meta")).get(META_SERVER))
    if not server:
        server = as_object(result.get("serverInfo"))  # where it stood before the revision was released
    return Agreement(
        STATELESS[0], server, as_object(result.get("capabilities")), _text(result.get("instructions"))
    )


async def shake_hands(peer: Peer, params: Json, timeout: float) -> Agreement:
    """Go through `initialize` and `initialized` (L-1, L-6, L-8)."""
    peer.answers_requests = True
    result = await peer.request("initialize", params, timeout=timeout)
    agreed = result.get("protocolVersion")
    if agreed not in HANDSHAKE:
        raise McpError(f"The server wants revision {agreed!r}, which this client does not speak")
    await peer.send(notification("notifications/initialized"))
    return Agreement(
        agreed,
        as_object(result.get("serverInfo")),
        as_object(result.get("capabilities")),
        _text(result.get("instructions")),
    )


def means_handshake(error: McpError) -> bool:
    """Whether an error in reply to `server/discover` means that the server wants `initialize` (L-47, L-50)."""
    if error.code in (HEADER_MISMATCH, MISSING_CAPABILITY):
        return False  # only a stateless server says so
    named = _named(error)
    # A server that names its revisions, and no handshake revision among them, speaks no other era.
    return error.code != UNSUPPORTED_VERSION or not named or any(item in HANDSHAKE for item in named)


def _named(error: McpError) -> list[Any]:
    """The revisions that a server names in a refusal."""
    supported = as_object(error.data).get("supported")
    return supported if isinstance(supported, list) else []


def as_object(value: Any) -> Json:
    """A JSON object, or an empty one in the place of anything else (D-6)."""
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
