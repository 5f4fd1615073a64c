"""Tools, resources and prompts that hold something of every kind, under the names the suite expects."""

from collections.abc import Sequence
from typing import Annotated

from mcp_server_core import Arg, Audio, Embedded, Image, Message, Registry, Text, ToolError
from shapes import PIXEL, SILENCE, TYPED_ADDRESS

contents = Registry()


# The suite calls the first tool without arguments, and reads the first resource.


@contents.tool("Text", read_only=True, open_world=False)
async def test_simple_text() -> str:
    """One block of text."""
    return "This is a simple text response for testing."


@contents.tool("Image", read_only=True, open_world=False)
async def test_image_content() -> Image:
    """One picture."""
    return Image(PIXEL, "image/png")


@contents.tool("Audio", read_only=True, open_world=False)
async def test_audio_content() -> Audio:
    """One sound."""
    return Audio(SILENCE, "audio/wav")


@contents.tool("Embedded resource", read_only=True, open_world=False)
async def test_embedded_resource() -> Embedded:
    """One resource inside the result."""
    return Embedded("test://embedded-resource", "An embedded resource.", "text/plain")


@contents.tool("Several kinds", read_only=True, open_world=False)
async def test_multiple_content_types() -> tuple[Text, Image, Embedded]:
    """Text, a picture and a resource in one result."""
    resource = Embedded("test://mixed-content-resource", '{"test": "data"}', "application/json")
    return Text("Several kinds of content:"), Image(PIXEL, "image/png"), resource


@contents.tool("Failure", read_only=True, open_world=False)
async def test_error_handling() -> str:
    """Always fails."""
    raise ToolError("This tool fails on purpose.")


@contents.tool("Typed address", read_only=True, open_world=False, input_schema=TYPED_ADDRESS)
async def json_schema_2020_12_tool(given: dict[str, object]) -> str:
    """Takes what its schema, written by hand, describes."""
    return f"Got {', '.join(given) or 'nothing'}."


@contents.tool("Route by region", read_only=True, open_world=False)
async def test_region(region: Annotated[str, Arg("Region to run in", header="Region")]) -> str:
    """Has an argument that clients repeat in a header."""
    return f"Ran in {region}."


@contents.resource("test://static-text", "Static text", mime_type="text/plain")
async def static_text() -> str:
    """A resource made of text."""
    return "This is the content of the static text resource."


@contents.resource("test://static-binary", "Static picture", mime_type="image/png")
async def static_binary() -> bytes:
    """A resource made of bytes."""
    return PIXEL


@contents.resource("test://template/{id}/data", "Data by id", mime_type="application/json")
async def template_data(id: str) -> str:
    """A resource for every id."""
    return f'{{"id": "{id}", "data": "Data for {id}"}}'


@contents.resource("test://watched-resource", "Watched", mime_type="text/plain", watch=True)
async def watched_resource() -> str:
    """A resource that can be subscribed to."""
    return "Watch me."


@contents.prompt("Simple")
async def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@contents.prompt("With arguments")
async def test_prompt_with_arguments(
    arg1: Annotated[str, Arg("First argument")], arg2: Annotated[str, Arg("Second argument")]
) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1={arg1}, arg2={arg2}"


@contents.complete(test_prompt_with_arguments, "arg1")
def first_arguments(typed: str) -> list[str]:
    """Values that begin with what was typed."""
    return [value for value in ("testValue1", "other") if value.startswith(typed)]


@contents.prompt("With a resource")
async def test_prompt_with_embedded_resource(
    resourceUri: Annotated[str, Arg("URI to embed")],  # noqa: N803 - the suite's name
) -> Sequence[Message]:
    """A prompt with a resource inside."""
    return [
        Message(Embedded(resourceUri, "Embedded resource content.", "text/plain")),
        Message("Please work on the resource above."),
    ]


@contents.prompt("With a picture")
async def test_prompt_with_image() -> Sequence[Message]:
    """A prompt with a picture inside."""
    return [Message(Image(PIXEL, "image/png")), Message("Please describe the picture above.")]
