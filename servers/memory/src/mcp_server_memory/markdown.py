"""The graph as a page for people. For reading, not for reading back: jsonl.py has the format without loss."""

from collections.abc import Iterator

from .shapes import Entity, Triple


def lines(entities: Iterator[Entity], relations: Iterator[Triple]) -> Iterator[bytes]:
    """The graph as chunks of a Markdown file: a section for each entity, then the relations."""
    yield b"# Memory\n"
    for entity in entities:
        yield _section(entity).encode()
    heading = "\n## Relations\n\n"
    for relation in relations:
        source, target, kind = map(_inline, relation)
        yield f"{heading}- {source} *{kind}* {target}\n".encode()
        heading = ""


def _section(entity: Entity) -> str:
    facts = "".join(f"- {_block(text)}\n" for text in entity["observations"])
    kind = f"\n*{_inline(entity['entityType'])}*\n" if entity["entityType"] else ""
    return f"\n## {_inline(entity['name'])}\n{kind}" + (f"\n{facts}" if facts else "")


def _inline(text: str) -> str:
    """Text in one line, with nothing in it that Markdown would take for its own."""
    marked = "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text)
    return " ".join(marked.split())


def _block(text: str) -> str:
    """An item of a list, which may have several lines."""
    return "\n  ".join(_inline(line) for line in text.splitlines() if line.strip())
