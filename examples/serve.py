"""Serves all five over HTTP on this machine until Ctrl-C: what `make run` starts.

`serve.py --entries HOST` prints instead what to paste into the configuration of a host.
"""

import argparse
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from mcp_server_core.cli.hosts import HOSTS

ROOT = Path(__file__).parents[1]
FIRST_PORT = 8001


class Plan(NamedTuple):
    """One server: its arguments, and where it keeps what it is given."""

    name: str
    arguments: list[str]
    keeps: str

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", f"mcp_server_{self.name.replace('-', '_')}"]


def plans(data: Path) -> list[Plan]:
    """The five, with everything they keep in one folder."""
    files, store, thoughts, base = (
        data / "files",
        data / "memory.db",
        data / "thoughts.journal",
        data / "demo.db",
    )
    return [
        Plan("filesystem", [str(files)], f"{files}/"),
        Plan("fetch", [], "nothing"),
        Plan("memory", ["--store", str(store)], str(store)),
        Plan("sequential-thinking", ["--store", str(thoughts)], str(thoughts)),
        Plan("sqlite", ["--db-path", str(base)], str(base)),
    ]


def free_port(wanted: int) -> int:
    """The wanted port, or any other if somebody has it."""
    for port in (wanted, 0):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return trial.getsockname()[1]
    raise SystemExit("no port is free on this machine")


def start(plan: Plan, port: int) -> "subprocess.Popen[str]":
    command = [*plan.command, *plan.arguments, "--transport", "http", "--port", str(port)]
    # A group of its own: Ctrl-C reaches this program, which then ends them in good order.
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, process_group=0
    )


def announced(plan: Plan, server: "subprocess.Popen[str]") -> str:
    """The address it says it has."""
    assert server.stderr is not None
    line = server.stderr.readline()
    if " serves MCP at " not in line:
        raise SystemExit(f"{plan.name} did not start: {line}{server.stderr.read()}".rstrip())
    threading.Thread(target=pass_on, args=(server.stderr,), daemon=True).start()
    return line.split()[-1]


def pass_on(complaints: IO[str]) -> None:
    """Whatever else it has to say."""
    for line in complaints:
        sys.stderr.write(line)


def make_folder(data: Path) -> None:
    try:
        (data / "files").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"{data} cannot hold what the servers keep: {error.strerror}") from None


def serve(data: Path) -> None:
    make_folder(data)
    chosen = plans(data)
    servers: list[subprocess.Popen[str]] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        servers += [start(plan, free_port(FIRST_PORT + number)) for number, plan in enumerate(chosen)]
        addresses = [announced(plan, server) for plan, server in zip(chosen, servers, strict=True)]
        print("Five MCP servers, for this machine only:\n")
        for plan, address in zip(chosen, addresses, strict=True):
            print(f"  {plan.name:<20} {address:<28} keeps {plan.keeps}")
        print("\nTo let a host start them itself, paste what this prints:  make entries HOST=cursor")
        print(f"  HOST is one of {', '.join(HOSTS)}")
        print("\nCtrl-C stops them.", flush=True)
        for server in servers:
            server.wait()
    except KeyboardInterrupt:
        print("\nStopping.")
    finally:
        stop(servers)


def stop(servers: Sequence["subprocess.Popen[str]"]) -> None:
    """Politely, and with certainty; whoever presses Ctrl-C twice need not see us stumble."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for server in servers:
        server.terminate()
    for server in servers:
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def print_entries(host: str, data: Path) -> None:
    make_folder(data)
    for plan in plans(data):
        command = [*plan.command, "install", "--host", host, "--print", "--", *plan.arguments]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=ROOT / ".run", help="where the servers keep what they are given"
    )
    parser.add_argument(
        "--entries", metavar="HOST", choices=list(HOSTS), help="print what to paste into this host"
    )
    args = parser.parse_args()
    if args.entries:
        print_entries(args.entries, args.data.absolute())
    else:
        serve(args.data.absolute())
