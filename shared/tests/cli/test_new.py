"""Beginning a new server: names that are taken, names that are not, and nothing half-made."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from mcp_server_core.cli import new
from mcp_server_core.cli.new import create, main, named


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("weather", "weather"),
        (" Weather ", "weather"),
        ("mcp-server-weather", "weather"),
        ("mcp_server_air_quality", "air-quality"),
        ("Air Quality", "air-quality"),
        ("class", "class"),
        ("b2b", "b2b"),
    ],
)
def test_a_name_is_put_into_its_plain_form(typed: str, name: str) -> None:
    assert named(typed).short == name


@pytest.mark.parametrize(
    "typed",
    [
        *("", "Weather!", "../weather", "a/b", "2b", "-a", "a-", "a--b!", "wörter", "a\nb", "x" * 41),
        *("mcp-server-", "core", "mcp-server-core", "file", "http"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_a_sentence(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["--", typed])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith("mcp-new-server: '")
    assert said.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_every_trace_of_the_template_gets_the_name(tmp_path: Path) -> None:
    create(named("my-starter-kit"), tmp_path / "new")
    files = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    names = {path.relative_to(tmp_path / "new").as_posix() for path in files}
    assert {"README.md", "pyproject.toml", "src/mcp_server_my_starter_kit/server.py"} <= names
    text = "\n".join([*names, *(path.read_text("utf-8") for path in files)])
    rest = text.replace("mcp_server_my_starter_kit", "").replace("my-starter-kit", "")
    assert "starter" not in rest.replace("My starter kit", "").lower()


def test_what_an_installer_compiled_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = tmp_path / "template"
    shutil.copytree(new.TEMPLATE, template)
    compiled = template / "src" / "mcp_server_starter" / "__pycache__"
    compiled.mkdir(exist_ok=True)
    (compiled / "server.pyc").write_bytes(b"\xff")
    monkeypatch.setattr(new, "TEMPLATE", template)
    create(named("weather"), tmp_path / "weather")
    assert [*(tmp_path / "weather").rglob("__pycache__")] == []


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "weather").mkdir()
    (tmp_path / "weather" / "notes.md").write_text("mine")
    with pytest.raises(ValueError, match="exists already"):
        create(named("weather"), tmp_path / "weather")
    assert (tmp_path / "weather" / "notes.md").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot be made: Not a directory"):
        create(named("weather"), tmp_path / "file" / "weather")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_nothing_half_made_stays_behind(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def fill_up(path: Path, *arguments: object, **more: object) -> int:
        if path.name == "server.py":
            raise error
        return write(path, *arguments, **more)  # pyright: ignore[reportArgumentType] - passed on as it came

    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises((ValueError, KeyboardInterrupt)):
        create(named("weather"), tmp_path / "weather")
    assert [*tmp_path.iterdir()] == []
