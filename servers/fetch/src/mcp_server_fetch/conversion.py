"""Bytes of a page to text for a model, start to end. Runs in a process of its own; knows no network."""

import gc
from typing import Any, Literal

from typing_extensions import TypedDict

from .charset import clean, decode

Format = Literal["markdown", "text", "html", "links"]
MAX_PDF_PAGES = 500


class Job(TypedDict):
    """What to convert, and into what."""

    kind: Literal["html", "pdf"]
    format: Format
    url: str
    charset: str | None


class Converted(TypedDict):
    """The text, and how it came about. `stage` is empty where there is nothing to choose."""

    text: str
    title: str
    stage: str
    coverage: float
    encoding: str


def convert(job: Job, data: bytes) -> Converted:
    """Do one job."""
    if job["kind"] == "pdf":
        return _convert_pdf(data)
    return _convert_html(job, data)


def _convert_html(job: Job, data: bytes) -> Converted:
    from .extract import TooDeep
    from .tree import flat_text

    decoded = decode(data, job["charset"])
    source = clean(decoded.text)
    encoding = f"{decoded.encoding} by {decoded.said_by}"
    try:
        text, title, stage, coverage = _convert_source(job, source)
    except TooDeep as deep:
        text, title, stage, coverage = flat_text(source), str(deep), "flat", 1.0
    except MemoryError:
        gc.collect()  # whatever was built so far is in the way
        text, title, stage, coverage = flat_text(source), "", "flat", 1.0
    return _made(text, title, stage, coverage, encoding)


def _convert_source(job: Job, source: str) -> tuple[str, str, str, float]:
    from .extract import extract
    from .facts import read_facts
    from .markdown import to_markdown, to_text
    from .markup import to_html, to_links
    from .tidy import Links, tidy
    from .tree import parse

    if job["format"] == "links":
        root, _ = parse(source)
        facts = read_facts(root)
        tidy(root, Links(job["url"], facts.base))
        return to_links(root), facts.title, "", 1.0
    found, facts = extract(source)
    tidy(found.root, Links(job["url"], facts.base))
    write = {"markdown": to_markdown, "text": to_text, "html": to_html}[job["format"]]
    text = write(found.root)
    if found.stage == "shell":
        text = "\n\n".join(part for part in (text, facts.description) if part)
    return text, found.title, found.stage, found.coverage


def _convert_pdf(data: bytes) -> Converted:
    from io import BytesIO

    from pypdf import PdfReader  # pyright: ignore[reportMissingImports] - an extra
    from pypdf.errors import PyPdfError  # pyright: ignore[reportMissingImports] - an extra

    try:
        reader = PdfReader(BytesIO(data))
        count = len(reader.pages)
        pages = [reader.pages[number].extract_text() for number in range(min(count, MAX_PDF_PAGES))]
        title = str((reader.metadata or {}).get("/Title") or "")
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"the PDF cannot be read ({type(error).__name__})") from None
    parts = [f"## Page {number}\n\n{text.strip()}" for number, text in enumerate(pages, 1)]
    if count > MAX_PDF_PAGES:
        parts.append(f"[{count - MAX_PDF_PAGES} more pages are not shown]")
    stage = "pdf" if any(text.strip() for text in pages) else "scan"
    return _made("\n\n".join(parts), title, stage, 1.0, "")


def _made(text: str, title: str, stage: str, coverage: float, encoding: str) -> Converted:
    return {
        "text": clean(text),
        "title": clean(title),
        "stage": stage,
        "coverage": round(coverage, 3),
        "encoding": encoding,
    }


def warm_up() -> Any:
    """Load what conversion needs, before there is anything to convert."""
    from . import extract, markdown, markup, tidy

    return extract, markdown, markup, tidy
