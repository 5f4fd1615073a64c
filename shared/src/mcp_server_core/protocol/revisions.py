"""The five revisions of the protocol: which methods each has, and what each knows."""

from typing import Any, Literal, TypeAlias

Revision: TypeAlias = Literal["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
Json: TypeAlias = dict[str, Any]

HANDSHAKE: tuple[Revision, ...] = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that open with `initialize`, newest first."""
STATELESS: tuple[Revision, ...] = ("2026-07-28",)
"""Revisions whose requests each carry their own envelope, newest first (L-38)."""
REVISIONS: tuple[Revision, ...] = STATELESS + HANDSHAKE
BATCHES: Revision = "2025-03-26"
"""The one revision with JSON-RPC batches (J-9, J-11)."""

# Reserved keys of _meta in the stateless era.
META = "io.modelcontextprotocol/"
META_VERSION = META + "protocolVersion"
META_CAPABILITIES = META + "clientCapabilities"
META_CLIENT = META + "clientInfo"
META_SERVER = META + "serverInfo"
META_LOG_LEVEL = META + "logLevel"
META_SUBSCRIPTION = META + "subscriptionId"

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LogLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

# method -> the server capability that offers it; None when every server has it.
_BOTH_ERAS: dict[str, tuple[str, ...] | None] = {
    "tools/list": ("tools",),
    "tools/call": ("tools",),
    "resources/list": ("resources",),
    "resources/templates/list": ("resources",),
    "resources/read": ("resources",),
    "prompts/list": ("prompts",),
    "prompts/get": ("prompts",),
    "completion/complete": ("completions",),
}
_HANDSHAKE_ONLY: dict[str, tuple[str, ...] | None] = {
    "ping": None,
    "resources/subscribe": ("resources", "subscribe"),
    "resources/unsubscribe": ("resources", "subscribe"),
    "logging/setLevel": ("logging",),
}
_STATELESS_ONLY: dict[str, tuple[str, ...] | None] = {
    "server/discover": None,
    "subscriptions/listen": None,
}
METHODS: dict[Revision, dict[str, tuple[str, ...] | None]] = {
    revision: {**_BOTH_ERAS, **(_STATELESS_ONLY if revision in STATELESS else _HANDSHAKE_ONLY)}
    for revision in REVISIONS
}

MAY_ASK = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Methods that may be answered with `input_required` (MR-1)."""
CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
"""Methods whose results carry cache hints in the stateless era (CA-1)."""


def negotiate(offered: str) -> Revision:
    """The revision a handshake settles on: the offered one, else our newest (L-4, L-5, L-15)."""
    for revision in HANDSHAKE:
        if revision == offered:
            return revision
    return HANDSHAKE[0]


def at_least(revision: Revision, first: Revision) -> bool:
    """Whether a revision is `first` or newer; their names sort by date."""
    return revision >= first


def offers(capabilities: Json, path: tuple[str, ...] | None) -> bool:
    """Whether a capability object holds the flag at `path`."""
    if path is None:
        return True
    value: Any = capabilities
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return value is not False
