"""The two commands that begin a new server, run for real: outside the repository from a built core, and in a copy of it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio

ROOT = Path(__file__).parents[2]
LIMIT = 300  # seconds; from a warm cache it takes a few
NOT_COPIED = (".git", ".venv", ".tools", ".run", "node_modules", "dist", "results", "*_cache", "__pycache__")
# Each project here has an environment of its own.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}


@pytest.fixture(scope="module")
def uv() -> str:
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.fail("uv was not found: not in $UV and not on the PATH; `pip install uv` helps")
    return found


def run(command: Sequence[str], folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def passed(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def drive(command: Sequence[str], scheme: str) -> list[Any]:
    """A client's errand: count, watch, read."""
    async with Client(stdio(command), revision="2026-07-28") as client:
        await client.call_tool("count", {"name": "birds"})
        async with client.watch(f"{scheme}://things/birds") as changes:
            await client.call_tool("count", {"name": "birds"})
            with anyio.fail_after(20):
                changed = await anext(changes)
        (contents,) = await client.read_resource(f"{scheme}://things/birds")
        return [client.server["name"], changed.uri, contents["text"]]


def test_a_server_is_begun_outside_the_repository_with_nothing_but_the_core(uv: str, tmp_path: Path) -> None:
    dist, project = tmp_path / "dist", tmp_path / "weather"
    # The wheel is built from the source distribution, so both hold the template.
    passed(run([uv, "build", "--quiet", "--package", "mcp-server-core", "--out-dir", str(dist)], ROOT))
    (wheel,) = dist.glob("*.whl")
    python = ["--python", sys.executable]
    new = [uv, "tool", "run", "--isolated", "--quiet", *python, "--from", str(wheel), "mcp-new-server"]
    assert "uv run pytest" in passed(run([*new, "weather"], tmp_path))
    again = run([*new, "weather"], tmp_path)
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    in_project = [uv, "run", "--quiet", *python, "--find-links", str(dist)]
    assert re.search(r"\d\d passed", passed(run([*in_project, "pytest", "-W", "error"], project)))
    command = [*in_project, "--frozen", "--project", str(project), "mcp-server-weather"]
    seen = anyio.run(drive, command, "weather")
    assert seen == ["mcp-server-weather", "weather://things/birds", "2"]
    entry = passed(run([*command, "install", "--host", "cursor", "--print"], project))
    assert "mcp-server-weather" in entry


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository."""
    folder = tmp_path_factory.mktemp("workspace") / "copy"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    return folder


def files_of(workspace: Path) -> dict[str, bytes]:
    kept = (path for path in workspace.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path): path.read_bytes() for path in kept if ".venv" not in path.parts}


@pytest.mark.parametrize("name", ["Weather!", "sqlite", "core", ""])
def test_a_name_that_cannot_be_changes_nothing_in_the_workspace(workspace: Path, name: str) -> None:
    before = files_of(workspace)
    done = run([sys.executable, "scripts/new_server.py", name], workspace)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert files_of(workspace) == before


def test_a_step_that_fails_leaves_the_workspace_as_it_was(workspace: Path) -> None:
    before = files_of(workspace)
    failing = shutil.which("false") or pytest.fail("there is no command that fails")
    done = run([sys.executable, "scripts/new_server.py", "a-brand-new-one"], workspace, UV=failing)
    assert done.returncode == 1
    assert "everything is as it was before" in done.stderr
    assert files_of(workspace) == before


def test_a_server_is_begun_in_the_workspace_and_passes_its_checks_at_once(uv: str, workspace: Path) -> None:
    make = ["make", "--no-print-directory", f"PYTHON={sys.executable}", f"UV={uv}"]
    # A name that sorts before the core's puts its imports out of order: they are sorted anew.
    said = passed(run([*make, "new", "NAME=A_Brand_New_One"], workspace))
    assert "make tests TESTS=servers/a-brand-new-one" in said
    passed(run([*make, "check-format", "lint"], workspace))
    run_in = [uv, "run", "--frozen", "--quiet"]
    passed(run([*run_in, "basedpyright", "--level", "error", "servers/a-brand-new-one"], workspace))
    checks = ["servers/a-brand-new-one", "tests/house/test_docs.py", "tests/house/test_layers.py"]
    checks += ["tests/packaging/test_manifests.py", "-k", "a-brand-new-one or stale", "-n", "2"]
    assert re.search(r"\d\d passed", passed(run([*run_in, "pytest", *checks], workspace)))
    command = [*run_in, "--project", str(workspace), "mcp-server-a-brand-new-one"]
    seen = anyio.run(drive, command, "a-brand-new-one")
    assert seen == ["mcp-server-a-brand-new-one", "a-brand-new-one://things/birds", "2"]


def test_the_template_takes_the_core_that_our_servers_take() -> None:
    def core(project: Path) -> list[str]:
        dependencies = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"][
            "dependencies"
        ]
        return [one for one in dependencies if one.startswith("mcp-server-core")]

    template = ROOT / "shared" / "src" / "mcp_server_core" / "template"
    assert core(template) == core(ROOT / "servers" / "sequential-thinking")
