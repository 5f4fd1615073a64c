"""The official conformance suite: where it comes from, and how it is run.

The versions are pinned by the lock file beside this one; the Node that the suite needs comes with it.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from ..interop.foreign import Ended, install_packages, run

HERE = Path(__file__).parent
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE = HERE / "node_modules" / ".bin" / "node"
RUNNING = 120  # seconds for all scenarios of a revision; they take three on a quiet machine
ENDING = 10
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run_suite(*arguments: str) -> Ended:
    """Run the suite to its end."""
    install()
    return run([str(NODE), str(SUITE), *arguments], RUNNING, HERE)


def list_scenarios(side: str, revision: str) -> set[str]:
    """The scenarios the suite itself has for a revision; `side` is `--server` or `--client`."""
    return {name for name, known in _list(side) if revision in known.split(",")}


@cache
def _list(side: str) -> list[tuple[str, str]]:
    ended = run_suite("list", side)
    assert ended.code == 0, ended.stderr
    return re.findall(r"^\s+- (\S+) \[(\S+)\]", _COLOURS.sub("", ended.stdout), re.MULTILINE)


def run_server_suite(url: str, revision: str, results: Path) -> Ended:
    """Run every scenario of a revision against a server."""
    return run_suite("server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", str(results))


def run_client_scenario(scenario: str, revision: str, results: Path) -> Ended:
    """Run one scenario against the fixture client."""
    # `exec`, or a client that hangs outlives the shell that the suite ends.
    command = f"exec {shlex.join([sys.executable, str(HERE / 'client.py')])}"
    chosen = ["--scenario", scenario, "--spec-version", revision, "--timeout", "30000", "-o", str(results)]
    return run_suite("client", "--command", command, *chosen)


@contextmanager
def serving() -> Generator[str]:
    """The URL of the fixture server, which runs as long as the block."""
    command = [sys.executable, str(HERE / "server.py"), "--transport", "http", "--port", "0"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = iter(process.stderr.readline, "")
        yield next(found[0] for line in said if (found := re.search(r"(?<= serves MCP at )http://\S+", line)))
    finally:
        process.terminate()
        _, rest = process.communicate(timeout=ENDING)
        sys.stderr.write(rest)  # pytest shows it where something failed


@cache
def install() -> None:
    """Install exactly what the lock file says, unless that was done before."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the conformance suite is pinned with a Node for Linux on x86-64")
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        _give_up("the conformance suite is installed by npm, which is not on the PATH")
    ended = install_packages(npm, HERE)
    if ended is not None:
        pytest.fail(f"the conformance suite could not be installed:\n{ended.stderr}")


def _give_up(reason: str) -> NoReturn:
    """Skip on a machine that happens to lack something; fail where the tests were meant to run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
