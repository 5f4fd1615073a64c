"""The address of a server as OAuth sees it: the resource that tokens are issued for, and its metadata (RFC 9728)."""

import re
from collections.abc import Mapping, Sequence

from ...protocol.codec import encode

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_URL = re.compile(r"(https?)://([^/?#@\s\\]+)((?:/[^?#\s\\]*)?)(\?[^#\s\\]*)?", re.IGNORECASE)
_DEFAULT_PORT = {"http": ":80", "https": ":443"}


def canonical(uri: str) -> str:
    """How a resource is written for comparing (A-14). What is no web address stays as it is."""
    found = _URL.fullmatch(uri)
    if found is None:
        return uri
    scheme, host, path, query = found[1].lower(), found[2].lower(), found[3], found[4] or ""
    return f"{scheme}://{host.removesuffix(_DEFAULT_PORT[scheme])}{path.removesuffix('/')}{query}"


class Resource:
    """One protected resource, at its public address."""

    __slots__ = ("_path", "metadata_url", "uri")

    def __init__(self, uri: str) -> None:
        found = _URL.fullmatch(uri)
        if found is None or found[4] or not uri.isascii() or not uri.isprintable():
            raise ValueError(
                f"{uri!r} is not a public address: http(s)://host/path, in ASCII, without a query"
            )
        self.uri = canonical(uri)
        self._path = found[3].removesuffix("/")
        origin = self.uri.removesuffix(self._path)
        self.metadata_url = origin + WELL_KNOWN + self._path

    def documents(self, issuer: str, scopes: Sequence[str]) -> Mapping[str, bytes]:
        """The metadata at both of its places (A-2, A-14)."""
        metadata: dict[str, object] = {
            "resource": self.uri,
            "authorization_servers": [issuer],
            "bearer_methods_supported": ["header"],
        }
        if scopes:
            metadata["scopes_supported"] = list(scopes)
        body = encode(metadata)
        return {WELL_KNOWN: body, WELL_KNOWN + self._path: body}
