"""Two allowed-or-not trees on a real disk, and the three ways of reaching into them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp_server_core.places import Grant, Places
from mcp_server_core.places.walk import Engine, Kernel, Walk
from mcp_server_core.places.windows import Paths

SECRET = b"what lies outside"

Open = Callable[..., Places]


class Trees(NamedTuple):
    inside: Path
    outside: Path


def names(directory: Path) -> list[str]:
    """What is in a directory."""
    return sorted(entry.name for entry in directory.iterdir())


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    """`inside` is to be allowed and holds a few files; `outside` holds the secret."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "sub" / "deep").mkdir(parents=True)
    outside.mkdir()
    (inside / "a.txt").write_bytes(b"a")
    (inside / "sub" / "b.txt").write_bytes(b"b")
    (inside / "sub" / "deep" / "c.txt").write_bytes(b"c")
    (outside / "secret.txt").write_bytes(SECRET)
    return Trees(inside, outside)


@pytest.fixture(params=["openat2", "walk", "paths"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Every way of reaching a file: by the kernel, by components, and as Windows has to."""
    engines: dict[str, Callable[[], Engine]] = {"openat2": Kernel, "walk": Walk, "paths": Paths}
    return engines[request.param]()


@pytest.fixture(params=["openat2", "walk"])
def handle_engine(request: pytest.FixtureRequest) -> Engine:
    """The ways that hold directories open, and so promise more."""
    return Kernel() if request.param == "openat2" else Walk()


@pytest.fixture
def opened() -> Iterator[Open]:
    """Open places over directories, and close them after the test."""
    made: list[Places] = []

    def open_places(*directories: Path | Grant, **options: object) -> Places:
        grants = [d if isinstance(d, Grant) else Grant(str(d)) for d in directories]
        made.append(Places(grants, **options))  # pyright: ignore[reportArgumentType] - passed through
        return made[-1]

    yield open_places
    for places in made:
        places.close()
