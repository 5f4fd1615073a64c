"""Two replicas behind nginx, configured as the operations guide says: stateless clients do not notice."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from ..smoke.process import DEADLINE, META, request
from .process import Wire, http, mirrored, tool_call
from .site import NAME, SERVED_BY, Replica, Site, running_site

NOTE = "note:///groceries"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as running:
        yield running


def count(wire: Wire, to: int) -> None:
    """Begin a count that waits for `go_on` after each number."""
    message, fields = tool_call("count", to=to, in_step=True)
    message["params"]["_meta"] = {**META, "progressToken": "p"}
    wire.send(http(message, fields, host=NAME))


def delete_note(**more: Any) -> bytes:
    """Ask for a note to be deleted, by a client that can be asked back."""
    message = request(1, "tools/call", name="delete_note", arguments={"title": "ideas"}, **more)
    capable = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    message["params"]["_meta"] = {**META, **capable}
    return http(message, mirrored("tools/call", "delete_note"), host=NAME)


# Spreading.


def test_calls_go_to_both_replicas_in_turn(site: Site) -> None:
    served = [site.behind(site.call("echo", text="hello")).port for _ in range(4)]
    assert served[:2] == served[2:]
    assert set(served) == {replica.port for replica in site.replicas}


def test_a_question_asked_by_one_replica_is_answered_to_the_other(site: Site) -> None:
    with site.connect() as wire:
        asked = wire.send(delete_note()).read()
        result = asked.json()["result"]
        answers = {key: {"action": "accept", "content": {"delete": True}} for key in result["inputRequests"]}
        again = delete_note(inputResponses=answers, requestState=result["requestState"])
        done = wire.send(again).read()
    assert result["resultType"] == "input_required"
    assert done.json()["result"]["content"][0]["text"] == "Deleted 'ideas'."
    assert site.behind(asked) != site.behind(done)


def test_the_host_that_the_client_names_is_the_one_that_is_checked(site: Site) -> None:
    with site.connect() as wire:
        message, fields = tool_call("echo", text="hello")
        assert wire.send(http(message, fields, host="evil.example.com")).read().status == 403
        assert wire.send(http(message, fields, host=NAME)).read().status == 200


# Streams.


def test_progress_comes_through_before_the_answer_exists(site: Site) -> None:
    with site.connect() as wire:
        count(wire, 2)
        replica = site.behind(wire.read_head())
        for number in (1, 2):
            assert wire.read_event()["params"]["progress"] == number
            replica.call("go_on")  # only now can it go on
        assert wire.read_event()["result"]["content"][0]["text"] == "counted to 2"


def test_a_listener_hears_of_a_change_while_its_stream_is_open(site: Site) -> None:
    wanted = {"resourceSubscriptions": [NOTE]}
    message = request("l", "subscriptions/listen", notifications=wanted)
    with site.connect() as wire:
        wire.send(http(message, mirrored("subscriptions/listen"), host=NAME))
        replica = site.behind(wire.read_head())
        assert wire.read_event()["method"] == "notifications/subscriptions/acknowledged"
        replica.call("write_note", title="groceries", text="bread")
        told = wire.read_event()
    assert (told["method"], told["params"]["uri"]) == ("notifications/resources/updated", NOTE)


def test_a_client_that_hangs_up_cancels_its_call_on_the_replica(site: Site) -> None:
    with site.connect() as wire:
        count(wire, 1000)
        replica = site.behind(wire.read_head())
        wire.read_event()
    assert replica.call("notice_cancellation") == "the count was cancelled"


# The official client.


def test_the_official_client_works_across_both_replicas(site: Site) -> None:
    served: set[str] = set()
    asked: list[str] = []

    async def note_replica(response: httpx2.Response) -> None:
        served.add(response.headers[SERVED_BY])

    async def accept(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"delete": True})

    async def talk() -> tuple[str, list[str]]:
        hooks: Any = {"response": [note_replica]}
        with anyio.fail_after(15):
            async with httpx2.AsyncClient(event_hooks=hooks, timeout=15) as web:
                transport = streamable_http_client(f"http://127.0.0.1:{site.port}/mcp", http_client=web)
                async with Client(transport, elicitation_callback=accept) as client:
                    said = [await client.call_tool("echo", {"text": str(number)}) for number in range(4)]
                    await client.call_tool("delete_note", {"title": "groceries"})
                    return client.protocol_version, [result.content[0].text for result in said]  # pyright: ignore[reportAttributeAccessIssue] - text it is

    assert anyio.run(talk) == ("2026-07-28", ["0", "1", "2", "3"])
    assert asked == ["Delete 'groceries'?"]
    assert served == {replica.address for replica in site.replicas}


# Stopping.


class Stopping(NamedTuple):
    """A site whose one replica was told to stop while it had a call in flight."""

    site: Site
    replica: Replica
    in_flight: Wire
    """Waits for the other call to be given up."""
    other: Wire
    """A call to the replica itself, past the proxy."""


@pytest.fixture
def stopping(tmp_path: Path) -> Iterator[Stopping]:
    with running_site(tmp_path) as site, site.connect() as in_flight:
        in_flight.send(http(*tool_call("notice_cancellation"), host=NAME))
        replica = site.behind(in_flight.read_head())
        with Wire(replica.port) as other:
            count(other, 1000)
            other.read_event()
            replica.process.kill(signal.SIGTERM)
            wait_until_refused(replica.port)
            yield Stopping(site, replica, in_flight, other)


def wait_until_refused(port: int) -> None:
    """Connect until nobody takes it any more."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), DEADLINE).close()
        except ConnectionError:
            return


def test_no_call_fails_while_a_replica_stops(stopping: Stopping) -> None:
    answers = [stopping.site.call("echo", text="hello") for _ in range(20)]
    assert {answer.status for answer in answers} == {200}
    assert stopping.replica not in {stopping.site.behind(answer) for answer in answers}
    assert stopping.replica.process.alive


def test_a_call_in_flight_is_answered_by_a_replica_that_stops(stopping: Stopping) -> None:
    stopping.other.socket.close()
    answer = stopping.in_flight.read_event()
    assert answer["result"]["content"][0]["text"] == "the count was cancelled"
    assert stopping.replica.process.wait() == 0
