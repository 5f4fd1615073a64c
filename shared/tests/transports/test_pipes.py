"""Messages over descriptors: whole lines, back-pressure, and ends that are noticed."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core.errors import ConnectionLost
from mcp_server_core.protocol.codec import Malformed, Spliced
from mcp_server_core.transports.pipes import PipeChannel

pytestmark = pytest.mark.anyio

BIG = {"jsonrpc": "2.0", "method": "big", "params": {"text": "x" * 3_000_000}}
SMALL = {"jsonrpc": "2.0", "method": "small"}

ROWS = [b'{"rows":["a', b'"', b',"\\"\\n'] + [b"y" * 100_000] * 30 + [b"", b'"]}']
READY = {"text": Spliced(ROWS, quoted=True), "data": Spliced(ROWS)}
READ = {"text": b"".join(ROWS).decode(), "data": {"rows": ["a", '"\n' + "y" * 3_000_000]}}


@asynccontextmanager
async def channels() -> AsyncGenerator[tuple[PipeChannel, PipeChannel]]:
    left_in, right_out = os.pipe()
    right_in, left_out = os.pipe()
    left, right = PipeChannel(left_in, left_out), PipeChannel(right_in, right_out)
    try:
        yield left, right
    finally:
        await left.close()
        await right.close()


async def test_a_message_larger_than_a_pipe_arrives_whole() -> None:
    async with channels() as (left, right), anyio.create_task_group() as tasks:
        tasks.start_soon(left.send, BIG)
        with anyio.fail_after(5):
            assert await right.receive() == BIG


async def test_a_sender_that_is_cancelled_in_mid_line_does_not_tear_it() -> None:
    async with channels() as (left, right):
        with anyio.move_on_after(0.05) as scope:
            await left.send(BIG)  # nobody reads: it cannot be written to its end
        assert scope.cancelled_caught
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(left.send, SMALL)
            with anyio.fail_after(5):
                assert [await right.receive(), await right.receive()] == [BIG, SMALL]


async def test_parts_that_are_written_already_arrive_in_their_places() -> None:
    async with channels() as (left, right), anyio.create_task_group() as tasks:
        tasks.start_soon(left.send, READY)
        tasks.start_soon(left.send, SMALL)
        with anyio.fail_after(5):
            got: list[Any] = [await right.receive(), await right.receive()]
        assert got in ([READ, SMALL], [SMALL, READ])


async def test_a_sender_that_is_cancelled_among_its_pieces_does_not_tear_the_line() -> None:
    async with channels() as (left, right):
        with anyio.move_on_after(0.05) as scope:
            await left.send(READY)
        assert scope.cancelled_caught
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(left.send, SMALL)
            with anyio.fail_after(5):
                assert [await right.receive(), await right.receive()] == [READ, SMALL]


async def test_a_sender_that_is_cancelled_before_it_began_leaves_nothing_behind() -> None:
    async with channels() as (left, right), anyio.create_task_group() as tasks:
        tasks.start_soon(left.send, BIG)
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0) as scope:
            await left.send(SMALL)
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            assert await right.receive() == BIG
        await left.send({"last": True})
        with anyio.fail_after(5):
            assert await right.receive() == {"last": True}


async def test_messages_of_several_senders_do_not_mix() -> None:
    async with channels() as (left, right), anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(left.send, BIG)
            tasks.start_soon(left.send, SMALL)
        with anyio.fail_after(10):
            got: list[Any] = [await right.receive() for _ in range(10)]
        assert got.count(BIG) == got.count(SMALL) == 5


async def test_the_end_of_the_peer_is_noticed_by_whoever_reads() -> None:
    async with channels() as (left, right):
        await right.close()
        with anyio.fail_after(5), pytest.raises(ConnectionLost):
            await left.receive()


async def test_a_broken_pipe_ends_reading_too() -> None:
    kept_open, feeds_left = os.pipe()  # left's input stays open: only its output breaks
    nobody_reads, left_out = os.pipe()
    left = PipeChannel(kept_open, left_out)
    os.close(nobody_reads)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(expect_lost, left)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(ConnectionLost):
                await left.send(SMALL)
    finally:
        await left.close()
        os.close(feeds_left)


async def expect_lost(channel: PipeChannel) -> None:
    with anyio.fail_after(5), pytest.raises(ConnectionLost):
        await channel.receive()


async def test_closing_wakes_whoever_reads() -> None:
    async with channels() as (left, _), anyio.create_task_group() as tasks:
        tasks.start_soon(expect_lost, left)
        await anyio.wait_all_tasks_blocked()
        await left.close()


async def test_a_line_that_is_no_json_is_handed_on_as_such() -> None:
    async with channels() as (left, right):
        await left.send_bytes(b"rubbish\n")
        assert isinstance(await right.receive(), Malformed)


@pytest.fixture
def files(tmp_path: Path) -> tuple[int, int]:
    """A regular file to read and one to write: nothing an event loop could wait for."""
    (tmp_path / "in").write_bytes(b'{"a":1}\n{"b":2}')
    read_fd = os.open(tmp_path / "in", os.O_RDONLY)
    write_fd = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    return read_fd, write_fd


async def test_files_can_stand_in_for_pipes(files: tuple[int, int], tmp_path: Path) -> None:
    channel = PipeChannel(*files)
    try:
        with anyio.fail_after(5):
            assert await channel.receive() == {"a": 1}
            await channel.send({"c": 3})
            assert await channel.receive() == {"b": 2}  # a last line needs no newline
            with pytest.raises(ConnectionLost):
                await channel.receive()
    finally:
        await channel.close()
    assert (tmp_path / "out").read_bytes() == b'{"c":3}\n'
