"""What a caller is told when something in an allowed place cannot be done.

Every refusal is one sentence for a model. It names the path as the caller gave it and, where that helps, the
allowed directories; never the target of a link, nor anything else outside.
"""

import errno

from mcp_server_core.errors import ToolError

_LONGEST_SHOWN = 200
_SHOWN_DIRECTORIES = 6


class Refused(ToolError):
    """The path is not inside an allowed place, or the place does not allow this."""


class Missing(ToolError):
    """Nothing is there."""


class Taken(ToolError):
    """Something is there already, and overwriting was not asked for."""


class Changed(ToolError):
    """The file is not the one the caller saw."""


class OtherDisk(ToolError):
    """A move between two file systems: copy, then delete."""


class Outside(Exception):
    """A path or a link leaves every allowed place. Never leaves this package: a Refused takes its place."""


def shown(text: str) -> str:
    """Text as a message may carry it: quoted, bounded, without control characters or lone surrogates."""
    if len(text) > _LONGEST_SHOWN:
        text = f"{text[: _LONGEST_SHOWN // 2]}...{text[-_LONGEST_SHOWN // 4 :]}"
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return f"'{clean}'"


def among(directories: list[str]) -> str:
    """The allowed directories as they appear inside a sentence."""
    names = ", ".join(shown(path)[1:-1] for path in directories[:_SHOWN_DIRECTORIES])
    more = len(directories) - _SHOWN_DIRECTORIES
    return f"{names} and {more} more" if more > 0 else names


def outside(given: str, directories: list[str]) -> ToolError:
    """The refusal of a path that is not inside any allowed directory."""
    if not directories:
        return nothing_allowed()
    return Refused(
        f"{shown(given)} is outside the allowed directories ({among(directories)}): use a path inside one of them."
    )


def nothing_allowed(unavailable: list[tuple[str, str]] | None = None) -> ToolError:
    """The refusal when there is no place at all; it says how to grant one."""
    if unavailable:
        listed = ", ".join(
            f"{shown(path)[1:-1]} {problem}" for path, problem in unavailable[:_SHOWN_DIRECTORIES]
        )
        return Refused(f"No allowed directory is available ({listed}): create it, or allow another one.")
    return Refused(
        "No directory is allowed: pass a directory on the server's command line, or use a client that sends roots."
    )


# What follows "'path' ". None of it depends on anything outside the allowed places.
_SENTENCES = {
    errno.ENOENT: "does not exist: check the spelling, or list the directory it should be in.",
    errno.EEXIST: "exists already: choose another name, or ask for it to be overwritten.",
    errno.ENOTEMPTY: "is a directory that is not empty: empty it first.",
    errno.ENOTDIR: "is not a directory, or goes through something that is not one.",
    errno.EISDIR: "is a directory: name a file.",
    errno.EACCES: "may not be accessed: the operating system denies permission.",
    errno.EPERM: "may not be changed: the operating system does not permit it.",
    errno.EROFS: "is on a read-only file system: write somewhere else.",
    errno.ENOSPC: "was not written, because the disk is full: free some space and try again.",
    errno.EDQUOT: "was not written, because the disk quota is used up: free some space and try again.",
    errno.EFBIG: "was not written, because the file would be larger than the system allows.",
    errno.ENAMETOOLONG: "is too long a name for this file system: shorten it.",
    errno.ELOOP: "goes through too many links: name the file itself.",
    errno.EXDEV: "is on another disk than the destination: copy it there, then delete the original.",
    errno.EINVAL: "cannot be used like this: the name, or the pair of paths, is not valid here.",
    errno.ENXIO: "is not a regular file: only files and directories can be opened.",
    errno.ENODEV: "is not a regular file: only files and directories can be opened.",
    errno.ETXTBSY: "is a running program: stop it first.",
    errno.EBUSY: "is in use by the system: try again later.",
    errno.EMFILE: "could not be opened, because too many files are open: try again later.",
    errno.ENFILE: "could not be opened, because too many files are open: try again later.",
    errno.EIO: "could not be read or written: the disk reported an error.",
    errno.ESTALE: "has gone away on its server: try again.",
}
_KINDS: dict[int, type[ToolError]] = {
    errno.ENOENT: Missing,
    errno.EEXIST: Taken,
    errno.EXDEV: OtherDisk,
}


def explain(error: OSError, given: str) -> ToolError:
    """The sentence for an error of the operating system, about the path as the caller gave it."""
    code = error.errno or 0
    sentence = _SENTENCES.get(code, f"could not be used (system error {errno.errorcode.get(code, code)}).")
    return _KINDS.get(code, ToolError)(f"{shown(given)} {sentence}")
