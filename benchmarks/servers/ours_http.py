"""The echo server written with our core, over HTTP. With `--watch` it has a resource that changes."""

from mcp_server_core import Context, Registry, Server, cli

NOTE = "bench:///note"
tools = Registry()
watched = Registry()


@tools.tool("Echo", read_only=True, open_world=False)
async def echo(text: str) -> str:
    """Say the text again."""
    return text


@watched.tool("Touch", destructive=False, idempotent=True, open_world=False)
async def touch(ctx: Context[None]) -> str:
    """Change the note."""
    await ctx.changed(NOTE)
    return "touched"


@watched.resource(NOTE, "Note", watch=True)
async def note() -> str:
    """The note that changes."""
    return "note"


if __name__ == "__main__":
    parser = cli.parser("bench", "1", __doc__)
    parser.add_argument("--watch", action="store_true", help="have a resource that changes")
    args = parser.parse_args()
    cli.run(Server("bench", version="1", parts=[tools, watched] if args.watch else [tools]), args)
