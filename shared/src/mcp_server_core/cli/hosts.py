"""The hosts that can run a server: where each keeps its configuration, and what an entry looks like there.

One table. Looks at names and variables, never into a file.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Scope: TypeAlias = Literal["user", "project"]
Format: TypeAlias = Literal["json", "toml", "yaml"]
Entry: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Whose computer this is, as far as paths depend on it."""

    platform: str
    home: Path
    here: Path
    env: Mapping[str, str]

    @classmethod
    def real(cls) -> "Surroundings":
        import sys

        return cls(sys.platform, Path.home(), Path.cwd(), os.environ)

    def config(self) -> Path:
        """Where programs of this user keep their settings, in the manner of Linux."""
        return Path(self.env.get("XDG_CONFIG_HOME") or self.home / ".config")

    def roaming(self) -> Path:
        """Windows: settings that travel with the user."""
        return Path(self.env.get("APPDATA") or self.home / "AppData" / "Roaming")

    def application(self, name: str) -> Path:
        """The settings folder of a desktop application."""
        match self.platform:
            case "darwin":
                return self.home / "Library" / "Application Support" / name
            case "win32":
                return self.roaming() / name
            case _:
                return self.config() / name


@dataclass(frozen=True, slots=True)
class Command:
    """How a server is started."""

    program: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def words(self) -> list[str]:
        return [self.program, *self.args] if self.program else []


def started_by(entry: Mapping[Any, Any]) -> Command:
    """What an entry of any host starts; no program if it names the address of a server that runs elsewhere."""
    args, env = entry.get("args"), entry.get("env") or entry.get("envs")
    return Command(
        str(entry.get("command") or entry.get("cmd") or ""),
        [str(word) for word in args] if isinstance(args, list) else [],
        {str(key): str(value) for key, value in env.items()} if isinstance(env, Mapping) else {},
    )


Place: TypeAlias = Callable[[Surroundings], Path]


@dataclass(frozen=True, slots=True)
class Host:
    """One host. A missing place means that it has no such scope."""

    key: str
    title: str
    user: Place
    project: Place | None
    section: str  # the key that holds the servers
    entry: Callable[[str, Command], Entry]
    restart: str
    format: Format = "json"

    def path(self, scope: Scope, around: Surroundings) -> Path:
        """The configuration file of a scope; ValueError if the host has none."""
        if scope == "user":
            return self.user(around)
        if self.project is None:
            raise ValueError(f"{self.title} has no configuration of a project: leave out --scope project")
        return self.project(around)


def _plain(name: str, command: Command) -> Entry:
    entry: Entry = {"command": command.program, "args": list(command.args)}
    if command.env:
        entry["env"] = dict(command.env)
    return entry


def _typed(name: str, command: Command) -> Entry:
    return {"type": "stdio", **_plain(name, command)}


def _with_env(name: str, command: Command) -> Entry:
    return {**_plain(name, command), "env": dict(command.env)}


def _patient(name: str, command: Command) -> Entry:
    # The first start of a day may have to resolve and unpack packages.
    return {**_plain(name, command), "startup_timeout_sec": 20}


def _extension(name: str, command: Command) -> Entry:
    return {
        "name": name,
        "type": "stdio",
        "cmd": command.program,
        "args": list(command.args),
        "envs": dict(command.env),
        "enabled": True,
        "timeout": 300,
    }


def _claude_desktop(around: Surroundings) -> Path:
    """Installed from the Windows store, it reads a copy in a folder of its own."""
    name = Path("Claude") / "claude_desktop_config.json"
    if around.platform == "win32":
        local = Path(around.env.get("LOCALAPPDATA") or around.home / "AppData" / "Local")
        for package in sorted(local.glob("Packages/Claude_*/LocalCache/Roaming")):
            return package / name
    return around.application(str(name))


def _cline(around: Surroundings) -> Path:
    named = around.env.get("CLINE_MCP_SETTINGS_PATH")
    return Path(named) if named else around.home / ".cline/data/settings/cline_mcp_settings.json"


def _zed(around: Surroundings) -> Path:
    if around.platform == "win32":
        return around.roaming() / "Zed" / "settings.json"
    return around.config() / "zed" / "settings.json"


def _codex(around: Surroundings) -> Path:
    return Path(around.env.get("CODEX_HOME") or around.home / ".codex") / "config.toml"


def _goose(around: Surroundings) -> Path:
    if around.platform == "win32":
        return around.roaming() / "Block" / "goose" / "config" / "config.yaml"
    return around.config() / "goose" / "config.yaml"


def _at_home(path: str) -> Place:
    return lambda around: around.home / path


def _here(path: str) -> Place:
    return lambda around: around.here / path


_SERVERS = "mcpServers"
HOSTS: dict[str, Host] = {
    host.key: host
    for host in (
        Host(
            "claude-desktop",
            "Claude Desktop",
            _claude_desktop,
            None,
            _SERVERS,
            _plain,
            "Quit Claude Desktop and start it again.",
        ),
        Host(
            "claude-code",
            "Claude Code",
            _at_home(".claude.json"),
            _here(".mcp.json"),
            _SERVERS,
            _typed,
            "Start a new session; /mcp shows the server. Entries of a project ask for approval once.",
        ),
        Host(
            "cursor",
            "Cursor",
            _at_home(".cursor/mcp.json"),
            _here(".cursor/mcp.json"),
            _SERVERS,
            _plain,
            "Open Settings, MCP, and switch the server on.",
        ),
        Host(
            "vscode",
            "VS Code",
            lambda around: around.application("Code") / "User" / "mcp.json",
            _here(".vscode/mcp.json"),
            "servers",
            _typed,
            "Run 'MCP: List Servers' from the command palette and start it.",
        ),
        Host(
            "windsurf",
            "Windsurf",
            _at_home(".codeium/windsurf/mcp_config.json"),
            None,
            _SERVERS,
            _plain,
            "Press Refresh in the list of MCP servers.",
        ),
        Host(
            "zed",
            "Zed",
            _zed,
            _here(".zed/settings.json"),
            "context_servers",
            _with_env,
            "Zed picks it up at once: see the Agent panel's settings.",
        ),
        Host(
            "cline",
            "Cline",
            _cline,
            None,
            _SERVERS,
            _plain,
            "Cline picks it up at once: see its list of MCP servers.",
        ),
        Host(
            "gemini",
            "Gemini CLI",
            _at_home(".gemini/settings.json"),
            _here(".gemini/settings.json"),
            _SERVERS,
            _plain,
            "Start a new session; /mcp shows the server.",
        ),
        Host(
            "codex",
            "Codex",
            _codex,
            _here(".codex/config.toml"),
            "mcp_servers",
            _patient,
            "Start a new session; /mcp shows the server.",
            "toml",
        ),
        Host(
            "goose",
            "Goose",
            _goose,
            None,
            "extensions",
            _extension,
            "Start a new session.",
            "yaml",
        ),
    )
}
