"""The graphs that are measured: the same for everybody, in the file format that both servers read."""

import json
import random
from pathlib import Path
from typing import Any

SIZES = (1_000, 10_000, 50_000)
_RANDOM = random.Random(20_261)
WORDS = [
    "".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=_RANDOM.randint(3, 10))) for _ in range(5_000)
]
COMMON = "remembered"


def entity(number: int) -> dict[str, Any]:
    """An entity with three observations of about ten words; one word stands in all of them."""
    chance = random.Random(number)
    facts = [" ".join([COMMON, *chance.choices(WORDS, k=10)]) for _ in range(3)]
    return {
        "name": f"Entity {number}",
        "entityType": ("person", "project")[number % 2],
        "observations": facts,
    }


def write_graph(file: Path, size: int) -> None:
    """A graph of so many entities and as many relations."""
    with file.open("w") as out:
        for number in range(size):
            out.write(json.dumps({"type": "entity", **entity(number)}) + "\n")
        for number in range(size):
            ends = {"from": f"Entity {number}", "to": f"Entity {number * 7 % size}"}
            out.write(json.dumps({"type": "relation", **ends, "relationType": "knows"}) + "\n")
