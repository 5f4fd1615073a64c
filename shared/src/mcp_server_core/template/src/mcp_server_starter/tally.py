"""Counts things. Knows nothing of MCP."""

MOST = 1000  # things: what a client can make grow has a bound


class Full(Exception):
    """There is no room for another thing."""


class Tally:
    """How often each thing was seen."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, name: str, by: int) -> int:
        """Count a thing, and say how often it was seen by now."""
        if name not in self.counts and len(self.counts) >= MOST:
            raise Full
        self.counts[name] = self.counts.get(name, 0) + by
        return self.counts[name]

    def table(self) -> str:
        """Everything, as Markdown."""
        rows = [f"| {name} | {count} |" for name, count in sorted(self.counts.items())]
        return "\n".join(["| thing | count |", "|---|---|", *rows]) + "\n"
