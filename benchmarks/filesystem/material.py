"""The files that are measured on, made once and kept. Knows nothing of servers."""

import random
import shutil
from pathlib import Path

from ..peers import CACHE as KEPT

CACHE = KEPT / "filesystem-material"
NEEDLE = "needle_in_a_haystack"
_WORDS = ("alpha", "beta", "gamma", "delta", "import", "return", "class", "value", "index", "self", "result")
_EXTENSIONS = ("py", "txt", "js", "md", "json")
_PER_DIRECTORY = 20


def tree(files: int) -> Path:
    """A tree of small text files, twenty in each directory; one in a hundred holds the needle."""
    top = CACHE / f"tree-{files}"
    done = top.with_suffix(".done")
    if done.exists():
        return top
    shutil.rmtree(top, ignore_errors=True)
    chance = random.Random(files)
    for number in range(files // _PER_DIRECTORY):
        folder = top / f"part{number % 20}" / f"chapter{number // 20 % 20}" / f"section{number // 400}"
        folder.mkdir(parents=True)
        for index in range(_PER_DIRECTORY):
            name = f"file{index}.{_EXTENSIONS[index % len(_EXTENSIONS)]}"
            (folder / name).write_text(_text(chance))
    done.touch()
    return top


def _text(chance: random.Random) -> str:
    lines = [" ".join(chance.choices(_WORDS, k=8)) for _ in range(40)]
    if chance.random() < 0.01:
        lines[20] = f"here is the {NEEDLE} itself"
    return "\n".join(lines) + "\n"


def text_file(megabytes: int) -> Path:
    """A file of lines."""
    path = CACHE / "texts" / f"{megabytes}.txt"
    size = megabytes * 1_000_000
    if not path.exists() or path.stat().st_size < size:
        path.parent.mkdir(parents=True, exist_ok=True)
        line = "a line of text that is about as long as lines are, give or take a word\n"
        block = line * (1_000_000 // len(line) + 1)
        with path.open("w") as file:
            for _ in range(megabytes):
                file.write(block[:1_000_000])
    return path
