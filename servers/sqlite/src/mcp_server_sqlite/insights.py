"""What was found out so far: short sentences, gathered into a memo. They live as long as the server runs."""

MAX_INSIGHTS = 500
MAX_CHARS = 4_000


class Insights:
    """The findings, oldest first. When there are too many, the oldest goes."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, insight: str) -> int:
        """Note one down; gives how many there are."""
        self._found.append(" ".join(insight.split())[:MAX_CHARS])
        del self._found[:-MAX_INSIGHTS]
        return len(self._found)

    def memo(self) -> str:
        """All of them as Markdown."""
        if not self._found:
            return "# Insights\n\nNone yet: append_insight adds one.\n"
        lines = "\n".join(f"- {insight}" for insight in self._found)
        return f"# Insights\n\n{lines}\n"
