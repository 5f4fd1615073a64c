"""`install` and `uninstall` as a user types them: what is written, what is said, and what is left alone."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest
from mcp_server_core.cli.documents import read_section
from mcp_server_core.cli.hosts import HOSTS

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


@pytest.mark.parametrize(
    ("server", "given", "written"),
    [
        # It need not be there yet: the host starts the server from somewhere else all the same.
        ("sqlite", ["--db-path", "new.db:ro"], ["--db-path", "{here}/new.db:ro"]),
        ("sqlite", ["--db-path=new.db", "--timeout", "3"], ["--db-path={here}/new.db", "--timeout", "3"]),
        ("sqlite", ["--db", "../new.db"], ["--db", "{here}/../new.db"]),
        ("memory", ["--store", "~/m.db", "later:rw"], ["--store", "{here}/m.db", "{here}/later:rw"]),
        ("filesystem", ["--tools", "notes", "notes"], ["--tools", "notes", "{here}/notes"]),
        ("filesystem", ["${workspaceFolder}", "$HOME/x"], ["${workspaceFolder}", "$HOME/x"]),
        ("filesystem", ["a b", 'q"', "back\\slash"], ["{here}/a b", '{here}/q"', "{here}/back\\slash"]),
        (
            "fetch",
            ["--user-agent", "FILE x", "--allow-host", "h:1"],
            ["--user-agent", "FILE x", "--allow-host", "h:1"],
        ),
    ],
)
def test_paths_are_written_as_they_mean_the_same_from_anywhere(
    run: Run, tmp_path: Path, server: str, given: list[str], written: list[str]
) -> None:
    (tmp_path / "notes").mkdir()
    said = run("install", "--host", "gemini", "--print", "--", *given, server=server)
    args = json.loads(said.stdout)["mcpServers"][server]["args"]
    assert args == [word.replace("{here}", str(tmp_path)) for word in written]


def test_the_entry_that_gives_way_is_named(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "my.json"
    theirs = {
        "command": "npx",
        "args": ["-y", "server-filesystem", "secret"],
        "env": {"A": "b"},
        "disabled": True,
    }
    config.write_text(json.dumps({"mcpServers": {"filesystem": theirs}}))
    said = run("install", "--host", "cursor", "--config", str(config), "--", "notes").stdout
    assert "Before, an entry of that name started: npx -y server-filesystem ...\n" in said
    entry = json.loads(config.read_text())["mcpServers"]["filesystem"]
    assert (entry["env"], entry["disabled"], entry["args"]) == ({"A": "b"}, True, [f"{tmp_path}/notes"])


def test_marks_and_newlines_of_windows_come_back_as_they_were(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "my.json"
    config.write_bytes(before := b'\xef\xbb\xbf{\r\n\t"a": 1 // mine\r\n}\r\n')
    run("install", "--host", "cursor", "--config", str(config))
    during = config.read_bytes()
    assert during.startswith(b"\xef\xbb\xbf{\r\n")
    assert during.count(b"\n") == during.count(b"\r\n") > 5
    run("uninstall", "--host", "cursor", "--config", str(config))
    assert config.read_bytes() == before


@pytest.mark.parametrize("host", ["cursor", "codex", "goose"])
def test_servers_that_install_themselves_at_once_are_all_there(tmp_path: Path, host: str) -> None:
    config = tmp_path / "all"
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                f"mcp_server_{server.replace('-', '_')}",
                "install",
                "--host",
                host,
                "--config",
                str(config),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for server in SERVERS
    ]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(SERVERS), said
    format, section = HOSTS[host].format, HOSTS[host].section
    assert sorted(read_section(config.read_text(), format, section)) == SERVERS


def test_a_killed_installation_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    config = tmp_path / "my.json"
    old = json.dumps({"mcpServers": {"other": {"command": "x" * 1000}}})
    command = [
        sys.executable,
        "-m",
        "mcp_server_memory",
        "install",
        "--host",
        "cursor",
        "--config",
        str(config),
    ]
    for milliseconds in range(0, 600, 50):
        config.write_text(old)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(milliseconds / 1000)
            process.kill()
        assert config.read_text() == old or sorted(json.loads(config.read_text())["mcpServers"]) == [
            "memory",
            "other",
        ]


def test_a_new_file_is_for_its_owner_alone(run: Run, tmp_path: Path) -> None:
    """Variables of an entry are often secrets."""
    run("install", "--host", "cursor", "--env", "TOKEN=secret")
    assert (tmp_path / ".cursor" / "mcp.json").stat().st_mode & 0o777 == 0o600


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


BROKEN = {
    "cursor": [
        '{"mcpServers": {',
        "[]",
        '{"mcpServers": 1}',
        '{"mcpServers": []}',
        "{'a': 1}",
        "/* open",
        "\0",
    ],
    "codex": ["[mcp_servers\n", "mcp_servers = 1", "[[mcp_servers]]\nx = 1\n", "a = 1\na = 2\n"],
    "goose": ["extensions: [1,\n {", "extensions: [1]", "- 1", "a: 1\n---\nb: 1\n", "a:\t1", "a: 1\na: 2"],
}


@pytest.mark.parametrize(("host", "text"), [(host, text) for host in BROKEN for text in BROKEN[host]])
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_broken_file_is_never_touched(run: Run, tmp_path: Path, host: str, text: str, command: str) -> None:
    config = tmp_path / "broken"
    config.write_text(text)
    said = run(command, "--host", host, "--config", str(config))
    assert said.returncode == 1
    assert "it was not touched" in said.stderr
    assert (config.read_text(), len(list(tmp_path.iterdir()))) == (text, 1)


def test_a_file_that_is_no_text_is_never_touched(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "binary.json"
    config.write_bytes(b"\xff\xfe{}")
    said = run("install", "--host", "cursor", "--config", str(config))
    assert (said.returncode, "is not UTF-8 text" in said.stderr) == (1, True)
    assert config.read_bytes() == b"\xff\xfe{}"


def test_what_is_no_file_is_never_touched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for name, reason in [
        ("folder", "is not a file"),
        ("file/x.json", "cannot be read: Not a directory"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
    ]:
        said = run("install", "--host", "cursor", "--config", name)
        assert (said.returncode, said.stderr) == (1, f"{tmp_path}/{name} {reason}.\n")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_link_to_a_file_that_is_not_there_yet_stays_a_link(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.json").symlink_to("dotfiles.json")
    run("install", "--host", "cursor", "--config", "my.json")
    assert (tmp_path / "my.json").is_symlink()
    assert "filesystem" in (tmp_path / "dotfiles.json").read_text()


def test_names_that_cannot_be_shown_are_refused(run: Run, tmp_path: Path) -> None:
    assert [run("install", "--host", "cursor", "--name", name).returncode for name in ("", " ", "a\nb")] == [
        2
    ] * 3
    assert list(tmp_path.iterdir()) == []


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


STARTING = (
    "import sys; sys.prefix = sys.argv.pop(1)\n"
    "from mcp_server_core.cli.install import Fleeting, starting_command\n"
    "try: print(*starting_command('mcp-server-x').words)\n"
    "except Fleeting as error: print(error)"
)


def test_from_a_cache_it_is_uvx_that_the_host_starts(tmp_path: Path) -> None:
    """The environment that uvx makes lies in a cache that is tidied up, and says so by a file that caches have."""
    cache = tmp_path / "cache" / "archive-v0" / "abc"
    cache.mkdir(parents=True)
    (tmp_path / "cache" / "CACHEDIR.TAG").touch()
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.touch(mode=0o755)

    def say(**env: str) -> str:
        command = [sys.executable, "-c", STARTING, str(cache)]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert say(UV=str(uvx.with_name("uv")), PATH="") == f"{uvx} mcp-server-x\n"
    assert say(PATH=str(uvx.parent)) == f"{uvx} mcp-server-x\n"
    assert "uvx was not found: run `uv tool install mcp-server-x`" in say(PATH="")


def test_an_environment_of_ones_own_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "CACHEDIR.TAG").touch()  # uv puts one into each environment it makes
    command = [sys.executable, "-c", STARTING, str(tmp_path)]
    said = subprocess.run(command, env={"PATH": ""}, capture_output=True, text=True, check=True).stdout
    assert said == f"{sys.executable} -m mcp_server_x\n"
