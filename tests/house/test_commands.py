"""Every block in the documents is one that a test understands: commands are taken, entries start what they name."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp_server_core.cli.documents import read_section
from mcp_server_core.cli.hosts import HOSTS, started_by

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page for where in ("*.md", "docs/*.md", "shared/*.md", "servers/*/README.md") for page in ROOT.glob(where)
)
# Their Python is run: by test_docs.py and by test_guide.py. The proxy is started by tests/http/test_nginx.py.
WITH_PYTHON = {"README.md", "shared/README.md", "docs/write-a-server.md"}
WITH_NGINX = {"docs/operations.md"}
DRAWINGS = {"", "mermaid"}
SECTIONS = {host.section for host in HOSTS.values()}
ELSEWHERE = ("export ", "mkdir ", "uv ", "#")  # commands of a shell or of uv, which the guide's reader types


class Block(NamedTuple):
    """What stands between two fences."""

    page: str
    language: str
    text: str


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for language, text in re.findall(
            r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            yield Block(page.relative_to(ROOT).as_posix(), language, text)


def of(*languages: str) -> list[Block]:
    return [block for block in blocks() if block.language in languages]


def lines_of_shell() -> Iterator[str]:
    for block in of("sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith(ELSEWHERE):
                yield line.partition(" #")[0].strip()


def spans() -> Iterator[str]:
    """Commands within a sentence, unless they name a thing to be filled in."""
    for page in PAGES:
        for span in re.findall(
            r"`((?:uvx (?:--from \S+ )?)?mcp-server-[a-z-]+ [^`]+)`", page.read_text("utf-8")
        ):
            if not re.search(r"\b[A-Z]{3,}\b|\.\.\.", span):
                yield span


def entries() -> Iterator[tuple[str, ...]]:
    """What the entries for hosts start, in all three formats."""
    for block in of("json", "toml", "yaml"):
        for section in SECTIONS:
            if section in block.text:
                found: Any = read_section(block.text, block.language, section)  # pyright: ignore[reportArgumentType] - one of the three
                yield from (tuple(started_by(entry).words) for entry in found.values())


COMMANDS = sorted({*(tuple(shlex.split(line)) for line in [*lines_of_shell(), *spans()]), *entries()})


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    checked = {"sh", "json", "toml", "yaml"}
    unknown = [
        f"{block.page}: {block.language}"
        for block in blocks()
        if block.language not in checked | DRAWINGS
        and not (block.language == "python" and block.page in WITH_PYTHON)
        and not (block.language == "nginx" and block.page in WITH_NGINX)
    ]
    assert unknown == []


def test_data_in_the_documents_can_be_read() -> None:
    for block in of("json", "toml"):
        assert isinstance((json if block.language == "json" else tomllib).loads(block.text), dict), block.page


@pytest.mark.parametrize("command", COMMANDS, ids=shlex.join)
def test_a_command_in_the_documents_is_taken(command: tuple[str, ...], tmp_path: Path) -> None:
    match list(command):
        case ["uvx", "--from", "mcp-server-core", "mcp-new-server", name]:
            code = "from mcp_server_core.cli.new import main; main()"
            subprocess.run([sys.executable, "-c", code, name], cwd=tmp_path, check=True, capture_output=True)
            assert (tmp_path / name / "pyproject.toml").is_file()
        case ["uvx", "--from", source, program, *arguments]:
            assert re.fullmatch(rf"{program}\[(pdf|auth)\]", source)
            take(program, arguments, tmp_path)
        case ["uvx", program, *arguments]:
            take(program, arguments, tmp_path)
        case [program, *arguments] if program.startswith("mcp-server-"):
            take(program, arguments, tmp_path)
        case ["make", *words]:
            text = (ROOT / "Makefile").read_text("utf-8")
            for word in words:
                name, _, value = word.partition("=")
                assert f"$({name})" in text or f"$(if $({name})" in text if value else f"\n{name}:" in text, (
                    word
                )
        case ["uv", "run", *_]:
            assert "tally" in command[3]  # the guide's, which test_guide.py starts
        case _:
            pytest.fail(f"no test knows what {command} is")


def take(program: str, arguments: list[str], here: Path) -> None:
    """See that a server takes these arguments, without serving; commands are run, from a home of their own."""
    words = arguments
    if not arguments or arguments[0] not in ("install", "uninstall", "doctor"):
        words = ["install", "--host", "cursor", "--print", "--", *arguments]
    module = program.replace("-", "_")
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=here,
        env={"HOME": str(here), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
