"""The pages of the suite: made up, of a given size, and the same in every run."""

import random

_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "for",
    "that",
    "with",
    "as",
    "on",
    "by",
    "this",
    "from",
    "are",
    "be",
    "at",
    "or",
    "an",
    "it",
    "was",
    "which",
    "have",
    "not",
    "system",
    "market",
    "river",
    "language",
    "network",
    "history",
    "council",
    "engine",
    "garden",
    "music",
    "theory",
    "report",
    "people",
    "water",
    "energy",
    "bridge",
    "letter",
    "harbour",
]
SIZES = {"10 KB": 10_000, "200 KB": 200_000, "2 MB": 2_000_000}


def make(size: int) -> bytes:
    """An article of about so many bytes, in the frame of a site."""
    dice = random.Random(size)
    parts = [_HEAD]
    length = 0
    while length < size:
        part = _part(dice)
        parts.append(part)
        length += len(part)
    return "\n".join([*parts, _FOOT]).encode()


def _sentence(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(_WORDS) for _ in range(count)).capitalize() + "."


def _part(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.7:
        words = " ".join(_sentence(dice, 14) for _ in range(4))
        link = f'<a href="/w/{dice.randrange(999)}">{_sentence(dice, 3)}</a>'
        return f"<p>{words} {link} and <b>{_sentence(dice, 2)}</b></p>"
    if kind < 0.8:
        return "<ul>" + "".join(f"<li>{_sentence(dice, 8)}</li>" for _ in range(5)) + "</ul>"
    if kind < 0.85:
        rows = "".join(
            f"<tr><td>{_sentence(dice, 3)}</td><td>{_sentence(dice, 2)}</td></tr>" for _ in range(6)
        )
        return f"<table><tr><th>A</th><th>B</th></tr>{rows}</table>"
    if kind < 0.9:
        return '<pre><code class="language-python">def f(x):\n    return x + 1\n</code></pre>'
    return f"<h2>{_sentence(dice, 4)}</h2>"


_LINKS = "".join(f'<li><a href="/n{number}">Section {number}</a></li>' for number in range(20))
_HEAD = (
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>A long article</title><style>p{margin:1em}</style>"
    f"<script>var a = 1;</script></head><body><nav><ul>{_LINKS}</ul></nav><main><article><h1>A long article</h1>"
)
_FOOT = "</article></main><footer><p>All rights reserved.</p></footer></body></html>"
