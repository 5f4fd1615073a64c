"""`python -m benchmarks.gap`: what the distance between ours and the floor is made of.

A start is a ladder of programs, each of which does a little more than the one before. A call is looked at while it is
served: in which package the server is, a thousand times in each second of CPU.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from .child import Child
from .contestants import HERE, PYTHON
from .http.client import Client
from .http.wire import Site
from .machine import Machine
from .messages import STATELESS, call_echo, list_tools, opening
from .report import align
from .wire import Process

OURS = HERE / "servers" / "ours.py"
# Each program does what the one before did, and one thing more.
STEPS = (
    ("Python itself", "pass"),
    ("the JSON library", "import msgspec"),
    ("asyncio", "import msgspec, asyncio"),
    ("anyio, and a loop that runs nothing", "import msgspec, anyio; anyio.run(anyio.sleep, 0)"),
    (
        "the server API and the command line",
        "import msgspec, anyio; from mcp_server_core import Registry, Server, cli; "
        "Server('x', version='1', parts=[Registry()]); anyio.run(anyio.sleep, 0)",
    ),
)
ROUNDS = 10
CALLS = 20_000


def main() -> int:
    if sys.platform != "linux":
        return 2
    print(f"{Machine().describe()}\n")
    print(f"{_start()}\n\n{_stdio()}\n\n{_http()}")
    return 0


def _start() -> str:
    """CPU of each step, best of some rounds, and what it adds."""
    steps: dict[str, Callable[[], float]] = {
        title: lambda code=code: _spend([PYTHON, "-c", f"{code}; import os; os._exit(0)"])
        for title, code in STEPS
    }
    steps["reading a line and answering it"] = lambda: _answer([opening(STATELESS)])
    steps["the first list of tools: schemas"] = lambda: _answer([list_tools(1, STATELESS)])
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for title, step in steps.items():
            best[title] = min(best[title], step() * 1000)
    rows, before = list[list[str]](), 0.0
    for title, spent in best.items():
        rows.append([title, f"{spent:.1f}", f"{spent - before:.1f}"])
        before = spent
    return align([["start, up to and with", "CPU ms", "adds"], *rows])


def _spend(command: list[str]) -> float:
    """CPU seconds of a program that ends by itself."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _answer(requests: list[bytes]) -> float:
    """CPU seconds of a server up to its answer."""
    with Process([PYTHON, str(OURS)]) as server:
        server.converse(requests)
        return server.cpu_seconds()


def _stdio() -> str:
    requests = [call_echo(number, {"text": "hello"}, STATELESS) for number in range(CALLS)]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "seen.json"
        with Process([PYTHON, str(HERE / "servers" / "sampled.py"), str(result), str(OURS)]) as server:
            server.converse(requests[:2000])
            return _sample(
                "stdio call, one after another",
                server,
                result,
                lambda: [server.converse([one]) for one in requests],
            )


def _http() -> str:
    script = HERE / "servers" / "ours_http.py"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "seen.json"
        options = [str(result), str(script), "--transport", "http", "--port", "0"]
        with Site([PYTHON, str(HERE / "servers" / "sampled.py"), *options]) as site:
            client = Client(site, STATELESS)
            client.open()
            request = client.echo(1, {"text": "hello"})
            for _ in range(2000):
                client.connection.ask(request)
            return _sample(
                "HTTP call, one connection",
                site,
                result,
                lambda: [client.connection.ask(request) for _ in range(CALLS)],
            )


def _sample(title: str, server: Child, result: Path, calls: Callable[[], object]) -> str:
    """Where the time of a call goes, by the package in which the server was seen."""
    server.send(signal.SIGUSR1)
    calls()
    server.send(signal.SIGUSR2)
    while not result.exists():
        time.sleep(0.01)
    facts = json.loads(result.read_text())
    each = (facts["user"] + facts["system"]) / CALLS * 1e6
    seen: Counter[str] = Counter()
    for file, count in facts["seen"].items():
        seen[_short(file)] += count
    rows = [
        [file, f"{count / seen.total():.0%}", f"{each * count / seen.total():.1f}"]
        for file, count in seen.most_common(10)
    ]
    kernel = facts["system"] / CALLS * 1e6
    table = align([[f"{title}: CPU seen in", "share", "us"], *rows])
    return f"{table}\n\nOf the {each:.0f} us, {kernel:.0f} are the kernel's: reading, writing and waiting for a descriptor."


def _short(file: str) -> str:
    """The package of a file; of the core, the part."""
    path = re.sub(r".*/(?:site-packages|src|lib/python[\d.]+)/", "", file)
    known = re.match(r"mcp_server_core/\w+|\w+", path)
    return known[0] if known else "the tool itself"


if __name__ == "__main__":
    sys.exit(main())
