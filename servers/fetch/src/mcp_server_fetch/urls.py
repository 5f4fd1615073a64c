"""Reading URLs: what a model or a web page wrote, as the one address that is checked, shown and connected to."""

import re
from unicodedata import normalize
from urllib.parse import unquote

from httpx import URL, InvalidURL

from .addresses import literal
from .problems import Refused

SCHEMES = ("http", "https")
MAX_URL = 8000
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_AFTER = re.compile(r"[^/]+:\d+(?:/|$)")
_AUTHORITY = re.compile(r"(?<=//)[^/?#]*")
_UP = re.compile(r"\.\.(?:[;\x00].*)?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")


def read_url(text: str, base: URL | None = None) -> URL:
    """A URL without user, password and fragment; its host in ASCII, numbers as dotted quads. Else Refused."""
    text = text.strip()
    if len(text) > MAX_URL:
        raise Refused(f"The URL has {len(text)} characters; the longest taken has {MAX_URL}.")
    if base is None:
        text = _with_scheme(text)
    scheme = _SCHEME.match(text)
    if scheme is not None and scheme.group(1).lower() not in SCHEMES:
        raise Refused(f"Only http and https can be fetched, not {scheme.group(1)[:40]}:.")
    try:
        text = _AUTHORITY.sub(_plain_authority, text, count=1)
        joined = URL(text) if base is None else base.join(text)
        return _canonical(joined)
    except (InvalidURL, ValueError, UnicodeError) as error:
        if base is not None:
            # The target is the web server's own text.
            raise Refused(f"{base} redirects to something that is not a URL that can be fetched.") from None
        reason = str(error).rstrip(".")
        if reason.startswith("Invalid port"):
            reason = "its port is no number from 1 to 65535"  # without what was meant as a password
        raise Refused(f"{_shown(text)} is not a URL that can be fetched: {reason}.") from None


def _with_scheme(text: str) -> str:
    """Models leave out `https://`; a host with a port is not a scheme."""
    if text.startswith("//"):
        return f"https:{text}"
    found = _SCHEME.match(text)
    host = text.partition(":")[0]
    if found is None or (_PORT_AFTER.match(text) and ("." in host or host.lower() == "localhost")):
        return f"https://{text}"
    return text


def _plain_authority(found: re.Match[str]) -> str:
    """As browsers do it: wide letters, digits and dots are plain ones before anyone asks what the host is."""
    given = found.group()
    if "\\" in given:
        raise ValueError(
            "its host has characters that no host has"
        )  # readers disagree where such a host ends
    if given.isascii():
        return given
    made = normalize("NFKC", given).replace("\u3002", ".")
    # One sign may turn into several, and `a/c` in the place of a letter would end the host.
    if any(made.count(sign) != given.count(sign) for sign in "/?#@:\\[]"):
        raise ValueError("its host has characters that no host has")
    return made


def _canonical(url: URL) -> URL:
    if url.scheme not in SCHEMES or not url.host:
        raise ValueError("it names no host")
    if url.port is not None and not 0 < url.port < 65536:
        raise ValueError("its port is no number from 1 to 65535")
    host = url.host
    if _CONTROL.search(host) or "%" in host:
        raise ValueError("its host has characters that no host has")
    address = literal(host)
    if address is not None:
        host = str(address)
    elif host == "." or ".." in host:
        raise ValueError("its host has an empty part")
    return url.copy_with(host=host, username="", password="", fragment=None)


def host_of(url: URL) -> str:
    """The host as it is looked up: ASCII."""
    return url.raw_host.decode("ascii")


def port_of(url: URL) -> int:
    """The port, also where the URL leaves it out."""
    return url.port or (443 if url.scheme == "https" else 80)


def origin_of(url: URL) -> str:
    """Scheme, host and port: what has one robots.txt."""
    return str(url.copy_with(raw_path=b"/")).removesuffix("/")


def is_under(url: URL, prefix: str) -> bool:
    """Whether a URL is the prefix or below it: same origin, and the path goes on at a slash."""
    try:
        root = read_url(prefix)
    except Refused:
        return False
    if (root.scheme, host_of(root), port_of(root)) != (url.scheme, host_of(url), port_of(url)):
        return False
    if url.path == root.path.removesuffix("/") != root.path:
        return False
    base, parts = _parts(root), _parts(url)
    return parts[: len(base)] == base


def _parts(url: URL) -> list[str]:
    """The parts of the path, its dots taken out as the most generous of web servers would take them out.

    Some of them decode twice, take a backslash for a slash, drop empty parts, or cut a part at `;` before they look.
    """
    parts: list[str] = []
    for part in unquote(unquote(url.path)).replace("\\", "/").split("/"):
        if _UP.fullmatch(part):
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _shown(text: str) -> str:
    """A URL for an error message: bounded, and never with a password."""
    head, at, tail = text[:MAX_URL].rpartition("@")
    scheme = _SCHEME.match(head)
    return repr((f"{scheme.group() if scheme else ''}//{tail}" if at else text)[:200])
