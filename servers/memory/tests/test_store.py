"""The store in bad times: damage, full disks, locks, other versions, files that go away."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_server_core.testing import connect
from mcp_server_memory import edits, pages
from mcp_server_memory.server import build
from mcp_server_memory.sqlite.database import Database, Job
from mcp_server_memory.sqlite.leaves import rows
from mcp_server_memory.sqlite.reading import SqliteReader
from mcp_server_memory.sqlite.schema import MIGRATIONS, Migration
from mcp_server_memory.store import GraphError, Source

EVERYTHING = pages.Bounds(10_000_000, 100_000)


@pytest.fixture
def opened() -> Iterator[Callable[..., Database]]:
    """Opens databases, and closes them in the end."""
    made: list[Database] = []

    def make(path: str, **options: Any) -> Database:
        made.append(Database(path, **options))
        return made[-1]

    yield make
    for database in made:
        database.close()


def remember(database: Database, *names: str, text: str = "a fact") -> None:
    entities: Any = [
        {"name": name, "entityType": "t", "observations": [f"{text} of {name}"]} for name in names
    ]
    (outcome,) = database.write([Job(partial(edits.create_entities, entities), Source("test", "test"))])
    if outcome.error is not None:
        raise outcome.error


def recall(database: Database) -> pages.Page:
    return database.read(partial(pages.read_all, bounds=EVERYTHING, start=None))


def names_in(database: Database) -> list[str]:
    return [entity["name"] for entity in recall(database).entities]


def completed(database: Database, typed: str) -> list[str]:
    return database.read(partial(SqliteReader.names_like, typed=typed, limit=100))


# --- how it is kept ----------------------------------------------------------------------------------------------


def test_every_commit_is_synced_and_foreign_keys_hold(store: str, opened: Any) -> None:
    database = opened(store)
    remember(database, "a")

    def ask(reader: Any, setting: str) -> Any:
        return reader.connection.execute(f"PRAGMA {setting}").fetchone()[0]

    for setting, value in (
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("query_only", 1),
    ):
        assert database.read(partial(ask, setting=setting)) == value
    with closing(sqlite3.connect(store)) as look:
        look.execute("PRAGMA foreign_keys = ON")
        with pytest.raises(sqlite3.IntegrityError):
            look.execute("INSERT INTO observation (entity, text, sum, made) VALUES (99, 'x', 0, 1)")
        assert look.execute("PRAGMA foreign_key_check").fetchall() == []


def test_one_job_that_fails_does_not_spoil_the_others_of_its_commit(store: str, opened: Any) -> None:
    def fail(draft: Any) -> None:
        draft.add_entity("half", "t")
        raise GraphError("no")

    def make(name: str, draft: Any) -> int:
        return draft.add_entity(name, "t")

    database = opened(store)
    source = Source("test", "test")
    outcomes = database.write(
        [Job(partial(make, "a"), source), Job(fail, source), Job(partial(make, "b"), source)]
    )
    assert [str(outcome.error) for outcome in outcomes] == ["None", "no", "None"]
    assert names_in(database) == ["a", "b"]
    assert completed(database, "ha") == []


def test_an_import_that_is_cancelled_leaves_nothing(store: str, opened: Any) -> None:
    looks = iter([False, False, True])
    entities: Any = [{"name": f"e{n}", "entityType": "t", "observations": []} for n in range(10)]
    database = opened(store)
    job = partial(edits.merge, entities, [], stop=lambda: next(looks))
    (outcome,) = database.write([Job(job, Source("test", "test"))])
    assert "cancelled; nothing was changed" in str(outcome.error)
    assert names_in(database) == []


# --- damage ------------------------------------------------------------------------------------------------------


def damage(path: Path, *, at: float, length: int = 20_000) -> None:
    data = bytearray(path.read_bytes())
    start = int(len(data) * at) // 4096 * 4096
    data[start : start + length] = b"\xa5" * min(length, len(data) - start)
    path.write_bytes(data)


def filled(store: str) -> Path:
    database = Database(store)
    for batch in range(10):
        remember(database, *(f"e{batch}-{n}" for n in range(50)), text="some longer text to fill pages with")
    database.close()
    return Path(store)


def test_a_store_that_was_replaced_is_read_without_the_log_of_the_old_one(
    store: str, tmp_path: Path, opened: Any
) -> None:
    database, other = opened(store), Database(str(tmp_path / "other.sqlite3"))
    remember(database, "old")
    remember(other, "new")
    other.close()
    Path(other.path).replace(store)
    assert names_in(database) == ["new"]
    remember(database, "newer")
    database.close()
    assert names_in(opened(store)) == ["new", "newer"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege")
def test_a_store_behind_a_link_is_the_store_itself(tmp_path: Path, opened: Any) -> None:
    real, link = tmp_path / "real" / "memory.sqlite3", tmp_path / "link.sqlite3"
    real.parent.mkdir()
    link.symlink_to(real)
    linked = opened(str(link))
    remember(linked, "through the link")
    linked.close()
    assert real.stat().st_mode & 0o777 == 0o600
    assert names_in(opened(str(real))) == ["through the link"]
    real.write_bytes(b"rubbish" * 5000)
    with pytest.raises(GraphError, match="other programs are using it"):  # one store, under either name
        names_in(opened(str(link)))
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link.sqlite3"}


@pytest.mark.parametrize("kind", ["header", "rubbish", "cut off", "middle"])
def test_a_damaged_store_is_set_aside_and_said_so(store: str, kind: str, opened: Any) -> None:
    path = filled(store)
    whole = path.read_bytes()
    match kind:
        case "header":
            damage(path, at=0, length=100)
        case "rubbish":
            path.write_bytes(b"this is not a database at all" * 1000)
        case "cut off":
            path.write_bytes(whole[: len(whole) // 3])
        case _:
            damage(path, at=0.05, length=len(whole) // 2)
    broken = path.read_bytes()
    database = opened(store)
    page = recall(database)
    if "damaged" not in " ".join(page.notices):  # where the first look does not reach, the thorough one does
        database.look_for_damage()
        page = recall(database)
    (kept,) = path.parent.glob("memory.sqlite3.damaged-*[0-9]")
    assert kept.read_bytes() == broken
    assert f"kept as {kept.name}" in page.notices[0]
    remember(database, "life goes on")
    assert "life goes on" in names_in(database)


def test_what_can_be_read_of_a_damaged_store_is_taken_over(store: str, opened: Any) -> None:
    path = filled(store)
    with closing(sqlite3.connect(store)) as look:
        # The root page of an index: every row is there, and the store is damaged all the same.
        (root,) = look.execute("SELECT rootpage FROM sqlite_master WHERE name = 'observation_sum'").fetchone()
    damage(path, at=(root - 1) * 4096 / path.stat().st_size + 1e-9, length=4096)
    database = opened(store)
    database.look_for_damage()
    page = recall(database)
    assert len(page.entities) == 500
    assert page.entities[7] == {
        "name": "e0-7",
        "entityType": "t",
        "observations": ["some longer text to fill pages with of e0-7"],
    }
    assert "500 entities, 500 observations" in page.notices[0]
    assert len(completed(database, "e9-4")) == 11


def root_of(store: str, name: str) -> int:
    """Where the first page of a table or an index begins."""
    with closing(sqlite3.connect(store)) as look:
        (root,) = look.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return (root - 1) * 4096


def overwrite(path: Path, at: int, with_: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(with_)


@pytest.mark.parametrize("table", ["name", "entity", "observation", "relation", "change", "sqlite_schema"])
def test_a_page_above_the_rows_hides_none_of_them(store: str, table: str, opened: Any) -> None:
    path = filled(store)
    at = 0 if table == "sqlite_schema" else root_of(store, table)
    with closing(sqlite3.connect(store)) as look:
        before = look.execute("SELECT * FROM observation").fetchall()
    leaf = (
        path.read_bytes()[at] == 13
    )  # a table that fits into one page: then its rows are gone, and nothing else
    overwrite(path, at, b"\xa5" * 4096)
    database = opened(store)
    database.look_for_damage()
    page = recall(database)
    assert "500 observations" in page.notices[0]
    with closing(sqlite3.connect(store)) as look:
        assert look.execute("SELECT * FROM observation").fetchall() == before
    assert leaf or [entity["name"] for entity in page.entities][::499] == ["e0-0", "e9-49"]


def test_facts_that_lost_their_entity_or_its_name_are_kept_under_another(store: str, opened: Any) -> None:
    path = filled(store)
    with closing(sqlite3.connect(store)) as look:
        look.execute("PRAGMA foreign_keys = OFF")
        look.execute("DELETE FROM entity WHERE id = 3")
        look.execute("DELETE FROM name WHERE id = 5")
        look.commit()
    overwrite(path, root_of(store, "observation_sum"), b"\xa5" * 4096)
    database = opened(store)
    database.look_for_damage()
    named = {entity["name"]: entity for entity in recall(database).entities}
    assert len(named) == 500
    text = "some longer text to fill pages with of e0-"
    assert named["recovered entity 3"]["observations"] == [f"{text}2"]
    assert named["recovered name 5"]["observations"] == [f"{text}4"]


def test_what_is_only_in_the_log_is_taken_over_too(store: str, tmp_path: Path, opened: Any) -> None:
    filled(store)
    database = opened(store)
    remember(database, *(f"new {n}" for n in range(200)), text="long " * 2000)
    crashed = tmp_path / "crashed" / "memory.sqlite3"
    crashed.parent.mkdir()
    for part in ("", "-wal"):
        Path(f"{crashed}{part}").write_bytes(Path(f"{store}{part}").read_bytes())
    text = b"some longer text to fill pages with of e7-7"
    overwrite(crashed, crashed.read_bytes().rindex(text), b"\xff")
    found = recall(opened(str(crashed)))
    assert "700 entities, 700 observations" in found.notices[0]
    assert found.entities[500:] == recall(database).entities[500:]


def test_a_store_that_was_emptied_is_read_from_its_log(store: str, tmp_path: Path, opened: Any) -> None:
    database = opened(store)
    remember(database, "a", "b")
    crashed = tmp_path / "crashed.sqlite3"
    crashed.write_bytes(b"")
    Path(f"{crashed}-wal").write_bytes(Path(f"{store}-wal").read_bytes())
    found = recall(opened(str(crashed)))
    assert found.entities == recall(database).entities
    assert "it is empty, but its log is not" in found.notices[0]


def test_a_text_that_is_none_any_more_spoils_only_itself(store: str, opened: Any) -> None:
    path = filled(store)
    at = path.read_bytes().rindex(b"some longer text to fill pages with of e7-7")
    overwrite(path, at, b"\xff")
    entities = recall(opened(store)).entities
    assert len(entities) == 500
    (hit,) = [one for one in entities if "\ufffd" in str(one["observations"])]
    assert hit["observations"] == [f"\ufffdome longer text to fill pages with of {hit['name']}"]
    gone: Any = [{"entityName": hit["name"], "observations": hit["observations"]}]
    (outcome,) = opened(store).write([Job(partial(edits.delete_observations, gone), Source("t", "t"))])
    assert outcome.result.observations == 1


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"TABLE entity (", b"TABLE entitx ("),
        (b"USING fts5", b"USING fts\xff"),
        (b"relation (back)", b"relation (b\xffck)"),
    ],
)
def test_tables_that_are_not_as_they_were_made_are_damage(
    store: str, was: bytes, becomes: bytes, opened: Any
) -> None:
    path = filled(store)
    overwrite(path, path.read_bytes().index(was), becomes)
    assert len(names_in(opened(store))) == 500
    assert len(list(path.parent.glob("memory.sqlite3.damaged-*[0-9]"))) == 1


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_whatever_is_broken_the_other_pages_give_all_their_rows(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "memory.sqlite3"
    if not path.exists():
        filled(str(path))
    whole = path.read_bytes()
    page = data.draw(st.integers(1, len(whole) // 4096 - 1)) * 4096
    noise = data.draw(st.binary(min_size=1, max_size=4096))
    at = page + data.draw(st.integers(0, 4096 - len(noise)))
    broken = path.with_name("broken")
    broken.write_bytes(whole[:at] + noise + whole[at + len(noise) :])
    shapes = {"observation": "kitiinn"}
    alone = path.with_name("alone")
    alone.write_bytes(whole[:page] + bytes(4096) + whole[page + 4096 :])
    assert set(rows(str(alone), shapes)) <= set(rows(str(broken), shapes))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
def test_what_is_no_file_is_refused_at_once(store: str, opened: Any) -> None:
    os.mkfifo(store)
    with pytest.raises(GraphError, match="is not a file"):
        names_in(opened(store))


def test_a_damaged_store_that_others_use_is_left_where_it_is(store: str, opened: Any) -> None:
    path = filled(store)
    other = opened(store)
    assert len(names_in(other)) == 500
    path.write_bytes(b"rubbish" * 5000)  # the same file, so the other still has it open
    with pytest.raises(GraphError, match="other programs are using it"):
        names_in(opened(store))
    assert list(path.parent.glob("*.damaged-*")) == []


def test_a_sound_store_passes_the_thorough_look_once_a_day(store: str, opened: Any) -> None:
    filled(store)
    database = opened(store)
    database.look_for_damage()
    assert recall(database).notices == []
    with closing(sqlite3.connect(store)) as look:
        assert look.execute("SELECT count(*) FROM upkeep WHERE what = 'check'").fetchone() == (1,)


# --- versions ----------------------------------------------------------------------------------------------------

NEXT = Migration(
    MIGRATIONS[-1].to + 1, "CREATE TABLE more (id INTEGER PRIMARY KEY); INSERT INTO more VALUES (1);"
)


def test_an_older_store_is_backed_up_and_brought_to_today(store: str, opened: Any) -> None:
    old = Database(store)
    remember(old, "kept")
    old.close()
    newer = opened(store, migrations=(*MIGRATIONS, NEXT))
    assert names_in(newer) == ["kept"]
    (kept,) = Path(store).parent.glob("memory.sqlite3.backup-v1-*")
    with closing(sqlite3.connect(kept)) as look:
        assert look.execute("PRAGMA user_version").fetchone() == (1,)
        assert look.execute("SELECT count(*) FROM entity").fetchone() == (1,)
    with closing(sqlite3.connect(store)) as look:
        assert look.execute("PRAGMA user_version").fetchone() == (2,)
        assert look.execute("SELECT id FROM more").fetchall() == [(1,)]


def test_a_migration_that_fails_leaves_the_store_as_it_was(store: str, opened: Any) -> None:
    old = Database(store)
    remember(old, "kept")
    old.close()
    wrong = Migration(2, "CREATE TABLE more (id INTEGER PRIMARY KEY); INSERT INTO no_such_table VALUES (1);")
    with pytest.raises(sqlite3.OperationalError, match="no_such_table"):
        names_in(opened(store, migrations=(*MIGRATIONS, wrong)))
    assert names_in(opened(store)) == ["kept"]


def test_a_store_of_a_newer_version_is_not_touched(store: str, opened: Any) -> None:
    newer = Database(store, migrations=(*MIGRATIONS, NEXT))
    remember(newer, "new")
    newer.close()
    before = Path(store).read_bytes()
    with pytest.raises(GraphError, match="newer version"):
        names_in(opened(store))
    assert Path(store).read_bytes() == before


def test_a_process_that_was_overtaken_by_a_newer_version_writes_no_more(store: str, opened: Any) -> None:
    old = opened(store)
    remember(old, "before")
    assert names_in(opened(store, migrations=(*MIGRATIONS, NEXT))) == ["before"]
    with pytest.raises(GraphError, match="restart this server"):
        remember(old, "after")


def test_a_database_of_another_program_is_refused_untouched(store: str, opened: Any) -> None:
    with closing(sqlite3.connect(store)) as other:
        other.execute("CREATE TABLE bookmarks (id)")
        other.commit()
    before = Path(store).read_bytes()
    with pytest.raises(GraphError, match="another program"):
        names_in(opened(store))
    assert Path(store).read_bytes() == before


# --- other trouble -----------------------------------------------------------------------------------------------


def test_a_locked_store_is_waited_for_and_then_explained(store: str, opened: Any) -> None:
    database = opened(store, patience=0.2)
    remember(database, "before")
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(GraphError, match="in use by another program"):
            remember(database, "during")
        assert names_in(database) == ["before"]  # reading goes on
        other.execute("ROLLBACK")
    remember(database, "after")
    assert names_in(database) == ["before", "after"]


def test_a_store_that_was_moved_away_is_not_written_into_the_void(store: str, opened: Any) -> None:
    database = opened(store)
    remember(database, "first")
    for part in ("", "-wal", "-shm"):
        Path(store + part).rename(f"{store}.moved{part}")
    remember(database, "second")
    assert names_in(database) == ["second"]
    assert names_in(opened(store)) == ["second"]
    assert names_in(opened(f"{store}.moved")) == ["first"]


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
from mcp_server_memory.__main__ import main
main(sys.argv[1:])
"""


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
async def test_a_full_disk_is_explained_and_nothing_is_lost(store: str) -> None:
    from mcp_server_core import Client, stdio

    async with Client(stdio([sys.executable, "-c", FULL, "--store", store])) as client:
        small: Any = {"entities": [{"name": "small", "entityType": "t", "observations": ["x"]}]}
        large: Any = {
            "entities": [{"name": "large", "entityType": "t", "observations": ["y z " * 1_500_000]}]
        }
        assert "isError" not in await client.call_tool("create_entities", small)
        result = await client.call_tool("create_entities", large)
        assert result["isError"]
        assert "Nothing was changed" in result["content"][0]["text"]
        again: Any = {"observations": [{"entityName": "small", "contents": ["still here"]}]}
        assert "isError" not in await client.call_tool("add_observations", again)
        graph = (await client.call_tool("read_graph"))["structuredContent"]
    assert graph["entities"] == [{"name": "small", "entityType": "t", "observations": ["x", "still here"]}]


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_used_is_explained_and_the_server_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with connect(build(str(tmp_path / "file" / "memory.sqlite3"))) as client:
        result = await client.call_tool("read_graph")
        assert result["isError"]
        assert "The folder of the memory cannot be used" in result["content"][0]["text"]
        (tmp_path / "file").unlink()
        assert (await client.call_tool("read_graph"))["structuredContent"] == {
            "entities": [],
            "relations": [],
        }


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_memory_is_for_its_owner_only(tmp_path: Path) -> None:
    store = tmp_path / "new" / "memory.sqlite3"
    database = Database(str(store))
    remember(database, "secret")
    for path in store.parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    database.close()


def test_the_store_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; import mcp_server_memory.sqlite.database; "
        "print([name for name in sys.modules if name.split('.')[0] in ('mcp_server_core', 'pydantic', 'anyio')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
