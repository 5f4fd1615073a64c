"""The guide to writing a server: what its reader would type works, and is what the template makes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.cli.new import create, named

GUIDE = (Path(__file__).parents[2] / "docs" / "write-a-server.md").read_text("utf-8")
FILES = dict(re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the guide, each under the name in its first line, and nothing else."""
    folder = tmp_path_factory.mktemp("tally")
    for name, code in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, "utf-8")
    return folder


@pytest.fixture
def environment(project: Path) -> dict[str, str]:
    """Where the project's package is found without being installed."""
    return {**os.environ, "PYTHONPATH": str(project / "src")}


def test_the_guide_shows_the_files_that_its_command_makes(tmp_path: Path) -> None:
    create(named("tally"), tmp_path / "tally")
    made = {
        path.relative_to(tmp_path / "tally").as_posix(): path.read_text("utf-8")
        for path in (tmp_path / "tally").rglob("*")
        if path.is_file()
    }
    assert {
        name: text for name, text in made.items() if Path(name).name not in ("README.md", "py.typed")
    } == FILES


def test_the_tests_of_the_guide_pass(project: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(project)]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "67 passed" in done.stdout, (
        "three of the domain; six, five revisions, two event loops; two processes, twice"
    )


def test_the_server_of_the_guide_runs_as_a_process_in_both_eras(environment: dict[str, str]) -> None:
    async def talk(revision: Any) -> list[Any]:
        command = [sys.executable, "-m", "mcp_server_tally"]
        async with Client(stdio(command, env=environment), revision=revision) as client:
            await client.call_tool("count", {"name": "birds"})
            names = await client.complete(
                {"type": "ref/resource", "uri": "tally://things/{name}"}, "name", "b"
            )
            got = await client.get_prompt("count_in_text", {"text": "Two birds."})
            return [
                [tool["name"] for tool in await client.list_tools()],
                names,
                "Two birds." in got["messages"][0]["content"]["text"],
            ]

    for revision in ("2025-11-25", "2026-07-28"):
        assert anyio.run(talk, revision) == [["count", "how_many", "export_tally"], ["birds"], True]


def test_the_entry_for_a_host_is_json() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    assert json.loads(block)["mcpServers"]["tally"]["command"] == "uv"
