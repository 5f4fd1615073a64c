"""Who may import whom (STYLE section 2), read from the source: nothing is imported here, so nothing can hide."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "shared" / "src" / "mcp_server_core"
SERVERS = ROOT / "servers"
TEMPLATE = CORE / "template"  # a server in a folder of the core's, which is copied and never imported

# A part of the core, and what it may know besides itself.
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "budgets": set(),
    "places": {"errors"},
    "protocol": {"errors"},
    "channel": {"errors", "protocol"},
    "server": {"errors", "protocol", "channel", "budgets", "places"},
    "client": {"errors", "protocol", "channel"},
    "transports": {"errors", "protocol", "channel"},
    "cli": {"errors", "protocol", "channel", "budgets", "places", "server", "client", "transports"},
    "testing": {"errors", "protocol", "channel", "budgets", "places", "server", "client", "transports"},
}
# No event loop, no clock, no file: what the protocol must not know.
IO = {
    *("anyio", "asyncio", "sniffio", "trio", "concurrent", "multiprocessing", "threading", "queue"),
    *("datetime", "time", "sched", "signal"),
    *("fcntl", "glob", "io", "os", "pathlib", "shutil", "sys", "tempfile", "mmap", "sqlite3"),
    *("http", "select", "selectors", "socket", "ssl", "subprocess", "urllib.request"),
    *("logging", "random", "secrets"),
}
# What `mcp_server_core` says is public, besides its own names.
PUBLIC = {"mcp_server_core", "mcp_server_core.places"}
PUBLIC_IN_TESTS = PUBLIC | {"mcp_server_core.testing"}


class Import(NamedTuple):
    """One imported module, and where."""

    module: str
    line: int


def imports(path: Path, package: str, *, at_once: bool = False) -> Iterator[Import]:
    """Every module a file imports, by its full name: at its top, in functions, and for type checkers alike.

    `at_once` leaves only what loading the file loads.
    """
    tree = ast.parse(path.read_text("utf-8"), str(path))
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            if base == "mcp_server_core" and node.level:
                # `from .. import x` names a part of the core, not one of its public names.
                for name in node.names:
                    yield Import(f"{base}.{name.name}", node.lineno)
            else:
                yield Import(base, node.lineno)


def package_of(path: Path) -> str:
    """The package in which a file's relative imports start."""
    return ".".join(("mcp_server_core", *path.relative_to(CORE).parent.parts))


def part_of(path: Path) -> str:
    """The part of the core that a file belongs to."""
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def within(module: str, names: set[str]) -> bool:
    """Whether a module is one of these, or inside one of them."""
    return any(module == name or module.startswith(f"{name}.") for name in names)


def name(path: Path) -> str:
    """How a file is called in a test's name."""
    return str(path.relative_to(ROOT))


MODULES = sorted(
    path for path in CORE.rglob("*.py") if path != CORE / "__init__.py" and not path.is_relative_to(TEMPLATE)
)
PROTOCOL = [path for path in MODULES if part_of(path) == "protocol"]
SERVER_SOURCES = sorted([*SERVERS.glob("*/src/**/*.py"), *TEMPLATE.glob("src/**/*.py")])
SERVER_TESTS = sorted([*SERVERS.glob("*/tests/**/*.py"), *TEMPLATE.glob("tests/**/*.py")])


def test_there_is_something_to_look_at() -> None:
    assert len(MODULES) > 30
    assert len(PROTOCOL) > 10
    assert len(SERVER_SOURCES) >= 5


def test_every_part_of_the_core_has_a_place_in_the_order() -> None:
    assert {part_of(path) for path in MODULES} == BELOW.keys()


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_part_knows_only_what_is_below_it(path: Path) -> None:
    part = part_of(path)
    allowed = BELOW[part] | {part}
    wrong = [
        f"line {found.line}: {part} must not know {found.module}"
        for found in imports(path, package_of(path))
        if within(found.module, {"mcp_server_core"}) and _part(found.module) not in allowed
    ]
    assert not wrong, f"{name(path)}: {wrong}"


def _part(module: str) -> str:
    """The part a full module name belongs to; the public names themselves count as above everything."""
    return [*module.split("."), "the public names"][1]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_part_of_the_core_knows_a_server(path: Path) -> None:
    wrong = [
        found
        for found in imports(path, package_of(path))
        if found.module.startswith("mcp_server_") and not within(found.module, {"mcp_server_core"})
    ]
    assert not wrong, f"{name(path)}: {wrong}"


@pytest.mark.parametrize("path", PROTOCOL, ids=name)
def test_the_protocol_does_no_io(path: Path) -> None:
    allowed = {"os"} if path.name == "sealing.py" else set[str]()
    wrong = [found for found in imports(path, package_of(path)) if within(found.module, IO - allowed)]
    assert not wrong, f"{name(path)}: {wrong}"


def test_sealing_takes_only_randomness_from_the_system() -> None:
    tree = ast.parse((CORE / "protocol" / "sealing.py").read_text("utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    assert used == {"urandom"}


@pytest.mark.parametrize("path", PROTOCOL, ids=name)
def test_the_protocol_neither_opens_nor_prints(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"open", "print", "input", "breakpoint"}


@pytest.mark.parametrize("path", [path for path in MODULES if part_of(path) == "places"], ids=name)
def test_places_need_no_event_loop_and_nothing_installed(path: Path) -> None:
    loops = {"anyio", "asyncio", "sniffio", "trio", "msgspec", "pydantic"}
    assert [found for found in imports(path, package_of(path)) if within(found.module, loops)] == []


@pytest.mark.parametrize(
    ("library", "home"), [("msgspec", "protocol/codec.py"), ("pydantic", "server/signature.py")]
)
def test_a_library_is_loaded_by_one_module(library: str, home: str) -> None:
    users = [
        str(path.relative_to(CORE))
        for path in MODULES
        if any(within(found.module, {library}) for found in imports(path, package_of(path), at_once=True))
    ]
    assert users == [home]


def test_the_official_sdk_is_used_nowhere() -> None:
    wrong = [
        name(path)
        for path in [*MODULES, *SERVER_SOURCES]
        if any(within(found.module, {"mcp", "mcp_types", "fastmcp"}) for found in imports(path, ""))
    ]
    assert wrong == []


def test_the_public_names_are_loaded_on_first_use() -> None:
    tree = ast.parse((CORE / "__init__.py").read_text("utf-8"))
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in at_once} <= {
        "importlib",
        "typing",
    }


@pytest.mark.parametrize("path", SERVER_SOURCES, ids=name)
def test_a_server_takes_only_what_the_core_makes_public(path: Path) -> None:
    wrong = [
        found
        for found in imports(path, "")
        if within(found.module, {"mcp_server_core"}) and found.module not in PUBLIC
    ]
    assert not wrong, f"{name(path)}: {wrong}"


@pytest.mark.parametrize("path", SERVER_TESTS, ids=name)
def test_tests_of_a_server_take_only_what_the_core_makes_public(path: Path) -> None:
    wrong = [
        found
        for found in imports(path, "")
        if within(found.module, {"mcp_server_core"}) and found.module not in PUBLIC_IN_TESTS
    ]
    assert not wrong, f"{name(path)}: {wrong}"


@pytest.mark.parametrize("path", [*SERVER_SOURCES, *SERVER_TESTS], ids=name)
def test_no_server_knows_another(path: Path) -> None:
    server = "starter" if path.is_relative_to(TEMPLATE) else path.relative_to(SERVERS).parts[0]
    own = f"mcp_server_{server.replace('-', '_')}"
    wrong = [
        found
        for found in imports(path, "")
        if found.module.startswith("mcp_server_") and not within(found.module, {own, "mcp_server_core"})
    ]
    assert not wrong, f"{name(path)}: {wrong}"
