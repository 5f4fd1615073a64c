"""The server that the official conformance suite is run against: everything it asks for, by the names it expects."""

from contents import contents
from mcp_server_core import Registry, Server, cli
from questions import questions
from talk import talk

__version__ = "1.0.0"

lists = Registry()
extra_tools = Registry()
extra_prompts = Registry()


@lists.tool("Change the tools", destructive=False, idempotent=False, open_world=False)
async def test_trigger_tool_change() -> str:
    """Offers one more tool, or takes it back."""
    return await _toggle(extra_tools, "extra_tool" in server.catalogue.tools)


@lists.tool("Change the prompts", destructive=False, idempotent=False, open_world=False)
async def test_trigger_prompt_change() -> str:
    """Offers one more prompt, or takes it back."""
    return await _toggle(extra_prompts, "extra_prompt" in server.catalogue.prompts)


async def _toggle(part: Registry, offered: bool) -> str:
    await (server.remove(part) if offered else server.add(part))
    return "Taken back." if offered else "Offered."


@extra_tools.tool("Extra", read_only=True, open_world=False)
async def extra_tool() -> str:
    """There only sometimes."""
    return "extra"


@extra_prompts.prompt("Extra")
async def extra_prompt() -> str:
    """There only sometimes."""
    return "extra"


server: Server[None] = Server("conformance", version=__version__, parts=[contents, talk, questions, lists])


def main() -> None:
    """Serve as the command line says."""
    cli.run(server, cli.parser("conformance", __version__, __doc__).parse_args())


if __name__ == "__main__":
    main()
