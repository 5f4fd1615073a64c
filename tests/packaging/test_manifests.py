"""What is published about each server is made from its manifest, and is not stale."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

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


TEXT = {"type": "string", "minLength": 1}
EXACT = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}  # the registry takes no ranges
INPUT = {
    "description": TEXT,
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "isRequired": {"const": True},
    "isSecret": {"type": "boolean"},
}
# What the registry takes of its schema of 2025-12-11, and of that only what these servers need: no other key.
REGISTRY: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "name", "title", "description", "version", "repository", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "maxLength": 200, "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": EXACT,
        "repository": {
            "type": "object",
            "required": ["url", "source", "subfolder"],
            "additionalProperties": False,
            "properties": {
                "url": {"type": "string", "pattern": r"^https://github\.com/[\w-]+/[\w-]+$"},
                "source": {"const": "github"},
                "subfolder": {"type": "string", "pattern": r"^[a-z-]+(/[a-z-]+)*$"},
            },
        },
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": EXACT,
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {
                        "type": "array",
                        "items": {
                            "oneOf": [
                                {
                                    "required": ["type", "valueHint", "description"],
                                    "additionalProperties": False,
                                    "properties": {
                                        **INPUT,
                                        "type": {"const": "positional"},
                                        "valueHint": TEXT,
                                        "isRepeated": {"const": True},
                                    },
                                },
                                {
                                    "required": ["type", "name", "description"],
                                    "additionalProperties": False,
                                    "properties": {
                                        **INPUT,
                                        "type": {"const": "named"},
                                        "name": {"type": "string", "pattern": "^--[a-z-]+$"},
                                        "isRepeated": {"const": True},
                                    },
                                },
                            ]
                        },
                    },
                    "environmentVariables": {
                        "type": "array",
                        "items": {
                            "required": ["name", "description"],
                            "additionalProperties": False,
                            "properties": {**INPUT, "name": {"type": "string", "pattern": "^[A-Z_]+$"}},
                        },
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize("server", SERVERS)
def test_the_registry_takes_the_entry_of_a_server(server: str) -> None:
    entry = made(server, "server.json")
    assert [error.message for error in Draft202012Validator(REGISTRY).iter_errors(entry)] == []
    (package,) = entry["packages"]
    assert entry["name"].endswith(f"/{server}")
    assert package["identifier"] == f"mcp-server-{server}"
    assert (ROOT / entry["repository"]["subfolder"] / "pyproject.toml").is_file()
    project = tomllib.loads((ROOT / "servers" / server / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    assert package["version"] == entry["version"] == project["version"]


@pytest.mark.parametrize("server", SERVERS)
def test_the_registry_is_told_of_arguments_that_the_server_has(server: str) -> None:
    (package,) = made(server, "server.json")["packages"]
    shown = subprocess.run(
        [sys.executable, "-m", f"mcp_server_{server.replace('-', '_')}", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    for argument in package.get("packageArguments", []):
        assert argument.get("name", "positional arguments:") in shown
    for variable in package.get("environmentVariables", []):
        assert variable["name"] in shown


@pytest.mark.parametrize("server", SERVERS)
def test_a_bundle_asks_for_what_it_passes_on(server: str) -> None:
    manifest = made(server, "mcpb/manifest.json")
    passed = [word for word in manifest["server"]["mcp_config"]["args"] if word.startswith("${user_config.")]
    assert passed == [f"${{user_config.{name}}}" for name in manifest.get("user_config", {})]
    assert (ROOT / "servers" / server / manifest["server"]["entry_point"]).is_file()


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


@pytest.mark.parametrize("server", SERVERS)
def test_the_health_check_of_a_container_asks_a_server_over_http(server: str) -> None:
    """It asks what process 1 was started with. Here that is another process, and the port is another one."""
    text = (ROOT / "servers" / server / "Dockerfile").read_text()
    found = re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.MULTILINE)
    assert found is not None
    code = json.loads(found[1])[2]
    module = f"mcp_server_{server.replace('-', '_')}"

    def healthy(process: "subprocess.Popen[str]", port: str) -> bool:
        asked = code.replace("/proc/1/", f"/proc/{process.pid}/").replace(":8000", f":{port}")
        return subprocess.run([sys.executable, "-c", asked], capture_output=True, check=False).returncode == 0

    command = [sys.executable, "-m", module, "--transport", "http", "--port", "0", "--host", "0.0.0.0"]
    with subprocess.Popen([*command, "--insecure"], stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        port = (
            next(line for line in served.stderr if " serves MCP at " in line)
            .rpartition(":")[2]
            .partition("/")[0]
        )
        assert healthy(served, port)
        assert not healthy(served, "1")
        served.terminate()
    with subprocess.Popen(
        [sys.executable, "-m", module], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert healthy(waiting, "1")
        waiting.communicate()
