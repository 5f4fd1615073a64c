"""All five servers in one folder, worked hard in rounds, with a rest after each."""

import asyncio
import random
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from ..fetch import pages
from ..fetch.site import serving
from . import works
from .house import House, Plan

NAMES = ("filesystem", "fetch", "memory", "sequential-thinking", "sqlite")
# The history of a graph is kept for good, and so much may it take.
KEEPS = {"memory": 1.0}


def plans(folder: Path, site: str) -> list[Plan]:
    """The five, with what they need."""
    homes = {name: folder / name for name in NAMES}
    for home in homes.values():
        home.mkdir()
    library = folder / "library"
    library.mkdir()
    dice = random.Random(1)
    for number in range(300):
        (library / f"{number}.txt").write_text("\n".join(works.prose(dice, 12) for _ in range(200)))
    (library / "large.txt").write_text("\n".join(works.prose(dice, 12) for _ in range(20_000)))
    with closing(sqlite3.connect(homes["sqlite"] / "shop.db")) as database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", ((at, "something") for at in range(1000)))
        database.commit()
    given = {
        "filesystem": ([str(homes["filesystem"]), f"{library}:ro"], works.filesystem(homes["filesystem"])),
        "memory": (["--store", str(homes["memory"] / "store.db")], works.memory()),
        "sequential-thinking": (["--store", str(homes["sequential-thinking"] / "journal")], works.thinking()),
        "sqlite": (["--db-path", str(homes["sqlite"] / "shop.db")], works.sqlite()),
        "fetch": (["--allow-private-ips", "--ignore-robots-txt"], works.fetch(site)),
    }
    return [Plan(name, *given[name], homes[name], KEEPS.get(name, 0)) for name in NAMES]


def made_pages() -> dict[str, bytes]:
    """What the site of the run serves."""
    small = pages.make(10_000)
    kept = {f"/kept/{number}": small for number in range(120)}
    return {"/10KB": small, "/200KB": pages.make(200_000), "/slow": small, **kept}


async def soak(
    folder: Path, names: Sequence[str], *, warm_up: float, rounds: Sequence[float], seed: int
) -> list[House]:
    """A round to warm up, then some more, each of so many seconds and with a rest behind it."""
    with serving(made_pages()) as site, ExitStack() as stack:
        houses = [
            House(
                plan,
                random.Random(f"{seed} {plan.name}"),
                stack.enter_context((folder / f"{plan.name}.log").open("wb")),
            )
            for plan in plans(folder, site.url)
            if plan.name in names
        ]
        await asyncio.gather(*(house.open() for house in houses))
        try:
            for seconds in (warm_up, *rounds):
                print(f"{seconds:.0f} s of traffic, then a rest", file=sys.stderr)
                await asyncio.gather(*(house.work(seconds) for house in houses))
                await asyncio.gather(*(house.rest() for house in houses))
        finally:
            await asyncio.gather(*(house.close() for house in houses))
    return houses
