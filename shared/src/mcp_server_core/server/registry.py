"""What an author offers: tools, resources, prompts and completions, gathered by decorators.

A decorator gives the function back unchanged, so that a test can call it directly. A Registry is one part of
a server; `Server(parts=[...])` says what a server is made of.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from ..errors import LocalProtocolError
from ..protocol.messages import Json
from ..protocol.profile import CacheHint
from ..protocol.uris import Template, is_template, valid_uri
from .content import Link

if TYPE_CHECKING:
    from ..places import Places

Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)
Completer: TypeAlias = Callable[..., Iterable[str] | Awaitable[Iterable[str]]]
C = TypeVar("C", bound=Completer)
Admit: TypeAlias = Callable[[Any, "Places", str], Awaitable[None]]
Lister: TypeAlias = Callable[..., Iterable[Link] | Awaitable[Iterable[Link]]]
L = TypeVar("L", bound=Lister)

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")  # T-4


class ToolEntry:
    """A tool as it was registered; its schemas are made when they are first asked for."""

    __slots__ = ("annotations", "function", "input_schema", "listed", "meta", "name", "title")

    def __init__(
        self,
        function: Function,
        name: str,
        title: str,
        annotations: Json,
        listed: bool,
        meta: Json | None,
        input_schema: Json | None,
    ) -> None:
        if not _TOOL_NAME.fullmatch(name):
            raise LocalProtocolError(f"{name!r} is no tool name: 1 to 128 of letters, digits, _ . -")
        if not function.__doc__:
            raise LocalProtocolError(f"the tool {name!r} has no docstring: it is what the model reads")
        if input_schema is not None and input_schema.get("type") != "object":
            raise LocalProtocolError(f"the input schema of {name!r} is not one of an object")  # 5.1.1
        self.function = function
        self.name = name
        self.title = title
        self.annotations = annotations
        self.listed = listed
        self.meta = meta
        self.input_schema = input_schema

    @property
    def read_only(self) -> bool:
        """Whether the tool changes nothing."""
        return self.annotations["readOnlyHint"]


class ResourceEntry:
    """A resource, or a family of resources named by a URI template."""

    __slots__ = ("admit", "cache", "function", "mime_type", "name", "template", "title", "uri", "watch")

    def __init__(
        self,
        function: Function,
        uri: str,
        name: str,
        title: str,
        mime_type: str | None,
        watch: bool,
        cache: CacheHint,
        admit: "Admit | None" = None,
    ) -> None:
        self.template = Template(uri) if is_template(uri) else None
        if self.template is None and not valid_uri(uri):
            raise LocalProtocolError(f"{uri!r} is no URI")
        taken = set(signature(function).parameters)
        if self.template is not None and not taken.issuperset(self.template.variables):
            raise LocalProtocolError(f"{name!r} does not take every variable of {uri!r}")
        self.function = function
        self.uri = uri
        self.name = name
        self.title = title
        self.mime_type = mime_type
        self.watch = watch
        self.cache = cache
        self.admit = admit


class PromptEntry:
    """A prompt as it was registered."""

    __slots__ = ("function", "name", "title")

    def __init__(self, function: Function, name: str, title: str) -> None:
        self.function = function
        self.name = name
        self.title = title


class Registry:
    """One part of a server."""

    __slots__ = ("completers", "listers", "prompts", "resources", "tools")

    def __init__(self) -> None:
        self.tools: list[ToolEntry] = []
        self.resources: list[ResourceEntry] = []
        self.prompts: list[PromptEntry] = []
        self.listers: list[Lister] = []
        self.completers: dict[tuple[Function, str], Completer] = {}

    @overload
    def tool(
        self,
        title: str,
        *,
        read_only: Literal[True],
        open_world: bool,
        name: str | None = None,
        listed: bool = True,
        meta: Json | None = None,
        input_schema: Json | None = None,
    ) -> Callable[[F], F]: ...

    @overload
    def tool(
        self,
        title: str,
        *,
        destructive: bool,
        idempotent: bool,
        open_world: bool,
        name: str | None = None,
        listed: bool = True,
        meta: Json | None = None,
        input_schema: Json | None = None,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        title: str,
        *,
        open_world: bool,
        read_only: bool = False,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        name: str | None = None,
        listed: bool = True,
        meta: Json | None = None,
        input_schema: Json | None = None,
    ) -> Callable[[F], F]:
        """Offer a function as a tool; its docstring is the description, its annotations are the schema.

        Either `read_only=True`, or say whether it is destructive and idempotent: the hints are never guessed.
        A tool that is not `listed` still answers under its name. With an `input_schema` written by hand, the function
        takes all arguments as one `dict[str, Any]`, and looks at them itself.
        """
        if (destructive is None, idempotent is None) != (read_only, read_only):
            raise TypeError("a tool is either read_only=True, or says both destructive= and idempotent=")
        annotations = {
            "readOnlyHint": read_only,
            "destructiveHint": bool(destructive),
            "idempotentHint": read_only or bool(idempotent),
            "openWorldHint": open_world,
        }

        def register(function: F) -> F:
            self.tools.append(
                ToolEntry(function, name or function.__name__, title, annotations, listed, meta, input_schema)
            )
            return function

        return register

    def resource(
        self,
        uri: str,
        title: str,
        *,
        mime_type: str | None = None,
        watch: bool = False,
        admit: "Admit | None" = None,
        name: str | None = None,
        cache: CacheHint = CacheHint(),  # noqa: B008 - a NamedTuple does not change
    ) -> Callable[[F], F]:
        """Offer a resource, or with `{variables}` in the URI a family of them.

        With `watch`, clients may subscribe to it; tell them of changes with `changed(uri)`. `admit` is for
        what lies in allowed places: it gets the state, the caller's places and the URI, and raises ToolError unless
        that caller may watch it. It is asked again whenever the caller's roots change.
        """

        def register(function: F) -> F:
            self.resources.append(
                ResourceEntry(function, uri, name or function.__name__, title, mime_type, watch, cache, admit)
            )
            return function

        return register

    def resources_list(self, function: L) -> L:
        """Let a function name resources that exist right now, beside those with a fixed URI."""
        self.listers.append(function)
        return function

    def prompt(self, title: str, *, name: str | None = None) -> Callable[[F], F]:
        """Offer a prompt: a function that makes messages out of text arguments."""

        def register(function: F) -> F:
            self.prompts.append(PromptEntry(function, name or function.__name__, title))
            return function

        return register

    def complete(self, function: Function, argument: str) -> Callable[[C], C]:
        """Suggest values for an argument of a prompt, or for a variable of a resource template.

        The completer gets what was typed so far and, if it asks for them by type, the Context and a
        `Mapping[str, str]` of the arguments that are already filled in.
        """

        def register(completer: C) -> C:
            self.completers[function, argument] = completer
            return completer

        return register
