"""How a client finds out which era a server speaks."""

from typing import Any

import pytest
from mcp_server_core import Client, ConnectionLost, McpError, RequestTimeout
from mcp_server_core.protocol.revisions import META_CLIENT, META_SERVER, Revision

from .scripted import Scripted, Wire

pytestmark = pytest.mark.anyio
NEWEST: Revision = "2026-07-28"


async def stateless(wire: Wire) -> None:
    await wire.discover()
    await wire.until_gone()


async def handshake(wire: Wire) -> None:
    await wire.initialize()
    await wire.until_gone()


async def test_a_stateless_server_is_recognised_by_its_answer() -> None:
    server = Scripted(stateless)
    async with Client(server) as client:
        assert client.revision == NEWEST
        assert client.stateless
    assert server.opened == 1


async def test_the_probe_carries_a_whole_envelope() -> None:
    server = Scripted(stateless)
    async with Client(server, name="c", version="3"):
        pass
    meta = server.wires[0].heard[0]["params"]["_meta"]
    assert meta == {  # L-20, L-21
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {},
        META_CLIENT: {"name": "c", "version": "3"},
    }


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, -32700, -32000, 0, 1])
async def test_any_ordinary_error_means_the_handshake(code: int) -> None:
    async def refusing(wire: Wire) -> None:
        await wire.refuse(await wire.expect("server/discover"), code)
        await handshake(wire)

    async with Client(Scripted(refusing)) as client:  # L-47
        assert client.revision == "2025-11-25"


async def test_an_error_that_names_a_handshake_revision_means_the_handshake() -> None:
    async def refusing(wire: Wire) -> None:
        data = {"supported": ["2025-11-25"], "requested": NEWEST}
        await wire.refuse(await wire.expect("server/discover"), -32022, data=data)
        await handshake(wire)

    async with Client(Scripted(refusing)) as client:
        assert client.revision == "2025-11-25"


async def test_a_server_of_a_later_revision_alone_is_an_error_that_says_so() -> None:
    async def refusing(wire: Wire) -> None:
        data = {"supported": ["2030-01-01"], "requested": NEWEST}
        await wire.refuse(await wire.expect("server/discover"), -32022, data=data)
        await wire.until_gone()

    with pytest.raises(McpError) as caught:
        async with Client(Scripted(refusing)):
            pass
    assert caught.value.code == -32022
    assert caught.value.data["supported"] == ["2030-01-01"]


@pytest.mark.parametrize(
    "data", [None, [], "x", {"supported": "x"}, {"supported": None}, {"supported": [1, {}]}]
)
async def test_a_version_error_of_odd_shape_does_not_break_the_client(data: Any) -> None:
    async def refusing(wire: Wire) -> None:
        await wire.refuse(await wire.expect("server/discover"), -32022, data=data)
        await handshake(wire)

    try:
        async with Client(Scripted(refusing)) as client:
            assert client.revision == "2025-11-25"
    except McpError as error:
        assert error.code == -32022  # noqa: PT017 - either is right; a TypeError is not


async def test_silence_means_the_handshake() -> None:
    async def silent(wire: Wire) -> None:
        probe = await wire.expect("server/discover")
        cancelled = await wire.expect("notifications/cancelled")
        assert cancelled["params"]["requestId"] == probe["id"]
        await handshake(wire)

    server = Scripted(silent)
    async with Client(server, probe_timeout=0.3) as client:
        assert client.revision == "2025-11-25"
    assert server.opened == 1


async def test_a_late_answer_to_the_probe_is_ignored() -> None:
    async def late(wire: Wire) -> None:
        probe = await wire.expect("server/discover")
        await wire.expect("notifications/cancelled")
        await wire.reply(probe, {"supportedVersions": [NEWEST], "capabilities": {}})
        await handshake(wire)

    async with Client(Scripted(late), probe_timeout=0.3) as client:
        assert client.revision == "2025-11-25"


async def test_a_server_that_dies_of_the_probe_is_started_once_more() -> None:
    async def dying(wire: Wire) -> None:
        await wire.expect("server/discover")

    server = Scripted(dying, handshake)
    async with Client(server) as client:
        assert client.revision == "2025-11-25"
    assert server.opened == 2
    assert server.wires[1].heard[0]["method"] == "initialize"  # L-51


async def test_a_server_that_dies_again_is_given_up() -> None:
    async def dying(wire: Wire) -> None:
        await wire.receive()

    server = Scripted(dying, dying)
    with pytest.raises(ConnectionLost):
        async with Client(server):
            pass
    assert server.opened == 2


async def test_a_server_that_is_gone_at_once_is_started_once_more() -> None:
    async def gone(wire: Wire) -> None:
        pass

    server = Scripted(gone, handshake)
    async with Client(server) as client:
        assert client.revision == "2025-11-25"


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"supportedVersions": []},
        {"supportedVersions": "2026-07-28"},
        {"supportedVersions": ["2030-01-01"]},
    ],
)
async def test_an_answer_that_names_no_revision_of_ours_means_the_handshake(result: dict[str, Any]) -> None:
    async def odd(wire: Wire) -> None:
        await wire.reply(await wire.expect("server/discover"), result)
        await handshake(wire)

    async with Client(Scripted(odd)) as client:
        assert client.revision == "2025-11-25"


@pytest.mark.parametrize("versions", [[NEWEST, "2025-11-25"], ["2030-01-01", NEWEST], [NEWEST]])
async def test_a_list_that_holds_our_revision_is_enough(versions: list[str]) -> None:
    async def listing(wire: Wire) -> None:
        await wire.discover(supportedVersions=versions)
        await wire.until_gone()

    async with Client(Scripted(listing)) as client:
        assert client.revision == NEWEST


SERVER = {"name": "s", "version": "1"}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"serverInfo": SERVER}, SERVER),
        ({"_meta": {META_SERVER: SERVER}}, SERVER),
        ({"serverInfo": {"name": "old", "version": "0"}, "_meta": {META_SERVER: SERVER}}, SERVER),
        ({}, {}),
        ({"_meta": "x", "serverInfo": "x"}, {}),
        ({"_meta": {META_SERVER: None}}, {}),
    ],
)
async def test_a_server_is_known_in_the_final_form_and_in_the_seed_form(more: Any, found: Any) -> None:
    async def named(wire: Wire) -> None:
        await wire.discover(**more)
        await wire.until_gone()

    async with Client(Scripted(named)) as client:
        assert client.server == found


async def test_a_wanted_handshake_revision_is_offered_without_a_probe(old: Revision) -> None:
    async def script(wire: Wire) -> None:
        offered = await wire.initialize(old)
        assert offered["protocolVersion"] == old
        await wire.until_gone()

    server = Scripted(script)
    async with Client(server, revision=old) as client:
        assert client.revision == old
    assert [message["method"] for message in server.wires[0].heard] == [
        "initialize",
        "notifications/initialized",
    ]


async def test_the_newest_handshake_revision_is_offered_after_a_probe() -> None:
    async def script(wire: Wire) -> None:
        await wire.refuse(await wire.expect("server/discover"), -32601)
        assert (await wire.initialize())["protocolVersion"] == "2025-11-25"  # L-2
        await wire.until_gone()

    async with Client(Scripted(script)):
        pass


async def test_an_older_counter_offer_is_taken(old: Revision) -> None:
    async def script(wire: Wire) -> None:
        await wire.refuse(await wire.expect("server/discover"), -32601)
        await wire.initialize(old)
        await wire.until_gone()

    async with Client(Scripted(script)) as client:
        assert client.revision == old


@pytest.mark.parametrize("revision", ["2030-01-01", "2026-07-28", None, 5, ["2025-11-25"], {}])
async def test_a_counter_offer_we_do_not_speak_ends_the_connection(revision: Any) -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("initialize")
        await wire.reply(asked, {"protocolVersion": revision, "capabilities": {}, "serverInfo": SERVER})
        await wire.until_gone()

    server = Scripted(script)
    with pytest.raises(McpError):
        async with Client(server, revision="2025-11-25"):
            pass
    assert len(server.wires[0].heard) == 1  # L-6


async def test_an_initialize_that_is_refused_is_an_error_of_the_server() -> None:
    async def script(wire: Wire) -> None:
        data = {"supported": ["1.0"], "requested": "2025-11-25"}
        await wire.refuse(await wire.expect("initialize"), -32602, "Unsupported protocol version", data)
        await wire.until_gone()

    with pytest.raises(McpError, match="Unsupported protocol version"):  # L-7
        async with Client(Scripted(script), revision="2025-11-25"):
            pass


async def test_an_initialize_that_is_not_answered_times_out_and_is_not_cancelled() -> None:
    async def script(wire: Wire) -> None:
        await wire.until_gone()

    server = Scripted(script)
    with pytest.raises(RequestTimeout):
        async with Client(server, revision="2025-11-25", timeout=0.01):
            pass
    assert [message["method"] for message in server.wires[0].heard] == ["initialize"]  # L-13


async def test_a_log_level_is_set_only_where_there_are_logs() -> None:
    async def with_logs(wire: Wire) -> None:
        await wire.initialize(capabilities={"logging": {}})
        asked = await wire.expect("logging/setLevel")
        assert asked["params"] == {"level": "error"}
        await wire.reply(asked, {})
        await wire.until_gone()

    async def without_logs(wire: Wire) -> None:
        await wire.initialize()
        await wire.until_gone()

    for script in (with_logs, without_logs):
        server = Scripted(script)
        async with Client(server, revision="2025-11-25", log_level="error"):
            pass


async def test_what_comes_before_the_answer_does_not_disturb_the_opening() -> None:
    async def noisy(wire: Wire) -> None:
        asked = await wire.expect("initialize")
        await wire.notify("notifications/message", {"level": "info", "data": "hello"})
        await wire.channel.send_bytes(b"not json")
        await wire.channel.send_bytes(b"[]")
        await wire.channel.send_bytes(b"5")
        await wire.channel.send({"jsonrpc": "2.0", "id": 77, "result": {}})
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": SERVER}
        await wire.reply(asked, result)
        await wire.until_gone()

    async with Client(Scripted(noisy), revision="2025-11-25") as client:
        assert client.server == SERVER


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with Client(Scripted(stateless)):
            raise ZeroDivisionError


async def test_a_client_that_never_connected_says_so() -> None:
    client = Client(Scripted(stateless))
    with pytest.raises(ConnectionLost):
        await client.list_tools()


async def test_a_client_that_is_closed_says_so() -> None:
    async with Client(Scripted(stateless)) as client:
        pass
    with pytest.raises(ConnectionLost):
        await client.list_tools()
