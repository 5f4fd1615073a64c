"""What a model may change. The work is done in writing.py, moving.py and trash.py."""

from typing import Annotated

from mcp_server_core import Arg, Context, Registry, Text, fit_text
from mcp_server_core.places import Places, Written, shown
from typing_extensions import TypedDict

from .. import writing as files
from ..deadlines import bounded, followed
from ..editing import Edit
from ..jobs import Job
from ..moving import copy, move
from ..trash import discard, restore
from ..workspace import Workspace

writing = Registry()

_HOW = {
    "created": "Created",
    "replaced": "Wrote",
    "in place": "Wrote in place (hard links, owner or directory rights demand it)",
}


class EditOperation(TypedDict):
    """One replacement."""

    oldText: Annotated[str, Arg("Text to find; must match once")]
    newText: str


@writing.tool("Write file", destructive=True, idempotent=False, open_world=False)
async def write_file(
    path: str,
    content: str,
    ctx: Context[Workspace],
    append: Annotated[bool, Arg("Add to the end")] = False,
) -> str:
    """Create a text file or replace all of it, at once or not at all; an existing file keeps mode and encoding."""
    places = await ctx.places()
    written = await bounded(ctx, _write, places, path, content, append, ctx.state.fallback)
    done = "Appended to" if append and written.strategy == "replaced" else _HOW[written.strategy]
    return f"{done} {shown(path)}: {written.size} bytes now."


@writing.tool("Edit file", destructive=True, idempotent=False, open_world=False)
async def edit_file(
    path: str,
    edits: Annotated[list[EditOperation], Arg("Made in order; all or none", min_length=1)],
    ctx: Context[Workspace],
    dryRun: Annotated[bool, Arg("Only show the diff")] = False,  # noqa: N803 - as the wire spells it
    expectedSha256: Annotated[str | None, Arg("Refuse if the file has another content")] = None,  # noqa: N803
) -> list[Text]:
    """Replace parts of a text file; line ends and encoding stay. Returns a git-style diff."""
    places = await ctx.places()
    wanted = [Edit(item["oldText"], item["newText"]) for item in edits]
    saved = await followed(ctx, _edit, places, path, wanted, ctx.state.fallback, expectedSha256, dryRun)
    return _told(saved, path, ctx.max_chars, dry=dryRun)


@writing.tool("Create directory", destructive=False, idempotent=True, open_world=False)
async def create_directory(path: str, ctx: Context[Workspace]) -> str:
    """Make a directory, with those above it; one that exists is fine."""
    places = await ctx.places()
    made = await bounded(ctx, _create_directory, places, path)
    return f"Created {shown(path)}." if made else f"{shown(path)} was there already."


@writing.tool("Move file", destructive=True, idempotent=True, open_world=False)
async def move_file(source: str, destination: str, ctx: Context[Workspace]) -> str:
    """Move or rename a file or directory, to another disk too; never overwrites."""
    places = await ctx.places()
    await followed(ctx, _move, places, source, destination)
    return f"Moved {shown(source)} to {shown(destination)}."


@writing.tool("Copy file", destructive=False, idempotent=True, open_world=False)
async def copy_file(source: str, destination: str, ctx: Context[Workspace]) -> str:
    """Copy a file, or a directory with all in it; never overwrites."""
    places = await ctx.places()
    count = await followed(ctx, _copy, places, source, destination)
    return f"Copied {shown(source)} to {shown(destination)}: {count} {'file' if count == 1 else 'files'}."


@writing.tool("Delete file", destructive=True, idempotent=True, open_world=False)
async def delete_file(
    path: str,
    ctx: Context[Workspace],
    restore: Annotated[bool, Arg("Bring back what was last deleted at this path")] = False,
) -> str:
    """Move a file or directory to the trash of its allowed directory (.mcp-trash); inside that, delete for good."""
    places = await ctx.places()
    return await followed(ctx, _restore if restore else _delete, places, path)


# --- in a worker thread ------------------------------------------------------------------------------------------


def _write(places: Places, path: str, content: str, add: bool, fallback: str) -> Written:
    return (files.append if add else files.write)(places.resolve(path), content, fallback)


def _edit(
    job: Job,
    places: Places,
    path: str,
    edits: list[Edit],
    fallback: str,
    expected: str | None,
    dry: bool,
) -> files.Saved:
    spot = places.resolve(path)
    return files.edit(spot, edits, job.step, fallback=fallback, expected=expected, dry_run=dry)


def _told(saved: files.Saved, path: str, max_chars: int, *, dry: bool) -> list[Text]:
    notes = list(saved.notes)
    if not saved.diff:
        notes.append(f"{shown(path)} is unchanged: the edits change nothing.")
    elif dry:
        notes.append("Dry run: nothing was written.")
    piece = fit_text(saved.diff, max(1, max_chars - sum(map(len, notes)) - 200))
    if piece.next is not None:
        notes.append(f"The diff is cut: {piece.next} of its {piece.total} characters are shown.")
    said = [piece.text, *([f"[{' '.join(notes)}]"] if notes else [])]
    return [Text(text) for text in said if text]


def _create_directory(places: Places, path: str) -> bool:
    return files.create_directory(places.resolve(path))


def _move(job: Job, places: Places, source: str, destination: str) -> None:
    move(places.resolve(source), places.resolve(destination), job.step)


def _copy(job: Job, places: Places, source: str, destination: str) -> int:
    return copy(places.resolve(source), places.resolve(destination), job.step)


def _delete(job: Job, places: Places, path: str) -> str:
    kept = discard(places.resolve(path), job.step)
    if kept is None:
        return f"Deleted {shown(path)} for good."
    return f"Deleted {shown(path)}. It lies at {shown(kept.path)}; restore=true brings it back."


def _restore(job: Job, places: Places, path: str) -> str:
    restore(places.resolve(path), job.step)
    return f"Restored {shown(path)} from the trash."
