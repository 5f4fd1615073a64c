"""Whatever tree and whatever path: what is opened lies inside, and what lies outside stays as it is."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_server_core.errors import ToolError
from mcp_server_core.places import Grant, Places, replace
from mcp_server_core.places.walk import Engine, Kernel, Walk
from mcp_server_core.places.windows import Paths

from .conftest import SECRET

NAMES = st.sampled_from(["a", "b", "c", "inside", "second", "outside", "f"])
STEPS = st.sampled_from(["a", "b", "c", "f", "..", "..", ".", "", "inside", "second", "outside", "secret"])
STARTS = st.sampled_from(
    ["", "", "{top}/", "{top}/inside/", "{top}/second/", "{top}/outside/", "/", "file://{top}/"]
)


class Node(NamedTuple):
    where: tuple[str, ...]
    kind: str  # "file", "directory", or the target of a link


def joined(start: str, steps: list[str]) -> str:
    return start + "/".join(steps)


PATHS = st.builds(joined, STARTS, st.lists(STEPS, min_size=1, max_size=6))
TARGETS = st.builds(
    joined,
    st.sampled_from(["", "", "../", "{top}/", "{top}/inside/", "/proc/self/root/"]),
    st.lists(STEPS, min_size=1, max_size=4),
)
NODES = st.builds(
    Node,
    st.tuples(st.sampled_from(["inside", "second"]), NAMES) | st.tuples(st.just("inside"), NAMES, NAMES),
    st.sampled_from(["file", "directory", "directory"]) | TARGETS,
)
TREES = st.lists(NODES, max_size=10)


def build(top: Path, nodes: list[Node]) -> None:
    for name in ("inside", "second", "outside/a/b"):
        (top / name).mkdir(parents=True)
    for name in ("outside/secret", "outside/f", "outside/a/f", "secret"):
        (top / name).write_bytes(SECRET)
    for where, kind in nodes:
        path = top.joinpath(*where)
        try:
            if kind == "file":
                path.touch()
            elif kind == "directory":
                path.mkdir()
            else:
                path.symlink_to(kind.format(top=top) or ".")
        except OSError:  # something is in the way
            continue


def every(top: Path) -> Iterator[Path]:
    """All that is in a tree, links not followed."""
    yield top
    for directory, names, files in os.walk(top):
        for name in (*names, *files):
            yield Path(directory, name)


def identities(*tops: Path) -> set[tuple[int, int]]:
    found = [path.lstat() for top in tops for path in every(top)]
    return {(one.st_dev, one.st_ino) for one in found}


def snapshot(top: Path) -> dict[str, bytes | None]:
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for name in ("outside", "secret")
        for path in every(top / name)
    }


def reach(top: Path, text: str, engine: Engine) -> tuple[int, int] | None:
    """What the path opens, or None when it is refused or there is nothing."""
    grants = [Grant(str(top / "inside")), Grant(str(top / "second"))]
    with Places(grants, engine=engine) as places:
        try:
            fd = places.resolve(text.format(top=top)).open()
        except ToolError:
            return None
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    return found.st_dev, found.st_ino


@settings(max_examples=250, deadline=None)
@given(TREES, st.lists(PATHS, min_size=1, max_size=4))
def test_whatever_is_opened_lies_inside_and_all_engines_agree(nodes: list[Node], texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        build(top, nodes)
        inside = identities(top / "inside", top / "second")
        for text in texts:
            opened = {reach(top, text, engine) for engine in (Kernel(), Walk())}
            assert len(opened) == 1, (text, opened)
            assert opened <= inside | {None}, text
            assert reach(top, text, Paths()) in inside | {None}


@settings(max_examples=150, deadline=None)
@given(TREES, st.lists(PATHS, min_size=1, max_size=4), st.sampled_from([Kernel(), Walk(), Paths()]))
def test_whatever_is_written_the_outside_stays_as_it_is(
    nodes: list[Node], texts: list[str], engine: Engine
) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        build(top, nodes)
        before = snapshot(top)
        with Places([Grant(str(top / "inside")), Grant(str(top / "second"))], engine=engine) as places:
            for text in texts:
                for change in range(5):
                    try:
                        spot = places.resolve(text.format(top=top))
                        match change:
                            case 0:
                                replace(spot, b"written", durable=False)
                            case 1:
                                spot.mkdir()
                            case 2:
                                os.close(spot.open(os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
                            case 3:
                                spot.rename_to(places.resolve("moved"))
                            case _:
                                spot.unlink()
                    except ToolError:
                        continue
        assert snapshot(top) == before


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.builds("file://{}".format, st.text(max_size=20)))
def test_any_text_is_a_spot_inside_or_a_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as name, Places([Grant(name)]) as places:
        told = ""
        try:
            spot = places.resolve(text)
            assert spot.path == name or spot.path.startswith(f"{name}/")
            spot.exists()
        except ToolError as error:
            told = str(error)
    assert told.isprintable()
