"""Reads, writes, searches and watches files inside the directories you allow."""

from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build
from .text import FALLBACK


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-filesystem", __version__, __doc__)
    parser.add_argument("directories", nargs="*", metavar="DIR[:ro|:rw]", help="directory the server may use")
    parser.add_argument(
        "--fallback-encoding",
        metavar="NAME",
        default=FALLBACK,
        help=f"of texts that are not Unicode and declare none (default: {FALLBACK})",
    )
    args = parser.parse_args(argv)
    try:
        server = build(args.directories, fallback=args.fallback_encoding)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


if __name__ == "__main__":
    main()
