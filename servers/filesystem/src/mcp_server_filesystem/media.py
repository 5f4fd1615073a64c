"""What kind of data bytes are, by the marks that formats begin with. A name is asked only where bytes say nothing.

Pure: knows nothing of files or protocols.
"""

from .text import detect

BINARY = "application/octet-stream"

# Where the mark stands, the mark, and the type. Longer marks before those they begin with.
_MARKS = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\1\0", "image/x-icon"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypmif1", "image/heic"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"\xff\xf9", "audio/aac"),
    (0, b"fLaC", "audio/flac"),
    (0, b"MThd", "audio/midi"),
    (0, b"FORM", "audio/aiff"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"(\xb5/\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\0asm", "application/wasm"),
    (0, b"wOF2", "font/woff2"),
    (0, b"wOFF", "font/woff"),
)
# Kinds of text, and of archives, that only the name tells apart.
_TEXTS = {
    "css": "text/css",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "svg": "image/svg+xml",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_ARCHIVES = {
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "epub": "application/epub+zip",
    "jar": "application/java-archive",
    "pptx": f"{_OFFICE}.presentationml.presentation",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
}


def sniff(head: bytes, name: str = "") -> str:
    """The MIME type of data that begins like this."""
    ending = name.rpartition(".")[2].lower()
    kind = _by_mark(head)
    if kind == "application/zip":
        return _ARCHIVES.get(ending, kind)
    if kind:
        return kind
    if not head or detect(head) is None:
        return BINARY if head else _TEXTS.get(ending, "text/plain")
    if b"<svg" in head[:1024]:
        return "image/svg+xml"
    return _TEXTS.get(ending, "text/plain")


def is_marked(head: bytes) -> bool:
    """Whether data says by its first bytes that it is of a known binary format."""
    return _by_mark(head) is not None


def _by_mark(head: bytes) -> str | None:
    for at, mark, kind in _MARKS:
        if head.startswith(mark, at):
            return kind
    if head.startswith(b"OggS"):
        return "video/ogg" if b"\x80theora" in head[:512] else "audio/ogg"
    if head.startswith(b"BM") and len(head) > 17 and head[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return None
