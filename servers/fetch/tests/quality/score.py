"""How much of the content arrives, and how much of the frame comes with it: `python -m quality.score`.

Recall is the share of the content's sentences that stand in the text. The boilerplate share is the share of the
text's characters that are sentences of the frame. Markdown's own marks do not count in either.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

PAGES = Path(__file__).parent.parent / "pages"
Convert = Callable[[bytes], str]


class Expected(NamedTuple):
    """What is to be found in a page, and what is not."""

    file: str
    main: list[str]
    frame: list[str]
    stage: str | None

    @property
    def source(self) -> bytes:
        return (PAGES / self.file).read_bytes()


class Score(NamedTuple):
    """The result for one page."""

    file: str
    recall: float
    boilerplate: float
    missing: list[str]
    kept: list[str]


def manifest() -> list[Expected]:
    told = json.loads((PAGES / "manifest.json").read_text(encoding="utf-8"))
    return [Expected(file, entry["main"], entry["frame"], entry["stage"]) for file, entry in told.items()]


def bare(text: str) -> str:
    """Words alone: no links, marks or line ends."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[*_`\\>|#]|^\s*(?:[-+]|\d+\.) ", " ", text, flags=re.MULTILINE)
    return re.sub(r"\s+", "", text).casefold()


def score(expected: Expected, text: str) -> Score:
    found = bare(text)
    missing = [sentence for sentence in expected.main if bare(sentence) not in found]
    kept = [sentence for sentence in expected.frame if bare(sentence) in found]
    recall = 1 - len(missing) / len(expected.main) if expected.main else 1.0
    share = sum(len(bare(sentence)) for sentence in kept) / max(1, len(found))
    return Score(expected.file, recall, min(1.0, share), missing, kept)


def score_all(convert: Convert) -> list[Score]:
    return [score(expected, convert(expected.source)) for expected in manifest()]


def mean(scores: list[Score]) -> tuple[float, float]:
    return (
        sum(one.recall for one in scores) / len(scores),
        sum(one.boilerplate for one in scores) / len(scores),
    )


def ours(source: bytes) -> str:
    from mcp_server_fetch.conversion import convert

    job = {"kind": "html", "format": "markdown", "url": "https://pages.example/x", "charset": None}
    return convert(job, source)["text"]  # pyright: ignore[reportArgumentType] - a Job, written out


def main() -> None:
    scores = score_all(ours)
    for one in scores:
        note = f"  missing {one.missing[:3]}" if one.missing else ""
        note += f"  kept {one.kept[:2]}" if one.kept else ""
        print(f"{one.file:28} recall {one.recall:.2f}  boilerplate {one.boilerplate:.2f}{note}")
    recall, boilerplate = mean(scores)
    print(f"{len(scores)} pages: recall {recall:.3f}, boilerplate share {boilerplate:.3f}")
    sys.exit(recall < 0.95 or boilerplate >= 0.1)


if __name__ == "__main__":
    main()
