"""Questions to the client: elicitation, sampling and roots.

To a handshake client a question is a request. For a stateless client the handler stops at the question and the
call ends with `input_required`; replay.py has the rest of that story.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ..errors import MissingCapability, ToolError
from ..protocol.messages import Json
from ..protocol.revisions import offers

T = TypeVar("T")
A = TypeVar("A")
ROOTS_TIMEOUT = 3.0  # some clients declare roots and never answer
ANSWER_TIMEOUT = 600.0  # a person may be thinking


class Accepted(NamedTuple, Generic[T]):
    """The user filled in the form."""

    data: T


class Declined(NamedTuple):
    """The user said no."""


class Cancelled(NamedTuple):
    """The user closed the question without an answer."""


class Sampled(NamedTuple):
    """What the client's model wrote."""

    text: str
    model: str
    stop_reason: str | None
    content: list[Json]


class Root(NamedTuple):
    """A place the client says it works in."""

    uri: str
    name: str | None


class Question(Generic[A]):
    """Something only the client can answer. `ctx.ask` takes several of them at once."""

    __slots__ = ("capability", "kind", "method", "params", "read", "timeout")

    def __init__(
        self,
        kind: Literal["elicit", "sample", "roots"],
        method: str,
        params: Json | None,
        capability: tuple[str, ...],
        read: Callable[[Json], A],
        timeout: float = ANSWER_TIMEOUT,
    ) -> None:
        self.kind = kind
        self.method = method
        self.params = params
        self.capability = capability
        self.read = read
        self.timeout = timeout

    @staticmethod
    def form(message: str, kind: type[T]) -> "Question[Accepted[T] | Declined | Cancelled]":
        """Ask the user to fill in a form, a flat data type."""
        from .signature import Form

        filled = Form(kind)
        params: Json = {"mode": "form", "message": message, "requestedSchema": filled.schema}

        def read(result: Json) -> "Accepted[T] | Declined | Cancelled":
            return _read_action(result, lambda: filled.read(result.get("content") or {}))

        return Question("elicit", "elicitation/create", params, ("elicitation", "form"), read)

    @staticmethod
    def schema(message: str, requested: Json) -> "Question[Accepted[Json] | Declined | Cancelled]":
        """Ask by a flat schema written by hand, for what a data type cannot say: choices with titles (6.3)."""
        from .forms import WrittenForm

        form = WrittenForm(requested)
        params: Json = {"mode": "form", "message": message, "requestedSchema": form.schema}

        def read(result: Json) -> "Accepted[Json] | Declined | Cancelled":
            return _read_action(result, lambda: form.read(_content(result)))

        return Question("elicit", "elicitation/create", params, ("elicitation", "form"), read)

    @staticmethod
    def url(message: str, url: str) -> "Question[Accepted[None] | Declined | Cancelled]":
        """Ask the user to open a page, for what must not pass through the client (EL-4)."""
        params: Json = {"mode": "url", "message": message, "url": url}

        def read(result: Json) -> "Accepted[None] | Declined | Cancelled":
            return _read_action(result, lambda: None)

        return Question("elicit", "elicitation/create", params, ("elicitation", "url"), read)

    @staticmethod
    def sample(
        messages: str | Sequence[Json],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        model_preferences: Json | None = None,
        tools: Sequence[Json] | None = None,
    ) -> "Question[Sampled]":
        """Ask the client's model to write something; messages are text or in the protocol's own shape."""
        said = [_user_text(messages)] if isinstance(messages, str) else list(messages)
        params: Json = {"messages": said, "maxTokens": max_tokens}
        for name, value in (
            ("systemPrompt", system_prompt),
            ("temperature", temperature),
            ("stopSequences", stop_sequences),
            ("modelPreferences", model_preferences),
            ("tools", tools),
        ):
            if value is not None:
                params[name] = value
        path = ("sampling",) if tools is None else ("sampling", "tools")  # SA-2
        return Question("sample", "sampling/createMessage", params, path, _read_sampled)

    @staticmethod
    def roots() -> "Question[list[Root]]":
        """Ask the client which places it works in."""
        return Question("roots", "roots/list", None, ("roots",), _read_roots, ROOTS_TIMEOUT)

    def require(self, capabilities: Json) -> None:
        """Raise MissingCapability unless the client declared what this question needs (MR-4, D-11)."""
        if not _declared(capabilities, self.capability):
            required: Json = {}
            inner = required
            for name in self.capability:
                inner[name] = inner = {}
            raise MissingCapability(required)

    def input_request(self) -> Json:
        """The question as it stands in `inputRequests`."""
        if self.params is None:
            return {"method": self.method}
        return {"method": self.method, "params": self.params}


def _user_text(text: str) -> Json:
    return {"role": "user", "content": {"type": "text", "text": text}}


def _declared(capabilities: Json, path: tuple[str, ...]) -> bool:
    if path == ("elicitation", "form"):
        # EL-1: an empty object means forms only.
        modes = capabilities.get("elicitation")
        return isinstance(modes, dict) and (not modes or "form" in modes)
    return offers(capabilities, path)


def _read_action(result: Json, data: Callable[[], T]) -> Accepted[T] | Declined | Cancelled:
    match result.get("action"):
        case "accept":
            return Accepted(data())
        case "decline" | "reject":  # EL-5: `reject` was in a draft
            return Declined()
        case _:
            return Cancelled()


def _content(result: Json) -> Json:
    content = result.get("content")
    return content if isinstance(content, dict) else {}


def _read_sampled(result: Json) -> Sampled:
    content = result.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [content]
    kept: list[Json] = [block for block in blocks if isinstance(block, dict)]
    text = "".join(str(block.get("text", "")) for block in kept if block.get("type") == "text")
    reason = result.get("stopReason")
    return Sampled(text, str(result.get("model", "")), reason if isinstance(reason, str) else None, kept)


def _read_roots(result: Json) -> list[Root]:
    roots = result.get("roots")
    if not isinstance(roots, list):
        return []
    return [
        Root(item["uri"], item.get("name") if isinstance(item.get("name"), str) else None)
        for item in roots
        if isinstance(item, dict) and isinstance(item.get("uri"), str)
    ]


class InputRequired(BaseException):
    """Not an error: the handler cannot go on before the client answers.

    It derives from BaseException so that a handler's `except Exception` does not swallow it.
    """

    def __init__(self, questions: Mapping[str, Question[Any]]) -> None:
        super().__init__("waiting for the client")
        self.questions = questions


def refusal(error: Exception) -> ToolError:
    """What a handler sees when the client answered a question with an error, or not at all."""
    return ToolError(f"The client did not answer the server's question: {error}")
