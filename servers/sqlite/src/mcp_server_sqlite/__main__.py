"""Lets a model query SQLite databases."""

from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build
from .workshop import TIMEOUT


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-sqlite", __version__, __doc__)
    add = parser.add_argument
    add(
        "--db-path",
        metavar="PATH[:ro]",
        action="append",
        default=[],
        help="database file, or directory of them",
    )
    add(
        "--timeout",
        metavar="S",
        type=float,
        default=TIMEOUT,
        help="seconds a statement may take (default: 30)",
    )
    add("--confirm", action="store_true", help="no schema change or mass delete unless the user agrees")
    args = parser.parse_args(argv)
    if not 0 < args.timeout <= 86_400:
        parser.error("--timeout is a number of seconds, at most a day")
    try:
        server = build(args.db_path, timeout=args.timeout, confirm=args.confirm, read_only=args.read_only)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


if __name__ == "__main__":
    main()
