"""What is published about each server is made from its manifest, and is not stale."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVERS = sorted(path.name for path in (ROOT / "servers").iterdir() if (path / "pyproject.toml").exists())


def made(server: str, name: str) -> Any:
    return json.loads((ROOT / "servers" / server / name).read_text(encoding="utf-8"))


def test_nothing_is_stale() -> None:
    said = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "manifests.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stdout) == (0, "")


@pytest.mark.parametrize("server", SERVERS)
def test_the_registry_is_told_the_package_and_its_arguments(server: str) -> None:
    entry = made(server, "server.json")
    (package,) = entry["packages"]
    assert entry["name"].endswith(f"/{server}")
    assert package["identifier"] == f"mcp-server-{server}"
    assert package["version"] == entry["version"]
    assert len(entry["description"]) <= 100  # what the registry takes


@pytest.mark.parametrize("server", SERVERS)
def test_a_bundle_asks_for_what_it_passes_on(server: str) -> None:
    manifest = made(server, "mcpb/manifest.json")
    passed = [word for word in manifest["server"]["mcp_config"]["args"] if word.startswith("${user_config.")]
    assert passed == [f"${{user_config.{name}}}" for name in manifest.get("user_config", {})]


@pytest.mark.parametrize("server", SERVERS)
def test_the_container_starts_with_arguments_that_the_server_takes(server: str) -> None:
    """The engine is not needed for that: the entry point is a list of words."""
    text = (ROOT / "servers" / server / "Dockerfile").read_text()
    entry = json.loads(text.partition("ENTRYPOINT ")[2])
    module = f"mcp_server_{server.replace('-', '_')}"
    subprocess.run(
        [sys.executable, "-m", module, *entry[1:], "--help"], check=True, capture_output=True, timeout=60
    )
    assert "USER mcp" in text
