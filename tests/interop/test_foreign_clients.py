"""What clients that nobody here wrote see of the fixture server: one claim per test, one run per client
and transport.

Each client takes the tour of `clients/tour.py` or `clients/tour.mjs`, which do the same steps in the same
order, and prints what it saw. What a client cannot do is named in the table and left out of the claims.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import pytest

from .foreign import Foreign, Tour, take_tour

HINTS_SINCE = "2025-03-26"
COMPLETIONS_SINCE = "2025-03-26"
TITLES_SINCE = "2025-06-18"
STRUCTURED_SINCE = "2025-06-18"
MODES_SINCE = "2025-11-25"
ANY_STRUCTURE_SINCE = "2026-07-28"

TABLE = [
    Foreign(
        "python-2-auto",
        runs_on="this python",
        script="python_2.py",
        mode="auto",
        revision="2026-07-28",
        lacks=frozenset({"ping"}),
        missing_resource=-32602,
    ),
    Foreign(
        "python-2-legacy",
        runs_on="this python",
        script="python_2.py",
        mode="legacy",
        revision="2025-11-25",
        lacks=frozenset({"listen"}),
    ),
    Foreign(
        "python-1.12",
        runs_on="its own python",
        script="python_1_12.py",
        revision="2025-06-18",
        lacks=frozenset({"listen"}),
        transports=("stdio", "http", "sse"),
    ),
    Foreign(
        "python-1.0",
        runs_on="its own python",
        script="python_1_0.py",
        revision="2024-11-05",
        # It declares roots all the same, and never answers.
        lacks=frozenset(
            {"listen", "progress", "templates", "elicitation", "sampling", "roots", "cancellation"}
        ),
        transports=("stdio", "sse"),  # it is older than streamable HTTP
    ),
    Foreign(
        "typescript-2-auto",
        runs_on="node",
        script="typescript_2.mjs",
        mode="auto",
        revision="2026-07-28",
        lacks=frozenset({"ping"}),
        missing_resource=-32602,
        probes_apart=True,
    ),
    Foreign(
        "typescript-2-legacy",
        runs_on="node",
        script="typescript_2.mjs",
        mode="legacy",
        revision="2025-11-25",
        lacks=frozenset({"listen"}),
        missing_resource=-32602,  # the client's own number for it, whatever came over the wire
    ),
    Foreign(
        "typescript-1",
        runs_on="node",
        script="typescript_1.mjs",
        revision="2025-11-25",
        lacks=frozenset({"listen"}),
        transports=("stdio", "http", "sse"),
    ),
]
FOREIGN = [replace(foreign, over=transport) for foreign in TABLE for transport in foreign.transports]

Tours: TypeAlias = Callable[[Foreign], Tour]


@pytest.fixture(scope="session")
def tours(tmp_path_factory: pytest.TempPathFactory) -> Tours:
    """The tour of a client: taken when it is first asked for, and only once, whatever becomes of it."""

    @cache
    def tour(foreign: Foreign) -> Tour:
        return take_tour(foreign, tmp_path_factory.mktemp("servers"))

    return tour


def clients_with(*abilities: str) -> pytest.MarkDecorator:
    """Try a claim with every client that has what it takes."""
    return clients_that(lambda foreign: foreign.lacks.isdisjoint(abilities))


def clients_that(fit: Callable[[Foreign], bool]) -> pytest.MarkDecorator:
    """Try a claim with some clients."""
    return pytest.mark.parametrize("foreign", [foreign for foreign in FOREIGN if fit(foreign)], ids=str)


every_client = clients_with()


def text(*said: str) -> dict[str, Any]:
    """A result of text alone."""
    return {"content": [{"type": "text", "text": words} for words in said]}


def titled(foreign: Foreign, item: dict[str, Any]) -> dict[str, Any]:
    """A listed thing as this client's revision knows it."""
    return {
        name: value for name, value in item.items() if name != "title" or foreign.revision >= TITLES_SINCE
    }


# Opening.


@every_client
def test_the_client_gets_the_newest_revision_it_speaks(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign)["revision"] == foreign.revision


@every_client
def test_the_client_learns_who_the_server_is(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    assert (tour["server"], tour["instructions"]) == ({"name": "notes", "version": "1.0"}, "Notes.")


@every_client
def test_the_client_learns_what_the_server_offers(foreign: Foreign, tours: Tours) -> None:
    offers: dict[str, Any] = {
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": True},
    }
    if foreign.revision >= COMPLETIONS_SINCE:
        offers["completions"] = {}
    assert tours(foreign)["capabilities"] == offers


@clients_with("ping")
def test_a_ping_is_answered_with_nothing(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign)["ping"] == {}


# Tools.


@every_client
def test_the_client_lists_the_tools_in_the_order_of_the_source(foreign: Foreign, tours: Tours) -> None:
    assert [tool["name"] for tool in tours(foreign)["tools"]["tools"]] == [
        "echo",
        "add",
        "count",
        "go_on",
        "notice_cancellation",
        "write_note",
        "delete_note",
        "summarise",
        "show_roots",
        "draw",
        "toggle_extra",
    ]


@every_client
def test_a_tool_is_described_as_far_as_the_revision_can(foreign: Foreign, tours: Tours) -> None:
    tool: dict[str, Any] = {
        "name": "add",
        "description": "Add two whole numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
    }
    if foreign.revision >= HINTS_SINCE:
        tool["annotations"] = {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }
    if foreign.revision >= STRUCTURED_SINCE:
        tool["title"] = "Add numbers"
        tool["outputSchema"] = {
            "type": "object",
            "description": "What adding gives.",
            "properties": {"total": {"type": "integer"}},
            "required": ["total"],
        }
    assert tours(foreign)["tools"]["tools"][1] == tool


@every_client
def test_any_text_comes_back_as_it_was_sent(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign).result("echo") == text("grüße\n\u2028 \N{MOUSE}")


@every_client
def test_a_sum_comes_back_as_text_and_as_structure(foreign: Foreign, tours: Tours) -> None:
    result = text('{"total":42}')
    if foreign.revision >= STRUCTURED_SINCE:
        result["structuredContent"] = {"total": 42}
    assert tours(foreign).result("add") == result


@every_client
def test_a_picture_comes_back(foreign: Foreign, tours: Tours) -> None:
    picture = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    assert tours(foreign).result("draw") == {"content": [picture]}


@every_client
def test_a_wrong_argument_comes_back_as_an_error_the_model_can_read(foreign: Foreign, tours: Tours) -> None:
    result = tours(foreign).result("add_wrongly")
    (content,) = result.pop("content")
    assert result == {"isError": True}
    assert content["text"].startswith('Argument `a` must be a whole number, for example 10; got "two"')


@every_client
def test_an_unknown_tool_is_refused(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign)["unknown_tool"] == {"refused": -32602}


# What comes while a tool runs.


@clients_with("progress")
def test_progress_reaches_the_handler_before_the_result(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    assert tour.result("count") == text("counted to 3")
    assert tour["progress"][:3] == [[1, 3, "at 1"], [2, 3, "at 2"], [3, 3, "at 3"]]


@clients_with("progress")
def test_logs_arrive_at_the_level_the_client_chose(foreign: Foreign, tours: Tours) -> None:
    said = [["info", "counted 1"], ["info", "counted 2"], ["info", "counted 3"]]
    assert tours(foreign)["logs"][:3] == said


@clients_with("cancellation")
def test_a_count_that_the_client_gives_up_is_stopped(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign).result("cancel") == text("the count was cancelled")


@every_client
def test_the_connection_is_as_good_as_ever_at_the_end(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign).result("last_words") == text("still here")


# Resources and prompts.


@every_client
def test_the_client_lists_the_resources(foreign: Foreign, tours: Tours) -> None:
    resource = {
        "uri": "notes:///all",
        "name": "all_notes",
        "title": "All notes",
        "description": "Every title.",
        "mimeType": "text/plain",
    }
    assert tours(foreign).result("resources") == {"resources": [titled(foreign, resource)]}


@clients_with("templates")
def test_the_client_lists_the_templates(foreign: Foreign, tours: Tours) -> None:
    template = {
        "uriTemplate": "note:///{title}",
        "name": "note",
        "title": "Note",
        "description": "One note.",
        "mimeType": "text/markdown",
    }
    assert tours(foreign).result("templates") == {"resourceTemplates": [titled(foreign, template)]}


@every_client
def test_a_note_is_read(foreign: Foreign, tours: Tours) -> None:
    contents = {"uri": "note:///groceries", "mimeType": "text/markdown", "text": "milk"}
    assert tours(foreign).result("read") == {"contents": [contents]}


@every_client
def test_a_note_that_is_not_there_is_refused(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign)["read_missing"] == {"refused": foreign.missing_resource}


@every_client
def test_the_client_lists_the_prompts(foreign: Foreign, tours: Tours) -> None:
    prompt = {
        "name": "review_note",
        "title": "Review a note",
        "description": "Ask for a review of one note.",
        "arguments": [{"name": "title", "description": "Title of the note", "required": True}],
    }
    assert tours(foreign).result("prompts") == {"prompts": [titled(foreign, prompt)]}


@every_client
def test_a_prompt_is_filled_in(foreign: Foreign, tours: Tours) -> None:
    said = {"type": "text", "text": "Read note:///groceries and say what is unclear in it."}
    assert tours(foreign).result("prompt") == {
        "description": "Ask for a review of one note.",
        "messages": [{"role": "user", "content": said}],
    }


@every_client
def test_what_was_typed_is_completed(foreign: Foreign, tours: Tours) -> None:
    found = {"values": ["groceries"], "total": 1, "hasMore": False}
    assert tours(foreign).result("complete") == {"completion": found}


# Questions to the client.


@clients_with("elicitation")
def test_the_user_is_asked_with_a_form(foreign: Foreign, tours: Tours) -> None:
    form: dict[str, Any] = {
        "message": "Delete 'ideas'?",
        "requestedSchema": {
            "type": "object",
            "properties": {"delete": {"type": "boolean", "description": "Delete it for good?"}},
            "required": ["delete"],
        },
    }
    if foreign.revision >= MODES_SINCE:
        form["mode"] = "form"
    asked = [params for method, params in tours(foreign)["questions"] if method == "elicitation/create"]
    assert asked == [form, form]


@clients_with("elicitation")
def test_a_user_who_declines_keeps_the_note(foreign: Foreign, tours: Tours) -> None:
    result = tours(foreign).result("delete_declined")
    assert result == {**text("The user kept the note."), "isError": True}


@clients_with("elicitation")
def test_a_user_who_accepts_loses_the_note(foreign: Foreign, tours: Tours) -> None:
    assert tours(foreign).result("delete_accepted") == text("Deleted 'ideas'.")


@clients_with("sampling")
def test_the_model_of_the_client_is_asked_once_and_its_answer_used(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    prompt = {"role": "user", "content": {"type": "text", "text": "One line for: milk"}}
    asked = [params for method, params in tour["questions"] if method == "sampling/createMessage"]
    assert asked == [{"messages": [prompt], "maxTokens": 40}]
    assert tour.result("summarise") == text("foreign-1: buy milk")


@clients_with("roots")
def test_the_roots_of_the_client_are_known_to_the_server(foreign: Foreign, tours: Tours) -> None:
    result = text('["file:///workspace"]')
    if foreign.revision >= ANY_STRUCTURE_SINCE:
        result["structuredContent"] = ["file:///workspace"]
    assert tours(foreign).result("show_roots") == result


@clients_that(lambda foreign: "roots" in foreign.lacks)
def test_a_client_that_never_tells_its_roots_counts_as_one_without(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    assert tour["questions"] == [["roots/list", None]]
    assert tour.result("show_roots") == text("[]")


# Subscriptions.


@clients_with("listen")
def test_a_listen_stream_is_granted_as_it_was_asked_for(foreign: Foreign, tours: Tours) -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["note:///groceries"]}
    assert tours(foreign)["honored"] == wanted


@every_client
def test_each_change_is_told_once_and_only_to_who_watches(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    assert tour["watch"] is None
    assert tour["notices"] == [
        ["notifications/resources/updated", "note:///groceries"],
        ["notifications/tools/list_changed", None],
    ]


@every_client
def test_a_note_that_changed_reads_anew(foreign: Foreign, tours: Tours) -> None:
    contents = {"uri": "note:///groceries", "mimeType": "text/markdown", "text": "bread"}
    assert tours(foreign).result("read_again") == {"contents": [contents]}


@every_client
def test_a_tool_that_was_added_is_listed(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    before = [tool["name"] for tool in tour["tools"]["tools"]]
    assert [tool["name"] for tool in tour["tools_again"]["tools"]] == [*before, "extra_tool"]


# Closing.


@every_client
def test_the_client_ends_well(foreign: Foreign, tours: Tours) -> None:
    tour = tours(foreign)
    assert tour.code == 0, tour.stderr


@clients_that(lambda foreign: foreign.over == "stdio")
def test_the_server_leaves_by_itself_when_the_client_closes(foreign: Foreign, tours: Tours) -> None:
    probe = [[0, ["SIGTERM"]]] if foreign.probes_apart else []
    ends = [[server["code"], server["signals"]] for server in tours(foreign).servers]
    assert sorted(ends) == [[0, []], *probe]


@clients_that(lambda foreign: foreign.over != "stdio")
def test_the_server_stays_when_the_client_closes_and_ends_when_told_to(
    foreign: Foreign, tours: Tours
) -> None:
    assert [[server["code"], server["signals"]] for server in tours(foreign).servers] == [[0, ["SIGTERM"]]]


@every_client
def test_the_server_has_nothing_to_complain_about(foreign: Foreign, tours: Tours) -> None:
    assert {server["stderr"] for server in tours(foreign).servers} == {""}
