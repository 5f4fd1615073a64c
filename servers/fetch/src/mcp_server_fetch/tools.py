"""What a model may do: fetch pages. Each function is a door; the room behind it is reading.py."""

from typing import TYPE_CHECKING, Annotated, Literal

from mcp_server_core import Arg, Context, Image, Registry, Text, ToolError

from .problems import FetchProblem
from .state import State

if TYPE_CHECKING:
    from .reading import Wish
    from .web import Errands

tools = Registry()
MAX_URLS = 20
MaxLength = Annotated[int, Arg("Most characters to return", ge=1, le=999_999)]


@tools.tool("Fetch a page", read_only=True, open_world=True)
async def fetch(
    url: Annotated[str, Arg("URL to fetch", min_length=1, example="https://example.org/")],
    ctx: Context[State],
    max_length: MaxLength = 5000,
    start_index: Annotated[int, Arg("Go on at this character, in the copy kept of the page", ge=0)] = 0,
    raw: Annotated[bool, Arg("The source as it is, not simplified")] = False,
    format: Annotated[
        Literal["markdown", "text", "html", "links"],
        Arg("Form of the main content, or the links of the page"),
    ] = "markdown",
    section: Annotated[str, Arg("Only the part under this heading (Markdown)")] = "",
) -> list[Text | Image]:
    """Fetch a web page: its main content as Markdown. Text, JSON, images and PDF work too. Long pages come in slices; the result says how to go on."""
    from .reading import Wish, room

    wish = Wish("raw" if raw else format, room(max_length, ctx.max_chars), start_index, section or None)
    try:
        return await _read(ctx, url, wish, await ctx.state.errands(ctx))
    except FetchProblem as problem:
        raise ToolError(str(problem)) from None


@tools.tool("Fetch several pages", read_only=True, open_world=True)
async def fetch_many(
    urls: Annotated[list[str], Arg("URLs to fetch", min_length=1, max_length=MAX_URLS)],
    ctx: Context[State],
    max_length: Annotated[int, Arg("Most characters of each page", ge=1, le=999_999)] = 5000,
) -> list[Text | Image]:
    """Fetch several pages at once, as fetch does; one that fails does not spoil the others."""
    import anyio

    from .reading import Wish, room

    errands = (await ctx.state.errands(ctx))._replace(progress=None)
    wish = Wish(length=room(max_length, ctx.max_chars, len(urls)))
    answers: dict[int, list[Text | Image]] = {}
    failures: list[str] = []

    async def fetch_one(index: int, url: str) -> None:
        try:
            answers[index] = await _read(ctx, url, wish, errands)
        except FetchProblem as problem:
            failures.append(f"{url}: {problem}")
            answers[index] = [Text(f"URL: {url}\nFailed: {problem}")]
        await ctx.progress(len(answers), len(urls), f"{len(answers)} of {len(urls)} pages")

    async with anyio.create_task_group() as tasks:
        for index, url in enumerate(urls):
            tasks.start_soon(fetch_one, index, url)
    if len(failures) == len(urls):
        raise ToolError("No page could be fetched. " + " ".join(failures)[: ctx.max_chars])
    return [block for index in range(len(urls)) for block in answers[index]]


async def _read(ctx: Context[State], url: str, wish: "Wish", errands: "Errands") -> list[Text | Image]:
    """A page as blocks: text, or an image with a line about it."""
    from .reading import read

    answer = await read(ctx.state.web, url, wish, errands)
    if isinstance(answer, str):
        return [Text(answer)]
    return [Text(answer.words), Image(answer.data, answer.media_type)]
