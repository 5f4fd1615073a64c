"""`python -m benchmarks.soak`: an hour of rude clients in ten minutes. Exit code 1 when something was wrong."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from ..headline import update
from ..machine import Machine
from ..report import FOLDER
from .town import NAMES, soak
from .verdict import complaints, markdown

FULL = 10
WARM_UP = 60.0
"""Seconds of traffic before anything is compared; a short run takes less."""


def main() -> int:
    args = _parser().parse_args()
    if sys.platform != "linux":
        print("the soak reads what processes hold as Linux shows it", file=sys.stderr)
        return 2
    machine, seconds = Machine(), args.minutes * 60
    # On disk, where stores are in earnest; a temporary folder is often in memory.
    with tempfile.TemporaryDirectory(prefix=".soak-", dir=Path.cwd()) as folder:
        rounds = 5 if args.minutes >= FULL else 1
        houses = asyncio.run(
            soak(
                Path(folder),
                args.only,
                warm_up=min(WARM_UP, seconds),
                rounds=[seconds / rounds] * rounds,
                seed=args.seed,
            )
        )
    report = markdown(houses, machine, args.minutes, args.seed)
    print(report)
    if args.save:
        full = args.minutes >= FULL and set(args.only) == set(NAMES)
        path = FOLDER / f"{'latest' if full else 'quick'}-soak.md"
        path.write_text(report)
        print(f"written to {path}", file=sys.stderr)
        if full:
            update()
    return 1 if list(complaints(houses)) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=FULL, help=f"of traffic (default: {FULL})")
    parser.add_argument("--seed", type=int, default=1, help="what the visits are drawn from")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="these servers")
    parser.add_argument("--no-save", dest="save", action="store_false", help="print the report and keep none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
