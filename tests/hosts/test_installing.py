"""`install` and `uninstall` as a user types them: what is written, what is said, and what is left alone."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parents[2]
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())
Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Types a command of a server, as somebody whose home is the test's folder."""

    def type_in(
        *words: str, server: str = "filesystem", env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", f"mcp_server_{server.replace('-', '_')}", *words]
        around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **(env or {})}
        return subprocess.run(
            command, cwd=tmp_path, env=around, capture_output=True, text=True, check=False, timeout=60
        )

    return type_in


@pytest.mark.parametrize("server", SERVERS)
def test_every_server_puts_itself_into_a_host_and_takes_itself_out(
    run: Run, server: str, tmp_path: Path
) -> None:
    said = run("install", "--host", "cursor", server=server)
    assert (said.returncode, said.stderr) == (0, "")
    config = tmp_path / ".cursor" / "mcp.json"
    entry = json.loads(config.read_text())["mcpServers"][server]
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).is_file()
    assert run("uninstall", "--host", "cursor", server=server).returncode == 0
    assert json.loads(config.read_text()) == {"mcpServers": {}}


def test_directories_become_absolute_and_keep_their_rights(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    run(
        "install",
        "--host",
        "claude-code",
        "--env",
        "A=b=c",
        "--name",
        "my files",
        "--",
        "notes:ro",
        "--read-only",
    )
    entry = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["my files"]
    assert entry["args"] == [f"{tmp_path}/notes:ro", "--read-only"]
    assert entry["env"] == {"A": "b=c"}


def test_what_to_do_next_is_said(run: Run) -> None:
    said = run("install", "--host", "claude-desktop").stdout
    assert said.splitlines()[-1] == "Next: Quit Claude Desktop and start it again."


def test_a_project_has_a_file_of_its_own(run: Run, tmp_path: Path) -> None:
    run("install", "--host", "vscode", "--scope", "project")
    assert (
        json.loads((tmp_path / ".vscode" / "mcp.json").read_text())["servers"]["filesystem"]["type"]
        == "stdio"
    )


def test_the_file_as_it_was_is_kept_beside_it_with_its_rights(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "my.json"
    config.write_text('{"mcpServers": {}} // mine')
    config.chmod(0o600)
    run("install", "--host", "cline", "--config", str(config))
    run("uninstall", "--host", "cline", "--config", str(config))
    first, second = sorted(tmp_path.glob("my.json.*.bak"), key=lambda path: path.stat().st_mtime_ns)
    assert first.read_text() == '{"mcpServers": {}} // mine'
    assert '"filesystem"' in second.read_text()
    assert [path.stat().st_mode & 0o777 for path in (config, first, second)] == [0o600] * 3


def test_a_file_that_is_a_link_stays_one(run: Run, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").symlink_to(real)
    run("install", "--host", "cursor")
    assert (tmp_path / ".cursor" / "mcp.json").is_symlink()
    assert "filesystem" in real.read_text()


def test_what_is_installed_already_is_left_alone(run: Run, tmp_path: Path) -> None:
    run("install", "--host", "cursor")
    config = tmp_path / ".cursor" / "mcp.json"
    before = config.stat()
    assert run("install", "--host", "cursor").stdout.startswith("Nothing to do: ")
    after = config.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert list((tmp_path / ".cursor").glob("*.bak")) == []


@pytest.mark.parametrize("text", ['{"mcpServers": {', "[]", '{"mcpServers": 1}'])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_broken_file_is_never_touched(run: Run, tmp_path: Path, text: str, command: str) -> None:
    config = tmp_path / "broken.json"
    config.write_text(text)
    said = run(command, "--host", "cursor", "--config", str(config))
    assert said.returncode == 1
    assert "it was not touched" in said.stderr
    assert (config.read_text(), len(list(tmp_path.iterdir()))) == (text, 1)


def test_a_file_that_is_no_text_is_never_touched(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "binary.json"
    config.write_bytes(b"\xff\xfe{}")
    said = run("install", "--host", "cursor", "--config", str(config))
    assert (said.returncode, "is not UTF-8 text" in said.stderr) == (1, True)
    assert config.read_bytes() == b"\xff\xfe{}"


def test_a_read_only_file_is_refused_with_a_way_out(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "fixed.json"
    config.write_text("{}")
    config.chmod(0o444)
    said = run("install", "--host", "cursor", "--config", str(config))
    assert (said.returncode, "is read-only" in said.stderr, "--print" in said.stderr) == (1, True, True)
    assert config.read_text() == "{}"


def test_an_entry_is_printed_without_writing(run: Run, tmp_path: Path) -> None:
    said = run("install", "--host", "codex", "--print")
    assert said.stdout.startswith("[mcp_servers.filesystem]\ncommand = ")
    assert list(tmp_path.iterdir()) == []


def test_arguments_that_the_server_does_not_take_are_not_installed(run: Run, tmp_path: Path) -> None:
    said = run("install", "--host", "cursor", "--", "--bogus")
    assert (said.returncode, "unrecognized arguments: --bogus" in said.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_started_by_uvx_it_is_uvx_that_the_host_starts(run: Run, tmp_path: Path) -> None:
    """The environment that uvx makes lies in a cache that is tidied up."""
    cache = tmp_path / "archive-v0" / "abc"
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.touch(mode=0o755)
    program = (
        "import sys; sys.prefix = sys.argv.pop(1)\n"
        "from mcp_server_core.cli.install import starting_command\n"
        "print(starting_command('mcp-server-x'))"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, str(cache)],
        env={"UV": str(uvx.with_name("uv")), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"Command(program={str(uvx)!r}, args=['mcp-server-x'], env={{}})\n"
