"""Ours and the peer's on the saved pages of the server's tests: recall and boilerplate, by the same scorer."""

import importlib
import sys
from typing import Any

from ..contestants import HERE
from ..conversation import Conversation
from ..sheet import Column, Sheet

TESTS = HERE.parent / "servers" / "fetch" / "tests"


def measure(sheet: Sheet, url: str, servers: dict[Column, Conversation]) -> None:
    """Fetch every saved page through each server, and score what a model would get."""
    scorer = load()
    for column, server in servers.items():
        scores = [scorer.score(page, _text(server, f"{url}/pages/{page.file}")) for page in scorer.manifest()]
        recall, boilerplate = scorer.mean(scores)
        sheet.add("recall", column, recall)
        sheet.add("boilerplate", column, boilerplate)
        lost = sum(one.recall < 0.5 for one in scores)
        sheet.note(
            f"{column}, {len(scores)} saved pages: recall {recall:.3f}, boilerplate share {boilerplate:.3f}, "
            f"{lost} more than half lost"
        )


def load() -> Any:
    """The scorer lives with the server's tests, which are no package."""
    sys.path.insert(0, str(TESTS))
    try:
        return importlib.import_module("quality.score")
    finally:
        sys.path.remove(str(TESTS))


def saved_pages() -> dict[str, bytes]:
    return {f"/pages/{page.file}": page.source for page in load().manifest()}


def _text(server: Conversation, url: str) -> str:
    result = server.calls("fetch", [{"url": url, "max_length": 90_000}], refusals=True).results[0]
    text = result["content"][0]["text"]
    # What the servers say themselves is neither content nor frame.
    return (
        "" if result.get("isError") else text.partition("---\n")[2] or text.partition("\n[page ")[2] or text
    )
