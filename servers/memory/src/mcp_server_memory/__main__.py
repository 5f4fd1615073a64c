"""Remembers entities, relations and facts between conversations."""

from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-memory", __version__, __doc__)
    cli.run(build(), parser.parse_args(argv))


if __name__ == "__main__":
    main()
