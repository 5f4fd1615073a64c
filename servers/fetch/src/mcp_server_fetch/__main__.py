"""Brings web pages to a model, as Markdown."""

from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Sequence

from mcp_server_core import cli

from . import __version__
from .server import build
from .settings import Limits, Settings


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and serve."""
    parser = cli.parser("mcp-server-fetch", __version__, __doc__)
    add = parser.add_argument
    add("--user-agent", metavar="TEXT", help="how the server names itself to web servers")
    add("--ignore-robots-txt", action="store_true", help="fetch also what robots.txt keeps robots from")
    add("--proxy-url", metavar="URL", help="proxy: http, https or socks5 (default: as the environment says)")
    add("--allow-private-ips", action="store_true", help="fetch also from private addresses")
    add(
        "--allow-host",
        metavar="H",
        action="append",
        default=[],
        help="fetch from this private host (repeatable)",
    )
    add("--ca-file", metavar="FILE", help="certificates to trust besides the system's (PEM)")
    add(
        "--timeout",
        metavar="S",
        type=_seconds,
        default=Limits().total_time,
        help="seconds for a page (default: 30)",
    )
    # Seldom needed, and the help has to fit a screen: the README has it.
    add("--watch-interval", type=_seconds, default=Limits().watch_interval, help=SUPPRESS)
    args = parser.parse_args(argv)
    settings = Settings(
        user_agent=args.user_agent,
        ignore_robots_txt=args.ignore_robots_txt,
        proxy_url=args.proxy_url,
        allow_private_ips=args.allow_private_ips,
        allow_hosts=tuple(args.allow_host),
        ca_file=args.ca_file,
        limits=Limits(total_time=args.timeout, watch_interval=args.watch_interval),
    )
    try:
        server = build(settings)
    except ValueError as error:
        parser.error(str(error))
    cli.run(server, args)


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 86400:
        raise ArgumentTypeError("a number of seconds, at most a day")
    return number


if __name__ == "__main__":
    main()
