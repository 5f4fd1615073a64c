"""Keeps chains of thoughts that can be revised, branched and reviewed."""

from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-sequential-thinking", __version__, __doc__)
    parser.add_argument(
        "directories", nargs="*", metavar="DIR", help="directory export_thinking may write to"
    )
    parser.add_argument("--store", metavar="FILE", help="keep thoughts in this file, over restarts")
    args = parser.parse_args(argv)
    if args.workers > 1 and not args.store:
        parser.error("--workers needs --store: without it each process would know only its own chains")
    try:
        server = build(args.directories, store=args.store)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


if __name__ == "__main__":
    main()
