"""URI templates: the examples of RFC 6570, the way back, and URIs that mean harm."""

import sys
from collections.abc import Callable, Sequence
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.protocol.uris import Template, is_template, valid_uri

# Expanding

# RFC 6570, section 3.2: the values, and every published example as "template result".
VALUES: dict[str, str | list[str] | dict[str, str]] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
}

EXAMPLES = """
{count} one,two,three                      {count*} one,two,three
{/count} /one,two,three                    {/count*} /one/two/three
{;count} ;count=one,two,three              {;count*} ;count=one;count=two;count=three
{?count} ?count=one,two,three              {?count*} ?count=one&count=two&count=three
{&count*} &count=one&count=two&count=three

{var} value                                {hello} Hello%20World%21
{half} 50%25                               O{empty}X OX
O{undef}X OX                               {x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768      ?{x,empty} ?1024,
?{x,undef} ?1024                           ?{undef,y} ?768
{var:3} val                                {var:30} value
{list} red,green,blue                      {list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C            {keys*} semi=%3B,dot=.,comma=%2C

{+var} value                               {+hello} Hello%20World!
{+half} 50%25                              {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index O{+empty}X OX
O{+undef}X OX                              {+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar         up{+path}{var}/here up/foo/barvalue/here
{+x,hello,y} 1024,Hello%20World!,768       {+path,x}/here /foo/bar,1024/here
{+path:6}/here /foo/b/here                 {+list} red,green,blue
{+list*} red,green,blue                    {+keys} semi,;,dot,.,comma,,
{+keys*} semi=;,dot=.,comma=,

{#var} #value                              {#hello} #Hello%20World!
{#half} #50%25                             foo{#empty} foo#
foo{#undef} foo                            {#x,hello,y} #1024,Hello%20World!,768
{#path,x}/here #/foo/bar,1024/here         {#path:6}/here #/foo/b/here
{#list} #red,green,blue                    {#list*} #red,green,blue
{#keys} #semi,;,dot,.,comma,,              {#keys*} #semi=;,dot=.,comma=,

{.who} .fred                               {.who,who} .fred.fred
{.half,who} .50%25.fred                    www{.dom*} www.example.com
X{.var} X.value                            X{.empty} X.
X{.undef} X                                X{.var:3} X.val
X{.list} X.red,green,blue                  X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C        X{.keys*} X.semi=%3B.dot=..comma=%2C
X{.empty_keys} X                           X{.empty_keys*} X

{/who} /fred                               {/who,who} /fred/fred
{/half,who} /50%25/fred                    {/who,dub} /fred/me%2Ftoo
{/var} /value                              {/var,empty} /value/
{/var,undef} /value                        {/var,x}/here /value/1024/here
{/var:1,var} /v/value                      {/list} /red,green,blue
{/list*} /red/green/blue                   {/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C          {/keys*} /semi=%3B/dot=./comma=%2C

{;who} ;who=fred                           {;half} ;half=50%25
{;empty} ;empty                            {;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred                 {;x,y} ;x=1024;y=768
{;x,y,empty} ;x=1024;y=768;empty           {;x,y,undef} ;x=1024;y=768
{;hello:5} ;hello=Hello                    {;list} ;list=red,green,blue
{;list*} ;list=red;list=green;list=blue    {;keys} ;keys=semi,%3B,dot,.,comma,%2C
{;keys*} ;semi=%3B;dot=.;comma=%2C

{?who} ?who=fred                           {?half} ?half=50%25
{?x,y} ?x=1024&y=768                       {?x,y,empty} ?x=1024&y=768&empty=
{?x,y,undef} ?x=1024&y=768                 {?var:3} ?var=val
{?list} ?list=red,green,blue               {?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C     {?keys*} ?semi=%3B&dot=.&comma=%2C

{&who} &who=fred                           {&half} &half=50%25
?fixed=yes{&x} ?fixed=yes&x=1024           {&x,y,empty} &x=1024&y=768&empty=
{&x,y,undef} &x=1024&y=768                 {&var:3} &var=val
{&list} &list=red,green,blue               {&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C     {&keys*} &semi=%3B&dot=.&comma=%2C
"""


def pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize(("template", "uri"), pairs(EXAMPLES.split()))
def test_a_published_example_expands_as_published(template: str, uri: str) -> None:
    assert Template(template).expand(VALUES) == uri


def test_text_outside_ascii_is_escaped_as_utf_8_in_literals_and_values() -> None:
    assert Template("café/{x}{?y}").expand({"x": "ü", "y": "€"}) == "caf%C3%A9/%C3%BC?y=%E2%82%AC"


def test_escapes_in_literals_and_reserved_values_are_kept() -> None:
    assert Template("a%2Fb/{+x}/{x}").expand({"x": "%2F%"}) == "a%2Fb/%2F%25/%252F%25"


def test_a_prefix_counts_characters_not_bytes() -> None:
    assert Template("{x:2}").expand({"x": "äöü"}) == "%C3%A4%C3%B6"


def test_an_empty_member_of_an_exploded_list_keeps_its_place() -> None:
    assert Template("{/x*}{;x*}{?x*}").expand({"x": ["a", ""]}) == "/a/;x=a;x?x=a&x="


def test_an_empty_list_is_as_good_as_no_value() -> None:
    assert Template("a{?x,y*}").expand({"x": [], "y": []}) == "a"


def test_a_prefix_of_a_list_is_refused() -> None:
    with pytest.raises(ValueError, match="takes a string"):
        Template("{x:3}").expand({"x": ["abc"]})


def test_a_lone_surrogate_cannot_be_expanded() -> None:
    with pytest.raises(ValueError):
        Template("{x}").expand({"x": "\udc80"})


# Parsing


@pytest.mark.parametrize(
    "text",
    ["{", "}", "{}", "{a", "a}", "{a}}", "{{a}}", "{a{b}c}", "{,}", "{a,}", "{,a}", "{+}", "{=a}", "{!a}", "{|a}", "{@a}", "{??a}",
     "{a:0}", "{a:01}", "{a:10000}", "{a:}", "{a:x}", "{a:3*}", "{a*:3}", "{a-b}", "{a..b}", "{.a.}", "{%2}", "{é}", "{a b}", "{a }",
     "a%2", "a%zz", "a<b", "a>b", "a|b", "a^b", "a`b", "a\\b", "a b", "a\nb", "a\x00b", "a\x7fb", "a\x9fb", "\ud800", "%ff", "{%ff}"],
)  # fmt: skip
def test_a_malformed_template_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError) as refusal:
        Template(text)
    assert repr(text) in str(refusal.value)


def test_variables_are_named_once_in_the_order_they_appear() -> None:
    assert Template("{b}/{a:1}/{a}{?b,c*,x.y,%41}").variables == ("b", "a", "c", "x.y", "%41")


def test_a_template_shows_its_text() -> None:
    assert (Template("a{b}").text, repr(Template("a{b}"))) == ("a{b}", "Template('a{b}')")


@pytest.mark.parametrize(("text", "answer"), [("a:{b}", True), ("a:b", False), ("", False), ("a:{b", True)])
def test_a_brace_makes_a_template(text: str, answer: bool) -> None:
    assert is_template(text) is answer


# Matching


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("note:///all", "note:///all", {}),
        ("note:///all", "note:///other", None),
        ("", "", {}),
        ("aba{x}aba", "aba", None),
        # One segment
        ("note:///{title}", "note:///My%20note", {"title": "My note"}),
        ("note:///{title}", "note:///a,b:c@d!(e)'*&=+", {"title": "a,b:c@d!(e)'*&=+"}),
        ("note:///{title}", "note:///a%2Fb%3Fc%23d", {"title": "a/b?c#d"}),
        ("note:///{title}", "note:///a/b", None),
        ("note:///{title}", "note:///a?b", None),
        ("note:///{title}", "note:///a#b", None),
        ("note:///{title}", "note:///", None),
        ("note:///{title}", "Note:///a", None),
        ("db:///{table}/{row}", "db:///t/1", {"table": "t", "row": "1"}),
        ("geo:{lat,long}", "geo:1,2", {"lat": "1", "long": "2"}),
        ("geo:{lat,long}", "geo:1", None),
        ("geo:{lat,long}", "geo:1,2,3", None),
        ("{x*}", "a,b%2Cc", {"x": ["a", "b,c"]}),
        # Reserved characters too
        ("file:///{+path}", "file:///a/b%20c/d", {"path": "a/b c/d"}),
        ("file:///{+path}", "file:///a?b#c", {"path": "a?b#c"}),
        ("file:///{+path}", "file:///", None),
        ("file:///{+folder}/{name}", "file:///a/b/c", {"folder": "a/b", "name": "c"}),
        ("x{#y}", "x#a/b?c", {"y": "a/b?c"}),
        ("x{#y}", "x#", {"y": ""}),
        ("x{#y}", "x", {}),
        ("x{#y,z}", "x#a,b", {"y": "a", "z": "b"}),
        ("x{#y,z}", "x,b", None),
        ("{+x*}", "a/b,c", {"x": ["a/b", "c"]}),
        # Segments
        ("f{/x*}", "f/a/b%2Fc/", {"x": ["a", "b/c", ""]}),
        ("f{/x*}", "f", {}),
        ("f{/x*}", "fa", None),
        ("f{/x,y}", "f/a", {"x": "a"}),
        ("f{/x,y}", "f/a/b", {"x": "a", "y": "b"}),
        ("f{/x,y}", "f/a/b/c", None),
        # Labels
        ("{name}{.ext}", "readme", {"name": "readme"}),
        ("{name}{.ext}", "a.b.txt", {"name": "a.b", "ext": "txt"}),
        ("www{.x*}", "www.example.com", {"x": ["example", "com"]}),
        # Parameters
        ("s{?a,b}", "s", {}),
        ("s{?a,b}", "s?a=1&b=2", {"a": "1", "b": "2"}),
        ("s{?a,b}", "s?b=2&a=1", {"a": "1", "b": "2"}),
        ("s{?a,b}", "s?b=2", {"b": "2"}),
        ("s{?a,b}", "s?a=&b", {"a": "", "b": ""}),
        ("s{?a,b}", "s?a=x=y/?z+%26", {"a": "x=y/?z+&"}),
        ("s{?a,b}", "s?", None),
        ("s{?a,b}", "s?c=3", None),
        ("s{?a,b}", "s?a=1&c=3", None),
        ("s{?a,b}", "s?a=1&a=1", None),
        ("s{?a,b}", "s?a=1&", None),
        ("s{?a,b}", "s?ab=1", None),
        ("s{?a,b}", "s&a=1", None),
        ("s{?a*,b}", "s?a=1&b=2&a=3", {"a": ["1", "3"], "b": "2"}),
        ("s{?a:2}", "s?a=12", {"a": "12"}),
        ("s{?a:2}", "s?a=123", None),
        ("s{?first.name}", "s?first.name=x", {"first.name": "x"}),
        ("s?v=1{&a,b}", "s?v=1&b=2&a=1", {"a": "1", "b": "2"}),
        ("s?v=1{&a,b}", "s?v=1", {}),
        ("s{?a}{#b}", "s?a=1#2", {"a": "1", "b": "2"}),
        ("m{;x,y}/z", "m;y=2;x/z", {"x": "", "y": "2"}),
        ("m{;x*}", "m;x=1;x=2", {"x": ["1", "2"]}),
        ("{+path}{?q}", "a/b?q=1", {"path": "a/b", "q": "1"}),
        # Prefixes
        ("{x:3}", "abc", {"x": "abc"}),
        ("{x:3}", "abcd", None),
        ("{x:3}", "%C3%A9%C3%A9%C3%A9", {"x": "ééé"}),
        ("{x:2}{y}", "abcd", {"x": "ab", "y": "cd"}),
        ("{x:1}/{x}", "v/value", {"x": "value"}),
        ("{x:1}/{x}", "w/value", None),
        ("{x:1}/{x:2}", "v/va", {"x": "va"}),
        # Several readings
        ("{a}{b}", "xyz", {"a": "xy", "b": "z"}),
        ("{a}.{b}", "x.y.z", {"a": "x.y", "b": "z"}),
        ("{+a}/{b}/{+c}", "1/2/3/4", {"a": "1/2", "b": "3", "c": "4"}),
        ("{/a*,b}", "/1/2/3", {"a": ["1", "2"], "b": "3"}),
        ("{a}/{a}", "x/x", {"a": "x"}),
        ("{a}/{a}", "x/y", None),
        ("{+folder}/{name}{?q}", "a/b?q=x%2Fy", {"folder": "a", "name": "b", "q": "x/y"}),
        ("{a}{;b,c}", "x;b=1;c=2", {"a": "x", "b": "1", "c": "2"}),
        ("{+a}{b}", "x%2Fy", {"a": "x", "b": "/y"}),
        ("{#a:1,b}", "#xx", {"b": "xx"}),
        # Less or more escaped than by the RFC
        ("{a}{b}", "x,y", {"a": "x,", "b": "y"}),
        ("file:///{+path}", "file:///C%3A/x", {"path": "C:/x"}),
        # The same URI, written differently
        ("a%2fb/é/{x}", "%61%2Fb/%c3%a9/%7e", {"x": "~"}),
        ("a%2fb/é/{x}", "a/b/é/x", None),
        ("note:///{title}", "note:///日本", {"title": "日本"}),
    ],
)
def test_a_uri_is_read_back(template: str, uri: str, values: dict[str, str | list[str]] | None) -> None:
    assert Template(template).match(uri) == values


@pytest.mark.parametrize("template", ["x:{a}", "x:{+a}", "x:{#a}", "x:{/a*}", "x:{?a}", "x:{;a}"])
@pytest.mark.parametrize(
    "harm",
    ["%", "%4", "%4g", "%-1", "%+1", "% 1", "%u0041", "%ff", "%c3", "%c3a9", "%a9", "%c0%ae", "%ed%a0%80", "%f5%80%80%80",
     "%00", "\x00", "\n", "\r", "\t", " ", "\x7f", "\x85", "\ud800", "<", '"', "\\", "^", "`", "{", "}", "|"],
)  # fmt: skip
def test_what_cannot_stand_in_a_uri_is_no_match(template: str, harm: str) -> None:
    matched = Template(template)
    start = matched.expand({"a": ["1"] if "*" in template else "1"})
    assert matched.match(start) is not None
    assert [matched.match(uri) for uri in (start + harm, start + harm + "~", harm + start)] == [None] * 3


@pytest.mark.parametrize(
    ("escaped", "value"), [("%252e%252e%252f", "%2e%2e%2f"), ("%2525", "%25"), ("%2500", "%00")]
)
@pytest.mark.parametrize("template", ["{x}", "{+x}", "{?x}"])
def test_nothing_is_decoded_twice(template: str, escaped: str, value: str) -> None:
    uri = ("?x=" if "?" in template else "") + escaped
    assert Template(template).match(uri) == {"x": value}


def test_an_escaped_control_character_other_than_nul_is_data() -> None:
    assert Template("f:{x}").match("f:a%0Ab") == {"x": "a\nb"}


def test_escapes_of_one_character_are_never_split_between_variables() -> None:
    assert Template("{a}{b}").match("%E2%82%AC%C3%A9") == {"a": "€", "b": "é"}
    assert Template("{a}{b}").match("%E2%82%AC") is None


# There and back

ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TRICKY = st.sampled_from("ab1./;?&=#,:é%~ 日")


@st.composite
def expansions(draw: st.DrawFn) -> tuple[str, dict[str, str | list[str]]]:
    """A template of any shape, and ordinary values for it: what `{x}` and `{+x}` need, and some of the rest."""
    text = ""
    values: dict[str, str | list[str]] = {}
    for number in range(draw(st.integers(1, 5))):
        operator = draw(st.sampled_from(["", "+", "#", ".", "/", ";", "?", "&"]))
        specs: list[str] = []
        for letter in "abc"[: draw(st.integers(1, 3))]:
            modifier = draw(st.sampled_from(["", "", "*", ":9999" if operator in (";", "?", "&") else ":2"]))
            specs.append(f"{letter}{number}{modifier}")
            chars = (TRICKY | ANY).filter(lambda char, op=operator: char != "%" or op not in ("+", "#"))
            words = st.text(chars, min_size=int(operator in ("", "+", ";")), max_size=6)
            if operator in ("", "+") or draw(st.booleans()):
                values[f"{letter}{number}"] = draw(
                    st.lists(words, min_size=1, max_size=3) if modifier == "*" else words
                )
        text += draw(st.text("ab./;?&=#,", max_size=3)) + f"{{{operator}{','.join(specs)}}}"
    return text, values


@given(expansions())
def test_what_is_matched_from_an_expansion_expands_to_it_again(
    case: tuple[str, dict[str, str | list[str]]],
) -> None:
    template, values = Template(case[0]), case[1]
    uri = template.expand(values)
    found = template.match(uri)
    assert found is not None
    assert template.expand(found) == uri


@given(st.text(ANY, min_size=1))
def test_a_lone_variable_comes_back_as_it_was(value: str) -> None:
    template = Template("note:///{title}{?title}")
    assert template.match(template.expand({"title": value})) == {"title": value}


@given(st.lists(st.text(ANY), min_size=1))
def test_exploded_segments_and_parameters_come_back_as_they_were(values: list[str]) -> None:
    for template in map(Template, ("x{?x*}", "x{/x*}" if "/" not in "".join(values) else "x{;x*}")):
        assert template.match(template.expand({"x": values})) == {"x": values}


@given(
    st.lists(st.sampled_from(["{%s}", "{+%s}", "{#%s}", "{.%s}", "{/%s}", "{.%s*}", "{/%s*}", "{%s:2}", "a", "/", "."]), max_size=6),
    st.text("ab./#,", max_size=12),
)  # fmt: skip
def test_whatever_matches_spells_out_the_uri(shapes: list[str], uri: str) -> None:
    text = "".join(shape.replace("%s", f"x{index}") for index, shape in enumerate(shapes))
    found = Template(text).match(uri)
    assert found is None or unquote(Template(text).expand(found)) == uri


@given(st.text(), expansions())
def test_no_text_makes_match_raise(uri: str, case: tuple[str, object]) -> None:
    Template(case[0]).match(uri)


# Speed

EIGHT = [
    "{a}{b}{c}{d}{e}{f}{g}{h}",
    "{a}a{b}a{c}a{d}a{e}a{f}a{g}a{h}",
    "{+a}/{b}/{+c}/{d}/{+e}/{f}/{+g}/{h}",
    "{+a,b,c,d,e,f,g,h}",
    "{a:9999}{b:9999}{c:9999}{d:9999}{e*}{f*}{g}{h}",
    "{?a*,b,c,d,e,f,g,h}",
    "{/a*}{/b*}{.c*}{.d*}{;e*}{;f*}{?g*}{&h*}",
]
HOSTILE = ["a", "/", "a/", ".", ",", "?a=", "&a=", ";e=", "%41", "%2F", "%C3%A9", "a/?a=a&", "/.;?&#"]


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called, in Python and in C. It does not flicker as a clock does."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("template", EIGHT)
@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("start", ["", "?a=1"])
def test_twice_the_uri_is_at_most_twice_the_work(template: str, unit: str, start: str) -> None:
    matched = Template(template)
    once, twice = (count_calls(lambda n=n: matched.match(start + unit * n)) for n in (2_000, 4_000))
    assert twice <= 2.1 * once


@pytest.mark.parametrize("template", EIGHT)
@pytest.mark.parametrize("end", ["", "#", "%"])
def test_a_hostile_uri_of_100_kb_comes_to_an_end(template: str, end: str) -> None:
    # No clock: each takes milliseconds, or, should anything backtrack, longer than anyone waits.
    for unit in HOSTILE:
        Template(template).match("?a=1" + unit * (100_000 // len(unit)) + end)


# URIs


@pytest.mark.parametrize(
    "text",
    ["file:///a/b", "urn:isbn:1", "a:", "a+b-c.1:x", "http://u:p@[::1]:80/p;x=1?q=/?#f/?", "x:%20%C3%A9", "x:%ff", "mailto:a@b.c"]
)  # fmt: skip
def test_a_uri_is_valid(text: str) -> None:
    assert valid_uri(text)


@pytest.mark.parametrize(
    "text",
    ["", "a", "/a", "//a/b", "1a:b", ":a", "é:a", "a:é", "a:b c", "a:b\n", "a:\x00", "a:%", "a:%4", "a:%zz", "a:{b}", "a:b#c#d", "a:/[b]", "a:b?[c]", "a:\ud800", "a:\\b", "a:<b>"]
)  # fmt: skip
def test_what_is_no_uri_is_not_valid(text: str) -> None:
    assert not valid_uri(text)


def test_a_megabyte_of_near_uri_comes_to_an_end() -> None:
    assert not valid_uri("a:" + "%41b" * 250_000 + "%")
