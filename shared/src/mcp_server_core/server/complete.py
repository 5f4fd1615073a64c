"""Completion: values for an argument of a prompt, or for a variable of a resource template (5.5)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParams
from ..protocol.messages import Json, take, take_object
from .context import Context
from .registry import Function

if TYPE_CHECKING:
    from .app import Server
    from .catalogue import Catalogue

MAX_VALUES = 100  # C-4


async def complete(server: "Server[Any]", params: Json, ctx: Context[Any]) -> Json:
    """Answer `completion/complete`."""
    reference, argument = take_object(params, "ref"), take_object(params, "argument")
    name, typed = take(argument, "name", str), take(argument, "value", str)
    chosen = take_object(take_object(params, "context", {}), "arguments", {})
    function, arguments = _referred(server.catalogue, reference)
    if name not in arguments:
        raise InvalidParams(f"There is no argument {name!r}; there are: {', '.join(arguments) or 'none'}")
    completer = server.catalogue.completers.get((function, name))
    if completer is None:
        return {"completion": {"values": [], "total": 0, "hasMore": False}}
    given: Mapping[str, str] = {key: value for key, value in chosen.items() if type(value) is str}
    found: Iterable[str] = await server.run_helper(completer, ctx, typed, given)
    values = list(found)
    return {
        "completion": {
            "values": values[:MAX_VALUES],
            "total": len(values),
            "hasMore": len(values) > MAX_VALUES,
        }
    }


def _referred(catalogue: "Catalogue", reference: Json) -> tuple[Function, Sequence[str]]:
    """The function a reference means, and the names of its arguments."""
    match reference.get("type"):
        case "ref/prompt":
            prompt = catalogue.prompts.get(take(reference, "name", str))
            if prompt is not None:
                return prompt.entry.function, prompt.arguments
            raise InvalidParams(f"Unknown prompt: {reference['name']}")
        case "ref/resource":
            uri = take(reference, "uri", str)
            found = catalogue.find_template(uri) or catalogue.find_resource(uri)
            if found is None:
                raise InvalidParams(f"Unknown resource: {uri}")
            entry = found[0].entry
            return entry.function, () if entry.template is None else entry.template.variables
        case _:
            raise InvalidParams("`ref.type` is ref/prompt or ref/resource")
