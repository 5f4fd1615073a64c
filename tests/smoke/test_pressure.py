"""A client that is slow, or stops reading, slows the server down: memory stays bounded and nothing is lost."""

import json
from typing import Any, NamedTuple

import pytest

from .process import (
    META,
    Process,
    call,
    initialize,
    lines,
    notification,
    ping,
    read_message,
    request,
    start,
    text_of,
)

MANY = 10_000
ROOM = 25  # MiB: 256 calls of 10 kB and the buffers they pass through, generously
STALLED = 0.5  # seconds without a byte taken: the server has stopped reading


def fill(process: Process, messages: bytes) -> bytes:
    """Send without reading until the server stops taking; what it did not take."""
    taken = process.send_some(messages, STALLED)
    return messages[taken:]


def read_all(process: Process, rest: bytes, count: int) -> list[dict[str, Any]]:
    """Read so many answers, sending the rest of the messages on the way."""
    answers: list[dict[str, Any]] = []
    while len(answers) < count:
        if rest:
            rest = rest[process.send_some(rest[: 64 * 1024], 0) :]
        answers.append(process.read())
    return answers


def ready(process: Process) -> int:
    """Memory of a server that has loaded all it needs, in MiB."""
    process.say(call("warm", "big", size=10))
    process.say(call("warm", "echo_thread", text=""))
    return process.memory("VmRSS")


class Story(NamedTuple):
    """What became of a client that sent many calls, read nothing, and then read everything."""

    grown: int
    rest: bytes
    answers: list[dict[str, Any]]


@pytest.fixture(scope="module")
def story() -> Story:
    with start("worker.py") as worker:
        before = ready(worker)
        rest = fill(worker, lines(call(number, "big", size=10_000) for number in range(MANY)))
        grown = worker.memory("VmRSS") - before
        return Story(grown, rest, read_all(worker, rest, MANY))


def test_a_client_that_stops_reading_costs_bounded_memory(story: Story) -> None:
    assert story.grown < ROOM


def test_a_client_that_stops_reading_costs_bounded_memory_also_when_threads_answer() -> None:
    with start("worker.py") as worker:
        before = ready(worker)
        fill(worker, lines(call(number, "big_thread", size=10_000) for number in range(MANY // 2)))
        assert worker.memory("VmRSS") - before < ROOM


def test_a_client_that_stops_reading_is_not_read_from_for_ever(story: Story) -> None:
    assert story.rest


def test_nothing_is_lost_once_the_client_reads_again(story: Story) -> None:
    assert sorted(answer["id"] for answer in story.answers) == list(range(MANY))


def test_every_answer_is_whole_once_the_client_reads_again(story: Story) -> None:
    assert {text_of(answer) for answer in story.answers} == {"x" * 10_000}


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(ping(1), id="pings"),
        pytest.param(request(1, "server/discover"), id="discoveries"),
        pytest.param(request(1, "no/such/method"), id="unknown methods"),
        pytest.param({"id": 1}, id="no messages"),
        pytest.param(notification("nonsense"), id="notifications"),
    ],
)
def test_a_client_that_reads_nothing_costs_bounded_memory_whatever_it_sends(message: dict[str, Any]) -> None:
    with start("worker.py") as worker:
        before = ready(worker)
        fill(worker, lines([message]) * MANY * 2)
        assert worker.memory("VmRSS") - before < ROOM


def test_a_client_that_reads_no_lists_costs_bounded_memory() -> None:
    with start("worker.py") as worker:
        before = ready(worker)
        fill(worker, lines(request(number, "tools/list") for number in range(MANY)))
        assert worker.memory("VmRSS") - before < ROOM


def test_a_question_that_waits_for_its_answer_does_not_open_the_gates() -> None:
    # While the server waits for an answer of the client it must go on reading, or it would never see it.
    with start("worker.py") as worker:
        before = ready(worker)
        worker.ask(initialize("hello", elicitation={}))
        worker.send(notification("initialized"))
        asking: dict[str, Any] = {"jsonrpc": "2.0", "id": "asks", "method": "tools/call"}
        worker.send({**asking, "params": {"name": "ask", "arguments": {}}})
        assert worker.read()["method"] == "elicitation/create"
        fill(worker, lines(call(number, "big", size=10_000) for number in range(MANY)))
        assert worker.memory("VmRSS") - before < ROOM


def test_an_answer_to_a_question_is_read_though_many_calls_are_in_flight() -> None:
    with start("worker.py") as worker:
        worker.ask(initialize("hello", elicitation={}))
        worker.send(notification("initialized"))
        asking: dict[str, Any] = {"jsonrpc": "2.0", "id": "asks", "method": "tools/call"}
        worker.send(*(call(number, "hang") for number in range(255)))
        worker.send({**asking, "params": {"name": "ask", "arguments": {}}})
        question = worker.read()
        worker.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
        assert worker.read()["id"] == "asks"


def test_answers_to_calls_before_the_end_of_input_are_given_to_a_client_that_reads_later() -> None:
    with start("worker.py") as worker:
        ready(worker)
        # More than the pipe holds, so that some answers wait while the input ends.
        rest = fill(worker, lines(call(number, "big", size=10_000) for number in range(250)))
        assert not rest
        worker.close_input()
        with pytest.raises(TimeoutError):
            worker.wait(0.5)  # the client takes its time
        answers = [read_message(line) for line in worker.read_rest().splitlines()]
        assert sorted(answer["id"] for answer in answers) == list(range(250))


def test_a_cancelled_call_does_not_leave_half_a_line_on_the_wire() -> None:
    with start("worker.py") as worker:
        ready(worker)
        logged = call(1, "big_log", size=5_000_000)
        logged["params"]["_meta"] = {**META, "io.modelcontextprotocol/logLevel": "debug"}
        worker.send(logged)
        begun = worker.read_some()
        assert b"\n" not in begun  # the log message is on its way, more than the pipe holds
        worker.send(notification("cancelled", requestId=1), ping(2))
        worker.unread(begun)
        messages = [worker.read()]
        while messages[-1].get("id") != 2:
            messages.append(worker.read())
        assert messages[-1] == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_calls_that_are_cancelled_as_they_start_give_their_threads_back() -> None:
    with start("worker.py") as worker:
        ready(worker)
        # As many calls as there are threads end one read, so that their cancellations come with the next one: the
        # calls have begun by then, and their threads have not.
        calls = lines(call(number, "echo_thread", text="") for number in range(16))
        blank = b"\n".rjust(64 * 1024 - len(calls))
        worker.send_bytes(blank + calls + lines(notification("cancelled", requestId=n) for n in range(16)))
        worker.send(call("last", "echo_thread", text="still there"))
        while (answer := worker.read(patience=5))["id"] != "last":
            pass  # a call that was quicker than its cancellation
        assert text_of(answer) == "still there"


def test_a_slow_reader_gets_everything() -> None:
    with start("worker.py") as worker:
        ready(worker)
        sent = lines(call(number, "big", size=100) for number in range(500))
        worker.send_bytes(sent)
        said = bytearray()
        while said.count(b"\n") < 500:
            said += worker.read_some(1000)
        assert len({json.loads(line)["id"] for line in said.splitlines()}) == 500
