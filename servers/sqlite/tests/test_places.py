"""Which files may be opened: those the operator named, and those inside allowed directories. No other, ever."""

# The files of a test are small.
# ruff: noqa: ASYNC240

import os
import sqlite3
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Answers, ToolError
from mcp_server_core.places import Grant, Places
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.database import Opener
from mcp_server_sqlite.guard import READING, Guard
from mcp_server_sqlite.problems import Problem
from mcp_server_sqlite.server import build

from .asking import ask, call, refusal, text

pytestmark = pytest.mark.anyio


def make(path: Path, word: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (word TEXT)")
        connection.execute("INSERT INTO t VALUES (?)", (word,))
    return path


WORD = "SELECT word FROM t"


async def test_databases_are_named_by_name_file_or_path(tmp_path: Path) -> None:
    one, two, three = (make(tmp_path / name, name) for name in ("a/one.db", "b/two.db", "c/two.db"))
    async with connect(build([str(one), str(two), str(three)])) as client:
        for name, word in (
            (None, "a/one.db"),
            ("one", "a/one.db"),
            ("two", "b/two.db"),
            ("two.db", "c/two.db"),
            (str(three), "c/two.db"),
        ):
            more = {} if name is None else {"database": name}
            assert (await call(client, "read_query", query=WORD, **more))["rows"] == [[word]]


async def test_a_file_beside_a_named_one_is_not_allowed(revision: Revision, tmp_path: Path) -> None:
    one, other = make(tmp_path / "one.db", "one"), make(tmp_path / "other.db", "other")
    for roots in (None, [tmp_path.as_uri()], ["file:///"]):
        async with connect(build([str(one)]), revision=revision, answers=Answers(roots=roots)) as client:
            for name in (str(other), "other.db", "../" + tmp_path.name + "/other.db"):
                assert "one" in await refusal(client, "read_query", query=WORD, database=name)
            assert await refusal(
                client, "create_table", query="CREATE TABLE x (a)", database=str(tmp_path / "new.db")
            )
            assert (await call(client, "read_query", query=WORD))["rows"] == [["one"]]


async def test_a_directory_allows_what_is_in_it_and_nothing_else(tmp_path: Path) -> None:
    inside, outside = make(tmp_path / "in/deep/one.db", "one"), make(tmp_path / "out/two.db", "two")
    (tmp_path / "in/link.db").symlink_to(outside)
    (tmp_path / "in/dir").symlink_to(outside.parent)
    async with connect(build([str(tmp_path / "in")])) as client:
        assert (await call(client, "read_query", query=WORD, database=str(inside)))["rows"] == [["one"]]
        assert (await call(client, "read_query", query=WORD, database="deep/one.db"))["rows"] == [["one"]]
        for wrong in (
            str(outside),
            "../out/two.db",
            "link.db",
            "dir/two.db",
            "deep/../../out/two.db",
            "/etc/passwd",
        ):
            said = await refusal(client, "read_query", query=WORD, database=wrong)
            assert "two" not in said.replace(wrong, "")
            assert await refusal(client, "write_query", query="INSERT INTO t VALUES ('x')", database=wrong)
        assert "not a file" in await refusal(client, "read_query", query=WORD, database="deep")
        assert await text(client, "create_table", query="CREATE TABLE n (a)", database="deep/new.db")
    assert ask(outside, WORD) == [("two",)]


async def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    make(tmp_path / "real/one.db", "one")
    (tmp_path / "link.db").symlink_to(tmp_path / "real/one.db")
    async with connect(build([str(tmp_path)])) as client:
        assert (await call(client, "read_query", query=WORD, database="link.db"))["rows"] == [["one"]]
        await call(client, "write_query", query="INSERT INTO t VALUES ('two')", database="link.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.db", "real"]


async def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    async with connect(build([str(tmp_path)])) as client:
        assert "not a file" in await refusal(client, "read_query", query=WORD, database="pipe.db")


async def test_roots_narrow_a_directory(revision: Revision, tmp_path: Path) -> None:
    make(tmp_path / "in/one.db", "one")
    make(tmp_path / "other/two.db", "two")
    answers = Answers(roots=[(tmp_path / "in").as_uri()])
    async with connect(build([str(tmp_path)]), revision=revision, answers=answers) as client:
        assert (await call(client, "read_query", query=WORD, database="one.db"))["rows"] == [["one"]]
        assert "outside" in await refusal(
            client, "read_query", query=WORD, database=str(tmp_path / "other/two.db")
        )


async def test_with_nothing_configured_the_roots_are_the_allowed_directories(
    revision: Revision, tmp_path: Path
) -> None:
    make(tmp_path / "one.db", "one")
    async with connect(build([]), revision=revision, answers=Answers(roots=[tmp_path.as_uri()])) as client:
        assert (await call(client, "read_query", query=WORD, database="one.db"))["rows"] == [["one"]]
        assert str(tmp_path / "one.db") in await refusal(client, "list_tables")
    async with connect(build([]), revision=revision) as client:
        assert "No directory is allowed" in await refusal(client, "list_tables", database="one.db")


async def test_a_file_or_directory_can_be_for_reading_only(tmp_path: Path) -> None:
    path = make(tmp_path / "one.db", "one")
    for given, database in ((f"{path}:ro", "one"), (f"{tmp_path}:ro", "one.db")):
        async with connect(build([given])) as client:
            assert (await call(client, "read_query", query=WORD, database=database))["rows"] == [["one"]]
            for tool in ("write_query", "preview_write"):
                assert "read-only" in await refusal(
                    client, tool, query="INSERT INTO t VALUES ('x')", database=database
                )
    assert ask(path, WORD) == [("one",)]


def test_a_file_that_is_exchanged_all_the_time_is_never_another(tmp_path: Path) -> None:
    """The allowed name changes between a file inside and a link out, and so does a directory on the way."""
    make(tmp_path / "in/real/one.db", "inside")
    make(tmp_path / "out/one.db", "outside")
    way = tmp_path / "in/way"
    done = threading.Event()

    def exchange() -> None:
        while not done.is_set():
            for target in ("real", str(tmp_path / "out")):
                with suppress(OSError):
                    spare = tmp_path / "in/spare"
                    spare.symlink_to(target)
                    spare.replace(way)

    way.symlink_to("real")
    attacker = threading.Thread(target=exchange)
    attacker.start()
    words: set[str] = set()
    try:
        with Places([Grant(str(tmp_path / "in"))]) as places:
            for _ in range(int(os.environ.get("SQLITE_RACES", "400"))):
                words |= _try(places)
    finally:
        done.set()
        attacker.join()
    assert words <= {"inside"}
    assert words, "the race never let one through: nothing was tried"


def _try(places: Places) -> set[str]:
    try:
        connection = Opener(lambda: places.resolve("way/one.db")).connect(Guard(READING))
    except (Problem, ToolError, sqlite3.Error):  # a refusal is fine
        return set()
    with closing(connection):
        return {row[0] for row in connection.execute(WORD)}


async def test_what_cannot_be_a_path_is_refused(tmp_path: Path) -> None:
    async with connect(build([str(tmp_path)])) as client:
        for wrong in (
            "",
            "\0",
            "a\0b",
            "x" * 5000,
            "file:///etc/passwd",
            ":memory:",
            "file::memory:?cache=shared",
            "one.db?mode=rwc",
        ):
            assert await refusal(client, "read_query", query="SELECT 1 FROM t", database=wrong)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["odd name?mode=rwc.db", "100%.db", "#1.db", "ünïcode ✓.db", "a&b=c.db"])
async def test_odd_names_are_names(name: str, tmp_path: Path) -> None:
    make(tmp_path / name, "found")
    async with connect(build([str(tmp_path)])) as client:
        assert (await call(client, "read_query", query=WORD, database=name))["rows"] == [["found"]]
    assert [path.name for path in tmp_path.iterdir()] == [name]


async def test_what_a_crashed_writer_left_half_done_is_undone_where_writing_is_allowed(
    tmp_path: Path,
) -> None:
    path = make(tmp_path / "one.db", "one")
    crash = (
        f"import os, sqlite3; c = sqlite3.connect({str(path)!r}, isolation_level=None); "
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN'); c.execute('UPDATE t SET word = 1'); "
        "c.execute('WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 9999) "
        "INSERT INTO t SELECT randomblob(100) FROM n'); os._exit(1)"
    )
    await anyio.run_process([sys.executable, "-c", crash], check=False)
    assert (tmp_path / "one.db-journal").stat().st_size
    for server in (build([str(path)], read_only=True), build([f"{path}:ro"])):
        async with connect(server) as client:
            assert "write access" in await refusal(client, "read_query", query=WORD)
    async with connect(build([str(path)])) as client:
        assert (await call(client, "read_query", query=WORD))["rows"] == [["one"]]
    assert not (tmp_path / "one.db-journal").exists()


async def test_the_journal_of_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    path = make(tmp_path / "one.db", "one")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE t SET word = 'two'")
        assert (tmp_path / "one.db-journal").exists()
        async with connect(build([str(path)])) as client:
            assert (await call(client, "read_query", query=WORD))["rows"] == [["one"]]
            writer.execute("COMMIT")
            assert (await call(client, "read_query", query=WORD))["rows"] == [["two"]]
