"""Files of the known server: taken over without loss, written back byte for byte."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core import Answers, Client, stdio
from mcp_server_core.testing import connect
from mcp_server_memory import jsonl
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio
# As the known server writes: no newline at the end, repetitions kept, a relation to somebody unknown.
KNOWN = "\n".join(
    [
        r'{"type":"entity","name":"Ada","entityType":"person","observations":["a \"quote\"","tab\there","é 😀","é 😀"]}',
        r'{"type":"entity","name":"x\\y","entityType":"","observations":[]}',
        r'{"type":"entity","name":"control","entityType":"t","observations":["\u0001\b\f\r\n",""]}',
        r'{"type":"relation","from":"Ada","to":"x\\y","relationType":"knows"}',
        r'{"type":"relation","from":"Nobody","to":"Ada","relationType":"haunts"}',
    ]
).encode()


async def exported(client: Any, call: Any, folder: Path) -> bytes:
    await call("export_graph", path=str(folder / "out.jsonl"), overwrite=True)
    return (folder / "out.jsonl").read_bytes()


async def test_a_file_of_the_known_server_comes_back_byte_for_byte(tmp_path: Path, caller: Any) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_bytes(KNOWN)
    async with connect(build(str(file), [str(tmp_path)])) as client:
        call = caller(client)
        assert await exported(client, call, tmp_path) == KNOWN
        graph = await call("read_graph")
    assert [entity["name"] for entity in graph["entities"]] == ["Ada", "x\\y", "control"]
    assert [relation["from"] for relation in graph["relations"]] == ["Ada", "Nobody"]
    assert file.read_bytes() == KNOWN  # never written


async def test_the_file_is_imported_once_and_the_store_stands_beside_it(tmp_path: Path, caller: Any) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_bytes(KNOWN)
    async with connect(build(str(file))) as client:
        await caller(client)("delete_entities", entityNames=["Ada"])
    assert (tmp_path / "memory.jsonl.sqlite3").exists()
    file.write_bytes(KNOWN + b'\n{"type":"entity","name":"Late","entityType":"t","observations":[]}')
    async with connect(build(str(file))) as client:
        names = [one["name"] for one in (await caller(client)("read_graph"))["entities"]]
    assert names == ["x\\y", "control"]  # what was deleted stays deleted


async def test_the_variable_of_the_known_server_is_honoured(tmp_path: Path) -> None:
    (tmp_path / "memory.jsonl").write_bytes(KNOWN)
    command = [sys.executable, "-m", "mcp_server_memory"]
    env = {"MEMORY_FILE_PATH": "memory.jsonl"}  # relative to where the server is started
    async with Client(stdio(command, env=env, cwd=tmp_path)) as client:
        graph = (await client.call_tool("read_graph"))["structuredContent"]
    assert len(graph["entities"]) == 3
    assert (tmp_path / "memory.jsonl.sqlite3").exists()


async def test_an_old_file_in_the_data_folder_is_taken_over(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "mcp-server-memory"
    folder.mkdir(parents=True)
    (folder / "memory.json").write_bytes(KNOWN)
    env = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path), "MEMORY_FILE_PATH": ""}
    async with Client(stdio([sys.executable, "-m", "mcp_server_memory"], env=env)) as client:
        graph = (await client.call_tool("read_graph"))["structuredContent"]
    assert len(graph["entities"]) == 3
    if sys.platform == "linux":
        assert (folder / "memory.sqlite3").stat().st_mode & 0o777 == 0o600


async def test_bad_lines_are_reported_and_kept(tmp_path: Path, caller: Any) -> None:
    good = b'{"type":"entity","name":"Good","entityType":"t","observations":["o"]}'
    bad = [
        b'{"type":"entity","name":"cut off',
        b'{"type":"entity","name":"No observations","entityType":"t"}',
        b'{"type":"note","text":"unknown kind"}',
        rb'{"type":"entity","name":"half \ud83d","entityType":"t","observations":[]}',
        b'{"type":"entity","name":"bytes \xff","entityType":"t","observations":[]}',
        b"[1, 2",
    ]
    partly = b'{"type":"entity","name":"Extra","entityType":"t","observations":[],"createdAt":"2024"}'
    (tmp_path / "memory.jsonl").write_bytes(b"\r\n".join([good, *bad, partly]) + b"\n")
    async with connect(build(str(tmp_path / "memory.jsonl"))) as client:
        graph = await caller(client)("read_graph")
    assert [entity["name"] for entity in graph["entities"]] == ["Good", "Extra"]
    (side,) = beside(tmp_path, "memory.jsonl.not-imported-*")
    assert side.read_bytes().replace(b"\r", b"").splitlines() == [*bad, partly]
    assert "7 lines were not understood in full (line 2, 3, 4, 5, 6, 7, 8)" in graph["notice"]
    assert side.name in graph["notice"]


def beside(folder: Path, pattern: str) -> list[Path]:
    return list(folder.glob(pattern))


async def test_one_json_document_is_read_as_well(tmp_path: Path, caller: Any) -> None:
    graph = {
        "entities": [{"name": "A", "entityType": "t", "observations": ["x"]}],
        "relations": [{"from": "A", "to": "A", "relationType": "is"}],
    }
    (tmp_path / "memory.json").write_text(json.dumps(graph, indent=2))
    async with connect(build(str(tmp_path / "memory.json"))) as client:
        assert await caller(client)("read_graph") == graph


async def test_entities_named_twice_are_joined_and_said_so(tmp_path: Path, caller: Any) -> None:
    lines = [
        '{"type":"entity","name":"A","entityType":"one","observations":["x"]}',
        '{"type":"entity","name":"A","entityType":"two","observations":["x","y"]}',
    ]
    (tmp_path / "memory.jsonl").write_text("\n".join(lines))
    async with connect(build(str(tmp_path / "memory.jsonl"))) as client:
        graph = await caller(client)("read_graph")
    assert graph["entities"] == [{"name": "A", "entityType": "one", "observations": ["x", "y"]}]
    assert "Named twice" in graph["notice"]


async def test_importing_adds_what_is_missing_and_changes_nothing_else(
    tmp_path: Path, store: str, caller: Any
) -> None:
    (tmp_path / "other.jsonl").write_bytes(KNOWN + b"\nrubbish")
    async with connect(build(store, [str(tmp_path)])) as client:
        call = caller(client)
        mine = {"name": "Ada", "entityType": "poet", "observations": ["mine", "é 😀"]}
        await call("create_entities", entities=[mine])
        said = (await call("import_graph", path="other.jsonl"))["text"]
        (ada,) = (await call("open_nodes", names=["Ada"]))["entities"]
        again = (await call("import_graph", path="other.jsonl"))["text"]
    assert said == (
        "Imported 2 new entities, 4 observations, 2 relations; what was known already is unchanged. "
        "1 lines were not understood in full: 6. They are also in other.jsonl.not-imported, beside the file. "
        "Kept their present type: 'Ada'. (change 2)"
    )
    assert ada == {**mine, "observations": ["mine", "é 😀", 'a "quote"', "tab\there"]}
    assert again.startswith("Imported 0 new entities, 0 observations, 0 relations")
    assert (tmp_path / "other.jsonl.not-imported").read_text() == "rubbish\n"


async def test_files_go_only_where_they_may(
    tmp_path: Path, store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    async with connect(build(store)) as client:
        assert "No directory is allowed" in await refusal(client, "export_graph", path="x.jsonl")
    async with connect(build(store), answers=Answers(roots=[inside.as_uri()])) as client:
        call = caller(client)
        await call("export_graph", path="x.jsonl")
        assert "exists already" in await refusal(client, "export_graph", path="x.jsonl")
        for path in ("../out/x", str(outside / "x"), "link/x", "/etc/passwd"):
            assert "outside" in await refusal(client, "export_graph", path=path)
            assert "outside" in await refusal(client, "import_graph", path=path)
    assert list(outside.iterdir()) == []


async def test_markdown_is_for_people(tmp_path: Path, store: str, caller: Any) -> None:
    async with connect(build(store, [str(tmp_path)])) as client:
        call = caller(client)
        entity = {"name": "A *star*", "entityType": "thing", "observations": ["one\n# two", "<b>"]}
        await call("create_entities", entities=[entity])
        await call(
            "create_relations", relations=[{"from": "A *star*", "to": "A *star*", "relationType": "is"}]
        )
        await call("export_graph", path="memory.md")
    assert (tmp_path / "memory.md").read_text() == (
        "# Memory\n\n## A \\*star\\*\n\n*thing*\n\n- one\n  \\# two\n- \\<b\\>\n\n"
        "## Relations\n\n- A \\*star\\* *is* A \\*star\\*\n"
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ENTITIES = st.lists(
    st.fixed_dictionaries({"name": NAMES, "entityType": TEXT, "observations": st.lists(TEXT, max_size=3)}),
    max_size=5,
)


@given(ENTITIES)
def test_lines_say_what_was_written(entities: Any) -> None:
    data = b"".join(jsonl.lines(iter(entities), iter(())))
    contents = jsonl.read(data)
    assert contents.entities == entities
    assert contents.rejected == []


@given(st.lists(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw and raw.strip()), max_size=6))
def test_rubbish_is_never_lost(rubbish: list[bytes]) -> None:
    good = b'{"type":"entity","name":"A","entityType":"t","observations":[]}'
    contents = jsonl.read(b"\n".join([good, *rubbish]))
    assert contents.entities == [{"name": "A", "entityType": "t", "observations": []}]
    # What Python takes for blank is blank to it in bytes too, save for a few control characters.
    kept = [raw.encode(errors="surrogateescape") for _, raw in contents.rejected]
    assert kept == [raw for raw in rubbish if raw.decode(errors="surrogateescape").strip()]
