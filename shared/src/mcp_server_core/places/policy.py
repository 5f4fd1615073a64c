"""Who may use which directory: the operator's ceiling, and how a client's roots narrow it.

Parsing of what operator and client say, and one decision over directories that were already found. It compares
file identities, never strings, and opens nothing.
"""

# Paths here are text that somebody typed.
# ruff: noqa: PTH109, PTH110, PTH112, PTH118

import os
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from mcp_server_core.places.handles import Directory, Identity
from mcp_server_core.places.patience import ask_briefly
from mcp_server_core.places.refusals import shown
from mcp_server_core.places.spelling import WINDOWS, expand_home, path_of_uri

RootsMode = Literal["narrow", "ignore", "replace"]


class Grant(NamedTuple):
    """A directory the operator allows. It need not exist yet."""

    path: str
    writable: bool = True
    reason: str = "configured"


class ClientRoot(NamedTuple):
    """A root as the client sent it: the path it names, or why it is not used."""

    uri: str
    path: str = ""
    problem: str = ""


class Allowed(NamedTuple):
    """One decision: this directory, with these rights, for this reason."""

    directory: Directory
    writable: bool
    reason: str


def parse_grant(argument: str, *, read_only: bool = False) -> Grant:
    """Read `DIR`, `DIR:ro` or `DIR:rw`; ValueError says what is wrong with it.

    A suffix is a suffix. Only when nothing exists without it, and a directory of exactly that name does, is it
    part of the name; `name:ro:rw` always means the directory `name:ro`.
    """
    if not argument or "\0" in argument:
        raise ValueError("The name of an allowed directory is empty or holds a NUL byte.")
    bare, rights = split_rights(argument)
    # A directory whose disk does not answer is taken as it is spelt: the server starts without it.
    path, rights, is_file = ask_briefly(
        lambda: _look_up(argument, bare, rights),
        (os.path.normpath(os.path.join(os.getcwd(), expand_home(bare))), rights, False),
    )
    if is_file:
        raise ValueError(f"{shown(argument)} is a file: name the directory that holds it.")
    return Grant(path, writable=rights != "ro" and not read_only)


def _look_up(argument: str, bare: str, rights: str) -> tuple[str, str, bool]:
    path = absolute(bare)
    if rights and not os.path.lexists(path) and os.path.isdir(absolute(argument)):
        path, rights = absolute(argument), ""
    return path, rights, os.path.exists(path) and not os.path.isdir(path)


def parse_grants(arguments: Iterable[str], *, read_only: bool = False) -> tuple[Grant, ...]:
    """Read the operator's directories, in order; the same path named twice is read-only if one of them is."""
    grants: dict[str, Grant] = {}
    for argument in arguments:
        grant = parse_grant(argument, read_only=read_only)
        before = grants.get(grant.path, grant)
        grants[grant.path] = grant._replace(writable=grant.writable and before.writable)
    return tuple(grants.values())


def split_rights(argument: str, *, windows: bool = WINDOWS) -> tuple[str, str]:
    """Take `:ro` or `:rw` off; the second half is empty when there is none."""
    bare, colon, rights = argument.rpartition(":")
    drive_alone = windows and len(bare) == 1 and bare.isalpha()  # C:ro is the directory `ro` of a drive
    if colon and bare and rights.lower() in ("ro", "rw") and not drive_alone:
        return bare, rights.lower()
    return argument, ""


def absolute(path: str) -> str:
    """A path from the command line as an absolute one; links stay in it unless `..` makes them matter."""
    full = os.path.join(os.getcwd(), expand_home(path))
    if ".." in full.replace("\\", "/").split("/"):
        return os.path.realpath(full)
    return os.path.normpath(full)


def parse_root(uri: str, *, windows: bool = WINDOWS) -> ClientRoot:
    """Read one root of a client. What cannot be used carries the reason, and is no error."""
    try:
        path = path_of_uri(uri, windows=windows)
    except ValueError as error:
        return ClientRoot(uri, problem=str(error))
    return ClientRoot(uri, path if windows is not WINDOWS else absolute(path))


def decide(
    configured: Sequence[tuple[Grant, Directory]],
    roots: Sequence[Directory],
    *,
    mode: RootsMode = "narrow",
    nothing_configured: bool,
    read_only: bool = False,
) -> list[Allowed]:
    """The directories that may be used, in the operator's order.

    `configured` and `roots` are those that exist; whether anything was configured at all is said apart, because
    a configured directory that is missing must not hand the decision to the client.
    """
    limits = ceilings((grant, directory) for grant, directory in configured)
    allowed: list[Allowed] = []
    if mode != "ignore" and (nothing_configured or (mode == "replace" and roots)):
        reason = (
            "client root" if nothing_configured else "client root, in place of the configured directories"
        )
        for root in roots:
            allowed.append(Allowed(root, not read_only and innermost(root.lineage, limits, True), reason))
        return _unique(allowed)
    for grant, directory in configured:
        inside = [root for root in roots if directory.identity in root.lineage] if mode == "narrow" else []
        if not inside:
            allowed.append(Allowed(directory, grant.writable and not read_only, grant.reason))
        for root in inside:
            same = root.identity == directory.identity
            writable = not read_only and innermost(root.lineage, limits, False)
            reason = grant.reason if same else f"client root inside {grant.reason} {grant.path}"
            allowed.append(Allowed(directory if same else root, writable, reason))
    return _unique(allowed)


def ceilings(configured: Iterable[tuple[Grant, Directory]]) -> dict[Identity, bool]:
    """Whether each configured directory is writable; named twice, it is read-only if one of them is."""
    limits: dict[Identity, bool] = {}
    for grant, directory in configured:
        limits[directory.identity] = grant.writable and limits.get(directory.identity, True)
    return limits


def innermost(lineage: Iterable[Identity], limits: dict[Identity, bool], otherwise: bool) -> bool:
    """What the nearest directory on the way up says about writing."""
    return next((limits[step] for step in lineage if step in limits), otherwise)


def _unique(allowed: list[Allowed]) -> list[Allowed]:
    """One entry per directory, the first one, read-only if any is."""
    kept: dict[Identity, Allowed] = {}
    for entry in allowed:
        before = kept.get(entry.directory.identity)
        kept[entry.directory.identity] = (
            before._replace(writable=before.writable and entry.writable) if before else entry
        )
    return list(kept.values())
