"""Conversion away from the event loop: a few processes, started when they are first needed, killed at the deadline.

A thread cannot be stopped, and it takes its share of the interpreter from everyone else. A process can be ended
whatever it is doing, its memory is bounded, and a short page does not wait for a long one.
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from .conversion import Converted, Job
from .problems import Unconvertible
from .settings import Limits
from .worker import HEAD

_MAX_ANSWER = 256 * 1024 * 1024


class Worker:
    """One converting process."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._jobs = process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)
        self._ready = False
        self.idle_since = 0.0

    @property
    def alive(self) -> bool:
        """Whether it can take a job."""
        return self._process.returncode is None

    async def get_ready(self) -> None:
        """Wait until it has loaded what it needs: that is not the page's fault, and not counted as its time."""
        if not self._ready:
            await self._answers.receive_exactly(HEAD.size)
            self._ready = True

    async def convert(self, job: Job, data: bytes) -> dict[str, object]:
        """Send one job and wait for its answer."""
        about = json.dumps(job).encode()
        await self._jobs.send(HEAD.pack(len(about), len(data)) + about + data)
        size, _ = HEAD.unpack(await self._answers.receive_exactly(HEAD.size))
        if size > _MAX_ANSWER:
            raise anyio.BrokenResourceError
        return json.loads(await self._answers.receive_exactly(size))

    async def end(self) -> None:
        """Kill it, whatever it is doing."""
        with anyio.CancelScope(shield=True):
            if self.alive:
                self._process.kill()
            await self._process.aclose()


class Converters:
    """The pool. Each job has a worker for itself; workers that are not needed for a while are ended."""

    def __init__(self, limits: Limits, tasks: TaskGroup) -> None:
        self._limits = limits
        self._tasks = tasks
        self._places = anyio.Semaphore(limits.converters)
        self._idle: list[Worker] = []
        self._workers: set[Worker] = set()
        self._starting = 0

    def warm_up(self) -> None:
        """Start a worker in the background, if there is none: it loads while the page is on its way."""
        if not self._workers and not self._starting:
            self._starting += 1
            self._tasks.start_soon(self._start_ahead)

    async def convert(self, job: Job, data: bytes) -> Converted:
        """Convert one document; Unconvertible if it cannot be done in time and memory."""
        async with self._places:
            worker = await self._take()
            try:
                await worker.get_ready()
                with anyio.fail_after(self._limits.convert_time):
                    answer = await worker.convert(job, data)
            except TimeoutError:
                await self._drop(worker)
                raise Unconvertible(
                    f"{job['url']} could not be converted within {self._limits.convert_time:g} seconds; "
                    "raw=true gives its source."
                ) from None
            except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead, OSError):
                await self._drop(worker)
                raise Unconvertible(f"{job['url']} broke the converter; raw=true gives its source.") from None
            except BaseException:  # cancelled in the middle of an answer
                await self._drop(worker)
                raise
            self._give_back(worker)
        if "problem" in answer:
            raise Unconvertible(
                f"{job['url']} cannot be converted: {answer['problem']}; raw=true gives its source."
            )
        return answer  # pyright: ignore[reportReturnType] - written by conversion.py as this very type

    async def _take(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            await self._drop(worker)
        return await self._start()

    def _give_back(self, worker: Worker) -> None:
        worker.idle_since = anyio.current_time()
        self._idle.append(worker)

    async def _start(self) -> Worker:
        limits = self._limits
        command = [
            sys.executable,
            "-m",
            f"{__package__}.worker",
            str(limits.convert_time),
            str(limits.convert_bytes),
        ]
        # Shielded: a process whose start is given up half-way would belong to nobody.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
            worker = Worker(process)
            self._workers.add(worker)
            return worker
        raise AssertionError("nobody cancels this scope")

    async def _start_ahead(self) -> None:
        try:
            self._give_back(await self._start())
        finally:
            self._starting -= 1

    async def _drop(self, worker: Worker) -> None:
        self._workers.discard(worker)
        await worker.end()

    async def rest(self) -> None:
        """End workers that have had nothing to do for a while. Runs until cancelled."""
        while True:
            await anyio.sleep(self._limits.converter_idle / 2)
            before = anyio.current_time() - self._limits.converter_idle
            for worker in [worker for worker in self._idle if worker.idle_since < before]:
                self._idle.remove(worker)
                await self._drop(worker)

    async def close(self) -> None:
        """End every worker."""
        for worker in list(self._workers):
            await self._drop(worker)


@asynccontextmanager
async def open_converters(limits: Limits) -> AsyncGenerator[Converters]:
    """The pool, for as long as the server runs."""
    converters: Converters | None = None
    try:
        async with anyio.create_task_group() as tasks:
            converters = Converters(limits, tasks)
            tasks.start_soon(converters.rest)
            yield converters
            tasks.cancel_scope.cancel()
    finally:
        # After the task group: one of its tasks may have been starting a process until now.
        if converters is not None:
            await converters.close()
