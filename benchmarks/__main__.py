"""`python -m benchmarks`: the chosen suites, interleaved over all contestants, and the table of one run."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType
from typing import NamedTuple

from . import headline, http, start, stdio
from .contestants import HERE, HTTP, STDIO, Contestant
from .entrants import Entrant, Trial, gather
from .figures import Results, Suite
from .machine import Machine
from .report import Report
from .sheet import Sheet


class Field(NamedTuple):
    """Suites with the same contestants: they share a run and a table file."""

    suites: tuple[Suite, ...]
    contestants: tuple[Contestant, ...]
    attempt: Trial
    suffix: str = ""


FIELDS = (
    Field(("start", "stdio"), STDIO, start.attempt),
    Field(("http",), HTTP, http.attempt, "-http"),
)
# Suites of single servers: a package here, with LINES, GROWTHS and run(sheet). Loaded when asked for.
SERVERS = tuple(
    name
    for name in ("filesystem", "memory", "sqlite", "fetch", "thinking")
    if (HERE / name / "__init__.py").exists()
)
SUITES = (*(suite for field in FIELDS for suite in field.suites), *SERVERS)
# Who takes part in a quick look: one of each kind.
QUICK = ("ours", "floor", "mcp-low", "fastmcp", "ts2")
KEYS = tuple(dict.fromkeys(one.key for field in FIELDS for one in field.contestants))


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if sys.platform != "linux":
        print("the benchmarks read other processes' clocks and memory as Linux shows them", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _leave)
    for field in FIELDS:
        suites: list[Suite] = [suite for suite in field.suites if suite in args.suite]
        if suites:
            _compete(field, suites, args)
    for suite in SERVERS:
        if suite in args.suite:
            _measure(suite, quick=args.quick)
    return 0


def _measure(suite: str, *, quick: bool) -> None:
    """One run of a server's suite, and its table."""
    print(f"running {suite}", file=sys.stderr)
    module = import_module(f".{suite}", __package__)
    sheet = Sheet(suite, module.LINES, quick, getattr(module, "GROWTHS", ()))
    module.run(sheet)
    print(sheet.markdown())
    print(f"written to {sheet.save()}", file=sys.stderr)
    if not quick:
        headline.update()


def _compete(field: Field, suites: list[Suite], args: argparse.Namespace) -> None:
    """One run over the contestants of a field, and its table."""
    results, machine = Results(), Machine()
    only = args.only or (QUICK if args.quick else KEYS)
    chosen = [one for one in field.contestants if one.key in only]
    entrants = gather(chosen, results, field.attempt)
    for suite in suites:
        print(f"running {suite}", file=sys.stderr)
        _run(suite, entrants, results, quick=args.quick)
    complete = args.only is None and len(suites) == len(field.suites)
    mode = "quick" if args.quick else "latest" if complete else "partial"
    report = Report(mode, mode + field.suffix, suites, chosen, results, machine)
    print(report.markdown())
    print(f"written to {report.save()}", file=sys.stderr)
    if mode == "latest":
        headline.update()


def _run(suite: Suite, entrants: list[Entrant], results: Results, *, quick: bool) -> None:
    match suite:
        case "start":
            start.run(entrants, results, rounds=3 if quick else 20)
        case "stdio":
            effort = stdio.Effort(2, 4, 0.15) if quick else stdio.Effort(4, 12, 0.4)
            stdio.run(entrants, results, effort=effort)
        case "http":
            short = http.Plan(2, http.Effort(2, 3, 0.15), endurance=10_000, changes=3)
            full = http.Plan(10, http.Effort(4, 12, 0.4), endurance=100_000, changes=10)
            http.run(entrants, results, short if quick else full)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--suite", type=_names(SUITES), default=list(SUITES), help=f"of {','.join(SUITES)}; all if left out"
    )
    parser.add_argument("--only", type=_names(KEYS), help=f"of {','.join(KEYS)}; all if left out")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="fewer rounds and peers: a first answer in about a minute a suite",
    )
    return parser


def _names(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    """A parser of names with commas between them, in the order of `known`."""

    def parse(text: str) -> list[str]:
        asked = text.split(",")
        if unknown := [name for name in asked if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {','.join(known)}")
        return [name for name in known if name in asked]

    return parse


def _leave(number: int, frame: FrameType | None) -> None:
    """Unwind on SIGTERM, so that every server is closed on the way out."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
