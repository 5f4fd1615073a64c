"""The options that all servers share: the same words with the same meaning."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..budgets import MAX_RESULT_CHARS
from .serving import serve

if TYPE_CHECKING:
    from ..server.app import Server

ROOTS = ("narrow", "ignore", "replace")
LOG_LEVELS = ("debug", "info", "warning", "error")
MAX_LINE_MIB = 64
COMMANDS = ("install", "uninstall", "doctor")


def parser(name: str, version: str, description: str | None) -> argparse.ArgumentParser:
    """A parser with the shared options; a server adds its own arguments."""
    made = _Parser(
        prog=name,
        description=(description or "").strip().split("\n\n")[0],
        formatter_class=_OneLineEach,
        epilog=f"commands: {', '.join(COMMANDS)} (each has --help)",
    )
    made.add_argument("--version", action="version", version=f"{name} {version}")
    shared = made.add_argument_group("options of every server")
    add = shared.add_argument
    add("--read-only", action="store_true", help="offer only tools that change nothing")
    add("--tools", metavar="A,B", type=_names, help="offer only these tools")
    add("--no-tools", metavar="A,B", type=_names, default=(), help="do not offer these tools")
    add(
        "--max-result-chars",
        metavar="N",
        type=_positive,
        help=f"longest result of a tool (default: {MAX_RESULT_CHARS})",
    )
    add(
        "--max-message-mib",
        metavar="N",
        type=_positive,
        help=f"longest message taken (default: {MAX_LINE_MIB}, http: 16)",
    )
    add(
        "--roots",
        metavar="MODE",
        choices=ROOTS,
        default="narrow",
        help="what a client's roots do: narrow, ignore, replace",
    )
    add(
        "--log-level",
        metavar="LEVEL",
        choices=LOG_LEVELS,
        default="warning",
        help="debug, info, warning (default), error",
    )
    add(
        "--transport",
        metavar="KIND",
        choices=("stdio", "http"),
        default="stdio",
        help="stdio (default) or http",
    )
    _add_http(made)
    return made


def _add_http(made: argparse.ArgumentParser) -> None:
    add = made.add_argument_group("options of --transport http").add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    add("--port", type=_port, default=8000, help="port, 0 for any free one (default: 8000)")
    add("--path", default="/mcp", help="path of the endpoint (default: /mcp)")
    add("--public-url", metavar="URL", help="address that clients use, if it is another")
    add(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="web page that may call (repeatable)",
    )
    add("--token-file", metavar="FILE", help="tokens to let in, `name:token` a line; or MCP_TOKEN")
    add("--oauth-issuer", metavar="URL", help="authorization server whose tokens are let in")
    add("--oauth-audience", metavar="URL", help="whom tokens are for (default: --public-url)")
    add(
        "--oauth-scope",
        metavar="SCOPE",
        action="append",
        default=[],
        help="what tokens must allow (repeatable)",
    )
    add("--oauth-jwks", metavar="URL", help="keys of the issuer (default: as its metadata says)")
    add(
        "--workers",
        metavar="N",
        type=_positive,
        default=1,
        help="processes, for stateless clients only (default: 1)",
    )
    add("--insecure", action="store_true", help="let other machines in without a token")


class _OneLineEach(argparse.HelpFormatter):
    """Help that fits a screen: one line for each option, whatever the width of the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=100)


class _Parser(argparse.ArgumentParser):
    """Names the server's own arguments in the first line, and not all the options that follow below.

    The word `install`, `uninstall` or `doctor` in front makes it a command; a directory of that name is `./install`.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] - overloads
        given = list(sys.argv[1:] if args is None else args)
        if given and given[0] in COMMANDS:
            from .commands import run_command

            raise SystemExit(run_command(self, given))
        return super().parse_known_args(given, namespace)

    def format_usage(self) -> str:
        return f"usage: {self._own_usage()}\n"

    def format_help(self) -> str:
        self.usage = self._own_usage()
        try:
            return super().format_help()
        finally:
            self.usage = None

    def _own_usage(self) -> str:
        own = [action.metavar or action.dest for action in self._actions if not action.option_strings]
        return " ".join([self.prog, "[options]", *(f"[{name} ...]" for name in map(str, own))])


def run(server: "Server[Any]", args: argparse.Namespace) -> None:
    """Serve as the shared options say."""
    from ..server.catalogue import Selection

    try:
        server.select(Selection(read_only=args.read_only, only=args.tools, without=args.no_tools))
    except ValueError as error:
        raise SystemExit(f"{server.name}: {error}") from None
    server.access.mode, server.access.read_only = args.roots, args.read_only
    if args.max_result_chars is not None:
        server.max_result_chars = args.max_result_chars
    if args.transport == "http":
        try:
            from .http import run_http
        except ImportError as error:
            if error.name not in ("uvicorn", "httptools"):
                raise
            needed = "--transport http needs the extra `http` of mcp-server-core"
            raise SystemExit(f"{server.name}: {needed}") from None
        run_http(server, args)
    limit = MAX_LINE_MIB if args.max_message_mib is None else args.max_message_mib
    serve(server, line_limit=limit * 1024 * 1024, log_level=args.log_level)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)
