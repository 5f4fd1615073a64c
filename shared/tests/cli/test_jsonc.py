"""Edits of JSON with comments: what changes, and above all what does not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.cli.jsonc import parse, put, remove

COMMENTED = """\
// my settings
{
  "theme": "dark", // as it should be
  /* servers */
  "mcpServers": {
    "other": { "command": "node", "args": ["a.js"] } // keep me
  },
}
"""


def test_comments_and_a_trailing_comma_are_read() -> None:
    assert parse(COMMENTED) == {
        "theme": "dark",
        "mcpServers": {"other": {"command": "node", "args": ["a.js"]}},
    }


def test_a_new_member_takes_the_manner_of_its_neighbours() -> None:
    assert put(COMMENTED, ["mcpServers", "files"], {"command": "x"}) == COMMENTED.replace(
        "} // keep me\n", '}, // keep me\n    "files": {\n      "command": "x"\n    }\n'
    )


def test_a_new_object_on_the_way_follows_the_trailing_comma() -> None:
    assert put(COMMENTED, ["servers", "x"], 1) == COMMENTED.replace(
        "  },\n}", '  },\n  "servers": {\n    "x": 1\n  },\n}'
    )


def test_an_existing_value_is_replaced_alone() -> None:
    assert put(COMMENTED, ["theme"], "light") == COMMENTED.replace('"dark"', '"light"')


def test_tabs_are_kept() -> None:
    text = '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'
    assert put(text, ["a", "c"], {"d": 2}) == (
        '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": 2\n\t\t}\n\t}\n}\n'
    )


def test_a_line_stays_a_line() -> None:
    assert put('{"a": {"b": 1}}', ["a", "c"], [2]) == '{"a": {"b": 1, "c": [2]}}'


@pytest.mark.parametrize("text", ["", "  \n", "\t\n\n"])
def test_an_empty_document_becomes_one(text: str) -> None:
    made = put(text, ["a", "b"], 1)
    assert parse(made) == {"a": {"b": 1}}
    assert made.endswith('{\n  "a": {\n    "b": 1\n  }\n}\n')


def test_a_document_of_comments_keeps_them() -> None:
    assert put("// nothing yet\n", ["a"], 1) == '// nothing yet\n{\n  "a": 1\n}\n'


def test_an_empty_object_with_a_comment_keeps_it() -> None:
    assert put("{\n  // none\n}\n", ["a"], 1) == '{\n  // none\n  "a": 1\n}\n'


def test_what_was_put_in_is_taken_out_without_a_trace() -> None:
    assert (
        remove(put(COMMENTED, ["mcpServers", "files"], {"command": "x"}), ["mcpServers", "files"])
        == COMMENTED
    )


def test_the_first_of_several_is_taken_out_with_its_line() -> None:
    text = '{\n  "a": 1, // one\n  "b": 2\n}\n'
    assert remove(text, ["a"]) == '{\n  "b": 2\n}\n'


def test_the_only_one_leaves_an_empty_object() -> None:
    assert remove('{\n  "a": {\n    "b": 1\n  }\n}\n', ["a", "b"]) == '{\n  "a": {}\n}\n'


def test_a_key_that_stands_twice_is_gone_after_removal() -> None:
    assert parse(remove('{"a": 1, "b": 2, "a": 3}', ["a"])) == {"b": 2}


@pytest.mark.parametrize("path", [["x"], ["a", "x"], ["x", "y"]])
def test_removing_what_is_not_there_changes_nothing(path: list[str]) -> None:
    assert remove(text := '{"a": {"b": 1}}', path) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1', 1),
        ('{\n"a" 1}', 2),
        ("{\n\na: 1}", 3),
        ('{"a": 1} x', 1),
        ('{"a": nope}', 1),
        ('{"a": "x\n"}', 1),
        ("{'a': 1}", 1),
        ("[1 2]", 1),
        ("/* open", 1),
    ],
)
def test_a_broken_document_is_refused_with_the_line(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"^line {line}: "):
        put(text, ["x"], 1)


@pytest.mark.parametrize("text", ["[]", '"a"', '{"a": 1}', '{"a": []}'])
def test_a_value_that_is_no_object_is_not_entered(text: str) -> None:
    with pytest.raises(ValueError, match="is not an object"):
        put(text, ["a", "b"], 1)


def test_nesting_is_bounded() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        parse("[" * 5000)


def test_null_on_the_way_makes_room_for_an_object() -> None:
    assert put('{"a": null}', ["a", "b"], 1) == '{"a": {"b": 1}}'


def test_a_comment_of_several_lines_stays_behind_its_value() -> None:
    text = '{\n  "a": 1 /* one\n  two */\n}\n'
    changed = put(text, ["b"], 2)
    assert changed == '{\n  "a": 1, /* one\n  two */\n  "b": 2\n}\n'
    assert remove(changed, ["b"]) == text


def test_a_value_in_a_document_of_one_line_is_written_in_one_line() -> None:
    assert put('{"a": {"b": 1}}', ["a", "b"], {"c": [2]}) == '{"a": {"b": {"c": [2]}}}'


KEYS = st.sampled_from(["a", "b", "mcpServers", 'q"uote', "ü", "//", "/*"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
INDENTS = st.sampled_from([None, 2, 4, "\t"])


@given(OBJECTS, INDENTS, st.booleans(), KEYS, KEYS, VALUES)
def test_an_edit_changes_one_value_and_nothing_else(
    document: dict[str, Any], indent: Any, commented: bool, first: str, second: str, value: Any
) -> None:
    text = json.dumps(document, indent=indent)
    if commented:  # what is read by the standard library otherwise is read by ours
        text = f"// mine\n{text}"
    expected = json.loads(json.dumps(document))
    if expected.get(first, "") is None:
        expected[first] = {}
    if not isinstance(expected.get(first, {}), dict):
        with pytest.raises(ValueError, match="is not an object"):
            put(text, [first, second], value)
        return
    expected.setdefault(first, {})[second] = value
    changed = put(text, [first, second], value)
    assert parse(changed) == json.loads(changed.removeprefix("// mine\n")) == expected
    del expected[first][second]
    removed = remove(changed, [first, second])
    assert parse(removed) == json.loads(removed.removeprefix("// mine\n")) == expected


@given(st.text(alphabet='{}[]",:/* \n1a\\', max_size=40))
def test_rubbish_is_read_or_refused(text: str) -> None:
    try:
        value = parse(text)
    except ValueError:
        return
    assert json.dumps(value)
