"""What a model may read and watch: each allowed directory, as a list of names."""

from collections.abc import Sequence
from pathlib import Path

from mcp_server_core import Context, Registry, Server
from mcp_server_core.places import Grant, Places

from .workspace import Workspace


def directory_resources(grants: Sequence[Grant]) -> Registry:
    """One resource for each directory the operator granted."""
    resources = Registry()
    for grant in grants:
        _add_directory(resources, Path(grant.path))
    return resources


def _add_directory(resources: Registry, path: Path) -> None:
    @resources.resource(
        path.as_uri(), f"Directory {path}", name=path.name or "/", mime_type="text/plain", watch=True
    )
    async def names_in_directory(ctx: Context[Workspace]) -> str:  # pyright: ignore[reportUnusedFunction] - registered
        """The names in this directory; those of directories end with a slash."""
        return await ctx.in_thread(_names, await ctx.places(), str(path))


def _names(places: Places, path: str) -> str:
    with places.resolve(path).scandir() as entries:
        names = [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries]
    return "\n".join(sorted(names))


async def announce(server: Server[Workspace], workspace: Workspace) -> None:
    """Tell whoever watches a directory that something in it changed on disk."""
    async for directory in workspace.watcher:
        await server.changed(directory.as_uri())
