"""Bytes to messages over a real pipe: UTF-8, LF, a bound on lines, whatever the pieces they come in."""

import json
from collections.abc import Iterator

import pytest

from .process import Process, call, lines, ping, read_message, request, start, text_of

ASCII = {
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONIOENCODING": "ascii",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}
LATIN = {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TEXT = 'zażółć gęślą jaźń \U0001f980 漢字 \u2028 \x85 \x00 \r\n \\ "'
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def worker() -> Iterator[Process]:
    """A server for all tests that leave it as they found it."""
    with start("worker.py") as process:
        yield process


@pytest.mark.parametrize("locale", [{}, ASCII, LATIN], ids=["default", "ascii", "latin-1"])
def test_text_comes_back_as_it_was_sent_whatever_the_locale(locale: dict[str, str]) -> None:
    with start("worker.py", **locale) as worker:
        message = call(1, "echo", text=TEXT)
        worker.send_bytes(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        assert text_of(worker.read()) == TEXT


@pytest.mark.parametrize("locale", [{}, ASCII], ids=["default", "ascii"])
def test_an_answer_is_one_line_that_ends_with_lf_alone(locale: dict[str, str]) -> None:
    with start("worker.py", **locale) as worker:
        worker.send(call(1, "echo", text=TEXT), ping(2))
        worker.close_input()
        said = worker.read_rest()
        assert said.count(b"\n") == 2
        assert b"\r" not in said
        assert said.endswith(b"}\n")


def test_lines_that_end_with_crlf_are_read(worker: Process) -> None:
    worker.send_bytes(lines([ping(1), ping(2)]).replace(b"\n", b"\r\n"))
    assert [worker.read()["id"], worker.read()["id"]] == [1, 2]


def test_a_byte_order_mark_at_the_start_is_ignored() -> None:
    with start("worker.py") as worker:
        worker.send_bytes(b"\xef\xbb\xbf" + lines([ping(1)]))
        assert worker.read()["id"] == 1


def test_a_byte_order_mark_in_pieces_is_ignored() -> None:
    with start("worker.py") as worker:
        for byte in b"\xef\xbb\xbf" + lines([ping(1)]):
            worker.send_bytes(bytes([byte]))
        assert worker.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_blank_lines_are_skipped(worker: Process) -> None:
    worker.send_bytes(b"\n\r\n \t\n" + lines([ping(1)]) + b"\n\n" + lines([ping(2)]))
    assert [worker.read()["id"], worker.read()["id"]] == [1, 2]


def test_a_client_may_write_one_byte_at_a_time(worker: Process) -> None:
    for byte in lines([call(1, "echo", text="zażółć"), ping(2)]):
        worker.send_bytes(bytes([byte]))
    answers = {answer["id"]: answer for answer in (worker.read(), worker.read())}
    assert text_of(answers[1]) == "zażółć"


def test_many_messages_in_one_write_are_all_answered(worker: Process) -> None:
    worker.send_bytes(lines(call(number, "echo", text=str(number)) for number in range(3000)))
    answers = [worker.read() for _ in range(3000)]
    assert {answer["id"]: text_of(answer) for answer in answers} == {n: str(n) for n in range(3000)}


@pytest.mark.parametrize(
    "rubbish",
    [
        pytest.param(b"GET / HTTP/1.1", id="another protocol"),
        pytest.param(b"{", id="a beginning"),
        pytest.param(b"\xff\xfe\x00", id="UTF-16"),
        pytest.param(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} trailing', id="more than a message"),
        pytest.param(b'{"jsonrpc": "2.0", "id": "\xc3", "method": "ping"}', id="broken UTF-8"),
        pytest.param(b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', id="not a number"),
        pytest.param(b"\x00" * 100, id="zeros"),
        pytest.param(b"[" * 100_000, id="arrays without end"),
        pytest.param(b'{"a":' * 50_000 + b"1" + b"}" * 50_000, id="objects in objects"),
    ],
)
def test_a_line_that_is_no_json_is_answered_and_the_next_one_works(worker: Process, rubbish: bytes) -> None:
    worker.send_bytes(rubbish + b"\n" + lines([ping(2)]))
    answer = worker.read()
    assert (answer["error"]["code"], "id" in answer) == (-32700, False)
    assert worker.read() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_thousand_rubbish_lines_do_not_end_the_process(worker: Process) -> None:
    worker.send_bytes(b"rubbish\n" * 1000 + lines([ping(1)]))
    codes = {worker.read()["error"]["code"] for _ in range(1000)}
    assert codes == {-32700}
    assert worker.read()["id"] == 1


@pytest.mark.parametrize("excess", [0, 1])
def test_a_line_may_be_as_long_as_the_limit_and_no_longer(excess: int) -> None:
    with start("worker.py", "1000") as worker:
        line = lines([ping(1)]).strip()
        worker.send_bytes(line.ljust(1000 + excess) + b"\n" + lines([ping(2)]))
        answers = [worker.read(), worker.read()]
        assert [answer.get("error", {}).get("code") for answer in answers] == (
            [-32700, None] if excess else [None, None]
        )


def test_a_line_over_the_limit_is_answered_without_id_and_the_next_one_works() -> None:
    with start("worker.py", "1000") as worker:
        worker.send(call(1, "echo", text="x" * 2000), ping(2))
        refused = worker.read()
        assert (refused["error"]["code"], "id" in refused) == (-32700, False)
        assert worker.read()["id"] == 2


def test_the_answer_to_a_line_over_the_limit_names_the_limit() -> None:
    with start("worker.py", "1000") as worker:
        worker.send(call(1, "echo", text="x" * 2000))
        assert "1000" in worker.read()["error"]["message"]


def test_a_line_over_the_limit_is_answered_once_however_long_it_is() -> None:
    with start("worker.py", "1000") as worker:
        worker.send_bytes(b"x" * 5 * MIB + b"\n" + lines([ping(2)]))
        worker.close_input()
        answers = [read_message(line) for line in worker.read_rest().splitlines()]
        assert [answer.get("id") for answer in answers] == [None, 2]


def test_two_hundred_megabytes_without_a_newline_cost_bounded_memory() -> None:
    with start("worker.py", str(MIB)) as worker:
        worker.ask(ping(1))
        before = worker.memory("VmHWM")
        for _ in range(200):
            worker.send_bytes(b"x" * MIB)
        worker.send_bytes(b"\n")
        worker.read()
        assert worker.memory("VmHWM") - before < 10


def test_a_line_of_twenty_megabytes_is_read_and_answered(worker: Process) -> None:
    assert worker.say(call(1, "size", text="ż" * 10 * MIB)) == f"{10 * MIB} {20 * MIB}"


def test_an_answer_of_twenty_megabytes_arrives_whole(worker: Process) -> None:
    answer = worker.ask(request(1, "resources/read", uri=f"big:///{20 * MIB}"))
    assert len(answer["result"]["contents"][0]["text"]) == 20 * MIB


def test_a_last_line_without_a_newline_is_a_message() -> None:
    with start("worker.py") as worker:
        worker.send_bytes(lines([ping(1), ping(2)]).rstrip(b"\n"))
        worker.close_input()
        assert [read_message(line)["id"] for line in worker.read_rest().splitlines()] == [1, 2]


def test_half_a_last_line_is_not_run() -> None:
    # A client that died in the middle of a line did not finish asking.
    with start("worker.py") as worker:
        worker.send_bytes(lines([ping(1), call(2, "hang")])[:-2])
        worker.close_input()
        assert [read_message(line).get("id") for line in worker.read_rest().splitlines()] == [1, None]
