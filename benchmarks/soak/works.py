"""Real work for each server, over whatever client: it checks what it gets back, and clears away what it made.

Whoever works has names of its own, so that visits do not disturb one another; what an earlier visit left behind by
vanishing is in the way of nothing. Each server also has a call that takes long, to be cancelled or left behind.
"""

import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from .clients import Client
from .errors import OddityError

WORDS = (
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "ledger",
    "orchard",
    "signal",
    "thistle",
    "velvet",
    "willow",
)
Work = Callable[[Client, random.Random, str], Awaitable[None]]


class Trade(NamedTuple):
    """What there is to do at one server."""

    work: Work
    slow: tuple[str, dict[str, Any]]
    """A call that takes a second or more, where there is one."""
    large: tuple[str, dict[str, Any]]
    """A call with a large answer."""
    watched: str
    """A resource to subscribe to."""
    tidy: Work
    """Take away what is left once everybody has gone."""


def expect(truth: bool, text: str) -> None:
    if not truth:
        raise OddityError(text)


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def data_of(result: dict[str, Any]) -> dict[str, Any]:
    """The structured half, which the oldest revisions do not have; its text says the same."""
    return result["structuredContent"] if "structuredContent" in result else json.loads(text_of(result))


def prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def filesystem(folder: Path) -> Trade:
    """Files that are written, read, changed, searched, moved, deleted and brought back."""

    async def work(client: Client, chance: random.Random, own: str) -> None:
        home = folder / own
        one, two = (
            str(home / f"{chance.randrange(8)}.txt"),
            str(home / "copies" / f"{chance.randrange(8)}.txt"),
        )
        lines = [prose(chance, 8) for _ in range(chance.choice((5, 50, 2000)))]
        lines[0] = f"mark of {own}"
        await client.call("create_directory", {"path": str(home / "copies")})
        await client.call("write_file", {"path": one, "content": "\n".join(lines)})
        read = text_of(await client.call("read_text_file", {"path": one, "head": 5}))
        expect(
            read.rstrip("\n").startswith("\n".join(lines[:5])),
            f"read something else than written: {read[:200]}",
        )
        edits = [{"oldText": lines[0], "newText": f"edited mark of {own}"}]
        await client.call("edit_file", {"path": one, "edits": edits})
        found = await client.call("search_text", {"path": str(home), "pattern": f"edited mark of {own}"})
        expect(
            one in text_of(found) or Path(one).name in text_of(found), f"not found: {text_of(found)[:200]}"
        )
        await client.call("delete_file", {"path": two}, refusals=True)
        await client.call("copy_file", {"source": one, "destination": two})
        await client.call("read_multiple_files", {"paths": [one, two]})
        await client.call("search_files", {"path": str(home), "pattern": "**/*.txt"})
        await client.call("directory_tree", {"path": str(home)})
        await client.call("list_directory_with_sizes", {"path": str(home), "sortBy": "size"})
        await client.call("get_file_info", {"path": two, "content": True})
        await client.call("delete_file", {"path": one})
        await client.call("delete_file", {"path": one, "restore": True})
        moved = str(home / "moved.txt")
        await client.call("delete_file", {"path": moved}, refusals=True)
        await client.call("move_file", {"source": one, "destination": moved})
        await client.ask("resources/read", {"uri": f"file://{moved}"})
        await client.call("delete_file", {"path": moved})
        await client.call("delete_file", {"path": two})

    async def tidy(client: Client, chance: random.Random, own: str) -> None:
        listed = text_of(await client.call("list_directory", {"path": str(folder)}))
        for line in listed.splitlines():
            if (name := line.partition("] ")[2]).startswith(("web-", "comer", "keeper")):
                await client.call("delete_file", {"path": str(folder / name)})
        await client.call("delete_file", {"path": str(folder / ".mcp-trash")}, refusals=True)

    everything = {"path": str(folder.parent / "library"), "pattern": "(a|b|c)+[d-z]{3,}q", "regex": True}
    return Trade(
        work,
        ("search_text", everything),
        ("read_text_file", {"path": str(folder.parent / "library" / "large.txt")}),
        f"file://{folder}",
        tidy,
    )


def memory() -> Trade:
    """Entities, relations and observations that are created, found, changed, taken back and deleted."""

    async def work(client: Client, chance: random.Random, own: str) -> None:
        names = [f"{own} {number}" for number in range(6)]
        await client.call("delete_entities", {"entityNames": names})
        entities = [
            {"name": name, "entityType": "soaked", "observations": [prose(chance, 6)]} for name in names
        ]
        await client.call("create_entities", {"entities": entities})
        relations = [{"from": names[0], "to": name, "relationType": "knows"} for name in names[1:]]
        await client.call("create_relations", {"relations": relations})
        fact = f"learned {chance.randrange(10**9)}"
        added = {"observations": [{"entityName": names[0], "contents": [fact]}]}
        change = data_of(await client.call("add_observations", added)).get("change")
        opened = text_of(await client.call("open_nodes", {"names": [names[0]]}))
        expect(fact in opened, f"{fact} is not in {opened[:300]}")
        found = text_of(await client.call("search_nodes", {"query": f'"{names[3]}"'}))
        expect(names[3] in found, f"{names[3]} is not in {found[:300]}")
        near = text_of(await client.call("neighbors", {"names": [names[0]]}))
        expect(names[5] in near, f"{names[5]} is not in {near[:300]}")
        if change is not None:
            await client.call("undo", {"change": change})
        await client.call("delete_relations", {"relations": relations[:2]})
        await client.ask("resources/read", {"uri": f"memory://entities/{own}%200"})
        await client.call("read_graph", {"limit": 20})
        await client.call("delete_entities", {"entityNames": names})

    async def tidy(client: Client, chance: random.Random, own: str) -> None:
        graph = data_of(await client.call("read_graph", {}))
        names = [entity["name"] for entity in graph["entities"] if entity["entityType"] == "soaked"]
        if names:
            await client.call("delete_entities", {"entityNames": names})

    graph = ("read_graph", {"limit": 1000})
    return Trade(work, graph, graph, "memory://knowledge-graph", tidy)


def thinking() -> Trade:
    """Chains with revisions and branches, and looks back on them."""

    async def work(client: Client, chance: random.Random, own: str) -> None:
        last = chance.randrange(4, 10)
        first = {"thought": f"{own}: {prose(chance, 30)}", "nextThoughtNeeded": True}
        begun = await client.call("sequentialthinking", {**first, "thoughtNumber": 1, "totalThoughts": last})
        chain = {"thinkingId": data_of(begun)["thinkingId"], "totalThoughts": last}
        for number in range(2, last + 1):
            thought: dict[str, Any] = {
                **chain,
                "thought": prose(chance, 30),
                "thoughtNumber": number,
                "nextThoughtNeeded": number < last,
            }
            if number == 3:
                thought |= {"isRevision": True, "revisesThought": 2}
            if number == 4:
                thought |= {"branchFromThought": 2, "branchId": "aside"}
            if (await client.call("sequentialthinking", thought, refusals=True)).get("isError"):
                return  # two hundred newer chains have pushed it out
        view = chance.choice(("outline", "branches", "revisions", "open", "markdown", "mermaid"))
        await client.call("review_thinking", {"thinkingId": chain["thinkingId"], "view": view}, refusals=True)

    async def tidy(client: Client, chance: random.Random, own: str) -> None:
        """Chains go by themselves; the shelf is filled to its bound before anything is compared."""
        for number in range(200):
            thought = {"thought": prose(chance, 150), "thoughtNumber": 1, "totalThoughts": 1}
            await client.call("sequentialthinking", {**thought, "nextThoughtNeeded": number < 0})

    long = {
        "thought": prose(random.Random(1), 2000),
        "thoughtNumber": 1,
        "totalThoughts": 1,
        "nextThoughtNeeded": False,
    }
    return Trade(work, ("sequentialthinking", long), ("review_thinking", {}), "thinking://chains/any", tidy)


def sqlite() -> Trade:
    """Tables that are made, filled, queried, changed and dropped."""

    async def work(client: Client, chance: random.Random, own: str) -> None:
        table = f"soaked_{own.replace('-', '_')}"
        columns = "(id INTEGER PRIMARY KEY, word TEXT, amount REAL)"
        await client.call("create_table", {"query": f"CREATE TABLE IF NOT EXISTS {table} {columns}"})
        await client.call("write_query", {"query": f"DELETE FROM {table}"})
        count = chance.choice((3, 30, 300))
        rows = ", ".join(f"({number}, '{chance.choice(WORDS)}', {number / 4})" for number in range(count))
        await client.call("write_query", {"query": f"INSERT INTO {table} VALUES {rows}"})
        query = {"query": f"SELECT * FROM {table} WHERE id < ?", "params": [count], "limit": 50}
        page = data_of(await client.call("read_query", query))
        expect(len(page["rows"]) == min(50, count), f"{len(page['rows'])} of {count} rows")
        if page.get("cursor"):
            # Refused where somebody else has written meanwhile.
            await client.call("read_query", {**query, "cursor": page["cursor"]}, refusals=True)
        await client.call("preview_write", {"query": f"UPDATE {table} SET amount = amount + 1"})
        await client.call("write_query", {"query": f"UPDATE {table} SET amount = amount + 1 WHERE id % 2"})
        await client.call("explain_query", {"query": f"SELECT word, sum(amount) FROM {table} GROUP BY word"})
        await client.call("describe_table", {"table_name": table})
        await client.call("list_tables", {})
        await client.call("append_insight", {"insight": prose(chance, 20)})
        refused = await client.call("read_query", {"query": f"DELETE FROM {table}"}, refusals=True)
        expect(bool(refused.get("isError")), "a read query deleted something")
        if chance.random() < 0.3:
            await client.call("write_query", {"query": f"DROP TABLE {table}"})

    async def tidy(client: Client, chance: random.Random, own: str) -> None:
        found = await client.call(
            "read_query", {"query": "SELECT name FROM sqlite_master WHERE name LIKE 'soaked%'", "limit": 1000}
        )
        for (name,) in data_of(found)["rows"]:
            await client.call("write_query", {"query": f"DROP TABLE {name}"})
        for _ in range(500):
            await client.call("append_insight", {"insight": prose(chance, 20)})

    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT {} FROM c"
    return Trade(
        work,
        ("read_query", {"query": numbers.format(30_000_000, "count(*)")}),
        (
            "read_query",
            {"query": numbers.format(5_000, "x, 'a row with some text in it' AS text"), "limit": 5_000},
        ),
        "sqlite://shop/tables/orders",
        tidy,
    )


def fetch(site: str) -> Trade:
    """Pages that are fetched whole, in slices, raw, several at once, slowly, and in vain."""

    async def work(client: Client, chance: random.Random, own: str) -> None:
        page = f"{site}/{chance.choice(('10KB', '10KB', '200KB'))}"
        read = text_of(await client.call("fetch", {"url": page}))
        expect("article" in read, f"another page: {read[:200]}")
        await client.call("fetch", {"url": page, "start_index": 2000, "max_length": 3000})
        await client.call("fetch", {"url": page, "raw": True})
        await client.call("fetch", {"url": page, "format": chance.choice(("text", "html", "links"))})
        urls = [f"{site}/{name}" for name in ("10KB", "nothing-here", "200KB")]
        await client.call("fetch_many", {"urls": urls, "max_length": 500})
        missing = {"url": f"{site}/nothing-here/{chance.randrange(150)}"}
        expect(
            bool((await client.call("fetch", missing, refusals=True)).get("isError")),
            "a page that is not there",
        )
        if chance.random() < 0.2:
            await client.call("fetch", {"url": f"{site}/slow/{own}"})
        await client.ask("resources/read", {"uri": f"{site}/10KB"})

    async def tidy(client: Client, chance: random.Random, own: str) -> None:
        """Copies of pages are kept, up to a hundred, and connections, up to twenty: as many as can be each time."""
        for number in range(120):
            await client.call("fetch", {"url": f"{site}/kept/{number}"})
        await client.call("fetch_many", {"urls": [f"{site}/slow/{chance.random()}" for _ in range(20)]})

    return Trade(
        work,
        ("fetch", {"url": f"{site}/slow/left"}),
        ("fetch", {"url": f"{site}/200KB", "max_length": 90_000}),
        f"{site}/10KB",
        tidy,
    )
