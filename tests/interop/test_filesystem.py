"""Clients that nobody here wrote, at work with the filesystem server over stdio and HTTP."""

import sys
from pathlib import Path

import pytest

from .errand import (
    Answers,
    call,
    complete,
    every_errand_client,
    list_all,
    read,
    run_errand,
    run_program,
    watch,
)
from .foreign import Foreign

TEMPLATE = "file:///{+path}"


def server(*directories: Path | str) -> list[str]:
    return [sys.executable, "-m", "mcp_server_filesystem", *map(str, directories)]


def write_elsewhere(path: Path, text: str) -> list[str]:
    """The command of another process that writes a file."""
    return [sys.executable, "-c", f"import pathlib; pathlib.Path({str(path)!r}).write_text({text!r})"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("print('hello')\n")
    (folder / "notes.txt").write_text("milk\n")
    return folder


@every_errand_client
def test_files_are_found_read_changed_and_watched(foreign: Foreign, folder: Path, tmp_path: Path) -> None:
    notes = folder / "notes.txt"
    steps = [
        list_all("tools"),
        call("search_files", path=str(folder), pattern="**/*.py"),
        call("search_text", path=str(folder), pattern="hello"),
        call("directory_tree", path=str(folder)),
        call("edit_file", path=str(notes), edits=[{"oldText": "milk", "newText": "bread"}]),
        call("read_text_file", path=str(notes)),
        call("read_text_file", path="/etc/passwd"),
        list_all("resources"),
        list_all("templates"),
        read(notes.as_uri()),
        complete(TEMPLATE, "path", f"{str(folder)[1:]}/no"),
        watch(notes.as_uri(), run_program(write_elsewhere(notes, "written by somebody else"))),
    ]
    seen = run_errand(foreign, server(folder), steps, tmp_path)
    assert seen.revision == foreign.revision
    assert len(seen.results[0]["tools"]) == 16
    assert seen.results[1]["structuredContent"] == {
        "matches": [f"{folder}/src/main.py"],
        "truncated": False,
    }
    assert seen.text(2) == f"{folder}/src/main.py:1: print('hello')"
    assert seen.text(3) == "notes.txt\nsrc/\n  main.py"
    assert "+bread" in seen.text(4)
    assert seen.text(5) == "bread\n"
    assert seen.results[6]["isError"]
    assert [item["uri"] for item in seen.results[7]["resources"]] == [folder.as_uri()]
    assert [item["uriTemplate"] for item in seen.results[8]["resourceTemplates"]] == [TEMPLATE]
    assert seen.results[9]["contents"][0]["text"] == "bread\n"
    assert seen.results[10]["completion"]["values"] == [f"{str(notes)[1:]}"]
    assert seen.results[11] == [notes.as_uri()]


@every_errand_client
def test_roots_narrow_what_is_configured_and_grant_where_nothing_is(
    foreign: Foreign, folder: Path, tmp_path: Path
) -> None:
    steps = [
        call("list_allowed_directories"),
        call("list_directory", path=str(folder / "src")),
        call("list_directory", path=str(folder)),
    ]
    roots = Answers(roots=[(folder / "src").as_uri()])
    for name, directories in (("narrowed", [folder]), ("granted", [])):
        place = tmp_path / name
        place.mkdir()
        seen = run_errand(foreign, server(*directories), steps, place, roots)
        assert seen.text(0).startswith(f"{folder / 'src'} (read and write, client root")
        assert seen.text(1) == "[FILE] main.py"
        assert seen.results[2]["isError"]
