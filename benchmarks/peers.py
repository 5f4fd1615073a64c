"""Brings the contestants onto this machine: each set of packages in a venv or npm folder of its own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .contestants import HERE, PYTHON, Contestant

CACHE = HERE / ".peers"
INSTALL_LIMIT = 300.0


class NotInstallableError(Exception):
    """The peer cannot be had on this machine; the text says why."""


def prepare(contestant: Contestant) -> list[str]:
    """The command that starts the contestant, once everything it needs is in place."""
    match contestant.runtime:
        case "here":
            return [PYTHON, str(contestant.script), *contestant.options]
        case "python":
            folder = _install(contestant, _install_python)
            return [str(_venv_python(folder)), str(contestant.script), *contestant.options]
        case "node":
            folder = _install(contestant, _install_node)
            return [_find("node"), str(_node_script(contestant, folder)), *contestant.options]


def _install(contestant: Contestant, install: Callable[[Path, Sequence[str]], None]) -> Path:
    folder = CACHE / re.sub(r"[^a-z0-9.]+", "-", " ".join(contestant.packages)).strip("-")
    stamp = folder / "installed"
    pins = "\n".join(contestant.packages)
    if not stamp.exists() or stamp.read_text() != pins:
        print(f"installing {', '.join(contestant.packages)}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        install(folder, contestant.packages)
        stamp.write_text(pins)
    return folder


def _install_python(folder: Path, packages: Sequence[str]) -> None:
    uv = _find("uv")
    _run([uv, "venv", "--quiet", "--python", PYTHON, str(folder / ".venv")], folder)
    python = str(_venv_python(folder))
    _run([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *packages], folder)


def _install_node(folder: Path, packages: Sequence[str]) -> None:
    npm = _find("npm")
    # npm looks upwards for a package.json; with one here it stays here.
    (folder / "package.json").write_text('{"private": true}\n')
    _run([npm, "install", "--no-audit", "--no-fund", "--no-package-lock", *packages], folder)


def _node_script(contestant: Contestant, folder: Path) -> Path:
    """Where the script is; ours is copied in, because node looks for packages beside the script."""
    if isinstance(contestant.script, str):
        return folder / "node_modules" / contestant.script
    return Path(shutil.copy(contestant.script, folder))


def _venv_python(folder: Path) -> Path:
    return folder / ".venv" / "bin" / "python"


def _find(program: str) -> str:
    # `uv run` says where it is itself, which need not be on the path.
    path = shutil.which(program) or os.environ.get(program.upper())
    if path is None:
        raise NotInstallableError(f"{program} is not on this machine")
    return path


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALL_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise NotInstallableError(f"installing took more than {INSTALL_LIMIT:.0f} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if not line.startswith("npm warn")]
        raise NotInstallableError(_without_hosts(" ".join(" ".join(lines).split())[:300]))


def _without_hosts(text: str) -> str:
    """Which registry a machine uses is nobody else's business, and results are shown to others."""
    return re.sub(r"https?://\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:org|com|net|io|dev)\b", "<registry>", text)
