"""The table of contents: what this server is made of."""

from collections.abc import Sequence
from functools import partial

from mcp_server_core import Server
from mcp_server_core.places import parse_grants

from . import __version__
from .deadlines import SECONDS
from .resources import announce, resources
from .text import FALLBACK, charset
from .tools.finding import finding
from .tools.listing import listing
from .tools.reading import reading
from .tools.writing import writing
from .workspace import Workspace, open_workspace


def build(
    directories: Sequence[str], *, fallback: str = FALLBACK, patience: float = SECONDS
) -> Server[Workspace]:
    """Put the server together; ValueError when a directory or the fallback encoding makes no sense.

    `patience` is how many seconds a disk may be silent before a call gives up on it.
    """
    return Server(
        "mcp-server-filesystem",
        version=__version__,
        title="Filesystem",
        instructions="Files inside the allowed directories. list_allowed_directories says which they are.",
        state=partial(open_workspace, charset(fallback), patience),
        parts=[reading, writing, listing, finding, resources],
        background=[announce],
        grants=parse_grants(directories),
    )
