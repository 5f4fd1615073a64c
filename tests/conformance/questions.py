"""Tools and a prompt that ask the client in mid-call; the suite calls them at the stateless revision only."""

from typing import Any

from mcp_server_core import Context, Question, Registry
from shapes import Agreed, Colour, Name, Situation

questions = Registry()
CAPITAL = "What is the capital of France?"


@questions.tool("Ask for a name", read_only=True, open_world=False)
async def test_input_required_result_elicitation(ctx: Context[None]) -> str:
    """Asks the user for a name."""
    return f"Hello: {await ctx.elicit('What is your name?', Name, key='user_name')}"


@questions.tool("Ask the model", read_only=True, open_world=False)
async def test_input_required_result_sampling(ctx: Context[None]) -> str:
    """Asks the client's model."""
    return (await ctx.sample(CAPITAL, max_tokens=100)).text


@questions.tool("Ask for the roots", read_only=True, open_world=False)
async def test_input_required_result_list_roots(ctx: Context[None]) -> str:
    """Asks the client which places it works in."""
    return f"Roots: {await ctx.roots()}"


@questions.tool("Ask with a state", read_only=True, open_world=False)
async def test_input_required_result_request_state(ctx: Context[None]) -> str:
    """Asks the user, and has the client carry the state."""
    return f"state-ok: {await ctx.elicit('Go on?', Agreed)}"


@questions.tool("Ask with a sealed state", read_only=True, open_world=False)
async def test_input_required_result_tampered_state(ctx: Context[None]) -> str:
    """Asks the user, and refuses a state that it did not make."""
    return f"state-ok: {await ctx.elicit('Go on?', Agreed)}"


@questions.tool("Ask three things", read_only=True, open_world=False)
async def test_input_required_result_multiple_inputs(ctx: Context[None]) -> str:
    """Asks the user, the model and the client at once."""
    answers = await ctx.ask(
        user_name=Question.form("What is your name?", Name),
        greeting=Question.sample("Write a greeting.", max_tokens=50),
        client_roots=Question.roots(),
    )
    return f"Answers: {answers}"


@questions.tool("Ask twice", read_only=True, open_world=False)
async def test_input_required_result_multi_round(ctx: Context[None]) -> str:
    """Asks the user for a name, and then for a colour."""
    name = await ctx.elicit("What is your name?", Name, key="step1")
    colour = await ctx.elicit("What is your favourite colour?", Colour, key="step2")
    return f"{name} likes {colour}"


@questions.tool("Ask what can be asked", read_only=True, open_world=False)
async def test_input_required_result_capabilities(ctx: Context[None]) -> str:
    """Asks only for what the client says it can answer."""
    possible: dict[str, Question[Any]] = {}
    if ctx.supports("elicitation"):
        possible["user_name"] = Question.form("What is your name?", Name)
    if ctx.supports("sampling"):
        possible["capital"] = Question.sample(CAPITAL, max_tokens=100)
    return f"Answers: {await ctx.ask(**possible)}"


@questions.prompt("Ask before prompting")
async def test_input_required_result_prompt(ctx: Context[None]) -> str:
    """A prompt that asks the user what it should know."""
    return f"Consider: {await ctx.elicit('What should the prompt know?', Situation, key='user_context')}"
