"""The table of contents: what this server is made of."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mcp_server_core import Server
from mcp_server_core.places import parse_grants

from . import __version__
from .resources import announce, directory_resources
from .tools import tools
from .watcher import Watcher, open_watcher


def build(directories: Sequence[str]) -> Server[Watcher]:
    """Put the server together; ValueError when a directory makes no sense."""
    grants = parse_grants(directories)
    return Server(
        "mcp-server-filesystem",
        version=__version__,
        title="Filesystem",
        instructions="Files inside the allowed directories. list_allowed_directories says which they are.",
        state=partial(open_watcher, [Path(grant.path) for grant in grants]),
        parts=[tools, directory_resources(grants)],
        background=[announce],
        grants=grants,
    )
