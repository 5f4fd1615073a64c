"""The handshake era: `initialize`, `initialized`, then a session with memory."""

from ..errors import INVALID_REQUEST, InvalidParams, McpError, MethodNotFound, MissingCapability
from .encode import encode_capabilities, encode_implementation, encode_result
from .messages import Json, Request, take, take_object
from .profile import Profile
from .revisions import LOG_LEVELS, METHODS, LogLevel, Revision, negotiate, offers
from .scope import Scope

DEFAULT_LOG_LEVEL: LogLevel = "info"


class Handshake:
    """What a client and the server agreed on, remembered for the life of the connection."""

    __slots__ = ("capabilities", "client", "initialized", "level", "offered", "revision")
    stateless = False

    def __init__(self, revision: Revision, client: Json, capabilities: Json, offered: Json) -> None:
        self.revision: Revision = revision
        self.client = client
        self.capabilities = capabilities
        self.level: LogLevel = DEFAULT_LOG_LEVEL
        self.offered = offered  # what the server declared, and so may send (L-11)
        self.initialized = False

    def open(self, request: Request, profile: Profile) -> Scope:
        """Begin to serve a request at the agreed revision."""
        methods = METHODS[self.revision]
        if request.method not in methods or not offers(profile.capabilities(), methods[request.method]):
            raise MethodNotFound(request.method)
        return Scope(request, self, self.revision, self.client, self.capabilities)

    def log_level(self, scope: Scope) -> LogLevel | None:
        """The level of the session as it is now, also for requests that were running when it was set."""
        return self.level if "logging" in self.offered else None  # G-1

    def finish(self, scope: Scope, result: Json) -> Json:
        """The result as this revision knows it; nothing of the stateless era in it (CA-12)."""
        return encode_result(scope.method, result, self.revision)

    def refuse(self, scope: Scope, error: McpError) -> McpError:
        """Errors of the stateless era become what this era has for them."""
        if isinstance(error, MissingCapability):
            # D-11: -32021 does not exist here.
            return McpError(error.message, code=INVALID_REQUEST)
        return error

    def set_level(self, params: Json) -> Json:
        """`logging/setLevel`: from now on this level and above (G-2, G-3)."""
        level = take(params, "level", str)
        if level not in LOG_LEVELS:
            raise InvalidParams(f"`level` is one of {', '.join(LOG_LEVELS)}")
        self.level = level
        return {}


def initialize(params: Json, profile: Profile) -> tuple[Handshake, Json]:
    """Answer `initialize`: what was agreed, and the result that says so (L-1 to L-5)."""
    offered = take(params, "protocolVersion", str)
    capabilities = take_object(params, "capabilities")
    client = take_object(params, "clientInfo")
    check_implementation(client, "clientInfo")
    revision = negotiate(offered)
    result: Json = {
        "protocolVersion": revision,
        "capabilities": encode_capabilities(profile.capabilities(), revision),
        "serverInfo": encode_implementation(profile.info, revision),
    }
    if profile.instructions is not None:
        result["instructions"] = profile.instructions
    return Handshake(revision, client, capabilities, profile.capabilities()), result


def check_implementation(value: Json, name: str) -> None:
    """Refuse a clientInfo without the two members every revision requires."""
    if type(value.get("name")) is not str or type(value.get("version")) is not str:
        raise InvalidParams(f"`{name}` has a `name` and a `version`, both strings")
