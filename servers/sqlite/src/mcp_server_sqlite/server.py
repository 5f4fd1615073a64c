"""The table of contents: what this server is made of."""

from collections.abc import Sequence
from functools import partial

from mcp_server_core import Server

from . import __version__
from .announcing import announce
from .databases import Databases, choose
from .prompts import prompts
from .resources import resources
from .tools import tools
from .workshop import TIMEOUT, Workshop, open_workshop

_INSTRUCTIONS = """SQLite databases. Start with schema_overview.
`database`: {databases}.
Bind values with `params` instead of writing them into SQL.
In results, {{"$int": digits}} is an integer beyond 2^53, {{"$blob": base64}} bytes, {{"$text": start, "chars": n}} a long text cut short: substr() gets the rest."""


def build(
    paths: Sequence[str] = (), *, timeout: float = TIMEOUT, confirm: bool = False, read_only: bool = False
) -> Server[Workshop]:
    """Put the server together; ValueError when a path makes no sense."""
    choice = choose(paths, read_only=read_only)
    names = ", ".join(file.name for file in choice.files)
    known = f"one of {names}; if left out, the first" if names else "path of a file in an allowed directory"
    return Server(
        "mcp-server-sqlite",
        version=__version__,
        title="SQLite",
        instructions=_INSTRUCTIONS.format(databases=known),
        state=partial(open_workshop, Databases(choice), timeout, confirm=confirm),
        parts=[tools, resources, prompts],
        background=[announce],
        grants=choice.grants,
    )
