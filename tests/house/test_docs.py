"""What the documents say is true: their code runs, their tables list what is there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_server_core
import pytest
from mcp_server_core import Client, stdio

ROOT = Path(__file__).parents[2]
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())


def code_blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)


def module_of(server: str) -> str:
    return f"mcp_server_{server.replace('-', '_')}"


def test_the_server_in_the_readme_is_the_example_in_the_repository() -> None:
    (block,) = code_blocks(ROOT / "README.md", "python")
    example = (ROOT / "examples" / "hello.py").read_text(encoding="utf-8")
    assert example.split('"""\n\n', 1)[1] == block


def test_the_ten_line_server_greets() -> None:
    async def talk() -> Any:
        async with Client(stdio([sys.executable, str(ROOT / "examples" / "hello.py")])) as client:
            return await client.call_tool("greet", {"name": "Ada"})

    assert anyio.run(talk)["content"] == [{"type": "text", "text": "Hello, Ada!"}]


def test_the_server_and_its_test_in_the_core_readme_work_together() -> None:
    server, test = code_blocks(ROOT / "shared" / "README.md", "python")
    # A name of its own, so that the block's `if __name__ == "__main__"` stays asleep.
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(server, "README.md", "exec"), names)
    exec(compile(test, "README.md", "exec"), names)
    anyio.run(names["check_deleting"])
    assert names["build"]().name == "notes"


@pytest.mark.parametrize("server", SERVERS)
def test_the_tool_table_of_a_server_lists_what_it_offers(server: str, tmp_path: Path) -> None:
    arguments = [str(tmp_path)] if server == "filesystem" else []
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}  # where a server keeps what is the user's

    async def ask() -> list[tuple[str, str]]:
        command = [sys.executable, "-m", module_of(server), *arguments]
        async with Client(stdio(command, env=home)) as client:
            return [(tool["name"], tool["description"]) for tool in await client.list_tools()]

    text = (ROOT / "servers" / server / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE) == anyio.run(ask)


@pytest.mark.parametrize("server", SERVERS)
def test_the_help_of_a_server_fits_a_screen(server: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", module_of(server), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "100", "PATH": ""},
    ).stdout
    assert len(shown.splitlines()) <= 40


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_says_its_version(server: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", module_of(server), "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert shown == f"mcp-server-{server} 0.1.0\n"


def test_every_public_name_can_be_loaded() -> None:
    assert [name for name in mcp_server_core.__all__ if getattr(mcp_server_core, name, None) is None] == []


def test_links_in_the_documents_lead_somewhere() -> None:
    broken: list[str] = []
    pages = [
        page for where in ("*.md", "shared/*.md", "servers/*/*.md", "docs/*.md") for page in ROOT.glob(where)
    ]
    for document in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if "://" not in target and not (document.parent / target).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert broken == []


def test_make_run_shows_both_eras_on_one_screen() -> None:
    shown = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "show.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert "revision 2025-11-25" in shown
    assert "revision 2026-07-28" in shown
    assert shown.count("<-- notifications/resources/updated") == 2
    assert len(shown.splitlines()) <= 40
