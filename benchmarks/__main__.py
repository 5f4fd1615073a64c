"""`python -m benchmarks`: the chosen suites, interleaved over all contestants, and the table of one run."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from . import start, stdio
from .contestants import CONTESTANTS
from .entrants import Entrant, gather
from .figures import Results, Suite
from .report import Machine, Report

SUITES: tuple[Suite, ...] = ("start", "stdio")


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if sys.platform != "linux":
        print("the benchmarks read other processes' clocks and memory as Linux shows them", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _leave)
    results, machine = Results(), Machine()
    chosen = [one for one in CONTESTANTS if args.only is None or one.key in args.only]
    entrants = gather(chosen, results)
    for suite in args.suite:
        print(f"running {suite}", file=sys.stderr)
        _run(suite, entrants, results, quick=args.quick)
    mode = "quick" if args.quick else "latest" if _is_complete(args) else "partial"
    report = Report(mode, args.suite, chosen, results, machine)
    print(report.markdown())
    print(f"written to {report.save()}", file=sys.stderr)
    return 0


def _run(suite: Suite, entrants: list[Entrant], results: Results, *, quick: bool) -> None:
    match suite:
        case "start":
            start.run(entrants, results, rounds=5 if quick else 20)
        case "stdio":
            effort = stdio.Effort(2.5, 4, 0.2) if quick else stdio.Effort(4, 12, 0.4)
            stdio.run(entrants, results, effort=effort)


def _is_complete(args: argparse.Namespace) -> bool:
    return args.only is None and set(args.suite) == set(SUITES)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    keys = tuple(one.key for one in CONTESTANTS)
    parser.add_argument(
        "--suite", type=_names(SUITES), default=list(SUITES), help=f"of {','.join(SUITES)}; all if left out"
    )
    parser.add_argument("--only", type=_names(keys), help=f"of {','.join(keys)}; all if left out")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds: a first answer in about three minutes"
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
