"""The client and its child processes: good servers, bad servers, and none left behind."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import pytest
from mcp_server_core.client.answers import Answers
from mcp_server_core.client.client import Client
from mcp_server_core.errors import ConnectionLost, McpError, RequestTimeout
from mcp_server_core.transports.child import stdio

from .process import DEADLINE, command

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024


@pytest.fixture
def anyio_backend() -> str:
    """The event loop."""
    return "asyncio"


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Where a scripted server writes down what it meets."""
    return tmp_path / "diary"


@asynccontextmanager
async def client_of(way: str, diary: Path, **options: Any) -> AsyncGenerator[Client]:
    """A client of a scripted server; whatever happens, the test ends."""
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("scripted.py", way, str(diary))), **options) as client:
            yield client


def lines_of(diary: Path) -> list[str]:
    return diary.read_text().splitlines()


def children() -> set[int]:
    """The child processes of this process, zombies included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def descriptors() -> set[str]:
    """The descriptors that are open in this process, and the one that lists them."""
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def exists(client: Client) -> bool:
    """Whether the process of a scripted server is still there, as a zombie at least."""
    return Path("/proc", client.server["name"]).exists()


async def say(client: Client, text: str) -> str:
    answer = await client.call_tool("echo", {"text": text})
    return answer["content"][0]["text"]


# Starting.


async def test_a_stateless_server_is_found_by_its_answer_to_the_probe() -> None:
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"))) as client:
            assert (client.revision, await say(client, "hello")) == ("2026-07-28", "hello")


async def test_a_server_of_the_handshake_era_is_found_by_its_refusal(diary: Path) -> None:
    async with client_of("good", diary) as client:
        assert await say(client, "hello") == "hello"
    assert lines_of(diary)[:4] == ["started", "server/discover", "initialize", "notifications/initialized"]


async def test_a_server_that_dies_of_the_probe_is_started_again_and_not_probed(diary: Path) -> None:  # L-51
    async with client_of("dies of a probe", diary) as client:
        assert await say(client, "hello") == "hello"
    first, second = ["started", "server/discover"], ["started", "initialize", "notifications/initialized"]
    assert lines_of(diary)[:5] == first + second


async def test_a_server_that_always_dies_is_started_twice_and_no_more(diary: Path) -> None:
    with pytest.raises(ConnectionLost):
        async with client_of("dies at once", diary):
            pytest.fail("there is nobody to talk to")
    assert lines_of(diary) == ["started", "server/discover", "started", "initialize"]


async def test_a_command_that_does_not_exist_is_said_plainly() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        async with Client(stdio(["/no-such-command"])):
            pytest.fail("there is nobody to talk to")


async def test_a_command_that_is_no_server_is_said_plainly() -> None:
    with pytest.raises(ConnectionLost), anyio.fail_after(DEADLINE):
        async with Client(stdio(["/bin/true"])):
            pytest.fail("there is nobody to talk to")


async def test_the_environment_given_is_added_to_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    script = "import os; assert (os.environ['OURS'], os.environ['GIVEN']) == ('1', '2')"
    with pytest.raises(ConnectionLost), anyio.fail_after(DEADLINE):
        async with Client(
            stdio([sys.executable, "-c", script], env={"GIVEN": "2"}, stderr=subprocess.DEVNULL)
        ):
            pytest.fail("there is nobody to talk to")


# Bad manners.


async def test_rubbish_before_an_answer_is_passed_over(diary: Path) -> None:
    async with client_of("rubbish", diary, answers=Answers(roots=[])) as client:
        assert await say(client, "hello") == "hello"


async def test_rubbish_is_passed_over_while_progress_is_waited_for(diary: Path) -> None:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        raise AssertionError("no progress was made")

    async with client_of("rubbish", diary) as client:
        assert await client.call_tool("echo", {"text": ""}, progress=progress)


async def test_a_server_that_answers_no_probe_is_asked_to_initialize(diary: Path) -> None:
    with pytest.raises(RequestTimeout):
        async with client_of("silent", diary, probe_timeout=0.1, timeout=0.1):
            pytest.fail("there is nobody to talk to")
    assert lines_of(diary)[:4] == ["started", "server/discover", "notifications/cancelled", "initialize"]


async def test_a_call_that_is_not_answered_times_out(diary: Path) -> None:
    async with client_of("silent to calls", diary) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("echo", {"text": ""}, timeout=0.1)
        await client.ping()


async def test_a_call_that_a_server_does_not_even_read_times_out(diary: Path) -> None:
    async with client_of("stops reading", diary) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("echo", {"text": "x" * 5 * MIB}, timeout=0.3)


async def test_a_server_that_does_not_read_can_be_left(diary: Path) -> None:
    async with client_of("stops reading", diary) as client:
        with anyio.move_on_after(0.3):
            await client.call_tool("echo", {"text": "x" * 5 * MIB})
    assert not exists(client)


async def test_a_call_that_kills_the_server_is_lost_at_once(diary: Path) -> None:
    async with client_of("dies of a call", diary) as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("echo", {"text": ""})


async def test_calls_after_the_death_of_the_server_are_lost(diary: Path) -> None:
    async with client_of("dies of a call", diary) as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("echo", {"text": ""})
        with pytest.raises(ConnectionLost):
            await client.ping()


async def test_an_answer_that_nobody_reads_spoils_only_the_connection(diary: Path) -> None:
    # The server asks for roots and has closed its input: the client's answer meets a broken pipe.
    async with client_of("closes its input", diary, answers=Answers(roots=[])) as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("echo", {"text": ""})


async def test_a_cancelled_call_with_a_large_argument_does_not_spoil_the_next() -> None:
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"))) as client:
            await say(client, "warm")
            # The server is busy elsewhere, so the argument does not fit into the pipe at once.
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "block", {"seconds": 0.5})
                with anyio.move_on_after(0.2):
                    await client.call_tool("size", {"text": "x" * 5 * MIB})
            assert await say(client, "next") == "next"


# Large messages.


async def test_twenty_megabytes_are_sent() -> None:
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"))) as client:
            answer = await client.call_tool("size", {"text": "x" * 20 * MIB})
            assert answer["content"][0]["text"] == f"{20 * MIB} {20 * MIB}"


async def test_twenty_megabytes_are_received() -> None:
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"))) as client:
            contents = await client.read_resource(f"big:///{20 * MIB}")
            assert len(contents[0]["text"]) == 20 * MIB


async def test_large_messages_cross_each_other() -> None:
    # Both pipes are full at once: whoever only writes would wait for ever.
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"))) as client, anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(client.call_tool, "size", {"text": "x" * 5 * MIB})
                tasks.start_soon(client.read_resource, f"big:///{5 * MIB}")


async def test_an_answer_over_the_clients_limit_costs_only_that_call() -> None:
    with anyio.fail_after(DEADLINE):
        async with Client(stdio(command("worker.py"), limit=100_000)) as client:
            with pytest.raises((RequestTimeout, McpError)):
                await client.request("resources/read", {"uri": "big:///200000"}, timeout=0.5)
            assert await say(client, "next") == "next"


# Leaving.


async def test_a_server_is_gone_when_its_client_is_left(diary: Path) -> None:
    async with client_of("good", diary) as client:
        assert exists(client)
    assert not exists(client)


async def test_a_server_is_gone_when_its_client_is_left_by_an_error(diary: Path) -> None:
    left: list[Client] = []

    async def visit() -> None:
        async with client_of("good", diary) as client:
            left.append(client)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await visit()
    assert not exists(left[0])


async def test_a_server_is_gone_when_its_client_is_cancelled(diary: Path) -> None:
    left: list[Client] = []
    with anyio.CancelScope() as scope:
        async with client_of("good", diary) as client:
            left.append(client)
            scope.cancel()
            await anyio.sleep_forever()
    assert not exists(left[0])


async def test_a_good_server_is_not_signalled(diary: Path) -> None:
    async with client_of("good", diary):
        pass
    assert lines_of(diary)[-1] == "end of input"


async def test_a_server_that_ignores_its_end_is_terminated_and_then_killed(tmp_path: Path) -> None:
    # Both at once, because each takes seconds: the first obeys the signal, the second does not.
    ended: dict[str, float] = {}

    async def visit(way: str) -> None:
        async with client_of(way, tmp_path / way) as client:
            began = monotonic()
        ended[way] = monotonic() - began
        assert not exists(client)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit, "ignores its end")
        tasks.start_soon(visit, "ignores everything")
    assert 1.5 < ended["ignores its end"] < 3 < ended["ignores everything"] < 6
    for way in ended:
        assert lines_of(tmp_path / way)[-2:] == ["end of input", "SIGTERM"]


async def test_fifty_clients_at_once_start_and_stop_cleanly(tmp_path: Path) -> None:
    before = children()

    async def visit(number: int) -> None:
        async with client_of("good", tmp_path / str(number)) as client:
            assert await say(client, str(number)) == str(number)

    await together(visit, 50)
    assert children() <= before


async def test_fifty_clients_at_once_leave_no_descriptor_open(tmp_path: Path) -> None:
    async def visit(number: int) -> None:
        async with client_of("good", tmp_path / str(number)):
            pass

    await visit(0)
    before = descriptors()
    await together(visit, 50)
    assert descriptors() <= before


async def together(visit: Callable[[int], Coroutine[Any, Any, None]], count: int) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(visit, number)


async def test_servers_of_one_client_process_do_not_hold_each_other_open(tmp_path: Path) -> None:
    async with client_of("good", tmp_path / "outer"):
        async with client_of("good", tmp_path / "inner") as inner:
            pass
        assert not exists(inner)
    assert lines_of(tmp_path / "inner")[-1] == "end of input"


def test_a_client_works_on_trio(diary: Path) -> None:
    async def visit() -> str:
        async with client_of("good", diary) as client:
            return await say(client, "hello")

    assert anyio.run(visit, backend="trio") == "hello"
