"""The benchmarks measure what they say: with a client of their own, and the README shows what they found."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
# Those that are measured. Everything else there measures.
MEASURED = BENCHMARKS / "servers"
MEASURING = sorted(
    path for path in BENCHMARKS.rglob("*.py") if MEASURED not in path.parents and ".peers" not in path.parts
)


def imported(path: Path) -> set[str]:
    """The top of every module that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def test_there_is_something_to_look_at() -> None:
    assert len(MEASURING) > 30


@pytest.mark.parametrize("path", MEASURING, ids=lambda path: str(path.relative_to(BENCHMARKS)))
def test_what_measures_knows_neither_the_core_nor_a_server(path: Path) -> None:
    assert not {name for name in imported(path) if name.startswith("mcp")}


def test_the_readme_shows_the_newest_results() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.headline", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_table_and_picture_that_the_readme_points_to_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    results = [link for link in links if link.startswith("benchmarks/results/")]
    assert results
    assert not [link for link in results if not (ROOT / link).exists()]
