"""The tools as a client sees them, in every revision."""

import re
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Answers, Client
from mcp_server_core.testing import Revision, connect
from mcp_server_sequential_thinking.server import build
from mcp_server_sequential_thinking.shelf import Limits

from .talking import noted, review, text_of, think

pytestmark = pytest.mark.anyio


async def test_a_thought_is_answered_with_the_known_fields_and_a_handle(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        data = await noted(client, 1, totalThoughts=3)
    assert re.fullmatch("[a-z2-7]{26}", data.pop("thinkingId"))
    assert data == {
        "thoughtNumber": 1,
        "totalThoughts": 3,
        "nextThoughtNeeded": True,
        "branches": [],
        "thoughtHistoryLength": 1,
    }


async def test_numbers_and_booleans_may_come_as_text(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        first = await noted(client, "1", totalThoughts="4", nextThoughtNeeded="true", isRevision="false")
        second = await noted(
            client,
            "2",
            nextThoughtNeeded="False",
            isRevision="True",
            revisesThought="1",
            thinkingId=first["thinkingId"],
        )
    assert (first["totalThoughts"], first["nextThoughtNeeded"]) == (4, True)
    assert (second["nextThoughtNeeded"], second["thoughtHistoryLength"]) == (False, 2)


async def test_null_zero_and_empty_text_mean_nothing_where_nothing_is_meant() -> None:
    async with connect(build()) as client:
        data = await noted(
            client,
            1,
            isRevision=False,
            revisesThought=0,
            branchFromThought=0,
            branchId="",
            needsMoreThoughts=None,
            thinkingId="",
        )
    assert (data["branches"], data["thoughtHistoryLength"]) == ([], 1)


async def test_a_handshake_client_continues_its_chain_without_a_handle(handshake: Revision) -> None:
    async with connect(build(), revision=handshake) as client:
        first, second = await noted(client, 1), await noted(client, 2)
    assert first["thinkingId"] == second["thinkingId"]
    assert second["thoughtHistoryLength"] == 2
    assert "note" not in second


async def test_a_stateless_client_continues_with_the_handle() -> None:
    async with connect(build(), revision="2026-07-28") as client:
        first = await noted(client, 1)
        second = await noted(client, 2, thinkingId=first["thinkingId"])
        lost = await noted(client, 3)
    assert (second["thinkingId"], second["thoughtHistoryLength"]) == (first["thinkingId"], 2)
    assert lost["thinkingId"] != first["thinkingId"]
    assert "pass thinkingId" in lost["note"]


async def test_branches_are_listed_as_they_are_made() -> None:
    async with connect(build(), revision="2025-11-25") as client:
        await noted(client, 1)
        await noted(client, 2, branchFromThought=1, branchId="fast")
        data = await noted(client, 2, branchFromThought="1", branchId=" cheap \n way ")
    assert data["branches"] == ["fast", "cheap way"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"isRevision": True, "revisesThought": 7}, "the main line has 1-2"),
        ({"isRevision": True}, "Which thought is revised?"),
        ({"revisesThought": 7}, "the main line has 1-2"),
        ({"branchFromThought": 9, "branchId": "b"}, "the main line has 1-2"),
        ({"branchFromThought": 1}, "branchId"),
        ({"branchId": "b"}, "branchFromThought"),
        ({"branchId": "b" * 1_000_000}, "at most 64 characters"),
        ({"branchFromThought": 1, "branchId": "b" * 65}, "at most 64 characters"),
        ({"revisesThought": 10**3000}, "`revisesThought`"),
        ({"branchFromThought": 10**3000, "branchId": "b"}, "`branchFromThought`"),
        ({"thinkingId": "x" * 1_000_000}, "There is no chain 'xxxx"),
        ({"thinkingId": "nonsense"}, "There is no chain 'nonsense'"),
        ({"thought": ""}, "`thought`"),
        ({"thought": "x" * 20_001}, "20000"),
        ({"thoughtNumber": 0}, "`thoughtNumber`"),
        ({"thoughtNumber": "two"}, "`thoughtNumber`"),
        ({"thoughtNumber": True}, "`thoughtNumber`"),
        ({"totalThoughts": 10**30}, "`totalThoughts`"),
        ({"nextThoughtNeeded": "perhaps"}, "`nextThoughtNeeded`"),
        ({"mood": "good"}, "There is no argument `mood`"),
    ],
    ids=lambda given: str(given)[:60],
)
async def test_what_does_not_fit_is_refused_with_what_would(more: dict[str, Any], said: str) -> None:
    async with connect(build(), revision="2025-11-25") as client:
        await noted(client, 1)
        await noted(client, 2)
        result = await think(client, 3, **more)
        assert result["isError"] is True
        assert said in text_of(result)
        assert len(text_of(result)) < 300, "what is wrong is not said back at full length"
        assert (await noted(client, 3))["thoughtHistoryLength"] == 3, "nothing was kept of it"


# Who sees what.


async def test_two_clients_never_see_each_others_thoughts_unless_they_share_a_handle(
    revision: Revision,
) -> None:
    server = build()
    async with (
        server.running(),
        connect(server, revision=revision) as ann,
        connect(server, revision=revision) as bob,
    ):
        mine = (await noted(ann, 1, "secret plan"))["thinkingId"]
        await noted(bob, 1, "something else")
        seen = [
            str(await bob.list_resources()),
            str(await bob.complete({"type": "ref/resource", "uri": "thinking://chains/{id}"}, "id", "")),
            text_of(await bob.call_tool("review_thinking", {})),
            text_of(await bob.call_tool("review_thinking", {"thinkingId": mine[:-1]})),
            text_of(await think(bob, 2, thinkingId="x")),
        ]
        assert not [text for text in seen if mine in text or "secret" in text]
        assert "secret plan" in await review(bob, thinkingId=mine)
        assert (await noted(bob, 2, thinkingId=mine))["thoughtHistoryLength"] == 2


async def test_without_a_handle_a_stateless_client_is_asked_for_one() -> None:
    async with connect(build(), revision="2026-07-28") as client:
        await noted(client, 1)
        result = await client.call_tool("review_thinking", {})
    assert result["isError"] is True
    assert "thinkingId" in text_of(result)


# Looking back.


async def test_a_review_shows_the_chain_in_the_view_that_was_asked_for(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        handle = (await noted(client, 1, "Begin"))["thinkingId"]
        await noted(client, 2, "Other way", branchFromThought=1, branchId="b", thinkingId=handle)
        assert "  - 2 (b): Other way" in await review(client, thinkingId=handle)
        assert "| b |" in await review(client, thinkingId=handle, view="branches")
        assert "Nothing was revised." in await review(client, thinkingId=handle, view="revisions")
        assert "Branch b stops at thought 2" in await review(client, thinkingId=handle, view="open")
        assert "> Other way" in await review(client, thinkingId=handle, view="markdown")
        assert (await review(client, thinkingId=handle, view="mermaid")).startswith("flowchart TD\n")


async def test_a_long_review_comes_in_pages_that_join_without_a_gap() -> None:
    async with connect(build(), revision="2025-11-25") as client:
        handle = (await noted(client, 1))["thinkingId"]
        for number in range(2, 31):
            await noted(client, number, f"[{number}] " + "word " * 500)
        text = await review(client, view="markdown")
        pages: list[str] = []
        while True:
            page, _, notice = text.rpartition("\n[truncated at ")
            if not notice.endswith("]"):
                pages.append(text)
                break
            assert len(text) <= 20_300
            pages.append(page)
            cursor = re.findall(r"pass cursor (\S+)\]", notice)[0]
            text = await review(client, view="markdown", cursor=cursor)
        (whole,) = await client.read_resource(f"thinking://chains/{handle}")
        assert len(pages) == 4
        assert "".join(pages) == whole["text"]


@pytest.mark.parametrize(
    "rubbish", ["x", "eyJ9", "WyJyZXZpZXciLG51bGxd", "WyJyZXZpZXciLFsxXV0", "WyJyZXZpZXciLFtdXQ"]
)
async def test_a_cursor_of_another_chain_view_or_time_is_refused(rubbish: str) -> None:
    server = build()
    server.max_result_chars = 400
    async with connect(server, revision="2025-11-25") as client:
        for number in range(1, 5):
            await noted(client, number, "word " * 50)
        cursor = re.findall(r"pass cursor (\S+)\]", await review(client, view="markdown"))[0]
        results = [await client.call_tool("review_thinking", {"view": "outline", "cursor": cursor})]
        results.append(await client.call_tool("review_thinking", {"view": "markdown", "cursor": rubbish}))
        await noted(client, 5)
        results.append(await client.call_tool("review_thinking", {"view": "markdown", "cursor": cursor}))
    assert [result["isError"] for result in results] == [True, True, True]
    assert all("Start again without one." in text_of(result) for result in results)


# Limits.


async def test_what_is_let_go_is_said_in_the_result() -> None:
    async with connect(build(limits=Limits(chains=1)), revision="2026-07-28") as client:
        first = await noted(client, 1)
        second = await noted(client, 1)
        assert second["note"] == f"Let go: 1 unused chain, of yours {first['thinkingId']}."
        result = await think(client, 2, thinkingId=first["thinkingId"])
        assert "or when there are too many" in text_of(result)


async def test_ten_thousand_thoughts_are_taken_and_a_thousand_kept() -> None:
    async with connect(build(), revision="2025-11-25") as client:
        for number in range(1, 10_000):
            await think(client, number)
        data = await noted(client, 10_000)
        assert data["thoughtHistoryLength"] == 10_000
        assert "Let go: the oldest 1 thought of this chain." in data["note"]
        assert "Let go: the oldest 9000 thoughts." in await review(client)


# Export.


async def export(client: Client, path: str, **more: Any) -> dict[str, Any]:
    return await client.call_tool("export_thinking", {"path": path, **more})


async def test_a_chain_is_written_into_a_directory_the_operator_allows(
    revision: Revision, tmp_path: Path
) -> None:
    async with connect(build([str(tmp_path)]), revision=revision) as client:
        handle = (await noted(client, 1, "Wörd"))["thinkingId"]
        path = tmp_path / "thinking.md"
        result = await export(client, str(path), thinkingId=handle)
        written = path.read_bytes()
        assert text_of(result) == f"Wrote {len(written)} bytes to {path}."
        assert "> Wörd" in written.decode()
        await export(client, "thinking.md", thinkingId=handle, view="mermaid")
        assert path.read_text("utf-8").startswith("flowchart TD\n"), "it takes the place of what was there"


async def test_a_chain_is_written_into_a_root_of_the_client(revision: Revision, tmp_path: Path) -> None:
    async with connect(build(), revision=revision, answers=Answers(roots=[tmp_path.as_uri()])) as client:
        handle = (await noted(client, 1))["thinkingId"]
        assert "isError" not in await export(client, "out.md", thinkingId=handle)
    assert (tmp_path / "out.md").exists()


async def test_nothing_is_written_outside_the_allowed_directories(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    async with connect(build([str(inside)]), revision="2025-11-25") as client:
        await noted(client, 1)
        for path in (str(outside / "a.md"), "../out/a.md", "link/a.md", "/etc/thinking.md"):
            assert (await export(client, path))["isError"] is True
    async with connect(build([f"{inside}:ro"]), revision="2025-11-25") as client:
        await noted(client, 1)
        assert (await export(client, "a.md"))["isError"] is True
    async with connect(build(), revision="2025-11-25") as client:
        await noted(client, 1)
        assert "No directory is allowed" in text_of(await export(client, "a.md"))
    assert [*outside.iterdir()] == []


async def test_the_file_that_keeps_the_thoughts_is_not_written_over(tmp_path: Path) -> None:
    store = tmp_path / "thoughts"
    async with connect(build([str(tmp_path)], store=str(store)), revision="2025-11-25") as client:
        await noted(client, 1, "kept")
        (tmp_path / "alias").hardlink_to(store)
        for name in ("thoughts", "alias"):
            result = await export(client, name)
            assert result["isError"] is True
            assert "choose another file" in text_of(result)
        assert "kept" in await review(client)


# What the hints promise.


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def snapshot(client: Client, folder: Path, handle: str) -> list[Any]:
    """Everything a call could have changed."""
    chains = await client.list_resources()
    return [files_in(folder), chains, await client.read_resource(f"thinking://chains/{handle}")]


async def test_the_hints_of_each_tool_are_true(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("before")
    async with connect(build([str(tmp_path)]), revision="2025-11-25") as client:
        hints = {tool["name"]: tool["annotations"] for tool in await client.list_tools()}
        handle = (await noted(client, 1))["thinkingId"]
        thought = {"thought": "so", "thoughtNumber": 2, "totalThoughts": 5, "nextThoughtNeeded": True}
        calls: dict[str, dict[str, Any]] = {
            "sequentialthinking": thought,
            "review_thinking": {"view": "markdown"},
            "export_thinking": {"path": "a.md"},
        }
        assert hints.keys() == calls.keys()
        for name, arguments in calls.items():
            seen = [await snapshot(client, tmp_path, handle)]
            for _ in range(2):
                assert "isError" not in await client.call_tool(name, arguments)
                seen.append(await snapshot(client, tmp_path, handle))
            said = hints[name]
            assert said["readOnlyHint"] is (seen[0] == seen[1]), name
            assert said["idempotentHint"] is (seen[1] == seen[2]), name
            assert said["destructiveHint"] is (seen[0][0] != seen[1][0]), name
            assert said["openWorldHint"] is False, name
