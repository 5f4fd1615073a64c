"""The least each job can cost: bare loops in this process, and ripgrep."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and what came out."""
    began = time.perf_counter()
    result = job()
    return (time.perf_counter() - began) * 1000, result


def search(top: Path) -> list[str]:
    """An os.scandir walk that matches each path."""
    matches = re.compile(r"(?:[^/]+/)*[^/]*\.py\Z").match
    found: list[str] = []
    pending = [(str(top), "")]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                relative = prefix + entry.name
                if matches(relative):
                    found.append(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{relative}/"))
    return found


def tree(top: Path) -> str:
    """The same walk, as the JSON that the official server answers with."""
    return json.dumps(_branch(str(top)), indent=2)


def _branch(folder: str) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                nodes.append({"name": entry.name, "type": "directory", "children": _branch(entry.path)})
            else:
                nodes.append({"name": entry.name, "type": "file"})
    return nodes


def ripgrep(top: Path, pattern: str) -> int | None:
    """How many lines ripgrep finds; None where it is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None
    done = subprocess.run(
        [program, "-n", "--no-ignore-parent", pattern, str(top)], capture_output=True, check=False
    )
    return done.stdout.count(b"\n")
