"""What a model may read and watch: files and directories by their `file:` URI."""

# Paths here are text to show.
# ruff: noqa: PTH119

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from mcp_server_core import Contents, Context, Link, Registry, ResourceNotFound, Server, ToolError, fit_items

from .deadlines import bounded
from .listing import list_names, written
from .media import sniff
from .text import NotText, decode
from .watcher import look, wait_for_changes
from .workspace import Workspace

if TYPE_CHECKING:
    from mcp_server_core.places import Places, Spot

resources = Registry()

LARGEST = 4 << 20  # bytes of a file that is read as a resource
_MOST_COMPLETIONS = 1_000


async def admit(workspace: Workspace, places: "Places", uri: str) -> None:
    """Let a caller watch what lies in its places."""
    workspace.watcher.admit(uri, await workspace.deadlines.run(look, places, uri))


@resources.resource("file:///{+path}", "File or directory", name="file", watch=True, admit=admit)
async def read_path(path: str, ctx: Context[Workspace]) -> Contents:
    """A file as text or bytes, or a directory as the names in it, those of directories with a slash."""
    # The template took the percents out; a name may hold one of its own.
    uri = f"file:///{path.replace('%', '%25')}"
    return await bounded(ctx, _read, await ctx.places(), uri, ctx.max_chars, ctx.state.fallback)


def _read(places: "Places", uri: str, budget: int, fallback: str) -> Contents:
    import stat

    from mcp_server_core.places import Missing

    spot = places.resolve(uri)
    try:
        found = spot.stat()
    except Missing:
        raise ResourceNotFound(uri) from None
    if stat.S_ISDIR(found.st_mode):
        return Contents(_names(spot, budget), "text/plain")
    return _contents(spot.read_bytes(LARGEST), spot.name, fallback)


def _contents(data: bytes, name: str, fallback: str) -> Contents:
    """Text if it is text, else bytes."""
    kind = sniff(data[: 1 << 16], name)
    try:
        text, _ = decode(data, fallback=fallback)
    except NotText:
        return Contents(data, kind)
    return Contents(text, kind if kind != "application/octet-stream" else "text/plain")


def _names(spot: "Spot", budget: int) -> str:
    entries = written(list_names(spot), spot.path)
    names = [f"{entry.name}/" if entry.kind == "directory" else entry.name for entry in entries]
    page = fit_items(names, budget - 100, lambda name: len(name) + 1)
    more = (
        [] if page.next is None else [f"[{len(names) - page.next} more: list_directory pages through them]"]
    )
    return "\n".join(page.items + more)


@resources.resources_list
async def allowed_directories(ctx: Context[Workspace]) -> list[Link]:
    """One resource for each allowed directory that is there."""
    places = await ctx.places()
    listed = await ctx.state.deadlines.look(places, places.listing)
    return [
        Link(
            uri_of(item.path), os.path.basename(item.path) or item.path, f"Directory {item.path}", item.reason
        )
        for item in listed
        if not item.problem
    ]


@resources.complete(read_path, "path")
async def complete_path(typed: str, ctx: Context[Workspace]) -> list[str]:
    """The paths that begin with what was typed."""
    try:
        return await bounded(ctx, _complete, await ctx.places(), f"/{typed}")
    except ToolError:
        return []


def _complete(places: "Places", typed: str) -> list[str]:
    folder, _, begun = typed.rpartition("/")
    above = [f"{known.rstrip('/')}/"[1:] for known in places.directories() if known.startswith(typed)]
    try:
        entries = list_names(places.resolve(folder or "/"))
    except ToolError:
        return sorted(above)
    found = [
        f"{folder}/{entry.name}{'/' if entry.kind == 'directory' else ''}"[1:]
        for entry in entries
        if entry.name.startswith(begun)
    ]
    return sorted({*above, *found})[:_MOST_COMPLETIONS]


def uri_of(path: str) -> str:
    """The `file:` URI of a path."""
    from pathlib import Path

    return Path(path).as_uri()


# --- changes -----------------------------------------------------------------------------------------------------


async def announce(server: Server[Workspace], workspace: Workspace) -> None:
    """Watch what somebody subscribed to, and tell them when it changes."""
    running: dict[str, tuple[frozenset[str], anyio.CancelScope]] = {}
    async with anyio.create_task_group() as tasks:
        async for uris in server.watching():
            wanted = {uri: tuple(server.subscriptions.places(uri)) for uri in uris}
            roots = workspace.watcher.keep(wanted)
            for root, (folders, scope) in list(running.items()):
                if roots.get(root) != folders:
                    scope.cancel()
                    del running[root]
            for root in roots.keys() - running.keys():
                scope = anyio.CancelScope()
                running[root] = roots[root], scope
                tasks.start_soon(_watch, server, workspace, root, roots[root], scope)


async def _watch(
    server: Server[Workspace],
    workspace: Workspace,
    root: str,
    folders: frozenset[str],
    scope: anyio.CancelScope,
) -> None:
    """Watch one allowed directory, however many want to know."""
    watcher = workspace.watcher
    with scope:
        bell = _Bell()
        watcher.watches += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait_for_changes, folders, bell.ring)
                while True:
                    await bell.wait()
                    with suppress(ToolError):  # it hangs: the next ring asks again
                        for uri in await workspace.deadlines.run_in(root, watcher.check, root):
                            await server.changed(uri)
        finally:
            watcher.watches -= 1


class _Bell:
    """Rings once for any number of rings that nobody has heard yet."""

    def __init__(self) -> None:
        self._rung = anyio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self) -> None:
        await self._rung.wait()
        self._rung = anyio.Event()
