"""What a user may ask for by name."""

from mcp_server_core import Registry

prompts = Registry()


@prompts.prompt("Count in a text")
def count_in_text(text: str) -> str:
    """Count what a text mentions."""
    return f"Call the tool `count` once for each kind of thing in this text:\n\n{text}"
