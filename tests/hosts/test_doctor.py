"""`doctor` tells apart what can be wrong, and says what to do about each."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

GOOD = [sys.executable, "-m", "mcp_server_memory"]
Doctor: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    """Asks the doctor of the memory server, as somebody whose home is the test's folder."""

    def ask(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*GOOD, "doctor", *words],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )

    return ask


@pytest.fixture
def entry(tmp_path: Path) -> Callable[..., None]:
    """Writes an entry of the memory server into the configuration of Cursor."""

    def write(command: str, *args: str, **more: Any) -> None:
        config = tmp_path / ".cursor" / "mcp.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"mcpServers": {"memory": {"command": command, "args": args, **more}}}))

    return write


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


Write: TypeAlias = Callable[..., None]


def test_a_good_entry_is_spoken_to_in_both_eras(doctor: Doctor, entry: Write) -> None:
    entry(*GOOD)
    said = doctor()
    assert (said.returncode, said.stderr) == (0, "")
    assert "Cursor: memory in " in said.stdout
    assert "ok    revision 2025-11-25: mcp-server-memory 0.1.0, " in said.stdout
    assert "ok    revision 2026-07-28: mcp-server-memory 0.1.0, " in said.stdout
    assert said.stdout.endswith("All is well.\n")


def test_without_an_entry_it_examines_this_installation(doctor: Doctor) -> None:
    said = doctor()
    assert said.stdout.startswith("This installation: mcp-server-memory\n")
    assert said.returncode == 0


def test_a_host_without_an_entry_is_told_how_to_get_one(doctor: Doctor) -> None:
    said = doctor("--host", "zed")
    assert said.returncode == 1
    assert "no entry starts mcp-server-memory" in said.stdout
    assert "mcp-server-memory install --host zed" in said.stdout


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        (["no-such-program"], "command not found: no-such-program is not on the PATH"),
        (["/gone/bin/uvx", "mcp-server-memory"], "entry is stale: /gone/bin/uvx is no longer there"),
        ([*GOOD, "--token-file", "/gone/tokens"], "directory missing: /gone"),
        ([sys.executable, "-m", "mcp_server_nowhere"], "import error: "),
        ([sys.executable, "-c", "import mcp_server_nowhere"], "import error: ModuleNotFoundError"),
        (
            [sys.executable, "-c", "raise SystemExit('out of luck')"],
            "ends before it has answered: out of luck",
        ),
    ],
)
def test_what_is_wrong_is_named(doctor: Doctor, entry: Write, command: list[str], seen: str) -> None:
    entry(*command)
    said = doctor("--host", "cursor")
    assert said.returncode == 1
    assert f"WRONG {seen}" in said.stdout
    assert "        -> " in said.stdout


def test_an_old_python_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    old = Path(script(tmp_path, "echo 3 9")).rename(tmp_path / "python3.9")
    entry(str(old), "-m", "mcp_server_memory")
    assert "WRONG wrong Python: " in doctor().stdout


def test_a_python_that_is_gone_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    """What is left of an environment whose Python was removed: the script is there, its first line leads nowhere."""
    program = Path(script(tmp_path, ""))
    program.write_text("#!/gone/bin/python3 -E\nimport mcp_server_memory\n")
    entry(str(program))
    assert (
        f"WRONG wrong Python: /gone/bin/python3 -E, which {program} runs by, is not there" in doctor().stdout
    )


@pytest.mark.parametrize(("text", "mode"), [("no program", 0o755), ("#!/bin/sh", 0o644)])
def test_a_file_that_is_no_program_is_named(
    doctor: Doctor, entry: Write, tmp_path: Path, text: str, mode: int
) -> None:
    program = tmp_path / "program"
    program.write_text(text)
    program.chmod(mode)
    entry(str(program))
    said = doctor()
    assert (said.returncode, said.stderr) == (1, "")
    assert f"WRONG command cannot be run: {program}" in said.stdout


@pytest.mark.parametrize(
    "text", ['echo "no access for $TOKEN" >&2; exit 3', 'echo "no access for $TOKEN"; exit 3']
)
def test_a_secret_of_the_entry_is_not_shown(doctor: Doctor, entry: Write, tmp_path: Path, text: str) -> None:
    entry(script(tmp_path, text), env={"TOKEN": "hunter2!"})
    said = doctor()
    assert (said.returncode, said.stderr) == (1, "")
    assert "no access for $TOKEN" in said.stdout
    assert "hunter2" not in said.stdout


def test_another_server_under_the_name_is_named(doctor: Doctor, entry: Write) -> None:
    """There are several servers called memory, and a package index may have one that is not ours."""
    entry(sys.executable, "-m", "mcp_server_sequential_thinking")
    said = doctor()
    assert said.returncode == 1
    assert (
        "WRONG another server answers: revision 2025-11-25: mcp-server-sequential-thinking 0.1.0"
        in said.stdout
    )


def test_what_a_server_complains_of_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    """It answers all the same, and every call would fail."""
    entry(*GOOD, "--store", str(tmp_path))
    said = doctor()
    assert (said.returncode, said.stderr) == (1, "")
    assert "WRONG complains: ERROR mcp_server_memory: the memory could not be opened" in said.stdout


@pytest.mark.parametrize("switch", [{"disabled": True}, {"enabled": False}])
def test_an_entry_that_is_switched_off_is_named(
    doctor: Doctor, entry: Write, switch: dict[str, bool]
) -> None:
    entry(*GOOD, **switch)
    said = doctor()
    assert (said.returncode, "WRONG the entry is switched off" in said.stdout) == (1, True)


def test_an_entry_that_starts_nothing_is_named(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "my.json").write_text('{"mcpServers": {"memory": {"url": "http://127.0.0.1:9/mcp"}}}')
    assert "WRONG the entry starts no program" in doctor("--host", "cursor", "--config", "my.json").stdout


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["--bogus"], "error: unrecognized arguments: --bogus"),
        (["--transport", "http", "--port", "abc"], "argument --port: 'abc' is not a number from 0 to 65535"),
    ],
)
def test_arguments_that_the_server_does_not_take_are_named(
    doctor: Doctor, entry: Write, arguments: list[str], seen: str
) -> None:
    entry(*GOOD, *arguments)
    said = doctor()
    assert (said.returncode, said.stderr) == (1, "")
    assert "WRONG ends before it has answered: " in said.stdout
    assert seen in said.stdout


def test_a_word_on_standard_output_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    entry(script(tmp_path, f"echo Welcome!; exec {' '.join(GOOD)}"))
    assert "WRONG standard output is polluted: 'Welcome!' is not a message" in doctor().stdout


def test_variables_of_the_entry_are_passed_on(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    entry(script(tmp_path, 'test "$SECRET" = 42 && exec ' + " ".join(GOOD)), env={"SECRET": "42"})
    assert doctor().returncode == 0


def test_a_broken_file_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    entry(*GOOD)
    (tmp_path / ".cursor" / "mcp.json").write_text("{")
    said = doctor()
    assert (said.returncode, "WRONG cannot be read: line 1" in said.stdout) == (1, True)


def test_a_port_that_is_taken_in_the_meantime_is_named(doctor: Doctor, entry: Write, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        # The doctor does not see this port: it is the program that names it.
        entry(
            script(tmp_path, f'exec {" ".join(GOOD)} "$@" --port {port}'),
            "--transport",
            "http",
            "--port",
            "0",
        )
        said = doctor("--host", "cursor")
    assert (said.returncode, "WRONG port taken: mcp-server-memory: cannot listen on" in said.stdout) == (
        1,
        True,
    )


def test_a_port_that_is_taken_is_named(doctor: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = doctor("--", "--transport", "http", "--port", str(port))
    assert (said.returncode, f"WRONG port taken: 127.0.0.1:{port}" in said.stdout) == (1, True)


def test_over_http_it_is_spoken_to_as_well(doctor: Doctor) -> None:
    said = doctor("--", "--transport", "http", "--port", "0")
    assert said.returncode == 0, said.stdout
    assert "ok    revision 2026-07-28: mcp-server-memory 0.1.0, " in said.stdout
