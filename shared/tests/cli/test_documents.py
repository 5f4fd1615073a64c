"""One entry more or less in a sample of every host's file: nothing else changes, and what is broken is not touched."""

import json
from pathlib import Path
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
    ("linux", "codex"): ".codex/config.toml",
    ("linux", "goose"): ".config/goose/config.yaml",
    ("win32", "goose"): "AppData/Roaming/Block/goose/config/config.yaml",
}


@pytest.mark.parametrize(("platform", "key"), PATHS)
def test_each_host_has_its_file_where_it_looks_for_it(platform: str, key: str) -> None:
    around = Surroundings(platform, Path("/home/you"), Path("/work"), {})
    assert HOSTS[key].path("user", around) == Path("/home/you") / PATHS[platform, key]


def test_a_store_installation_of_claude_desktop_reads_its_own_copy(tmp_path: Path) -> None:
    copy = tmp_path / "AppData/Local/Packages/Claude_abc/LocalCache/Roaming"
    copy.mkdir(parents=True)
    around = Surroundings("win32", tmp_path, tmp_path, {})
    assert HOSTS["claude-desktop"].path("user", around) == copy / "Claude" / "claude_desktop_config.json"


def test_variables_move_the_files() -> None:
    env = {"XDG_CONFIG_HOME": "/conf", "CLINE_MCP_SETTINGS_PATH": "/elsewhere/cline.json"}
    around = Surroundings("linux", Path("/home/you"), Path("/work"), env)
    assert HOSTS["goose"].path("user", around) == Path("/conf/goose/config.yaml")
    assert HOSTS["cline"].path("user", around) == Path("/elsewhere/cline.json")


def test_a_host_without_projects_says_so() -> None:
    with pytest.raises(ValueError, match="no configuration of a project"):
        HOSTS["goose"].path("project", Surroundings("linux", Path("/h"), Path("/w"), {}))
