"""Signs of life on open streams."""

import asyncio
from typing import Any

import pytest
from mcp_server_core.transports.http.answer import Answer
from mcp_server_core.transports.http.minding import Pings

pytestmark = pytest.mark.anyio


async def test_nothing_is_sent_on_a_stream_that_ended_as_it_was_to_be_pinged() -> None:
    sent: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    answer, pings = Answer(send), Pings(1)
    await answer.start()
    pings.send(answer)
    await answer.end()
    for _ in range(5):
        await asyncio.sleep(0)
    assert sent[-1] == {"type": "http.response.body", "body": b""}
