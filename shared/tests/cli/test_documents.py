"""One entry more or less in a sample of every host's file: nothing else changes, and what is broken is not touched."""

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from mcp_server_core.cli.documents import Broken, drop_entry, put_entry, read_section, show
from mcp_server_core.cli.hosts import HOSTS, Command, Surroundings

COMMAND = Command("/usr/bin/uvx", ["mcp-server-filesystem", "/data"], {"TOKEN": "x"})
EVERY_HOST = pytest.mark.parametrize("key", HOSTS)

FOREIGN: dict[str, str] = {
    "json": """\
{
    // set by hand
    "theme": "dark",
    "SECTION": {
        "other": {
            "command": "node", /* theirs */
            "args": ["x.js"]
        }
    },
    "last": [1, 2, 3] // the end
}
""",
    "toml": """\
# set by hand
model = "large"   # do not touch

[SECTION.other]
command = "node"  # theirs
args = ['x.js']

[profiles.fast]
effort = "low"
""",
    "yaml": """\
# set by hand
GOOSE_MODEL: large   # do not touch

SECTION:
  other:
    cmd: node  # theirs
    args: ['x.js']
    enabled: true
last: "quoted"
""",
}
BROKEN = {"json": '{"mcpServers": {', "toml": "[mcp_servers\nx = 1", "yaml": "extensions: [1,\n  {"}


class Sample(NamedTuple):
    format: Any
    section: str
    entry: dict[str, Any]
    foreign: str


def sample(key: str) -> Sample:
    host = HOSTS[key]
    foreign = FOREIGN[host.format].replace("SECTION", host.section)
    return Sample(host.format, host.section, host.entry("filesystem", COMMAND), foreign)


@EVERY_HOST
def test_an_entry_is_added_and_every_line_that_was_there_stays(key: str) -> None:
    format, section, entry, foreign = sample(key)
    changed = put_entry(foreign, format, section, "filesystem", entry)
    assert read_section(changed, format, section)["filesystem"] == entry
    lines = [line.rstrip(",") for line in changed.splitlines()]
    for line in foreign.splitlines():
        assert line.rstrip(",") in lines


@EVERY_HOST
def test_an_entry_that_is_taken_out_leaves_the_file_as_it_was(key: str) -> None:
    format, section, entry, foreign = sample(key)
    changed = put_entry(foreign, format, section, "filesystem", entry)
    assert drop_entry(changed, format, section, "filesystem") == foreign


@EVERY_HOST
def test_the_same_entry_again_changes_nothing(key: str) -> None:
    format, section, entry, foreign = sample(key)
    once = put_entry(foreign, format, section, "filesystem", entry)
    assert put_entry(once, format, section, "filesystem", entry) == once


@EVERY_HOST
def test_what_the_user_added_to_the_entry_stays(key: str) -> None:
    format, section, entry, foreign = sample(key)
    theirs = {**entry, "args": ["old"], "note": "mine"}
    before = put_entry(foreign, format, section, "filesystem", theirs)
    after = put_entry(before, format, section, "filesystem", entry)
    assert read_section(after, format, section)["filesystem"] == {**entry, "note": "mine"}


@EVERY_HOST
@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_gets_the_entry_alone(key: str, text: str) -> None:
    format, section, entry, _ = sample(key)
    assert read_section(put_entry(text, format, section, "filesystem", entry), format, section) == {
        "filesystem": entry
    }


@EVERY_HOST
def test_a_broken_file_is_refused(key: str) -> None:
    format, section, entry, _ = sample(key)
    with pytest.raises(Broken):
        put_entry(BROKEN[format], format, section, "filesystem", entry)
    with pytest.raises(Broken):
        drop_entry(BROKEN[format], format, section, "filesystem")


@EVERY_HOST
def test_a_section_of_another_kind_is_refused(key: str) -> None:
    format, section, entry, _ = sample(key)
    text = {"json": f'{{"{section}": []}}', "toml": f"{section} = 1", "yaml": f"{section}: [1]"}[format]
    with pytest.raises(Broken, match=section):
        put_entry(text, format, section, "filesystem", entry)


# Each as somebody may have it. An entry goes in, and out again without a trace.
KEPT: dict[str, list[str]] = {
    "json": [
        '{"a": 1, "SECTION": {"other": {"command": "x"}}}',
        '{"a": 1, "SECTION": {"other": {"command": "x"},},}',
        '{\n\t"SECTION": {\n\t\t"other": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}',
        '{\n  "a": [1, /* two */ 2,],\n  "SECTION": {\n    "other": {\n      "command": "x",\n    },\n  },\n}\n',
        '{\n  "SECTION": {\n    "other": 1, // one\n    // after\n  }, // two\n  // end\n}\n// eof',
        '{\n  "SECTION": {\n    "other": {} // c\n    , "p": {}\n  } /* x */\n}\n',
        '{\n  "SECTION": {\n    // put servers here\n  }\n}\n',
        '{\n  "SECTION": { // servers\n    "other": 1 /* of\n several lines */\n  }\n}\n',
        '{\n  "a": "/* no */ // comment",\n  "b": "http://x"\n}\n',
        '{\n    "a": 1\n  , "SECTION": {\n      "other": 1\n    }\n}\n',
        '{\n\n\n  "SECTION": {\n\n    "other": 1\n\n  }\n\n}\n\n\n',
        '{"SECTION": {"a": 1}, "SECTION": {"b": 2}}',
        '{\n  "n": 123456789012345678901234567890, "f": 0.10000\n}\n',
        '{\n  "deep": ' + "[" * 80 + "]" * 80 + "\n}",
    ],
    "toml": [
        "# mine\n",
        "a = 1",
        "a = 1\n\n\n",
        "[SECTION]\n\n[SECTION.other]\ncommand = 'x' # c\n# the end\n",
        "SECTION.other.command = 'x'\n",
        "SECTION = { other = { command = 'x' } }\n",
        "[SECTION.other]\ncommand='x'\n[profiles.x]\ny=1\n[SECTION.third]\ncommand='y'\n[last]",
        'a = """\n[SECTION.filesystem]\n"""\n[t]\n',
        "when = 2020-01-01T10:00:00Z\n[[many]]\nx=1\n",
    ],
    "yaml": [
        "a: 1",
        "---\na: 1\n...\n",
        "%YAML 1.1\n---\na: yes\n",
        "SECTION: {other: {cmd:  x}}\na: 1\n",
        "SECTION:\n    other:\n        cmd: x\n        args:\n          - a\n          -   b\n",
        "SECTION:\n  other:\n    cmd: x # c\n  # tail\n\n\nlast:   1 # d\n# end\n",
        "SECTION:\n\n  'other':\n    cmd: \"x\"\n    args:\n    - a\n    -\n",
        "base: &base\n  enabled: true\nSECTION:\n  other:\n    <<: *base\n    cmd: x\n",
        "SECTION:\n  other:\n    about: >\n      some\n      words\n\n\nlast: |+\n  x\n\n",
        "a: 0o14\nb: 010\nc: 1_000\nd: 12:30\ne: 'x\n  y'\nf: ~\ng:\n",
        "a: [" + ", ".join(f"item{n}" for n in range(40)) + "]\n",
    ],
}
BY_SOMEBODY_ELSE = {"json": json.loads, "toml": tomllib.loads}
WORDS = [
    "da ta",
    'q"uo"te',
    "back\\slash",
    "$HOME",
    "${env:X}",
    "%PATH%",
    "'",
    "# no",
    "- y",
    "yes",
    "1",
    "a: b",
    "",
    "ü💡",
]
ODD = Command("/usr/bin/uvx", WORDS, {"TOKEN": "x=y", "N": "1", "Ü": " a b "})
NAMES = ["filesystem", "a.b", 'q"u', "Ünï 💡", "a/b", "back\\slash", "on", "1"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("key", "number"), [(key, n) for key in HOSTS for n in range(len(KEPT[HOSTS[key].format]))]
)
def test_an_entry_goes_in_and_out_again_without_a_trace(key: str, number: int, name: str) -> None:
    host = HOSTS[key]
    text = KEPT[host.format][number].replace("SECTION", host.section)
    entry = host.entry("any", ODD)
    changed = put_entry(text, host.format, host.section, name, entry)
    assert read_section(changed, host.format, host.section)[name] == entry
    assert put_entry(changed, host.format, host.section, name, entry) == changed
    assert drop_entry(changed, host.format, host.section, name) == text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", [key for key in HOSTS if HOSTS[key].format in BY_SOMEBODY_ELSE])
def test_what_is_written_is_read_by_libraries_that_did_not_write_it(key: str, name: str) -> None:
    host = HOSTS[key]
    entry = host.entry("any", ODD)
    document = BY_SOMEBODY_ELSE[host.format](show(host.format, host.section, name, entry))
    assert document == {host.section: {name: entry}}


@EVERY_HOST
def test_a_section_that_was_made_goes_with_its_last_entry_where_the_file_holds_more(key: str) -> None:
    format, section, entry, _ = sample(key)
    text = {"json": '{\n  "theme": "dark"\n}\n', "toml": "a = 1\n", "yaml": "a: 1\n"}[format]
    assert drop_entry(put_entry(text, format, section, "x", entry), format, section, "x") == text


def test_a_file_of_nothing_but_servers_keeps_its_section() -> None:
    """Cline, for one, takes a file without it for broken."""
    assert drop_entry('{"mcpServers": {"x": {}}}', "json", "mcpServers", "x") == '{"mcpServers": {}}'


@EVERY_HOST
def test_variables_and_limits_of_the_user_stay_and_the_start_is_ours(key: str) -> None:
    host = HOSTS[key]
    variables = "envs" if key == "goose" else "env"
    theirs = {**host.entry("x", Command("old", ["1"], {"A": "a", "B": "b"})), "timeout": 7, "enabled": False}
    text = put_entry("", host.format, host.section, "x", theirs)
    entry = host.entry("x", Command("new", ["2"], {"B": "c"}))
    after = read_section(put_entry(text, host.format, host.section, "x", entry), host.format, host.section)[
        "x"
    ]
    assert after == {**entry, "timeout": 7, "enabled": False, variables: {"A": "a", "B": "c"}}


@EVERY_HOST
def test_an_address_gives_way_to_a_program_as_a_whole(key: str) -> None:
    format, section, entry, _ = sample(key)
    text = put_entry("", format, section, "x", {"url": "http://x", "uri": "http://x", "headers": {"A": "b"}})
    assert read_section(put_entry(text, format, section, "x", entry), format, section)["x"] == entry


def test_a_null_in_the_place_of_a_section_is_filled() -> None:
    _, section, entry, _ = sample("cursor")
    assert json.loads(put_entry('{"mcpServers": null}', "json", section, "x", entry)) == {
        section: {"x": entry}
    }


@pytest.mark.parametrize(
    "text",
    [
        "a: &a\n  y: {cmd: x}\nextensions: *a\n",  # it would change in both places
        "extensions:\n  y: &y {cmd: x}\n  z: *y\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\na: 2\n",
        "- 1\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    format, section, entry, _ = sample("goose")
    with pytest.raises(Broken):
        put_entry(text, format, section, "x", entry)


def test_large_files_are_changed_in_a_moment() -> None:
    """The file of Claude Code grows with its history; it is the standard library that reads what stays."""
    history = {f"/p{n}": {"history": [{"display": "x" * 100, "pasted": {}}] * 20} for n in range(1000)}
    text = json.dumps({"projects": history, "mcpServers": {"other": {}}}, indent=2)
    _, section, entry, _ = sample("claude-code")
    calls = Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        calls[frame.f_code.co_name] += event == "call"

    sys.setprofile(count)
    try:
        changed = put_entry(text, "json", section, "x", entry)
    finally:
        sys.setprofile(None)
    assert drop_entry(changed, "json", section, "x") == text
    assert calls["_value"] < 100


def test_a_yaml_section_without_a_value_is_filled() -> None:
    format, section, entry, _ = sample("goose")
    assert read_section(put_entry("extensions:\n", format, section, "a", entry), format, section) == {
        "a": entry
    }


def test_what_is_printed_can_be_pasted() -> None:
    format, section, entry, _ = sample("cursor")
    assert json.loads(show(format, section, "filesystem", entry)) == {
        "mcpServers": {
            "filesystem": {
                "command": "/usr/bin/uvx",
                "args": ["mcp-server-filesystem", "/data"],
                "env": {"TOKEN": "x"},
            }
        }
    }


def test_hosts_that_want_a_type_get_one() -> None:
    assert {key for key in HOSTS if sample(key).entry.get("type") == "stdio"} == {
        "claude-code",
        "vscode",
        "goose",
    }


PATHS = {
    ("linux", "claude-desktop"): ".config/Claude/claude_desktop_config.json",
    ("darwin", "claude-desktop"): "Library/Application Support/Claude/claude_desktop_config.json",
    ("win32", "claude-desktop"): "AppData/Roaming/Claude/claude_desktop_config.json",
    ("linux", "claude-code"): ".claude.json",
    ("linux", "cursor"): ".cursor/mcp.json",
    ("linux", "vscode"): ".config/Code/User/mcp.json",
    ("darwin", "vscode"): "Library/Application Support/Code/User/mcp.json",
    ("win32", "vscode"): "AppData/Roaming/Code/User/mcp.json",
    ("linux", "windsurf"): ".codeium/windsurf/mcp_config.json",
    ("linux", "zed"): ".config/zed/settings.json",
    ("win32", "zed"): "AppData/Roaming/Zed/settings.json",
    ("linux", "cline"): ".cline/data/settings/cline_mcp_settings.json",
    ("linux", "gemini"): ".gemini/settings.json",
    ("darwin", "zed"): ".config/zed/settings.json",
    ("darwin", "goose"): ".config/goose/config.yaml",
    ("win32", "cursor"): ".cursor/mcp.json",
    ("win32", "windsurf"): ".codeium/windsurf/mcp_config.json",
    ("win32", "cline"): ".cline/data/settings/cline_mcp_settings.json",
    ("linux", "codex"): ".codex/config.toml",
    ("linux", "goose"): ".config/goose/config.yaml",
    ("win32", "goose"): "AppData/Roaming/Block/goose/config/config.yaml",
}


@pytest.mark.parametrize(("platform", "key"), PATHS)
def test_each_host_has_its_file_where_it_looks_for_it(platform: str, key: str) -> None:
    around = Surroundings(platform, Path("/home/you"), Path("/here"), {})
    assert HOSTS[key].path("user", around) == Path("/home/you") / PATHS[platform, key]


def test_a_store_installation_of_claude_desktop_reads_its_own_copy(tmp_path: Path) -> None:
    copy = tmp_path / "AppData/Local/Packages/Claude_abc/LocalCache/Roaming"
    copy.mkdir(parents=True)
    around = Surroundings("win32", tmp_path, tmp_path, {})
    assert HOSTS["claude-desktop"].path("user", around) == copy / "Claude" / "claude_desktop_config.json"


def test_variables_move_the_files() -> None:
    env = {
        "XDG_CONFIG_HOME": "/conf",
        "CLINE_MCP_SETTINGS_PATH": "/elsewhere/cline.json",
        "CODEX_HOME": "/codex",
        "APPDATA": "/roaming",
    }
    around = Surroundings("linux", Path("/home/you"), Path("/here"), env)
    assert HOSTS["goose"].path("user", around) == Path("/conf/goose/config.yaml")
    assert HOSTS["zed"].path("user", around) == Path("/conf/zed/settings.json")
    assert HOSTS["vscode"].path("user", around) == Path("/conf/Code/User/mcp.json")
    assert HOSTS["claude-desktop"].path("user", around) == Path("/conf/Claude/claude_desktop_config.json")
    assert HOSTS["cline"].path("user", around) == Path("/elsewhere/cline.json")
    assert HOSTS["codex"].path("user", around) == Path("/codex/config.toml")
    windows = Surroundings("win32", Path("/home/you"), Path("/here"), env)
    assert HOSTS["claude-desktop"].path("user", windows) == Path("/roaming/Claude/claude_desktop_config.json")


PROJECTS = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "zed": ".zed/settings.json",
    "gemini": ".gemini/settings.json",
    "codex": ".codex/config.toml",
}


@EVERY_HOST
def test_a_project_has_its_file_or_the_host_has_none(key: str) -> None:
    around = Surroundings("linux", Path("/home/you"), Path("/here"), {"CODEX_HOME": "/codex"})
    if key in PROJECTS:
        assert HOSTS[key].path("project", around) == Path("/here") / PROJECTS[key]
    else:
        assert HOSTS[key].project is None


def test_a_host_without_projects_says_so() -> None:
    with pytest.raises(ValueError, match="no configuration of a project"):
        HOSTS["goose"].path("project", Surroundings("linux", Path("/h"), Path("/w"), {}))
