"""Counts things."""

from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-starter", __version__, __doc__)
    parser.add_argument("directories", nargs="*", metavar="DIR", help="directory export_tally may write to")
    args = parser.parse_args(argv)
    try:
        server = build(args.directories)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


if __name__ == "__main__":
    main()
