"""The web server of the suite: serves bytes from memory, some of them late."""

import asyncio
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager


class Site:
    """Answers GET requests on a loopback port, from a loop in a thread of its own."""

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self._pages = dict(pages)
        self.port = 0
        self.downloads = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def run(self, ready: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                await self._answer(line.split()[1].decode(), writer)
        except (ConnectionError, asyncio.CancelledError, IndexError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path.startswith("/slow/"):
            await asyncio.sleep(1)
        body = self._pages.get("/slow" if path.startswith("/slow/") else path)
        self.downloads += body is not None
        status = b"404 Not Found" if body is None else b"200 OK"
        body = body or b""
        # No charset: some of the saved pages are there to have it found out.
        head = b"HTTP/1.1 %s\r\ncontent-type: text/html\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % (status, len(body)) + body)
        await writer.drain()


@contextmanager
def serving(pages: Mapping[str, bytes]) -> Generator[Site]:
    site, ready = Site(pages), threading.Event()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(site.run(ready, stop),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)
