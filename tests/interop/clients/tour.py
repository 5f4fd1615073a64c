"""The tour every Python client takes through the fixture server, and the report of what it saw.

It runs under several major versions of the official SDK, so it imports none; the script of each version
hands over what differs. A step that fails or takes too long is reported as such, and the tour goes on.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio

STEP = 10  # seconds
NOTE = "note:///groceries"
TEXT = "grüße\n\u2028 \N{MOUSE}"
ANSWERS = ["decline", "accept"]  # to the question of delete_note, in this order


class Heard:
    """What the server said on its own: questions, notices, reports. Something to wait on."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._more = anyio.Event()

    def add(self, item: Any) -> None:
        """Something was said."""
        self.items.append(item)
        more, self._more = self._more, anyio.Event()
        more.set()

    async def until(self, enough: Callable[[list[Any]], bool]) -> None:
        """Wait until enough was said; the step's time limit bounds it."""
        while not enough(self.items):
            await self._more.wait()


@dataclass
class Sdk:
    """What differs from one version of the SDK to the next."""

    client: Any
    watching: Callable[[str], AbstractAsyncContextManager[None]]
    code: Callable[[Exception], int | None]
    template: Any
    uri: Callable[[str], Any] = str
    say_cancelled: Callable[[], Awaitable[None]] | None = None
    set_level: Callable[[str], Awaitable[Any]] | None = None
    ping: Callable[[], Awaitable[Any]] | None = None
    lacks: frozenset[str] = frozenset()


@dataclass
class Report:
    """What the client saw, as one JSON document."""

    saw: dict[str, Any] = field(default_factory=dict)
    notices: Heard = field(default_factory=Heard)
    progress: Heard = field(default_factory=Heard)
    logs: Heard = field(default_factory=Heard)
    questions: Heard = field(default_factory=Heard)

    async def step(self, name: str, work: Awaitable[Any], code: Callable[[Exception], int | None]) -> None:
        """Take one step and write down what came of it."""
        try:
            with anyio.fail_after(STEP):
                self.saw[name] = plain(await work)
        except Exception as error:  # noqa: BLE001 - whatever went wrong stands in the report
            number = code(error)
            self.saw[name] = {"failed": repr(error)} if number is None else {"refused": number}


def run(main: Callable[..., Awaitable[None]], *args: Any) -> None:
    """Run a client; whatever becomes of it, print what it saw as one JSON document."""
    report = Report()
    try:
        anyio.run(main, report, *args)
    finally:
        said = {name: getattr(report, name).items for name in ("notices", "progress", "logs", "questions")}
        print(json.dumps(report.saw | said))


def plain(value: Any) -> Any:
    """A result as it stood on the wire: no member that the SDK filled in by itself."""
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return value


async def tour(sdk: Sdk, report: Report) -> None:
    """Use everything the server has, once."""
    client = sdk.client

    async def step(name: str, work: Awaitable[Any]) -> None:
        await report.step(name, work, sdk.code)

    def call(tool: str, **arguments: Any) -> Awaitable[Any]:
        return client.call_tool(tool, arguments)

    if sdk.ping is not None:
        await step("ping", sdk.ping())
    await step("tools", client.list_tools())
    await step("echo", call("echo", text=TEXT))
    await step("add", call("add", a=2, b=40))
    await step("add_wrongly", call("add", a="two", b=40))
    await step("unknown_tool", call("no_such_tool"))
    await step("draw", call("draw"))

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        report.progress.add([done, total, message])

    counted: list[Any] = []

    async def count_in_step(to: int) -> None:
        """The server waits after each number, so that no report can fall together with the result."""
        arguments = {"to": to, "in_step": True}
        counted.append(await client.call_tool("count", arguments, progress_callback=on_progress))

    async def count() -> Any:
        if sdk.set_level is not None:
            await sdk.set_level("info")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count_in_step, 3)
            for number in (1, 2, 3):
                await report.progress.until(lambda said, number=number: len(said) == number)
                await call("go_on")
        await report.logs.until(lambda said: len(said) == 3)
        return counted[0]

    if "progress" not in sdk.lacks:
        await step("count", count())

    await step("resources", client.list_resources())
    if "templates" not in sdk.lacks:
        await step("templates", client.list_resource_templates())
    await step("read", client.read_resource(sdk.uri(NOTE)))
    await step("read_missing", client.read_resource(sdk.uri("note:///nowhere")))
    await step("prompts", client.list_prompts())
    await step("prompt", client.get_prompt("review_note", {"title": "groceries"}))
    await step("complete", client.complete(sdk.template, {"name": "title", "value": "gro"}))

    if "elicitation" not in sdk.lacks:
        await step("delete_declined", call("delete_note", title="ideas"))
        await step("delete_accepted", call("delete_note", title="ideas"))
    if "sampling" not in sdk.lacks:
        await step("summarise", call("summarise", title="groceries"))
    await step("show_roots", call("show_roots"))

    async def watch() -> None:
        async with sdk.watching(NOTE):
            await call("write_note", title="unwatched", text="nobody is told")
            await call("write_note", title="groceries", text="bread")
            await report.notices.until(lambda said: ["notifications/resources/updated", NOTE] in said)
            await step("read_again", client.read_resource(sdk.uri(NOTE)))
            await call("toggle_extra")
            await report.notices.until(lambda said: ["notifications/tools/list_changed", None] in said)
            await step("tools_again", client.list_tools())
        await call("write_note", title="groceries", text="no longer watched")

    await step("watch", watch())

    async def cancel() -> Any:
        heard = len(report.progress.items)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count_in_step, 1000)
            await report.progress.until(lambda said: len(said) > heard)
            if sdk.say_cancelled is not None:
                await sdk.say_cancelled()
            tasks.cancel_scope.cancel()
        return await call("notice_cancellation")

    if "cancellation" not in sdk.lacks:
        await step("cancel", cancel())
    await step("last_words", call("echo", text="still here"))
