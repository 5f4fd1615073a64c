"""Arguments that HTTP clients repeat in a header: how an author says so, and who gets to see it."""

from typing import Annotated, Any

import pytest
from mcp_server_core import Arg, Registry
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.headers import HeaderParam
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.server.tools import Tool
from typing_extensions import TypedDict

from .talking import NEWEST, connect, serving

pytestmark = pytest.mark.anyio

Region = Annotated[str, Arg("Region to run in", header="Region")]


class Target(TypedDict):
    """Where to."""

    shard: Annotated[int, Arg("Shard", header="Shard")]


def routed() -> Registry:
    """A tool with arguments that are mirrored: at the top, inside an object, and one that may be left out."""
    part = Registry()

    @part.tool("Route", read_only=True, open_world=False)
    async def route(
        region: Region, target: Target, dry: Annotated[bool | None, Arg("Only try", header="Dry-Run")] = None
    ) -> str:
        """Route it."""
        return f"{region} {target} {dry}"

    return part


def tool_of(part: Registry) -> Tool:
    (tool,) = serving(part).catalogue.tools.values()
    return tool


def headers_in(schema: Json) -> list[str]:
    """Every annotation in a schema, wherever it stands."""
    inner = [name for value in schema.values() if isinstance(value, dict) for name in headers_in(value)]
    own = schema.get("x-mcp-header")
    return [own, *inner] if isinstance(own, str) else inner


async def test_the_newest_revision_sees_which_arguments_are_mirrored() -> None:
    async with connect(serving(routed()), revision=NEWEST) as client:
        (tool,) = await client.list_tools()
    assert tool["inputSchema"]["properties"]["region"] == {
        "type": "string",
        "description": "Region to run in",
        "x-mcp-header": "Region",
    }
    assert headers_in(tool["inputSchema"]) == ["Region", "Shard", "Dry-Run"]


async def test_older_revisions_see_no_annotation(old: Revision) -> None:
    async with connect(serving(routed()), revision=old) as client:
        (tool,) = await client.list_tools()
    assert headers_in(tool["inputSchema"]) == []


def test_a_tool_knows_its_mirrored_arguments() -> None:
    assert tool_of(routed()).header_params == (
        HeaderParam("Mcp-Param-Region", ("region",), "string"),
        HeaderParam("Mcp-Param-Shard", ("target", "shard"), "integer"),
        HeaderParam("Mcp-Param-Dry-Run", ("dry",), "boolean"),
    )


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[float, Arg("A number with a fraction", header="Share")],
        Annotated[str, Arg("No token", header="two words")],
        Annotated[str, Arg("Nothing", header="")],
        list[Annotated[str, Arg("One of many", header="Item")]],
        Annotated[list[str], Arg("Many", header="Items")],
    ],
)
def test_an_annotation_that_clients_would_refuse_is_refused_here(kind: Any) -> None:
    async def routed_badly(value: Any) -> str:
        """Route it."""
        return str(value)

    routed_badly.__annotations__["value"] = kind
    part = Registry()
    part.tool("Route", read_only=True, open_world=False)(routed_badly)
    with pytest.raises(LocalProtocolError, match="routed_badly"):  # N-44
        assert tool_of(part).definition


def test_one_header_for_two_arguments_is_refused() -> None:
    part = Registry()

    @part.tool("Route", read_only=True, open_world=False)
    async def twice(here: Region, there: Annotated[str, Arg("Region to move to", header="region")]) -> str:
        """Route it."""
        return here + there

    with pytest.raises(LocalProtocolError, match="twice"):
        assert tool_of(part).definition
