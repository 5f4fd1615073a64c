"""The table of contents: what this server is made of."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mcp_server_core import Server
from mcp_server_core.places import parse_grants

from . import __version__
from .resources import announce, directory_resources
from .text import FALLBACK, charset
from .tools.finding import finding
from .tools.reading import reading
from .tools.writing import writing
from .workspace import Workspace, open_workspace


def build(directories: Sequence[str], *, fallback: str = FALLBACK) -> Server[Workspace]:
    """Put the server together; ValueError when a directory or the fallback encoding makes no sense."""
    grants = parse_grants(directories)
    return Server(
        "mcp-server-filesystem",
        version=__version__,
        title="Filesystem",
        instructions="Files inside the allowed directories. list_allowed_directories says which they are.",
        state=partial(open_workspace, [Path(grant.path) for grant in grants], charset(fallback)),
        parts=[reading, writing, finding, directory_resources(grants)],
        background=[announce],
        grants=grants,
    )
