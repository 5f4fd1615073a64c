"""How a path may be written: plain, with `~`, as a `file:` URI, or in the manner of another system.

Pure functions over text. Nothing here looks at a disk, and nothing here decides what is allowed.
"""

import os
import re

from mcp_server_core.errors import ToolError
from mcp_server_core.places.refusals import shown

WINDOWS = os.name == "nt"
_LONGEST_PATH = 32_768  # what Windows can address; Linux stops at 4,096 by itself
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_LONE = re.compile("[\ud800-\udfff]")


def path_of_uri(uri: str, *, windows: bool = WINDOWS) -> str:
    """The local path that a `file:` URI names; ValueError says what is wrong with it.

    `?` and `#` are taken as part of a name, because clients send names that hold them unencoded.
    """
    if _LONE.search(uri):
        raise ValueError("is not valid Unicode")
    scheme, colon, rest = uri.partition(":")
    if not colon or scheme.lower() != "file":
        raise ValueError("is not a file: URI")
    host = ""
    if rest.startswith("//"):
        host, slash, tail = rest[2:].partition("/")
        rest = slash + tail
    if not rest.startswith("/"):
        raise ValueError("names no absolute path")
    path = _unquote(rest)
    if "\0" in path:
        raise ValueError("holds a NUL byte")
    remote = host.lower() not in ("", "localhost")
    if windows:
        return _windows_path(path, host if remote else "")
    if remote:
        raise ValueError("names another computer")
    if _DRIVE.match(path[1:]):
        raise ValueError("is a Windows path")
    return path


def _unquote(text: str) -> str:
    # Bytes that are no UTF-8 become what os.listdir gives for such a name, so that those files have a URI too.
    raw = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), text.encode())
    return raw.decode("utf-8", "surrogateescape")


def _windows_path(path: str, host: str) -> str:
    local = path.replace("/", "\\")
    if host:
        return f"\\\\{host}{local}"
    if not _DRIVE.match(local[1:]):
        raise ValueError("names no drive")
    return local[1:] if len(local) > 3 else local[1:] + "\\"


def path_of_text(text: str, *, example: str, windows: bool = WINDOWS) -> str:
    """A path as the caller gave it, as a path of this system: absolute or relative, `..` still in it."""
    if not text:
        raise ToolError(f"The path is empty: give one such as {shown(example)}.")
    if len(text) > _LONGEST_PATH:
        raise ToolError(f"{shown(text)} is too long a path: shorten it.")
    if "\0" in text:
        raise ToolError(f"{shown(text)} holds a NUL byte: give a path without it.")
    if _LONE.search(text):
        raise ToolError(f"{shown(text)} is not valid Unicode: give the path as plain text.")
    if text[:6].lower() == "file:/" or _SCHEME.match(text):
        try:
            return path_of_uri(text, windows=windows)
        except ValueError as error:
            raise ToolError(
                f"{shown(text)} {error}: give a path of this computer, such as {shown(example)}."
            ) from None
    if is_foreign(text, windows=windows):
        other = "another system" if windows else "Windows"
        raise ToolError(f"{shown(text)} is a path of {other}: here paths look like {shown(example)}.")
    return expand_home(text)


def is_foreign(text: str, *, windows: bool = WINDOWS) -> bool:
    """Whether the text is absolute in the manner of the other family of systems."""
    if windows:
        return text.startswith("/")
    return _DRIVE.match(text) is not None or text.startswith("\\\\")


def expand_home(path: str) -> str:
    """`~` and `~/x` become the user's home; `~name` is a name like any other."""
    if path == "~" or path.startswith(("~/", f"~{os.sep}")):
        return os.path.expanduser(path)  # noqa: PTH111 - text in, text out
    return path


def split(path: str) -> tuple[str, ...]:
    """The components of a path of this system, without its root, without `.`, with `..`."""
    if os.altsep:
        path = path.replace(os.altsep, os.sep)
    tail = os.path.splitdrive(path)[1] if WINDOWS else path
    return tuple(part for part in tail.split(os.sep) if part not in ("", "."))  # noqa: PTH206 - keeps `..`
