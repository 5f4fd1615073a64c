"""The guide to writing a server: what its reader would type works."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio

GUIDE = (Path(__file__).parents[2] / "docs" / "write-a-server.md").read_text("utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the guide, each under the name in its first line."""
    folder = tmp_path_factory.mktemp("tally")
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", GUIDE, re.DOTALL):
        (folder / name).write_text(code, "utf-8")
    return folder


def test_the_guide_has_all_the_files_it_speaks_of(project: Path) -> None:
    names = {"tally", "tools", "resources", "prompts", "export", "server", "test_server"}
    assert {path.stem for path in project.iterdir()} == names


def test_the_tests_of_the_guide_pass(project: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(project)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 passed" in done.stdout, "four tests, five revisions, two event loops"


def test_the_server_of_the_guide_runs_as_a_process_in_both_eras(project: Path) -> None:
    async def talk(revision: Any) -> list[Any]:
        command = [sys.executable, str(project / "server.py")]
        async with Client(stdio(command), revision=revision) as client:
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
