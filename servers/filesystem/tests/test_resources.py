"""Files and directories as resources, and the completion of their paths."""

import os
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Client, McpError
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_filesystem.server import build

pytestmark = pytest.mark.anyio


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


async def test_each_allowed_directory_is_a_resource_and_files_are_a_template(
    revision: Revision, root: Path
) -> None:
    async with connect(build([str(root), str(root.parent / "missing")]), revision=revision) as client:
        assert [(item["uri"], item["name"]) for item in await client.list_resources()] == [
            (root.as_uri(), "root")
        ]
        assert [item["uriTemplate"] for item in await client.list_resource_templates()] == ["file:///{+path}"]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", b"hello", {"mimeType": "text/plain", "text": "hello"}),
        ("grün.txt", "grün".encode(), {"mimeType": "text/plain", "text": "grün"}),
        ("utf16", "hi".encode("utf-16"), {"mimeType": "text/plain", "text": "hi"}),
        ("a%20b #?.txt", b"odd", {"mimeType": "text/plain", "text": "odd"}),
        ("dot.png", b"\x89PNG\r\n\x1a\n\0\0", {"mimeType": "image/png", "blob": "iVBORw0KGgoAAA=="}),
        ("empty", b"", {"mimeType": "text/plain", "text": ""}),
    ],
)
async def test_a_file_is_read_as_text_or_bytes(
    root: Path, name: str, data: bytes, expected: dict[str, Any]
) -> None:
    (root / name).write_bytes(data)
    uri = (root / name).as_uri()
    async with connect(build([str(root)])) as client:
        assert await client.read_resource(uri) == [{"uri": uri, **expected}]


async def test_a_directory_reads_as_names_and_a_long_one_says_how_to_go_on(root: Path) -> None:
    for number in range(100):
        (root / f"file{number:03}").write_text("")
    (root / "a-directory").mkdir()
    server = build([str(root)])
    server.max_result_chars = 300
    async with connect(server) as client:
        text = (await client.read_resource(root.as_uri()))[0]["text"]
    assert text.startswith("a-directory/\nfile000\n")
    assert text.endswith("more: list_directory pages through them]")
    assert len(text) <= 300


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "%2e%2e/secret",
        "link",
        "link/../../secret",
        "sub/%2E%2e/%2e%2E/secret",
        "%00",
        "missing",
        "fifo",
    ],
)
async def test_what_is_not_inside_or_not_there_is_not_read(root: Path, path: str) -> None:
    (root / "sub").mkdir()
    (root.parent / "secret").write_text("SECRET")
    (root / "link").symlink_to(root.parent / "secret")
    os.mkfifo(root / "fifo")
    async with connect(build([str(root)])) as client:
        with pytest.raises(McpError) as raised:
            await client.read_resource(f"{root.as_uri()}/{path}")
    assert "SECRET" not in str(raised.value)


async def complete(client: Client, typed: str) -> list[str]:
    return await client.complete({"type": "ref/resource", "uri": "file:///{+path}"}, "path", typed)


async def test_paths_are_completed_inside_the_allowed_directories_only(root: Path) -> None:
    (root / "notes").mkdir()
    (root / "notes.txt").write_text("")
    (root / "other").write_text("")
    (root.parent / "rootsecret").mkdir()
    typed = str(root)[1:]
    async with connect(build([str(root)])) as client:
        assert await complete(client, f"{typed}/no") == [f"{typed}/notes.txt", f"{typed}/notes/"]
        assert await complete(client, typed[:-2]) == [f"{typed}/"]
        assert await complete(client, "") == [f"{typed}/"]
        assert await complete(client, f"{typed}/../") == []
        assert await complete(client, "etc/pas") == []
