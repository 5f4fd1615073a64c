"""Media come as the right block, by what they are and not by what they are called."""

from base64 import b64decode
from pathlib import Path

import pytest
from mcp_server_filesystem.media import sniff

from .conftest import desk_at

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "x.jpg", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "x", "image/jpeg"),
        (b"GIF89a\1\0", "x", "image/gif"),
        (b"RIFF\1\0\0\0WEBPVP8 ", "x", "image/webp"),
        (b"RIFF\1\0\0\0WAVEfmt ", "x", "audio/wav"),
        (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", "x", "image/bmp"),
        (b"ID3\4\0", "x", "audio/mpeg"),
        (b"OggS\0\2" + bytes(30) + b"\1vorbis", "x", "audio/ogg"),
        (b"fLaC\0\0", "x", "audio/flac"),
        (b"\0\0\0\x20ftypM4A \0", "x", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0", "x", "video/mp4"),
        (b"%PDF-1.7", "x", "application/pdf"),
        (
            b"PK\3\4\x14\0",
            "report.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (b"PK\3\4\x14\0", "x.zip", "application/zip"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x", "image/svg+xml"),
        (b"hello", "x.md", "text/markdown"),
        (b"hello", "x.png", "text/plain"),
        (b"\0\1\2\3", "x.png", "application/octet-stream"),
        (b"", "x.png", "text/plain"),
    ],
)
def test_the_bytes_say_what_it_is(head: bytes, name: str, kind: str) -> None:
    assert sniff(head, name) == kind


async def test_pictures_sounds_and_the_rest_come_as_their_own_blocks(root: Path) -> None:
    png, flac, other = b"\x89PNG\r\n\x1a\n" + bytes(9), b"fLaC" + bytes(9), b"\0\1\2"
    (root / "a").write_bytes(png)
    (root / "b").write_bytes(flac)
    (root / "c d").write_bytes(other)
    (root / "e.svg").write_text("<svg/>")
    async with desk_at(root) as desk:
        a, b, c, e = [
            (await desk.result("read_media_file", path=name))["content"][0]
            for name in ("a", "b", "c d", "e.svg")
        ]
    assert (a["type"], a["mimeType"], b64decode(a["data"])) == ("image", "image/png", png)
    assert (b["type"], b["mimeType"], b64decode(b["data"])) == ("audio", "audio/flac", flac)
    assert c == {
        "type": "resource",
        "resource": {"uri": (root / "c d").as_uri(), "mimeType": "application/octet-stream", "blob": "AAEC"},
    }
    assert e["resource"] == {"uri": (root / "e.svg").as_uri(), "mimeType": "image/svg+xml", "text": "<svg/>"}


async def test_what_is_too_large_is_refused_before_it_is_read(root: Path) -> None:
    with (root / "a.png").open("wb") as file:
        file.truncate(11 << 20)
    async with desk_at(root) as desk:
        assert "is larger than 10 MiB" in await desk.refusal("read_media_file", path="a.png")
