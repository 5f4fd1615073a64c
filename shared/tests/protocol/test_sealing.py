"""`requestState`: what comes back is what was sealed for that very request, or nothing."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from mcp_server_core.errors import InvalidParams
from mcp_server_core.protocol.codec import encode
from mcp_server_core.protocol.sealing import KEY_VARIABLE, LIFETIME, Sealer, bind

NOW = 1_800_000_000.0
PAYLOAD = {"answers": {"elicit-1": {"action": "accept", "content": {"a": "é\n"}}}, "asked": {"elicit-1": "d"}}
PARAMS: dict[str, Any] = {"name": "t", "arguments": {"a": 1, "b": [True, None]}}
BINDING = bind("tools/call", PARAMS, "alice")
SEALER = Sealer({"k1": b"0123456789abcdef"})
TOKEN = SEALER.seal(PAYLOAD, binding=BINDING, now=NOW)
REFUSED = (-32602, "The request state is invalid or has expired. Send the request again without it.", None)


def refused(
    token: str, *, sealer: Sealer = SEALER, binding: bytes = BINDING, now: float = NOW
) -> tuple[Any, ...]:
    """The error a token is refused with."""
    with pytest.raises(InvalidParams) as caught:
        sealer.open(token, binding=binding, now=now)
    return caught.value.code, caught.value.message, caught.value.data


def test_a_state_that_comes_back_for_the_same_request_is_opened() -> None:
    # MR-8
    assert SEALER.open(TOKEN, binding=BINDING, now=NOW) == PAYLOAD


def test_a_state_is_text_that_needs_no_escaping() -> None:
    # MR-6: it is echoed byte for byte
    assert encode(TOKEN) == f'"{TOKEN}"'.encode()


# MR-8: tampering


@pytest.mark.parametrize("index", range(len(TOKEN)))
def test_a_state_with_any_one_character_changed_is_refused(index: int) -> None:
    # MR-8, MR-13: one fixed message whatever was wrong
    for other in "AB.=-_\x00é":
        if TOKEN[index] != other:
            assert refused(TOKEN[:index] + other + TOKEN[index + 1 :]) == REFUSED


@pytest.mark.parametrize("index", range(len(TOKEN)))
def test_a_state_with_any_one_character_missing_is_refused(index: int) -> None:
    # MR-8
    assert refused(TOKEN[:index] + TOKEN[index + 1 :]) == REFUSED


@pytest.mark.parametrize("index", range(len(TOKEN) + 1))
def test_a_state_with_one_character_more_is_refused(index: int) -> None:
    # MR-8
    for other in "A.= \n":
        altered = TOKEN[:index] + other + TOKEN[index:]
        if altered != TOKEN:
            assert refused(altered) == REFUSED


NAME, BODY, MAC = TOKEN.split(".")
OTHER_NAME, OTHER_BODY, OTHER_MAC = SEALER.seal({}, binding=BINDING, now=NOW).split(".")
PLAIN_BODY = urlsafe_b64encode(encode({"payload": {}, "until": NOW + 1})).decode()
FORGED = {
    "nothing": "",
    "dots": "..",
    "more dots": "....",
    "no key": f".{BODY}.{MAC}",
    "unknown key": f"k2.{BODY}.{MAC}",
    "no seal": f"k1.{BODY}.",
    "no seal at all": f"k1.{BODY}",
    "no body": f"k1..{MAC}",
    "another body": f"k1.{OTHER_BODY}.{MAC}",
    "another seal": f"k1.{BODY}.{OTHER_MAC}",
    "a body of one's own": f"k1.{PLAIN_BODY}.{MAC}",
    "broken text": "k1.!!!.!!!",
    "not ASCII": "日.本.語",
    "huge": "k1." + "A" * 1_000_000 + ".A",
}


@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_a_forged_state_is_refused(token: str) -> None:
    # MR-8, MR-13
    assert refused(token) == REFUSED


def test_a_state_sealed_with_another_key_of_the_same_name_is_refused() -> None:
    # MR-8
    assert refused(TOKEN, sealer=Sealer({"k1": b"fedcba9876543210"})) == REFUSED


# MR-9: bound to method, params and principal, and to a time

OTHERS: dict[str, bytes] = {
    "another method": bind("prompts/get", PARAMS, "alice"),
    "another principal": bind("tools/call", PARAMS, "bob"),
    "no principal": bind("tools/call", PARAMS, ""),
    "another tool": bind("tools/call", {**PARAMS, "name": "u"}, "alice"),
    "another argument": bind("tools/call", {**PARAMS, "arguments": {"a": 2, "b": [True, None]}}, "alice"),
    "an argument of another type": bind(
        "tools/call", {**PARAMS, "arguments": {"a": "1", "b": [True, None]}}, "alice"
    ),
    "true for one": bind("tools/call", {**PARAMS, "arguments": {"a": True, "b": [True, None]}}, "alice"),
    "an argument more": bind(
        "tools/call", {**PARAMS, "arguments": {**PARAMS["arguments"], "c": None}}, "alice"
    ),
    "no arguments": bind("tools/call", {"name": "t"}, "alice"),
    "a param more": bind("tools/call", {**PARAMS, "task": {}}, "alice"),
    "the parts shifted": bind("tools/callalice", PARAMS, ""),
}


@pytest.mark.parametrize("binding", OTHERS.values(), ids=OTHERS.keys())
def test_a_state_of_another_request_is_refused(binding: bytes) -> None:
    # MR-9, MR-13
    assert refused(TOKEN, binding=binding) == REFUSED


def test_a_state_is_not_bound_to_what_changes_with_a_retry() -> None:
    # MR-9, MR-7: envelope, answers and state itself are new each time, and members have no order
    retry = {
        "_meta": {"progressToken": 9},
        "requestState": TOKEN,
        "inputResponses": {"elicit-1": {}},
        "arguments": {"b": [True, None], "a": 1},
        "name": "t",
    }
    assert SEALER.open(TOKEN, binding=bind("tools/call", retry, "alice"), now=NOW) == PAYLOAD


def test_members_called_like_the_envelope_deeper_inside_are_bound() -> None:
    # MR-9
    inside = {"name": "t", "arguments": {"_meta": 1}}
    assert bind("tools/call", inside, "") != bind("tools/call", {"name": "t", "arguments": {}}, "")


@pytest.mark.parametrize("number", [2**64, -(10**300), 1e300])
def test_a_request_with_any_number_can_be_bound(number: float) -> None:
    assert len(bind("tools/call", {"arguments": {"n": number}}, "")) == 32


def test_a_state_is_good_until_its_time_is_over() -> None:
    # MR-9
    assert SEALER.open(TOKEN, binding=BINDING, now=NOW + LIFETIME) == PAYLOAD


def test_a_state_whose_time_is_over_is_refused() -> None:
    # MR-9, MR-13
    assert refused(TOKEN, now=NOW + LIFETIME + 0.001) == REFUSED


def test_a_state_lives_for_minutes() -> None:
    # MR-9, MR-13
    assert 60 <= LIFETIME <= 3600


# MR-13: keys

OLD, NEW = b"old-old-old-old-", b"new-new-new-new-"


def test_a_state_of_the_old_key_is_opened_after_rotation() -> None:
    token = Sealer({"old": OLD}).seal(PAYLOAD, binding=BINDING, now=NOW)
    assert Sealer({"new": NEW, "old": OLD}).open(token, binding=BINDING, now=NOW) == PAYLOAD


def test_the_first_key_seals() -> None:
    token = Sealer({"new": NEW, "old": OLD}).seal(PAYLOAD, binding=BINDING, now=NOW)
    assert Sealer({"new": NEW}).open(token, binding=BINDING, now=NOW) == PAYLOAD


def test_a_state_of_a_key_that_is_gone_is_refused() -> None:
    token = Sealer({"old": OLD}).seal(PAYLOAD, binding=BINDING, now=NOW)
    assert refused(token, sealer=Sealer({"new": NEW})) == REFUSED


def from_text(text: str) -> Sealer:
    return Sealer.from_environment({KEY_VARIABLE: text})


@pytest.mark.parametrize(
    ("sealing", "opening"),
    [
        ("a:0123456789abcdef", "a:0123456789abcdef"),
        ("a:0123456789abcdef", "b:fedcba9876543210,a:0123456789abcdef"),
        ("a:0123456789abcdef", " b:fedcba9876543210 , a:0123456789abcdef "),
        ("0123456789abcdef", "0123456789abcdef"),
        ("0123456789abcdef", "new:fedcba9876543210,0123456789abcdef"),
        ("a:" + "é" * 16, "a:" + "é" * 16),
        ("v1.2:0123456789abcdef", "v1.2:0123456789abcdef"),
    ],
)
def test_instances_with_the_same_keys_open_each_others_states(sealing: str, opening: str) -> None:
    # MR-13: keys from configuration, shared by all instances, rotated by id
    token = from_text(sealing).seal(PAYLOAD, binding=BINDING, now=NOW)
    assert from_text(opening).open(token, binding=BINDING, now=NOW) == PAYLOAD


@pytest.mark.parametrize("environment", [{}, {KEY_VARIABLE: ""}])
def test_without_a_configured_key_each_process_has_its_own(environment: dict[str, str]) -> None:
    # MR-13
    token = Sealer.from_environment(environment).seal(PAYLOAD, binding=BINDING, now=NOW)
    assert refused(token, sealer=Sealer.from_environment(environment)) == REFUSED


@pytest.mark.parametrize("text", ["short", "a:0123456789abcde", "a:", ":", ",", "a:0123456789abcdef,", " "])
def test_a_key_that_is_too_short_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match=r"^MCP_STATE_KEY: each secret has at least 16 characters$"):
        from_text(text)


@pytest.mark.parametrize(
    "text", ["0123456789abcdef,fedcba9876543210", "a:0123456789abcdef,a:fedcba9876543210"]
)
def test_two_keys_of_the_same_name_are_refused_at_the_start(text: str) -> None:
    # MR-13: rotation is by id; silently keeping one of the two would lose the other
    with pytest.raises(ValueError, match=KEY_VARIABLE):
        from_text(text)


def test_a_complaint_about_a_key_does_not_show_it() -> None:
    # SEC-13
    with pytest.raises(ValueError) as caught:
        from_text("name:s3cret")
    assert "s3cret" not in str(caught.value)
