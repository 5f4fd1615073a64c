"""The seam for systems without directory handles, as far as it can be run elsewhere."""

import os
from pathlib import Path

import pytest
from mcp_server_core.places.refusals import Outside
from mcp_server_core.places.walk import Engine
from mcp_server_core.places.windows import Paths, is_special, path_lineage, plain

from .conftest import SECRET, Open, Trees


@pytest.mark.parametrize(
    "name", ["con", "NUL", "nul.txt", "COM1", "lpt9.log", "aux ", "a:stream", "a.txt:$DATA", "dot.", "space "]
)
def test_a_name_that_windows_reads_as_something_else_is_special(name: str) -> None:
    assert is_special(name)


@pytest.mark.parametrize("name", ["console", "nulls.txt", "com", "com10x", "a.txt", ".hidden", "lpt"])
def test_a_plain_name_is_not_special(name: str) -> None:
    assert not is_special(name)


@pytest.mark.parametrize(
    ("final", "expected"),
    [
        ("\\\\?\\C:\\data\\x", "C:\\data\\x"),
        ("\\\\?\\UNC\\server\\share\\x", "\\\\server\\share\\x"),
        ("C:\\data", "C:\\data"),
    ],
)
def test_a_final_path_is_shown_without_its_prefix(final: str, expected: str) -> None:
    assert plain(final) == expected


def test_a_file_that_was_led_outside_after_the_check_is_closed_untouched(trees: Trees, opened: Open) -> None:
    (trees.outside / "b.txt").write_bytes(SECRET)
    spot = opened(trees.inside, engine=Paths()).resolve("sub/b.txt")
    landing = spot.landing()
    (trees.inside / "sub").rename(trees.inside / "aside")
    (trees.inside / "sub").symlink_to(trees.outside)
    with pytest.raises(Outside):
        landing.open(os.O_RDWR | os.O_TRUNC)
    assert (trees.outside / "b.txt").read_bytes() == SECRET


def test_the_lineage_of_a_path_ends_at_the_root(tmp_path: Path) -> None:
    assert [step.inode for step in path_lineage(str(tmp_path))][-1] == Path("/").stat().st_ino


def test_a_place_that_became_a_link_is_not_entered_again(trees: Trees) -> None:
    engine: Engine = Paths()
    directory = engine.enter(str(trees.inside))
    trees.inside.rename(trees.inside.with_name("moved"))
    trees.inside.symlink_to(trees.outside)
    with pytest.raises(OSError, match="symbolic links"):
        engine.enter_again(directory)
