"""The stateless era: each request carries its envelope in `_meta`, each result its stamps.

Nothing here remembers an earlier request (L-27).
"""

from typing import TYPE_CHECKING, Any, cast

from ..errors import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    InvalidParams,
    McpError,
    MethodNotFound,
    UnsupportedVersion,
)
from .handshake import check_implementation
from .messages import Json, Request
from .profile import CacheHint, Profile
from .revisions import (
    CACHEABLE,
    LOG_LEVELS,
    META_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    META_SERVER,
    META_VERSION,
    METHODS,
    STATELESS,
    LogLevel,
    Revision,
    offers,
)
from .scope import Scope

if TYPE_CHECKING:
    from .mirror import Mirror

_NO_HINT = CacheHint().fields()
_NO_CLIENT: Json = {}
_RESERVED = range(-32099, -31999)
_DEFINED = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)


class Stateless:
    """The era of every enveloped request. It holds only what the server itself is."""

    __slots__ = ("_stamp", "profile")
    stateless = True

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._stamp: Json = {META_SERVER: profile.info}

    def open(self, request: Request, mirror: "Mirror | None" = None) -> Scope:
        """Check the envelope in the order of 4.3.3 and begin to serve the request.

        `mirror` holds the headers that repeat parts of a request that came over HTTP.
        """
        meta = request.meta
        version = meta.get(META_VERSION)
        if type(version) is not str:
            raise InvalidParams(f"`_meta` needs {META_VERSION}, a string")
        if mirror is not None:
            mirror.check_version(version)
        if version not in STATELESS:
            raise UnsupportedVersion(version, STATELESS)
        capabilities = meta.get(META_CAPABILITIES)
        if type(capabilities) is not dict:
            raise InvalidParams(f"`_meta` needs {META_CAPABILITIES}, an object")
        client = meta.get(META_CLIENT, _NO_CLIENT)
        if client is not _NO_CLIENT:
            if type(client) is not dict:
                raise InvalidParams(f"{META_CLIENT} is an object")
            check_implementation(client, META_CLIENT)
        if META_LOG_LEVEL in meta and meta[META_LOG_LEVEL] not in LOG_LEVELS:
            raise InvalidParams(f"{META_LOG_LEVEL} is one of {', '.join(LOG_LEVELS)}")
        if mirror is not None:
            mirror.check_request(request)
        self._check_method(request.method, version)
        scope = Scope(request, self, version, cast("Json", client), cast("Json", capabilities))
        if request.method == "tools/call":
            scope.mirror = mirror  # its arguments may be mirrored, too
        return scope

    def _check_method(self, method: str, revision: Revision) -> None:
        methods = METHODS[revision]
        if method not in methods:
            raise MethodNotFound(method)
        offered = self.profile.capabilities()
        known = watchable(offered) if method == "subscriptions/listen" else offers(offered, methods[method])
        if not known:
            raise MethodNotFound(method)  # L-37: not advertised, not there

    def discover(self) -> Json:
        """The result of `server/discover` (L-25)."""
        result: Json = {
            "supportedVersions": list(STATELESS),
            "capabilities": self.profile.capabilities(),
            **self.profile.cache.fields(),
        }
        if self.profile.instructions is not None:
            result["instructions"] = self.profile.instructions
        return result

    def finish(self, scope: Scope, result: Json) -> Json:
        """The result with its stamps: type, cache hints where due, and who we are (L-32, L-34, CA-1)."""
        stamped: Json = {"resultType": "complete"}
        if scope.method in CACHEABLE and result.get("resultType", "complete") == "complete":
            stamped.update(_NO_HINT)
        stamped.update(result)
        own = result.get("_meta")
        stamped["_meta"] = {**self._stamp, **own} if own else self._stamp
        return stamped

    def refuse(self, scope: Scope, error: McpError) -> McpError:
        """The error with the code of this era: a missing resource is a bad parameter (R-3, E-4)."""
        if error.code == RESOURCE_NOT_FOUND:
            return McpError(error.message, code=INVALID_PARAMS, data=error.data)
        if error.code in _RESERVED and error.code not in _DEFINED:
            return McpError(error.message, code=INTERNAL_ERROR, data=error.data)  # E-1, E-2
        return error

    def log_level(self, scope: Scope) -> LogLevel | None:
        """The level this one request asked for; without it nothing is logged (G-4)."""
        return scope.meta.get(META_LOG_LEVEL) if "logging" in self.profile.capabilities() else None


def watchable(capabilities: Json) -> bool:
    """Whether there is anything to subscribe to (SU-10)."""
    for feature in ("tools", "prompts", "resources"):
        flags: Any = capabilities.get(feature)
        if isinstance(flags, dict) and (flags.get("listChanged") or flags.get("subscribe")):
            return True
    return False
