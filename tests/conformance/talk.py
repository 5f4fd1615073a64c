"""Tools that talk to the client while they run, under the names the suite expects."""

import anyio
from mcp_server_core import Context, Question, Registry
from shapes import ENUMS, Defaults, Person

talk = Registry()


@talk.tool("Progress", read_only=True, open_world=False)
async def test_tool_with_progress(ctx: Context[None]) -> str:
    """Reports on its way."""
    for done in (0, 50, 100):
        await ctx.progress(done, 100, f"{done} of 100")
    return "All steps are done."


@talk.tool("Logging", read_only=True, open_world=False)
async def test_tool_with_logging(ctx: Context[None]) -> str:
    """Says what it does."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", message)
    return "Three messages were logged."


@talk.tool("Logging on demand", read_only=True, open_world=False)
async def test_logging_tool(ctx: Context[None]) -> str:
    """Logs only for a client that asked for it."""
    await ctx.log("info", "on demand")
    return "Logged, if that was wanted."


@talk.tool("Sampling", read_only=True, open_world=False)
async def test_sampling(prompt: str, ctx: Context[None]) -> str:
    """Lets the client's model answer a prompt."""
    return f"LLM response: {(await ctx.sample(prompt, max_tokens=100)).text}"


@talk.tool("Needs sampling", read_only=True, open_world=False)
async def test_missing_capability(ctx: Context[None]) -> str:
    """Cannot do without the client's model."""
    return (await ctx.sample("Say something.", max_tokens=10)).text


@talk.tool("Elicitation", read_only=True, open_world=False)
async def test_elicitation(message: str, ctx: Context[None]) -> str:
    """Asks the user who they are."""
    return f"User response: {await ctx.elicit(message, Person)}"


@talk.tool("Elicitation in mid-call", read_only=True, open_world=False)
async def test_streaming_elicitation(ctx: Context[None]) -> str:
    """Reports, then asks the user who they are."""
    await ctx.progress(1, 2)
    return f"User response: {await ctx.elicit('Who are you?', Person)}"


@talk.tool("Elicitation with defaults", read_only=True, open_world=False)
async def test_elicitation_sep1034_defaults(ctx: Context[None]) -> str:
    """Asks with every field filled in already."""
    return f"Elicitation completed: {await ctx.elicit('Please look over this.', Defaults)}"


@talk.tool("Elicitation with choices", read_only=True, open_world=False)
async def test_elicitation_sep1330_enums(ctx: Context[None]) -> str:
    """Asks with every kind of choice there is."""
    answers = await ctx.ask(choices=Question.schema("Please choose.", ENUMS))
    return f"Elicitation completed: {answers['choices']}"


@talk.tool("Reconnection", read_only=True, open_world=False)
async def test_reconnection(ctx: Context[None]) -> str:
    """Lets go of the stream it is answered on, and finishes behind the client's back."""
    await ctx.release_stream(retry_ms=500)
    await anyio.sleep(0.1)
    return "The client came back for this."
