"""Long pages come in slices of one copy."""

import re
from time import process_time

import anyio
import pytest
from mcp_server_core.testing import Revision, connect
from mcp_server_fetch.cache import Cache
from mcp_server_fetch.download import NO_VALIDATORS, Document
from mcp_server_fetch.pages import Page, outline
from mcp_server_fetch.server import build
from mcp_server_fetch.settings import Limits

from .site import HTML, Handler, Site, local, redirect, reply, versioned
from .talk import fetch, inside, refusal

pytestmark = pytest.mark.anyio
LONG = (
    "<main>"
    + "".join(
        f"<h2>Part {n}</h2><p>Sentence {n} of a long page, with some words in it.</p>" for n in range(300)
    )
    + "</main>"
)


def next_index(answer: str) -> int | None:
    found = re.search(r"go on with start_index=(\d+)\.", answer)
    return int(found.group(1)) if found else None


async def test_slices_put_together_are_the_page_and_it_is_downloaded_once(
    site: Site, revision: Revision
) -> None:
    url = site.page("/", LONG)
    async with connect(build(local()), revision=revision) as client:
        parts: list[str] = []
        index: int | None = 0
        while index is not None:
            answer = await fetch(client, url, start_index=index, max_length=3000)
            assert ("from the copy kept then" in answer) is (index > 0)
            parts.append(inside(answer))
            index = next_index(answer)
        whole = inside(await fetch(client, url, max_length=100_000, start_index=0))
    assert "".join(parts) == whole
    assert len(parts) > 5
    assert site.paths().count("/") == 2  # the first slice, and the whole page at the end


async def test_the_result_says_how_long_the_page_is_and_where_to_go_on(site: Site) -> None:
    url = site.on("/", reply(b"0123456789" * 100))
    async with connect(build(local())) as client:
        answer = await fetch(client, url, max_length=300, start_index=0)
        assert "Length: characters 0 to 300 of 1000; go on with start_index=300." in answer
        answer = await fetch(client, url, max_length=300, start_index=900)
        assert "Length: characters 900 to 1000 of 1000: the end." in answer


async def test_a_start_behind_the_end_is_no_error(site: Site) -> None:
    url = site.page("/", "<p>short</p>")
    async with connect(build(local())) as client:
        answer = await fetch(client, url, start_index=99)
    assert "nothing stands at 99 or after it" in answer
    assert "error" not in answer.lower()


async def test_the_beginning_of_a_page_is_always_the_current_one(site: Site) -> None:
    text = ["first version of the text"]
    url = site.on("/", lambda handler: reply(f"<p>{text[0]}</p>".encode(), HTML)(handler))
    async with connect(build(local())) as client:
        assert "first version" in await fetch(client, url)
        text[0] = "second version of the text"
        assert "second version" in await fetch(client, url)


async def test_a_copy_that_the_web_server_confirms_is_not_downloaded_again(site: Site) -> None:
    url = site.on("/", versioned(lambda: b"<p>the same text as before</p>", lambda: '"v1"'))
    async with connect(build(local())) as client:
        first = await fetch(client, url)
        second = await fetch(client, url)
    assert inside(first) == inside(second)
    assert "unchanged since" in second
    assert [headers.get("if-none-match") for headers in site.headers("/")] == [None, '"v1"']


async def test_other_forms_of_a_page_are_made_from_the_same_copy(site: Site) -> None:
    url = site.on("/", versioned(lambda: LONG.encode(), lambda: '"v1"'))
    async with connect(build(local())) as client:
        await fetch(client, url)
        assert inside(await fetch(client, url, format="text", start_index=5)).startswith("0")
        assert "<h2>Part 0</h2>" in await fetch(client, url, raw=True, start_index=1)
    assert site.paths().count("/") == 1


async def test_a_cut_page_lists_its_sections_and_gives_one_of_them(site: Site) -> None:
    url = site.page("/", LONG)
    async with connect(build(local())) as client:
        first = await fetch(client, url, max_length=500)
        assert "Sections (take one with `section`): Part 0 | Part 1 | Part 2" in first
        assert re.search(r"\.\.\. \d+ more", first)
        part = await fetch(client, url, section="part 123")
    assert inside(part) == "## Part 123\n\nSentence 123 of a long page, with some words in it."
    assert site.paths().count("/") == 1


async def test_a_section_goes_on_to_the_next_heading_of_its_level(site: Site) -> None:
    url = site.page(
        "/",
        "<main><h1>A</h1><h2>B</h2><p>b text</p><h3>C</h3><p>c text</p><pre># D\n## B</pre><h2>E</h2><p>e text</p></main>",
    )
    async with connect(build(local())) as client:
        text = inside(await fetch(client, url, section="B"))
        assert "c text" in text
        assert "# D" in text
        assert "e text" not in text
        said = await refusal(client, url, section="F")
    assert "no section 'F'; it has: 'A' | 'B' | 'C' | 'E'" in said


async def test_a_result_keeps_to_the_budget_of_the_server(site: Site) -> None:
    url = site.page("/", LONG * 5)
    server = build(local())
    server.max_result_chars = 8000
    async with connect(server) as client:
        answer = await fetch(client, url, max_length=999_999)
        assert len(answer) <= 8000
        assert next_index(answer) is not None
        many = await client.call_tool("fetch_many", {"urls": [url] * 3, "max_length": 999_999})
        assert sum(len(block["text"]) for block in many["content"]) <= 8000


async def test_a_second_slice_needs_no_conversion(site: Site) -> None:
    from time import perf_counter

    url = site.page("/", LONG * 10)
    async with connect(build(local())) as client:
        await fetch(client, url)
        began = perf_counter()
        await fetch(client, url)
        first = perf_counter() - began
        took: list[float] = []
        for index in range(5000, 10_000, 1000):
            began = perf_counter()
            await fetch(client, url, start_index=index)
            took.append(perf_counter() - began)
    # 20 and more where the machine is quiet; the benchmark holds that.
    assert min(took) * 5 < first


async def test_a_slice_of_another_version_of_the_page_says_so(site: Site) -> None:
    words = ["first"]

    def answer(handler: Handler) -> None:
        reply(f"{words[0]} version, some text. ".encode() * 100)(handler)

    url = site.on("/", answer)
    async with connect(build(local())) as client:
        await fetch(client, url, max_length=500)
        assert "slices from before" not in await fetch(client, url, start_index=500)
        words[0] = "second"
        await fetch(client, url, max_length=500)
        assert "the page has changed: slices from before are of another text" in await fetch(
            client, url, start_index=500
        )


async def test_a_slice_of_a_page_that_is_not_kept_any_more_says_so(site: Site) -> None:
    url = site.on("/", reply(b"0123456789" * 100))
    async with connect(build(local(cached_age=0.0))) as client:
        await fetch(client, url, max_length=300)
        answer = await fetch(client, url, start_index=300)
    assert "for no copy was kept: slices from before may be of another text" in answer


async def test_no_more_is_returned_than_was_asked_for(site: Site) -> None:
    url = site.on("/", reply(b"0123456789" * 100))
    async with connect(build(local())) as client:
        assert inside(await fetch(client, url, max_length=7)) == "0123456"


async def test_an_endless_address_does_not_use_up_the_budget(site: Site) -> None:
    target = "/" + "x" * 6000
    site.page(target, "<p>" + "some words of text. " * 1000)
    url = site.on("/go?" + "y" * 1500, redirect(target))
    server = build(local())
    server.max_result_chars = 8000
    async with connect(server) as client:
        answer = await fetch(client, url, max_length=999_999)
    assert len(answer) <= 8000
    assert next_index(answer) is not None


@pytest.mark.parametrize(
    ("markdown", "headings"),
    [
        ("# A\n\n## C#\n\n## B ##\n\n####### no\n\n#no", ["A", "C#", "B"]),
        ("# A\n```\n# no\n````\n# B", ["A", "B"]),
        ("~~~~ sh\n# no\n~~~\n```\n# no\n~~~~\n# A", ["A"]),
        ("# [Link](http://x/) and `code` *here*", ["Link and code here"]),
        ("# A\n```\nnever closed\n# no", ["A"]),
    ],
)
def test_headings_are_found_outside_of_code(markdown: str, headings: list[str]) -> None:
    assert [heading.text for heading in outline(markdown)] == headings


@pytest.mark.parametrize(
    "text",
    ["```a\n", "`", "~~~ x\n", "# a", "# ", "#", "[", "# [x](", "# a #", "# \t ", "# a\n"],
    ids=repr,
)
def test_no_text_makes_the_search_for_headings_long(text: str) -> None:
    began = process_time()
    outline("# a" + text * 100_000 + "x")
    assert process_time() - began < 5  # a second at most; hours, where a pattern looks at text twice


def _page(name: str, size: int, checked: float) -> Page:
    document = Document(name, name, 200, "text/plain", None, bytes(size), NO_VALIDATORS, None, checked)
    return Page(document, "text", "text/plain", checked=checked)


def test_the_cache_is_bounded_in_number_size_and_age() -> None:
    now = [1000.0]
    cache = Cache(Limits()._replace(cached_pages=3, cached_bytes=50_000, cached_age=60), lambda: now[0])
    for name in "abcd":
        cache.put(name, _page(name, 10, now[0]))
    assert [page.document.url for page in cache] == ["d", "c", "b"]
    assert cache.get("b") is not None  # used, so it stays
    cache.put("e", _page("e", 47_000, now[0]))
    assert [page.document.url for page in cache] == ["e"]
    now[0] += 61
    assert list(cache) == []
    assert cache.get("e") is None


async def test_several_pages_come_at_once_and_one_failure_spoils_nothing(
    site: Site, revision: Revision
) -> None:
    urls = [site.page(f"/{number}", f"<p>This is page number {number}.</p>") for number in range(3)]
    urls.insert(1, f"{site.url}/missing")
    seen: list[float] = []

    async def watch(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    async with connect(build(local()), revision=revision) as client:
        result = await client.call_tool("fetch_many", {"urls": urls}, progress=watch)
    texts = [block["text"] for block in result["content"]]
    assert [f"page number {number}." in texts[at] for number, at in ((0, 0), (1, 2), (2, 3))] == [True] * 3
    assert (
        texts[1]
        == f"URL: {urls[1]}\nFailed: {urls[1]} answered 404 Not Found: there is no such page; check the URL or start at {site.url}/."
    )
    assert not result.get("isError")
    assert seen == [1, 2, 3, 4]


async def test_if_no_page_comes_it_is_an_error(site: Site) -> None:
    async with connect(build(local())) as client:
        result = await client.call_tool("fetch_many", {"urls": [f"{site.url}/a", "file:///x"]})
    assert result["isError"]
    assert "answered 404" in result["content"][0]["text"]


async def test_twenty_slow_pages_take_as_long_as_one(site: Site) -> None:
    import threading

    together = threading.Barrier(20, timeout=20)  # none is answered before all are asked for

    def answer(number: int) -> object:
        def slow(handler: object) -> None:
            together.wait()
            reply(f"<p>slow page {number}</p>".encode(), HTML)(handler)  # pyright: ignore[reportArgumentType]

        return slow

    urls = [site.on(f"/{number}", answer(number)) for number in range(20)]  # pyright: ignore[reportArgumentType]
    async with connect(build(local())) as client:
        with anyio.fail_after(20):
            result = await client.call_tool("fetch_many", {"urls": urls})
    assert all(f"slow page {number}" in result["content"][number]["text"] for number in range(20))
