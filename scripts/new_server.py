"""Begins a server in this workspace: what `make new NAME=weather` does.

It is the same copy of the template that `mcp-new-server` makes, with what the workspace wants besides: a manifest and
what is made from it, a place in pyproject.toml and one in the lock file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import tomlkit
from manifests import BEGIN, END
from mcp_server_core.cli.new import Name, create, named

ROOT = Path(__file__).parents[1]
PROJECT, LOCK = ROOT / "pyproject.toml", ROOT / "uv.lock"


def main() -> int:
    """Make the server, or leave everything as it was."""
    before = {path: path.read_bytes() for path in (PROJECT, LOCK)}
    try:
        name = named(sys.argv[1])
        folder = ROOT / "servers" / name.short
        create(name, folder)
    except ValueError as error:
        print(f"make new: {error}".replace(f"{ROOT}{os.sep}", ""), file=sys.stderr)
        return 2
    try:
        describe(name, folder)
        register(f"mcp-server-{name.short}")
        settle(folder)
    except BaseException as error:  # Ctrl-C too leaves nothing half-made
        shutil.rmtree(folder)
        for path, content in before.items():
            path.write_bytes(content)
        if not isinstance(error, subprocess.CalledProcessError):
            raise
        print(f"make new: `{error.cmd[0]}` failed, and everything is as it was before.", file=sys.stderr)
        return 1
    print(f"Made servers/{name.short}. It works as it is:  make tests TESTS=servers/{name.short}")
    print("Its README.md says what is where. `make test` checks it like the others.")
    return 0


def describe(name: Name, folder: Path) -> None:
    """Write the manifest, and make room in the README for what is made from it."""
    manifest: dict[str, Any] = {
        "title": name.title,
        "example": [],
        "container": ["/data"],
        "argument": [
            {
                "name": "directories",
                "description": "Directories it may write to",
                "path": "directory",
                "repeated": True,
            }
        ],
    }
    (folder / "manifest.toml").write_text(tomlkit.dumps(manifest), "utf-8")
    with (folder / "README.md").open("a", encoding="utf-8") as readme:
        readme.write(f"\n## Hosts\n\n{BEGIN}\n{END}\n")


def register(distribution: str) -> None:
    """Put the server among the workspace's own, in the order of the alphabet."""
    project: Any = tomlkit.parse(PROJECT.read_text("utf-8"))
    dependencies, sources = project["project"]["dependencies"], project["tool"]["uv"]["sources"]
    dependencies.insert(sum(known < distribution for known in dependencies), distribution)
    sources[distribution] = tomlkit.parse("source = { workspace = true }")["source"]
    PROJECT.write_text(tomlkit.dumps(project), "utf-8")


def settle(folder: Path) -> None:
    """Lock it, publish it, and sort the imports that its name put out of order."""
    uv = os.environ.get("UV", "uv")
    for command in (
        [uv, "lock", "--quiet"],
        [sys.executable, str(ROOT / "scripts" / "manifests.py")],
        [sys.executable, "-m", "ruff", "check", "--quiet", "--fix", "--select", "I", str(folder)],
        [sys.executable, "-m", "ruff", "format", "--quiet", str(folder)],
    ):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - all our own


if __name__ == "__main__":
    sys.exit(main())
