"""From what a caller writes to a spot in an allowed place, or to a sentence that says why not."""

import os
from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import Grant, Refused
from mcp_server_core.places.spelling import is_foreign, path_of_text
from mcp_server_core.places.walk import Engine

from .conftest import Open, Trees

# --- spellings that arrive ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{inside}/sub/b.txt",
        "{inside}//sub/./b.txt",
        "sub/b.txt",
        "./sub/b.txt",
        "sub/../sub/b.txt",
        "{inside}/sub/deep/../b.txt",
        "{inside}/../inside/sub/b.txt",
        "{outside}/../inside/sub/b.txt",
        "nowhere/../sub/b.txt",
        "../inside/sub/b.txt",
        "file://{inside}/sub/b.txt",
        "file://localhost{inside}/%73ub/b%2Etxt",
        "{alias}/sub/b.txt",
        "{shortcut}/b.txt",
    ],
)
def test_every_spelling_of_a_path_inside_reaches_the_file(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path, text: str
) -> None:
    (tmp_path / "alias").symlink_to(trees.inside)
    (tmp_path / "shortcut").symlink_to(trees.inside / "sub")
    places = opened(trees.inside, engine=engine)
    names = {"alias": tmp_path / "alias", "shortcut": tmp_path / "shortcut", **trees._asdict()}
    assert places.resolve(text.format(**names)).read_bytes(10) == b"b"


def test_a_place_that_was_named_by_a_link_is_reached_by_its_real_path(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(trees.inside)
    places = opened(tmp_path / "alias", engine=engine)
    assert places.resolve(f"{trees.inside}/a.txt").read_bytes(10) == b"a"


def test_a_spot_is_shown_in_the_spelling_of_its_place(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(trees.inside)
    places = opened(tmp_path / "alias", engine=engine)
    assert places.resolve(f"{trees.inside}/a.txt").path == f"{tmp_path}/alias/a.txt"


def test_a_tilde_is_the_home_of_the_user(
    trees: Trees, opened: Open, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(trees.inside))
    assert opened(trees.inside, engine=engine).resolve("~/a.txt").read_bytes(10) == b"a"


def test_a_name_that_begins_with_a_tilde_is_a_name(trees: Trees, opened: Open, engine: Engine) -> None:
    (trees.inside / "~root").write_bytes(b"mine")
    assert opened(trees.inside, engine=engine).resolve("~root").read_bytes(10) == b"mine"


def test_a_name_that_is_no_utf8_is_reached_by_its_uri(trees: Trees, opened: Open, engine: Engine) -> None:
    Path(os.fsdecode(os.fsencode(trees.inside) + b"/\xff.txt")).write_bytes(b"raw")
    assert (
        opened(trees.inside, engine=engine).resolve(f"file://{trees.inside}/%FF.txt").read_bytes(10) == b"raw"
    )


def test_a_relative_path_means_the_place_where_it_exists(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "only.txt").write_bytes(b"2")
    places = opened(trees.inside, tmp_path / "second", engine=engine)
    assert places.resolve("only.txt").path == f"{tmp_path}/second/only.txt"


def test_a_relative_path_that_exists_nowhere_means_the_first_place(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    places = opened(trees.inside, tmp_path / "second", engine=engine)
    assert places.resolve("new.txt").path == f"{trees.inside}/new.txt"


def test_the_innermost_of_two_nested_places_is_chosen(trees: Trees, opened: Open, engine: Engine) -> None:
    places = opened(trees.inside, Grant(f"{trees.inside}/sub", writable=False), engine=engine)
    assert places.resolve(f"{trees.inside}/sub/b.txt").place.writable is False


# --- spellings that do not ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{outside}/secret.txt",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "{inside}/../outside/secret.txt",
        "{inside}_evil/secret.txt",
        "file://{outside}/secret.txt",
        "file://{inside}/%2e%2e/outside/secret.txt",
        "/etc/passwd",
        "/",
        "/proc/self/environ",
        "/proc/self/root{outside}/secret.txt",
        "/dev/fd/0",
    ],
)
def test_a_path_outside_is_refused_with_the_allowed_directories(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path, text: str
) -> None:
    (tmp_path / "inside_evil").symlink_to(trees.outside)
    places = opened(trees.inside, engine=engine)
    given = text.format(**trees._asdict())
    with pytest.raises(Refused) as refusal:
        places.resolve(given)
    assert str(refusal.value) == (
        f"'{given}' is outside the allowed directories ({trees.inside}): use a path inside one of them."
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "The path is empty"),
        ("a\0b", "holds a NUL byte"),
        ("a\ud800b", "is not valid Unicode"),
        ("file:///a%00b", "holds a NUL byte"),
        ("file://elsewhere/a", "names another computer"),
        ("https://example.com/a", "is not a file: URI"),
        ("C:\\Users\\me", "is a path of Windows"),
        ("c:/Users/me", "is a path of Windows"),
        ("\\\\server\\share", "is a path of Windows"),
        ("x" * 40_000, "is too long a path"),
    ],
)
def test_text_that_is_no_path_here_is_refused(
    trees: Trees, opened: Open, engine: Engine, text: str, told: str
) -> None:
    with pytest.raises(ToolError, match=told):
        opened(trees.inside, engine=engine).resolve(text)


@pytest.mark.parametrize("text", ["x" * 300, "d/" * 3000 + "x"])
def test_a_name_too_long_for_the_disk_is_refused(
    trees: Trees, opened: Open, engine: Engine, text: str
) -> None:
    with pytest.raises(ToolError, match=r"too long|does not exist"):
        opened(trees.inside, engine=engine).resolve(text).open()


def test_a_path_of_another_system_is_refused_with_the_form_that_works_here(
    trees: Trees, opened: Open
) -> None:
    with pytest.raises(ToolError) as refusal:
        opened(trees.inside).resolve("C:\\notes\\a.txt")
    assert str(refusal.value) == (
        f"'C:\\notes\\a.txt' is a path of Windows: here paths look like '{trees.inside}/file.txt'."
    )


@pytest.mark.parametrize(
    ("text", "windows", "foreign"),
    [("/home/u", True, True), ("C:\\x", True, False), ("notes", True, False), ("c:notes", False, False)],
)
def test_what_counts_as_foreign_depends_on_the_system(text: str, windows: bool, foreign: bool) -> None:
    assert is_foreign(text, windows=windows) is foreign


def test_on_windows_a_uri_with_a_drive_is_a_path() -> None:
    assert path_of_text("file:///c%3A/a%20b", example="C:\\x", windows=True) == "c:\\a b"


def test_going_up_from_a_link_is_refused(trees: Trees, opened: Open, engine: Engine) -> None:
    (trees.inside / "link").symlink_to("sub/deep")
    with pytest.raises(ToolError, match="goes up from a link"):
        opened(trees.inside, engine=engine).resolve("link/../a.txt")


def test_a_refusal_shows_no_control_characters(trees: Trees, opened: Open) -> None:
    with pytest.raises(ToolError) as refusal:
        opened(trees.inside).resolve("/\x1b[31m\n")
    assert str(refusal.value).startswith(r"'/\x1b[31m\n' is outside")


# --- links ----------------------------------------------------------------------------------------------------------


def test_a_relative_link_inside_is_followed(trees: Trees, opened: Open, engine: Engine) -> None:
    (trees.inside / "sub" / "up").symlink_to("../a.txt")
    assert opened(trees.inside, engine=engine).resolve("sub/up").read_bytes(10) == b"a"


def test_an_absolute_link_inside_is_followed(trees: Trees, opened: Open, engine: Engine) -> None:
    (trees.inside / "abs").symlink_to(trees.inside / "sub")
    assert opened(trees.inside, engine=engine).resolve("abs/deep/c.txt").read_bytes(10) == b"c"


@pytest.mark.parametrize("target", ["{second}", "../second"])
def test_a_link_into_another_allowed_place_is_followed(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path, target: str
) -> None:
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "x").write_bytes(b"2")
    (trees.inside / "across").symlink_to(target.format(second=tmp_path / "second"))
    assert opened(trees.inside, tmp_path / "second", engine=engine).resolve("across/x").read_bytes(10) == b"2"


@pytest.mark.parametrize(
    "target",
    ["{outside}", "../outside", "../../../../../../../../../../../../..{outside}", "sub/../../outside"],
)
@pytest.mark.parametrize("text", ["out/secret.txt", "out/gone.txt"])
def test_a_link_that_leaves_is_refused_without_its_target(
    trees: Trees, opened: Open, engine: Engine, target: str, text: str
) -> None:
    (trees.inside / "out").symlink_to(target.format(outside=trees.outside))
    places = opened(trees.inside, engine=engine)
    with pytest.raises(Refused) as refusal:
        places.resolve(text).open()
    assert str(refusal.value) == (
        f"'{text}' is outside the allowed directories ({trees.inside}): use a path inside one of them."
    )


def test_links_that_lead_in_a_circle_are_refused(trees: Trees, opened: Open, handle_engine: Engine) -> None:
    (trees.inside / "one").symlink_to("two")
    (trees.inside / "two").symlink_to(trees.inside / "one")
    with pytest.raises(ToolError, match="too many links"):
        opened(trees.inside, engine=handle_engine).resolve("one").open()


@pytest.mark.parametrize(
    "target", ["/proc/self/cwd", "/proc/self/root/etc/passwd", "/proc/self/fd/0", "/dev/stdin"]
)
def test_magic_links_lead_nowhere(trees: Trees, opened: Open, engine: Engine, target: str) -> None:
    (trees.inside / "magic").symlink_to(target)
    with pytest.raises(ToolError):
        opened(trees.inside, engine=engine).resolve("magic").open()


def test_a_magic_link_does_not_leave_even_a_place_that_is_proc(opened: Open, handle_engine: Engine) -> None:
    places = opened(Path("/proc/self"), engine=handle_engine)
    with pytest.raises(ToolError):
        places.resolve("/proc/self/root/etc/passwd").open()


# --- directories that are exchanged ---------------------------------------------------------------------------------


def test_a_place_survives_being_renamed(trees: Trees, opened: Open, handle_engine: Engine) -> None:
    places = opened(trees.inside, engine=handle_engine)
    trees.inside.rename(trees.inside.with_name("moved"))
    assert places.resolve("a.txt").read_bytes(10) == b"a"


def test_a_place_that_was_deleted_and_made_again_is_opened_again(
    trees: Trees, opened: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "again").mkdir()
    places = opened(tmp_path / "again", engine=engine)
    (tmp_path / "again").rmdir()
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "new").write_bytes(b"new")
    assert places.resolve("new").read_bytes(10) == b"new"


def test_a_link_in_the_stead_of_a_place_is_not_followed(
    trees: Trees, opened: Open, handle_engine: Engine
) -> None:
    places = opened(trees.inside, engine=handle_engine)
    trees.inside.rename(trees.inside.with_name("moved"))
    trees.inside.symlink_to(trees.outside)
    with pytest.raises(ToolError, match="does not exist"):
        places.resolve(f"{trees.inside}/secret.txt").open()


def test_a_spot_of_places_that_were_closed_refuses(trees: Trees, opened: Open, engine: Engine) -> None:
    places = opened(trees.inside, engine=engine)
    spot = places.resolve("a.txt")
    places.close()
    with pytest.raises(Refused, match="no longer in an allowed directory"):
        spot.open()
