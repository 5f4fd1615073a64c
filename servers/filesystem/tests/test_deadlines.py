"""Disks that do not answer: their own calls end with a sentence, all other calls go on."""

import gc
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, McpError
from mcp_server_core.places import Patience, Place, Places
from mcp_server_core.testing import connect
from mcp_server_filesystem.deadlines import THREADS, place_of
from mcp_server_filesystem.server import build

pytestmark = pytest.mark.anyio
OPEN = Path("/proc/self/fd")


def descriptors() -> int:
    """How many this process has open."""
    return len(list(OPEN.iterdir()))


class Hanging:
    """An engine that stops at everything in one place, as system calls do on a share that went away."""

    def __init__(self, inner: Any, path: Path) -> None:
        self._inner = inner
        self._path = str(path)
        self.answers = threading.Event()
        self.stuck = 0

    def wait(self, path: str) -> None:
        if path == self._path and not self.answers.is_set():
            self.stuck += 1
            self.answers.wait()

    def enter(self, path: str) -> Any:
        self.wait(path)
        return self._inner.enter(path)

    def enter_again(self, directory: Any) -> Any:
        self.wait(directory.path)
        return self._inner.enter_again(directory)

    def reach(self, find: Any, place: Place, parts: Sequence[str], *, follow: bool) -> Any:
        self.wait(place.path)
        return self._inner.reach(find, place, parts, follow=follow)

    def open(self, find: Any, place: Place, parts: Sequence[str], flags: int) -> int:
        self.wait(place.path)
        return self._inner.open(find, place, parts, flags)

    def stat(self, find: Any, place: Place, parts: Sequence[str]) -> os.stat_result:
        self.wait(place.path)
        return self._inner.stat(find, place, parts)

    def scandir(self, find: Any, place: Place, parts: Sequence[str]) -> AbstractContextManager[Any]:
        self.wait(place.path)
        return self._inner.scandir(find, place, parts)


class Stage:
    """Two directories, one of which hangs from some moment on."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.good, self.bad = tmp_path / "good", tmp_path / "bad"
        for path in (self.good, self.bad):
            path.mkdir()
            (path / "file").write_text("text")
        with Places([]) as places:
            self.engine = Hanging(places.engine, self.bad)
        monkeypatch.setattr("mcp_server_core.places.places.choose_engine", lambda: self.engine)
        self._stat = os.stat
        monkeypatch.setattr(os, "stat", self._hanging_stat)

    def _hanging_stat(self, path: Any, **options: Any) -> os.stat_result:
        if isinstance(path, str):
            self.engine.wait(path)
        return self._stat(path, **options)

    def hang(self) -> None:
        self.engine.answers.clear()

    def server(self, seconds: float = 0.3) -> Any:
        return build([str(self.good), str(self.bad)], patience=seconds)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    stage = Stage(tmp_path, monkeypatch)
    stage.engine.answers.set()
    yield stage
    stage.engine.answers.set()


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_directory", {}),
    ("list_directory_with_sizes", {}),
    ("directory_tree", {}),
    ("search_files", {"pattern": "**"}),
    ("search_text", {"pattern": "text"}),
    ("get_file_info", {}),
)


async def call(client: Client, tool: str, path: Path, **arguments: Any) -> tuple[bool, str]:
    result = await client.call_tool(tool, {"path": str(path), **arguments})
    return bool(result.get("isError")), result["content"][0]["text"]


async def answers_again(client: Client, stage: Stage) -> None:
    with anyio.fail_after(10):
        while (await call(client, "list_directory", stage.bad))[0]:  # noqa: ASYNC110 - threads are the source
            await anyio.sleep(0.05)


async def test_calls_about_a_directory_that_hangs_end_with_a_sentence(stage: Stage) -> None:
    async with connect(stage.server()) as client:
        await call(client, "list_directory", stage.bad)
        stage.hang()
        with anyio.fail_after(30):
            for tool, arguments in CALLS:
                failed, text = await call(client, tool, stage.bad, **arguments)
                assert failed
                assert "did not answer within 0.3 seconds" in text
                assert str(stage.bad) in text


async def test_calls_about_another_directory_go_on_meanwhile(stage: Stage) -> None:
    async with connect(stage.server()) as client:
        await call(client, "list_directory", stage.bad)
        stage.hang()
        with anyio.fail_after(30):
            for tool, arguments in CALLS:
                assert (await call(client, tool, stage.good, **arguments))[0] is False
        with anyio.fail_after(2):  # nobody waits for the one that is known to hang
            for tool, arguments in CALLS:
                assert (await call(client, tool, stage.good, **arguments))[0] is False


async def test_a_directory_that_hangs_uses_up_no_threads_of_others(stage: Stage) -> None:
    async with connect(stage.server()) as client:
        await call(client, "list_directory", stage.bad)
        stage.hang()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for _ in range(100):
                    tasks.start_soon(call, client, "list_directory", stage.bad)
        assert stage.engine.stuck <= THREADS + 2
        with anyio.fail_after(5):
            assert (await call(client, "list_directory", stage.good))[0] is False
        stage.engine.answers.set()
        await answers_again(client, stage)


async def test_resources_of_a_directory_that_hangs_use_up_no_threads_of_others(stage: Stage) -> None:
    bad, good = ((path / "file").as_uri() for path in (stage.bad, stage.good))

    async def read(client: Client, uri: str) -> None:
        with suppress(McpError):
            await client.read_resource(uri)

    async with connect(stage.server()) as client:
        await client.read_resource(bad)
        stage.hang()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(read, client, bad)
        with anyio.fail_after(5):
            assert (await client.read_resource(good))[0]["text"] == "text"
        stage.engine.answers.set()


async def test_a_directory_that_hangs_from_the_start_is_left_out_until_it_answers(stage: Stage) -> None:
    stage.hang()
    async with connect(stage.server(5)) as client:
        with anyio.fail_after(30):
            assert (await call(client, "list_directory", stage.good))[0] is False
            listed = (await client.call_tool("list_allowed_directories"))["structuredContent"]["directories"]
        assert {item["path"]: item["problem"] for item in listed} == {
            str(stage.good): "",
            str(stage.bad): "does not answer",
        }
        stage.engine.answers.set()
        await answers_again(client, stage)


async def test_what_is_listed_says_which_directory_does_not_answer(stage: Stage) -> None:
    async with connect(stage.server(5)) as client:
        await call(client, "list_directory", stage.good)
        stage.hang()
        with anyio.fail_after(20):
            text = (await client.call_tool("list_allowed_directories"))["content"][0]["text"]
            resources = await client.list_resources()
    assert f"{stage.bad} (read and write, configured, does not answer)" in text
    assert [item["uri"] for item in resources] == [stage.good.as_uri()]


async def test_a_subscription_to_what_hangs_is_refused_in_time(stage: Stage) -> None:
    async with connect(stage.server(), revision="2025-11-25") as client:
        await call(client, "list_directory", stage.bad)
        stage.hang()
        with anyio.fail_after(20), pytest.raises(Exception, match="did not answer"):
            async with client.watch((stage.bad / "file").as_uri()):
                pass


def test_threads_are_chosen_by_the_longest_directory_that_a_path_begins_with() -> None:
    directories = ["/a", "/a/b", "/ab"]
    chosen = {path: place_of(directories, path) for path in ("/a", "/a/b/c", "/ab/c", "/abc", "x", "")}
    assert chosen == {"/a": "/a", "/a/b/c": "/a/b", "/ab/c": "/ab", "/abc": "", "x": "", "": ""}
    assert place_of(["/a"], "x") == "/a"
    assert place_of(directories, "file:///a/b/c%20d") == "/a/b"
    assert place_of(directories, "file:nonsense") == ""


def test_only_one_thread_ever_waits_for_a_directory() -> None:
    patience, release, entered = Patience(0.1), threading.Event(), threading.Event()

    def hang() -> bool:
        entered.set()
        return release.wait(10)

    first = threading.Thread(target=patience.ask, args=("/a", hang, False))
    first.start()
    assert entered.wait(5)
    assert patience.ask("/a", lambda: "answer", "nothing") == "nothing"
    assert patience.ask("/b", lambda: "answer", "nothing") == "answer"
    release.set()
    first.join(5)
    assert patience.ask("/a", lambda: "answer", "nothing") == "answer"


@pytest.mark.skipif(not OPEN.is_dir(), reason="counts descriptors as Linux shows them")
@pytest.mark.parametrize("tool", ["read_text_file", "get_file_info", "list_directory", "delete_file"])
async def test_a_call_that_fails_leaves_nothing_open(tool: str, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    missing = {"path": str(tmp_path / "deep" / "missing")}
    async with connect(build([str(tmp_path)])) as client:
        await client.call_tool(tool, missing)
        gc.collect()
        gc.disable()  # so that nothing is tidied up behind our back
        try:
            before = descriptors()
            for _ in range(20):
                assert (await client.call_tool(tool, missing)).get("isError")
            assert descriptors() - before < 10
        finally:
            gc.enable()
