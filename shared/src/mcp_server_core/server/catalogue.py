"""Everything a server offers right now, put together from its parts and ready to be listed and looked up."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import LocalProtocolError
from ..protocol.messages import Json
from .prompts import Prompt
from .registry import Completer, Function, Lister, Registry
from .resources import Resource
from .tools import Tool


class Selection:
    """Which tools the operator lets through: `--read-only`, `--tools`, `--no-tools`."""

    __slots__ = ("only", "read_only", "without")

    def __init__(
        self, *, read_only: bool = False, only: Iterable[str] | None = None, without: Iterable[str] = ()
    ) -> None:
        self.read_only = read_only
        self.only = None if only is None else frozenset(only)
        self.without = frozenset(without)

    def allows(self, name: str, read_only: bool) -> bool:
        """Whether a tool of this name is offered."""
        if self.read_only and not read_only:
            return False
        return name not in self.without and (self.only is None or name in self.only)

    def named(self) -> frozenset[str]:
        """Every name the operator mentioned, to catch misspelt ones."""
        return self.without | (self.only or frozenset())


class Catalogue:
    """One immutable view of the parts; a change makes a new one."""

    __slots__ = ("capabilities", "completers", "listers", "prompts", "resources", "tools")

    def __init__(self, parts: Iterable[Registry], selection: Selection) -> None:
        self.tools: dict[str, Tool] = {}
        self.prompts: dict[str, Prompt] = {}
        self.resources: list[Resource] = []
        self.listers: list[Lister] = []
        self.completers: dict[tuple[Function, str], Completer] = {}
        for part in parts:
            for entry in part.tools:
                if selection.allows(entry.name, entry.read_only):
                    _add(self.tools, entry.name, Tool(entry))
            for prompt in part.prompts:
                _add(self.prompts, prompt.name, Prompt(prompt))
            for resource in part.resources:
                if any(known.entry.uri == resource.uri for known in self.resources):
                    raise LocalProtocolError(f"two resources have the URI {resource.uri!r}")
                self.resources.append(Resource(resource))
            self.listers += part.listers
            self.completers.update(part.completers)
        self.capabilities = self._capabilities()

    def _capabilities(self) -> Json:
        """What the server can do, in the newest shape (1.2)."""
        found: Json = {"logging": {}}
        if self.completers:
            found["completions"] = {}
        if self.prompts:
            found["prompts"] = {"listChanged": True}
        if self.resources or self.listers:
            found["resources"] = {"listChanged": True}
            if any(resource.entry.watch for resource in self.resources):
                found["resources"]["subscribe"] = True
        if self.tools:
            found["tools"] = {"listChanged": True}
        return found

    @property
    def in_places(self) -> bool:
        """Whether there are resources that lie in allowed places."""
        return any(resource.entry.admit is not None for resource in self.resources)

    def find_template(self, text: str) -> tuple[Resource, Mapping[str, Any]] | None:
        """The resource that was registered under exactly this URI or template."""
        return next(((resource, {}) for resource in self.resources if resource.entry.uri == text), None)

    def find_resource(self, uri: str) -> tuple[Resource, Mapping[str, Any]] | None:
        """The resource that answers to a URI, and the values of its variables. Fixed URIs come first."""
        for resource in self.resources:
            if resource.entry.template is None and resource.entry.uri == uri:
                return resource, {}
        for resource in self.resources:
            if resource.entry.template is not None:
                values = resource.entry.template.match(uri)
                if values is not None:
                    return resource, values
        return None


def _add(table: dict[str, Any], name: str, value: Any) -> None:
    if name in table:
        raise LocalProtocolError(f"two parts offer {name!r}")
    table[name] = value
