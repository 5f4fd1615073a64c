"""What a user may ask for by name."""

from typing import Annotated

from mcp_server_core import Arg, Context, Image, Message, Registry, ToolError

from .problems import FetchProblem
from .state import State

prompts = Registry()


@prompts.prompt("Fetch a page")
async def fetch(url: Annotated[str, Arg("URL to fetch", min_length=1)], ctx: Context[State]) -> list[Message]:
    """Put a web page into the conversation. A person asks for it, so robots.txt does not apply."""
    from .reading import Wish, read, room

    errands = (await ctx.state.errands(ctx, by_user=True))._replace(progress=None)
    try:
        answer = await read(ctx.state.web, url, Wish(length=room(ctx.max_chars, ctx.max_chars)), errands)
    except FetchProblem as problem:
        raise ToolError(str(problem)) from None
    if isinstance(answer, str):
        return [Message(answer)]
    return [Message(answer.words), Message(Image(answer.data, answer.media_type))]
