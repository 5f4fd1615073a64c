"""A server over HTTP that can be slow, loud and curious: the shared options, and `--settings` for small limits."""

import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

import anyio
from mcp_server_core import Accepted, Context, Registry, Server, cli
from mcp_server_core.cli.http import _serve, read_settings
from mcp_server_core.cli.serving import configure_logging
from mcp_server_core.transports.http.running import bind
from typing_extensions import TypedDict

part = Registry()
steps = anyio.Semaphore(0)


class Form(TypedDict):
    """A question of yes or no."""

    yes: bool


@part.tool("Echo", read_only=True, open_world=False)
async def echo(text: str) -> str:
    """Say the text again."""
    return text


@part.tool("Who am I", read_only=True, open_world=False)
async def whoami() -> str:
    """The process that answers."""
    return str(os.getpid())


@part.tool("Big", read_only=True, open_world=False)
async def big(size: int) -> str:
    """An answer of that many characters."""
    return "x" * size


@part.tool("Flood", read_only=True, open_world=False)
async def flood(size: int, times: int, ctx: Context[None]) -> str:
    """Log that many characters, so many times."""
    try:
        for _ in range(times):
            await ctx.log("info", "x" * size)
    except anyio.get_cancelled_exc_class():
        say("flood cancelled")
        raise
    return "flooded"


@part.tool("Wait", read_only=True, open_world=False)
async def wait() -> str:
    """Wait until somebody calls `go`."""
    say("waiting")
    try:
        await steps.acquire()
    except anyio.get_cancelled_exc_class():
        say("wait cancelled")
        raise
    return "went on"


@part.tool("Go", destructive=False, idempotent=False, open_world=False)
async def go() -> str:
    """Let one `wait` go on."""
    steps.release()
    return "gone"


@part.tool("Wait for a line", read_only=True, open_world=False)
def wait_for_line() -> str:
    """Wait until a line comes on standard input."""
    say("waiting")
    return sys.stdin.readline().strip()


@part.tool("Hang in a thread", read_only=True, open_world=False)
def hang_thread() -> str:
    """Block a worker thread for ever."""
    say("hanging")
    time.sleep(1000)
    return ""


@part.tool("Ask", read_only=True, open_world=False)
async def ask(ctx: Context[None]) -> str:
    """Ask the user something."""
    match await ctx.elicit("Well?", Form):
        case Accepted(data={"yes": True}):
            return f"yes, says {os.getpid()}"
        case _:
            return "no"


@part.tool("Look around", read_only=True, open_world=False)
async def look_around(ctx: Context[None]) -> str:
    """Everything that a handler can see of its caller and of the environment."""
    seen = {name: repr(getattr(ctx, name, None)) for name in dir(ctx) if not name.startswith("__")}
    return json.dumps({"context": seen, "environment": dict(os.environ), "argv": sys.argv})


@part.tool("Count listeners", read_only=True, open_world=False)
async def listeners() -> str:
    """How many listen streams are open."""
    return str(len(server.listening))


@part.tool("Break", read_only=True, open_world=False)
async def break_down() -> str:
    """Fail in a way that nobody foresaw."""
    raise RuntimeError(f"a secret at {__file__}")


@part.resource("fixed:///one", "One", watch=True)
async def one() -> str:
    """Something to subscribe to."""
    return "one"


server = Server("host", version="1.0", parts=[part])


def say(text: str) -> None:
    """Tell the test how far we are."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def main() -> None:
    """Serve as the command line says."""
    parser = cli.parser("host", "1.0", __doc__)
    parser.add_argument("--settings", type=json.loads, help="changes to the settings, as JSON")
    args = parser.parse_args()
    if args.settings is None:
        cli.run(server, args)
    server.max_result_chars = args.max_result_chars or server.max_result_chars
    changes: dict[str, Any] = args.settings or {}
    settings = replace(read_settings(args), **changes)
    listening = bind(settings)
    configure_logging(args.log_level)
    port = listening.getsockname()[1]
    _serve(server, settings, listening, None, lambda: say(f"host serves MCP at {settings.url(port)}"))


if __name__ == "__main__":
    main()
