"""What stands in `examples/` runs, and does what it says."""

import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, http
from mcp_server_core.cli.documents import read_section
from mcp_server_core.cli.hosts import HOSTS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FIVE = ["fetch", "filesystem", "memory", "sequential-thinking", "sqlite"]
# A server that `make new` began has entries for hosts at once, and is in no example.
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())


def serve(data: Path) -> "subprocess.Popen[str]":
    """What `make run` starts."""
    return subprocess.Popen(
        [sys.executable, EXAMPLES / "serve.py", "--data", data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_all_five_are_served_from_one_screen_until_ctrl_c(tmp_path: Path) -> None:
    async def names(address: str) -> list[str]:
        revisions = ("2025-11-25", "2026-07-28")
        found: list[str] = []
        for revision in revisions:
            async with Client(http(address), revision=revision) as client:
                found.append(client.server["name"])
        return found

    screen: list[str] = []
    # Somebody has the first port: the server takes another one.
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # taken indeed
            taken.bind(("127.0.0.1", 8001))
        with serve(tmp_path) as process:
            assert process.stdout is not None
            while line := process.stdout.readline():
                screen.append(line)
                if line.startswith("Ctrl-C"):
                    break
            lines = [line.split() for line in screen if "http://127.0.0.1:" in line]
            assert sorted(words[0] for words in lines) == FIVE
            for name, address, keeps, *place in lines:
                assert anyio.run(names, address) == [f"mcp-server-{name}"] * 2
                assert keeps == "keeps"
                assert place == ["nothing"] or place[0].startswith(str(tmp_path))
            assert len(screen) <= 24
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "\nStopping.\n", "")


def test_a_server_that_does_not_start_is_named_and_the_others_end(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    text = (EXAMPLES / "serve.py").read_text(encoding="utf-8")
    assert '["--db-path", str(base)]' in text
    broken.write_text(text.replace('["--db-path", str(base)]', '["--bogus"]'), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, broken, "--data", tmp_path], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sqlite did not start: usage: mcp-server-sqlite ")
    assert done.stderr.endswith("unrecognized arguments: --bogus\n")


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "files").touch()
    with serve(tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err == f"{tmp_path} cannot hold what the servers keep: File exists\n"


@pytest.mark.parametrize("host", HOSTS)
def test_entries_for_each_host_are_printed_on_request(host: str, tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, EXAMPLES / "serve.py", "--data", tmp_path, "--entries", host],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    (_, *documents) = f"\n{said}".split(
        {"json": "\n{\n", "toml": "\n[mcp_servers.", "yaml": "\nextensions:\n"}[HOSTS[host].format]
    )
    assert len(documents) == len(FIVE)


@pytest.mark.parametrize("host", HOSTS)
def test_the_file_of_each_host_starts_every_server(host: str) -> None:
    """That it is as `install` would write it, `make manifests` sees to."""
    format, section = HOSTS[host].format, HOSTS[host].section
    text = (EXAMPLES / "hosts" / f"{host}.{format}").read_text(encoding="utf-8")
    entries: dict[str, Any] = (
        read_section(text, "yaml", section)
        if format == "yaml"
        else (json if format == "json" else tomllib).loads(text)[section]
    )
    started = {
        name: [entry.get("command") or entry.get("cmd"), entry["args"][0]] for name, entry in entries.items()
    }
    assert started == {server: ["uvx", f"mcp-server-{server}"] for server in SERVERS}


@pytest.mark.parametrize("client", ["all_five.py", "official_sdk.py"])
def test_a_client_drives_all_five(client: str) -> None:
    said = subprocess.run(
        [sys.executable, EXAMPLES / client],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    ).stdout
    started = [line.split(",")[0] for line in said.splitlines() if line.startswith("mcp-server-")]
    assert sorted(started) == [f"mcp-server-{server}" for server in FIVE]
    for answer in (
        "Three tits and a wren.</p>",
        "# Birds",
        "counts birds",
        '"thoughtHistoryLength":1',
        "[[4]]",
    ):
        assert answer in said
