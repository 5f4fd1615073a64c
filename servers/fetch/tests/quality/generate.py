"""Writes the saved pages and their manifest: `python -m quality.generate` in the folder of the tests."""

import json
import re
from pathlib import Path

from .contents import CONTENTS, Content

PAGES = Path(__file__).parent.parent / "pages"
_CONTENT = re.compile(r"«([^»]*)»?", re.DOTALL)
_FRAME = re.compile(r"⟦([^⟧]*)⟧")


def write_all() -> None:
    manifest: dict[str, dict[str, object]] = {}
    for content in CONTENTS:
        source = build(content)
        file = f"{content.name}.html"
        (PAGES / file).write_bytes(strip_marks(source).encode(content.encoding, "xmlcharrefreplace"))
        manifest[file] = {
            "main": sentences(_CONTENT, source),
            "frame": sentences(_FRAME, source),
            "stage": content.stage,
        }
    text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    (PAGES / "manifest.json").write_text(text, encoding="utf-8")


def build(content: Content) -> str:
    source = content.site(content.title, content.main, content.lang, content.attributes)
    if not content.declared:
        return source.replace('<meta charset="utf-8">\n', "")
    return source.replace('<meta charset="utf-8">', f'<meta charset="{content.encoding}">')


def strip_marks(source: str) -> str:
    return re.sub("[«»⟦⟧]", "", source)


def sentences(pattern: re.Pattern[str], source: str) -> list[str]:
    """The marked sentences as a reader sees them: without tags, one piece for each line of source code."""
    found: list[str] = []
    for marked in pattern.findall(source):
        for part in re.split(r"\n|<p>|<li>|\\n", marked):
            text = plain(part)
            if text:
                found.append(text)
    return list(dict.fromkeys(found))


def plain(part: str) -> str:
    from html import unescape

    formula = re.sub(r"<math alttext=\"([^\"]*)\">.*?</math>", r"$\1$", part)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", formula)).split())


if __name__ == "__main__":
    write_all()
