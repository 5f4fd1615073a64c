"""Begins a new server: what `mcp-new-server weather` does.

The template beside this package is a server like any other, checked and tested as one. It is copied and renamed;
nothing in it is filled in.
"""

import argparse
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

TEMPLATE = Path(__file__).parents[1] / "template"
# Names whose URIs mean something already, and the one that the core has itself.
TAKEN = {"core", "file", "git", "http", "https"}
MOST = 40  # characters of a name


class Name(NamedTuple):
    """What a server is called: `air-quality`."""

    short: str

    @property
    def module(self) -> str:
        """`mcp_server_air_quality`."""
        return f"mcp_server_{self.short.replace('-', '_')}"

    @property
    def title(self) -> str:
        """`Air quality`."""
        return self.short.replace("-", " ").capitalize()

    def put_into(self, text: str) -> str:
        """A text of the template, or a path in it, with this name in place of its own."""
        own = {"mcp_server_starter": self.module, "starter": self.short, "Starter": self.title}
        return re.sub("|".join(own), lambda found: own[found[0]], text)


def named(text: str) -> Name:
    """The name that somebody typed, in its plain form; ValueError when it cannot be one."""
    short = re.sub("[ _-]+", "-", text.strip().lower()).removeprefix("mcp-server-")
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", short) or len(short) > MOST:
        raise ValueError(
            f"{text!r} cannot be the name of a server: use up to {MOST} letters a-z, digits and hyphens, and begin "
            "with a letter, as in weather or air-quality."
        )
    if short in TAKEN:
        raise ValueError(f"{short!r} means something else already: choose another name.")
    return Name(short)


def create(name: Name, folder: Path) -> None:
    """Copy the template into a new folder, under this name; whole, or not at all. ValueError says why not."""
    try:
        folder.mkdir()
    except FileExistsError:
        raise ValueError(f"{folder} exists already: choose another name, or remove it first.") from None
    except OSError as error:
        raise ValueError(f"{folder} cannot be made: {error.strerror}.") from None
    try:
        for source in _files():
            target = folder / name.put_into(source.relative_to(TEMPLATE).as_posix())
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(name.put_into(source.read_text("utf-8")), "utf-8", newline="\n")
    except BaseException as error:  # Ctrl-C too leaves nothing half-made
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise ValueError(f"{folder} could not be written: {error.strerror}.") from None
        raise


def _files() -> Iterator[Path]:
    for path in sorted(TEMPLATE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:  # installers compile what looks like a module
            yield path


def main(argv: Sequence[str] | None = None) -> None:
    """Make a project of its own, in the folder where the command is given."""
    parser = argparse.ArgumentParser(
        "mcp-new-server",
        description="Begin an MCP server: a small one that works, with tests, in a new folder of that name.",
    )
    parser.add_argument("name", metavar="NAME", help="what it is called: weather")
    typed = parser.parse_args(argv).name
    try:
        name = named(typed)
        folder = Path(name.short)
        create(name, folder)
    except ValueError as error:
        parser.exit(2, f"mcp-new-server: {error}\n")
    print(  # noqa: T201 - this is a command, not a server
        f"Made {folder}. It works as it is; next:\n"
        f"  cd {folder}\n"
        f"  uv run pytest\n"
        f"  uv run mcp-server-{name.short} install --host cursor   # or another host: --help lists them\n"
        f"README.md says what is where."
    )
