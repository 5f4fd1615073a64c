"""Sends clients that nobody here wrote through a list of steps, against any server, over stdio and HTTP.

A step is what one of the functions below makes. `run_errand` gives back what the client saw, step by step.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from .foreign import CLIENTS, TOURING, Ended, Foreign, find_interpreter, run, serving

Step: TypeAlias = dict[str, Any]

_CLIENTS = [
    Foreign("python-2-auto", "this python", "errand_python_2.py", "2026-07-28", mode="auto"),
    Foreign("python-2-legacy", "this python", "errand_python_2.py", "2025-11-25", mode="legacy"),
    Foreign("typescript-2-auto", "node", "errand_typescript_2.mjs", "2026-07-28", mode="auto"),
    Foreign("typescript-1", "node", "errand_typescript_1.mjs", "2025-11-25"),
]
ERRAND_CLIENTS = [replace(one, over=transport) for one in _CLIENTS for transport in one.transports]
every_errand_client = pytest.mark.parametrize("foreign", ERRAND_CLIENTS, ids=str)


def list_all(what: str) -> Step:
    """List `tools`, `resources`, `templates` or `prompts`."""
    return {"do": "list", "what": what}


def call(tool: str, **arguments: Any) -> Step:
    """Call a tool."""
    return {"do": "call", "tool": tool, "arguments": arguments}


def read(uri: str) -> Step:
    """Read a resource."""
    return {"do": "read", "uri": uri}


def prompt(name: str, **arguments: str) -> Step:
    """Get a prompt."""
    return {"do": "prompt", "name": name, "arguments": arguments}


def complete(template: str, argument: str, typed: str) -> Step:
    """Complete a variable of a resource template."""
    return {"do": "complete", "template": template, "argument": argument, "typed": typed}


def run_program(command: Sequence[str]) -> Step:
    """Let another process do something; only inside `watch`."""
    return {"do": "run", "command": list(command)}


def watch(uri: str, meanwhile: Step) -> Step:
    """Subscribe to a resource, take a step, and wait until the server says that the resource changed."""
    return {"do": "watch", "uri": uri, "meanwhile": meanwhile}


@dataclass(frozen=True)
class Answers:
    """What the client says when it is asked; None where it does not declare the ability."""

    elicit: list[dict[str, Any]] | None = None
    roots: list[str] | None = None


@dataclass(frozen=True)
class Seen:
    """What a client saw on its errand."""

    revision: str
    results: list[Any]
    questions: list[Any] = field(default_factory=list[Any])

    def text(self, step: int) -> str:
        """The first text block of a tool's result."""
        return self.results[step]["content"][0]["text"]


def run_errand(
    foreign: Foreign,
    server: Sequence[str],
    steps: Sequence[Step],
    folder: Path,
    answers: Answers = Answers(),
) -> Seen:
    """Send a client through the steps. `server` is the command over stdio; over HTTP options are added to it."""
    interpreter = find_interpreter(foreign)
    if isinstance(interpreter, Ended):
        pytest.fail(f"{foreign} could not be installed: {interpreter.stderr}")
    plan = folder / f"{foreign}.json"
    said = {name: value for name, value in vars(answers).items() if value is not None}
    plan.write_text(json.dumps({"steps": list(steps), "answers": said}), "utf-8")
    mode = [] if foreign.mode is None else [foreign.mode]
    command = [*interpreter, str(CLIENTS / foreign.script), *mode, str(plan)]
    if foreign.over == "stdio":
        ended = run([*command, *server], TOURING)
    else:
        with serving(folder, server) as endpoint:
            ended = run([*command, endpoint], TOURING)
    try:
        saw = json.loads(ended.stdout)
        results = [saw[str(number)] for number in range(len(steps))]
    except (ValueError, KeyError):
        pytest.fail(f"the client did not get through; it said:\n{ended.stdout}\n{ended.stderr}")
    return Seen(saw["revision"], results, saw["questions"])
