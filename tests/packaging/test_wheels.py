"""What `uvx` does: each server built to files, installed from those alone with everything resolved afresh, and started.

No lock file and no workspace take part. The dependencies come from the package index, by name.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Client, stdio

ROOT = Path(__file__).parents[2]
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())
LIMIT = 300  # seconds; from a warm cache it takes a few


@pytest.fixture(scope="module")
def uv() -> str:
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.fail("uv was not found: not in $UV and not on the PATH; `pip install uv` helps")
    return found


@pytest.fixture(scope="module")
def built(uv: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of every package."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [uv, "build", "--quiet", "--all-packages", "--out-dir", str(folder)],
        cwd=ROOT,
        check=True,
        timeout=LIMIT,
    )
    return folder


def wheel(built: Path, server: str) -> Path:
    (found,) = built.glob(f"mcp_server_{server.replace('-', '_')}-*.whl")
    return found


@pytest.mark.parametrize("server", SERVERS)
def test_a_built_server_starts_with_dependencies_resolved_afresh(
    uv: str, built: Path, server: str, tmp_path: Path
) -> None:
    command = [uv, "tool", "run", "--quiet", "--isolated", "--python", sys.executable]
    command += ["--find-links", str(built), "--from", str(wheel(built, server)), f"mcp-server-{server}"]
    said = subprocess.run(
        [*command, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith(f"usage: mcp-server-{server} ")
    environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "UV_CACHE_DIR": _cache(uv)}

    async def list_tools() -> tuple[str, int]:
        async with Client(stdio(command, env=environment, cwd=tmp_path)) as client:
            return client.server["name"], len(await client.list_tools())

    name, count = anyio.run(list_tools)
    assert name == f"mcp-server-{server}"
    assert count > 0


def _cache(uv: str) -> str:
    """Where packages lie already; it would be looked for in the test's own home."""
    return subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("server", SERVERS)
def test_a_wheel_holds_the_server_with_its_types_and_nothing_else(built: Path, server: str) -> None:
    package = f"mcp_server_{server.replace('-', '_')}"
    names = zipfile.ZipFile(wheel(built, server)).namelist()
    assert f"{package}/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {package}


@pytest.mark.parametrize("server", SERVERS)
def test_a_source_distribution_holds_the_tests_that_travel_with_it(built: Path, server: str) -> None:
    (archive,) = built.glob(f"mcp_server_{server.replace('-', '_')}-*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"README.md", "pyproject.toml", "tests"} <= {name.split("/")[0] for name in names}
