"""Writes what is published about each server from its manifest.toml: server.json, the bundle's manifest, the
Dockerfile and the host entries of its README; and an example of each host's file in `examples/hosts`. `--check` writes nothing and fails if a file is stale.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mcp_server_core.cli.documents import put_entry, show
from mcp_server_core.cli.hosts import HOSTS, Command

ROOT = Path(__file__).parents[1]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
HEALTH = (
    "from urllib.request import urlopen; http = b'http' in open('/proc/1/cmdline', 'rb').read().replace(b'=', b'\\0').split(b'\\0'); "
    "http and urlopen('http://127.0.0.1:8000/health', timeout=5)"
)
BEGIN, END = "<!-- host entries: made by `make manifests` -->", "<!-- end of host entries -->"


class Server(NamedTuple):
    """One server: its folder, its package's metadata, and its manifest."""

    folder: Path
    project: dict[str, Any]
    manifest: dict[str, Any]
    common: dict[str, str]

    @property
    def package(self) -> str:
        return self.project["name"]

    @property
    def short(self) -> str:
        return self.package.removeprefix("mcp-server-")

    @property
    def registry_name(self) -> str:
        return f"{self.common['namespace']}/{self.short}"

    @property
    def description(self) -> str:
        text = self.project["description"].removeprefix("MCP server: ")
        return text[:1].upper() + text[1:]


def servers() -> Iterator[Server]:
    """Every server that has a manifest, by name."""
    common = tomllib.loads((ROOT / "manifests.toml").read_text())
    for path in sorted((ROOT / "servers").glob("*/manifest.toml")):
        project = tomllib.loads((path.parent / "pyproject.toml").read_text())["project"]
        yield Server(path.parent, project, tomllib.loads(path.read_text()), common)


def files(server: Server) -> dict[Path, str]:
    """What is written for a server, by path."""
    readme = server.folder / "README.md"
    return {
        server.folder / "server.json": _json(registry_entry(server)),
        server.folder / "mcpb" / "manifest.json": _json(bundle(server)),
        server.folder / "Dockerfile": dockerfile(server),
        readme: with_entries(readme.read_text(encoding="utf-8"), server),
    }


def registry_entry(server: Server) -> dict[str, Any]:
    """server.json, as the MCP registry wants it."""
    package: dict[str, Any] = {
        "registryType": "pypi",
        "identifier": server.package,
        "version": server.project["version"],
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    if arguments := [_registry_argument(one) for one in server.manifest.get("argument", [])]:
        package["packageArguments"] = arguments
    if variables := server.manifest.get("variable", []):
        package["environmentVariables"] = variables
    return {
        "$schema": SCHEMA,
        "name": server.registry_name,
        "title": server.manifest["title"],
        "description": server.description,
        "version": server.project["version"],
        "repository": {
            "url": server.common["repository"],
            "source": "github",
            "subfolder": f"servers/{server.folder.name}",
        },
        "packages": [package],
    }


def _registry_argument(argument: dict[str, Any]) -> dict[str, Any]:
    option = argument.get("option")
    shown: dict[str, Any] = {"type": "named", "name": option} if option else {"type": "positional"}
    if not option:
        shown["valueHint"] = argument["name"]
    shown["description"] = argument["description"]
    if argument.get("path"):
        shown["format"] = "filepath"
    for word, name in (("required", "isRequired"), ("repeated", "isRepeated")):
        if argument.get(word):
            shown[name] = True
    return shown


def bundle(server: Server) -> dict[str, Any]:
    """The manifest of an .mcpb bundle: the host brings Python and asks the user for what is needed."""
    asked = {one["name"]: _asked(one) for one in _needed(server)}
    return {
        "manifest_version": "0.4",
        "name": server.package,
        "display_name": server.manifest["title"],
        "version": server.project["version"],
        "description": server.description,
        "author": {"name": server.common["author"]},
        "repository": {"type": "git", "url": server.common["repository"]},
        "server": {
            "type": "uv",
            "entry_point": f"src/{server.package.replace('-', '_')}/__main__.py",
            "mcp_config": {"command": "uvx", "args": [server.package, *_bundle_arguments(server)]},
        },
        **({"user_config": asked} if asked else {}),
        "compatibility": {"runtimes": {"python": server.project["requires-python"]}},
    }


def _asked(argument: dict[str, Any]) -> dict[str, Any]:
    kind = "directory" if argument["path"] == "directory" else "file"
    asked: dict[str, Any] = {
        "type": kind,
        "title": argument["name"].capitalize(),
        "description": argument["description"],
        "required": True,
    }
    if argument.get("repeated"):
        asked["multiple"] = True
    return asked


def _needed(server: Server) -> list[dict[str, Any]]:
    """What the user has to choose; a bundle cannot leave an argument out when nothing was chosen."""
    return [one for one in server.manifest.get("argument", []) if one.get("required")]


def _bundle_arguments(server: Server) -> Iterator[str]:
    for argument in _needed(server):
        yield from [argument["option"]] if argument.get("option") else []
        yield f"${{user_config.{argument['name']}}}"


def dockerfile(server: Server) -> str:
    """A small image that runs as nobody in particular; it speaks stdio, or HTTP if it is told to."""
    arguments = json.dumps([server.package, *server.manifest.get("container", [])])
    return (
        "# Made by `make manifests`. Mount what the server may use at /data:\n"
        f"#   docker run -i --rm -v /home/you/data:/data {server.package}\n"
        "# Over HTTP, for this machine, with a token of at least 16 characters:\n"
        f"#   docker run --rm -v /home/you/data:/data -p 127.0.0.1:8000:8000 -e MCP_TOKEN {server.package} \\\n"
        "#     --transport http --host 0.0.0.0\n"
        "FROM python:3.13-slim\n"
        f'LABEL io.modelcontextprotocol.server.name="{server.registry_name}"\n'
        f"RUN pip install --no-cache-dir {server.package}=={server.project['version']} \\\n"
        " && useradd --create-home --uid 10001 mcp && mkdir /data && chown mcp /data\n"
        "USER mcp\n"
        "# Only a server over HTTP can be asked; one over stdio is well as long as it runs.\n"
        f"HEALTHCHECK --start-period=10s CMD {json.dumps(['python', '-c', HEALTH])}\n"
        "WORKDIR /data\n"
        f"ENTRYPOINT {arguments}\n"
    )


def with_entries(readme: str, server: Server) -> str:
    """The README with the host entries between their marks."""
    # The registry looks for its name of the server in the description of the package, to see that both have one owner.
    proof = f"<!-- mcp-name: {server.registry_name} -->"
    block = f"{BEGIN}\n{proof}\n{entries(server)}\n{END}"
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    if not re.search(pattern, readme, re.DOTALL):
        raise SystemExit(
            f"{server.folder.name}/README.md has no place for host entries: put in\n{BEGIN}\n{END}"
        )
    return re.sub(pattern, lambda _: block, readme, flags=re.DOTALL)


def entries(server: Server) -> str:
    """One block a shape; hosts that share one stand together."""
    command = Command("uvx", [server.package, *server.manifest.get("example", [])])
    shapes: dict[tuple[str, str], list[str]] = {}
    for host in HOSTS.values():
        shown = show(host.format, host.section, server.short, host.entry(server.short, command)).rstrip()
        shapes.setdefault((host.format, shown), []).append(host.title)
    return "\n\n".join(
        f"<details><summary>{', '.join(titles)}</summary>\n\n```{format}\n{shown}\n```\n\n</details>"
        for (format, shown), titles in shapes.items()
    )


def host_files() -> dict[Path, str]:
    """For each host a file with all servers in it, as an example."""
    made: dict[Path, str] = {}
    for host in HOSTS.values():
        text = ""
        for server in servers():
            command = Command("uvx", [server.package, *server.manifest.get("example", [])])
            text = put_entry(text, host.format, host.section, server.short, host.entry(server.short, command))
        made[ROOT / "examples" / "hosts" / f"{host.key}.{host.format}"] = text
    return made


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    check = parser.parse_args().check
    stale: list[str] = []
    wanted = host_files()
    for server in servers():
        wanted |= files(server)
    for path, text in wanted.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if check else 'written'}: {name}")
    if check and stale:
        print("`make manifests` writes them anew", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
