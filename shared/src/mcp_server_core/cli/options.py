"""The options that all servers share: the same words with the same meaning."""

import argparse
from typing import TYPE_CHECKING, Any

from ..budgets import MAX_RESULT_CHARS
from .serving import serve

if TYPE_CHECKING:
    from ..server.app import Server

LOG_LEVELS = ("debug", "info", "warning", "error")
MAX_LINE_MIB = 64


def parser(name: str, version: str, description: str | None) -> argparse.ArgumentParser:
    """A parser with the shared options; a server adds its own arguments."""
    made = argparse.ArgumentParser(prog=name, description=(description or "").strip().split("\n\n")[0])
    made.add_argument("--version", action="version", version=f"{name} {version}")
    shared = made.add_argument_group("options of every server")
    shared.add_argument("--read-only", action="store_true", help="offer only tools that change nothing")
    shared.add_argument("--tools", metavar="A,B", type=_names, help="offer only these tools")
    shared.add_argument("--no-tools", metavar="A,B", type=_names, default=(), help="do not offer these tools")
    shared.add_argument(
        "--max-result-chars",
        metavar="N",
        type=_positive,
        help=f"longest result of a tool (default: {MAX_RESULT_CHARS})",
    )
    shared.add_argument(
        "--roots",
        choices=("narrow", "ignore", "replace"),
        default="narrow",
        help="what the client's roots do to the allowed directories (default: narrow)",
    )
    shared.add_argument(
        "--log-level",
        choices=LOG_LEVELS,
        default="warning",
        help="what to report on stderr (default: warning)",
    )
    shared.add_argument(
        "--max-message-mib",
        metavar="N",
        type=_positive,
        default=MAX_LINE_MIB,
        help=f"longest message taken, in MiB (default: {MAX_LINE_MIB})",
    )
    return made


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
    serve(server, line_limit=args.max_message_mib * 1024 * 1024, log_level=args.log_level)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
