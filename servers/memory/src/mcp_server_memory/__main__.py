"""Remembers entities, relations and facts between conversations."""

import os
from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-memory", __version__, __doc__)
    parser.add_argument(
        "--store", metavar="PATH", help="file of the memory (default: MEMORY_FILE_PATH, or your user data)"
    )
    parser.add_argument(
        "directories", nargs="*", metavar="DIR[:ro|:rw]", help="directory for exports and imports"
    )
    args = parser.parse_args(argv)
    try:
        server = build(args.store or os.environ.get("MEMORY_FILE_PATH"), args.directories)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


if __name__ == "__main__":
    main()
