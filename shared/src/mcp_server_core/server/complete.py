"""Completion: values for an argument of a prompt, or for a variable of a resource template (5.5)."""

from collections.abc import Iterable, Mapping
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
    function = _referred(server.catalogue, reference)
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


def _referred(catalogue: "Catalogue", reference: Json) -> Function:
    match reference.get("type"):
        case "ref/prompt":
            prompt = catalogue.prompts.get(take(reference, "name", str))
            if prompt is not None:
                return prompt.entry.function
            raise InvalidParams(f"Unknown prompt: {reference['name']}")
        case "ref/resource":
            uri = take(reference, "uri", str)
            for resource in catalogue.resources:
                if resource.entry.uri == uri:
                    return resource.entry.function
            found = catalogue.find_resource(uri)
            if found is not None:
                return found[0].entry.function
            raise InvalidParams(f"Unknown resource: {uri}")
        case _:
            raise InvalidParams("`ref.type` is ref/prompt or ref/resource")
