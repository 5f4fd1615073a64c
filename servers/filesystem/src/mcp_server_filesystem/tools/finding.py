"""What a model may ask about the tree of files."""

from mcp_server_core import Context, Registry, Result
from typing_extensions import TypedDict

from ..workspace import Workspace

finding = Registry()


class Directory(TypedDict):
    """One allowed directory."""

    path: str
    writable: bool
    reason: str
    problem: str


class Directories(TypedDict):
    """Every allowed directory."""

    directories: list[Directory]


@finding.tool("List allowed directories", read_only=True, open_world=False)
async def list_allowed_directories(ctx: Context[Workspace]) -> Result[Directories]:
    """List the directories this server may use, whether it may write there, and why each is allowed."""
    places = await ctx.places()
    listed = await ctx.in_thread(places.listing)
    found: list[Directory] = [
        {"path": item.path, "writable": item.writable, "reason": item.reason, "problem": item.problem}
        for item in listed
    ]
    return Result({"directories": found}, "\n".join(map(_line, found)) or "No directory is allowed.")


def _line(item: Directory) -> str:
    rights = "read and write" if item["writable"] else "read only"
    problem = f", {item['problem']}" if item["problem"] else ""
    return f"{item['path']} ({rights}, {item['reason']}{problem})"
