"""Reading, as a client sees it."""

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_server_core.places import Grant, Places
from mcp_server_filesystem.reading import Position, Terms, read_lines, read_tail

from .conftest import desk_at

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_whole_file_comes_as_it_is_and_nothing_is_added(root: Path) -> None:
    (root / "a.txt").write_bytes(b"one\r\n\ttwo \nthree")
    async with desk_at(root) as desk:
        result = await desk.result("read_text_file", path="a.txt")
    assert result["content"] == [{"type": "text", "text": "one\r\n\ttwo \nthree"}]
    assert "structuredContent" not in result


@pytest.mark.parametrize(
    ("arguments", "blocks"),
    [
        ({"head": 2}, ["line 1\nline 2", "[the file goes on: continue with offset=3]"]),
        ({"head": "2"}, ["line 1\nline 2", "[the file goes on: continue with offset=3]"]),
        ({"head": 20}, [LINES]),
        ({"head": 0, "tail": None}, [LINES]),
        ({"tail": 2}, ["line 19\nline 20\n"]),
        ({"tail": 99}, [LINES]),
        ({"offset": 19}, ["line 19\nline 20\n"]),
        ({"offset": 5, "limit": 1}, ["line 5", "[the file goes on: continue with offset=6]"]),
        ({"offset": 20, "limit": 5}, ["line 20\n"]),
        ({"offset": 20, "column": 6}, ["20\n"]),
        ({"limit": 1}, ["line 1", "[the file goes on: continue with offset=2]"]),
    ],
)
async def test_lines_are_chosen(root: Path, arguments: dict[str, object], blocks: list[str]) -> None:
    (root / "a.txt").write_text(LINES)
    async with desk_at(root) as desk:
        assert await desk.blocks("read_text_file", path="a.txt", **arguments) == blocks


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"head": 1, "tail": 1}, "Give `head`, or `tail`, or `offset` with `limit`"),
        ({"head": 1, "offset": 1}, "Give `head`, or `tail`"),
        ({"column": 3}, "Give `offset` with `column`"),
        ({"offset": 21}, "'a.txt' has 20 lines: line 21 is past its end."),
        ({"offset": 4000}, "'a.txt' has 20 lines: line 4000 is past its end."),
        ({"offset": 2, "column": 100}, "the column is past its end"),
        ({"head": -1}, "Argument `head` must be"),
        ({"lines": 1}, "There is no argument `lines`"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_words(
    root: Path, arguments: dict[str, object], said: str
) -> None:
    (root / "a.txt").write_text(LINES)
    async with desk_at(root) as desk:
        assert said in await desk.refusal("read_text_file", path="a.txt", **arguments)


async def test_read_file_is_an_unlisted_alias(root: Path) -> None:
    (root / "a.txt").write_text("text")
    async with desk_at(root) as desk:
        assert await desk.text("read_file", path="a.txt") == "text"
        assert "read_file" not in [tool["name"] for tool in await desk.client.list_tools()]


async def test_an_empty_file_is_an_empty_text(root: Path) -> None:
    (root / "a.txt").touch()
    async with desk_at(root) as desk:
        for arguments in ({}, {"head": 3}, {"tail": 3}, {"offset": 1}):
            assert await desk.blocks("read_text_file", path="a.txt", **arguments) == [""]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "windows-1252"])
async def test_every_encoding_is_read_by_lines_and_named(root: Path, codec: str) -> None:
    (root / "a.txt").write_bytes("".join(f"Zeile {n} ü\n" for n in range(5000)).encode(codec))
    async with desk_at(root) as desk:
        head = await desk.blocks("read_text_file", path="a.txt", head=2)
        middle = await desk.blocks("read_text_file", path="a.txt", offset=4000, limit=1)
        tail = await desk.blocks("read_text_file", path="a.txt", tail=2)
    assert [head[0], middle[0], tail[0]] == [
        "Zeile 0 ü\nZeile 1 ü",
        "Zeile 3999 ü",
        "Zeile 4998 ü\nZeile 4999 ü\n",
    ]
    assert all(blocks[1].startswith("[encoding ") for blocks in (head, middle, tail))


async def test_a_text_is_read_on_where_a_result_was_cut(root: Path) -> None:
    text = "".join(f"line number {n}\n" for n in range(1000))
    (root / "a.txt").write_text(text)
    pages: list[str] = []
    offset = "1"
    async with desk_at(root, max_chars=2000) as desk:
        while offset:
            page, *note = await desk.blocks("read_text_file", path="a.txt", offset=offset)
            pages.append(page)
            assert sum(map(len, [page, *note])) <= 2000
            offset = note[0].partition("continue with offset=")[2].rstrip("]") if note else ""
    assert "\n".join(pages) == text


async def test_a_line_longer_than_a_result_is_cut_and_read_on_by_column(root: Path) -> None:
    (root / "a.txt").write_text("short\n" + "ü" * 5000 + "\nend\n")
    async with desk_at(root, max_chars=2000) as desk:
        first = await desk.blocks("read_text_file", path="a.txt")
        assert first == ["short", "[cut here, because a result may not be longer: continue with offset=2]"]
        second = await desk.blocks("read_text_file", path="a.txt", offset=2)
        assert second[1].endswith("continue with offset=2, column=1701]")
        last = await desk.blocks("read_text_file", path="a.txt", offset=2, column=3401)
    assert (len(second[0]), last) == (1700, ["ü" * 1600 + "\nend\n"])


async def test_a_tail_longer_than_a_result_is_cut_at_its_beginning(root: Path) -> None:
    (root / "a.txt").write_text("x" * 300_000 + "\n" + LINES)
    async with desk_at(root, max_chars=1000) as desk:
        text, note = await desk.blocks("read_text_file", path="a.txt", tail=21)
    assert (text, "cut at the beginning" in note) == (LINES, True)


async def test_bytes_that_do_not_fit_are_shown_as_such_and_said(root: Path) -> None:
    (root / "a.txt").write_bytes("schöne Grüße, viele Grüße, süße Äpfel\n".encode() + b"\xff\n")
    async with desk_at(root) as desk:
        text, note = await desk.blocks("read_text_file", path="a.txt")
    assert text.endswith("\ufffd\n")
    assert note == "[encoding UTF-8; bytes that do not fit the encoding are shown as U+FFFD]"


async def test_what_follows_long_ascii_in_another_encoding_is_read_in_it(root: Path) -> None:
    (root / "a.txt").write_bytes(b"ascii\n" * 20_000 + b"caf\xe9\n")
    async with desk_at(root) as desk:
        assert await desk.blocks("read_text_file", path="a.txt", tail=1) == [
            "café\n",
            "[encoding windows-1252]",
        ]
        assert await desk.blocks("read_text_file", path="a.txt", offset=20_001) == [
            "café\n",
            "[encoding windows-1252]",
        ]


async def test_the_fallback_encoding_is_the_operators(root: Path) -> None:
    (root / "a.txt").write_bytes("中文\n".encode("gbk"))
    async with desk_at(root, fallback="gbk") as desk:
        assert await desk.blocks("read_text_file", path="a.txt") == ["中文\n", "[encoding gbk]"]


async def test_binary_files_and_directories_are_refused_with_the_way_out(root: Path) -> None:
    (root / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (root / "b.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    async with desk_at(root) as desk:
        assert "is a binary file (image/png), not text: read it as media" in await desk.refusal(
            "read_text_file", path="a.png"
        )
        assert "(application/pdf)" in await desk.refusal("read_text_file", path="b.pdf")
        assert "is a directory" in await desk.refusal("read_text_file", path=".")


async def test_several_files_are_read_at_once_and_one_failure_spoils_no_other(root: Path) -> None:
    (root / "a.txt").write_text("aaa")
    (root / "b.bin").write_bytes(bytes(10))
    (root / "c.txt").write_bytes("ü".encode("utf-16"))
    async with desk_at(root) as desk:
        blocks = await desk.blocks("read_multiple_files", paths=["a.txt", "b.bin", "gone", "../x", "c.txt"])
        assert blocks[0] == "a.txt:\naaa\n"
        assert [block.partition(":")[2][:8] for block in blocks[1:4]] == [" Error -"] * 3
        assert blocks[4] == "c.txt [encoding UTF-16 LE with BOM]:\nü\n"
        assert "'gone' does not exist" in await desk.refusal("read_multiple_files", paths=["gone", "gone"])


async def test_several_files_share_what_a_result_may_hold(root: Path) -> None:
    for name in "abc":
        (root / name).write_text("line\n" * 2000)
    (root / "small").write_text("small")
    async with desk_at(root, max_chars=6000) as desk:
        blocks = await desk.blocks("read_multiple_files", paths=["small", "a", "b", "c"])
    assert sum(map(len, blocks)) <= 6000
    assert blocks[0] == "small:\nsmall\n"
    assert all("[cut here" in block and "offset=" in block and len(block) > 1500 for block in blocks[1:])


async def test_paths_without_end_are_refused_or_cut_but_never_overflow(root: Path) -> None:
    (root / "a").write_text("text")
    async with desk_at(root, max_chars=500) as desk:
        blocks = await desk.blocks("read_multiple_files", paths=["a", *["x" * 400] * 50])
    assert sum(map(len, blocks)) <= 500


async def test_info_tells_what_the_system_knows_in_both_halves(root: Path) -> None:
    (root / "a.sh").write_bytes(b"one\r\ntwo\r\n")
    (root / "a.sh").chmod(0o750)
    async with desk_at(root) as desk:
        result = await desk.result("get_file_info", path="a.sh")
        info = result["structuredContent"]
        assert {name: info[name] for name in ("path", "type", "size", "permissions")} == {
            "path": str(root / "a.sh"),
            "type": "file",
            "size": 10,
            "permissions": "750",
        }
        assert result["content"][0]["text"] == "\n".join(f"{name}: {value}" for name, value in info.items())
        inside = (await desk.result("get_file_info", path="a.sh", content=True))["structuredContent"]
        directory = (await desk.result("get_file_info", path=".", content=True))["structuredContent"]
    assert inside["sha256"] == sha256(b"one\r\ntwo\r\n").hexdigest()
    assert (inside["encoding"], inside["lineEnding"], inside["lines"], inside["mimeType"]) == (
        "UTF-8",
        "CRLF",
        2,
        "text/plain",
    )
    assert (directory["type"], "sha256" in directory) == ("directory", False)


# --- against a plain reading of the same file ---------------------------------------------------------------------

body = st.text(st.sampled_from("ab\n\r\u00e9\u20ac"), max_size=60)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(body, st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]), st.integers(1, 12), st.integers(1, 30))
def test_pages_of_any_size_put_together_are_the_file(
    root: Path, text: str, codec: str, limit: int, budget: int
) -> None:
    (root / "a").write_bytes(text.encode(codec))
    terms = Terms(budget, "windows-1252", lambda: False)
    with Places([Grant(str(root))]) as places:
        spot = places.resolve("a")
        got, position = "", Position(1)
        while position is not None:
            page = read_lines(spot, terms, position, limit)
            assert len(page.text) <= budget + 2  # the file's last line end
            got += page.text
            if page.next is not None and page.next.column == 1:
                got += "\n"
            position = page.next
    assert got == text.replace("\r\n", "\n") or got.replace("\r", "") == text.replace("\r", "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.text(st.sampled_from("ab\n\u00e9"), max_size=60),
    st.sampled_from(["utf-8", "utf-16-le", "utf-8-sig"]),
    st.integers(1, 12),
)
def test_the_last_lines_are_the_last_lines(root: Path, text: str, codec: str, count: int) -> None:
    if codec == "utf-16-le":
        text = "\ufeff" + text
    (root / "a").write_bytes(text.encode(codec))
    text = text.removeprefix("\ufeff")
    with Places([Grant(str(root))]) as places:
        got = read_tail(places.resolve("a"), Terms(1000, "windows-1252", lambda: False), count).text
    assert got == "".join(part + "\n" for part in text.split("\n"))[:-1][-len(got) :] if got else True
    wanted = text.removesuffix("\n").split("\n")[-count:]
    assert got.removesuffix("\n").split("\n") == wanted
