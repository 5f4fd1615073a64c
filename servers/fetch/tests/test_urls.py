"""Reading URLs: one address that is checked, shown and connected to."""

import pytest
from httpx import URL
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_fetch.problems import Refused
from mcp_server_fetch.urls import is_under, read_url


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" https://Example.ORG/a?b#c ", "https://example.org/a?b"),
        ("example.org/page", "https://example.org/page"),
        ("localhost:3000/page", "https://localhost:3000/page"),
        ("example.org:8443/page", "https://example.org:8443/page"),
        ("//example.org/x", "https://example.org/x"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://[0:0::1]/", "http://[::1]/"),
    ],
)
def test_a_url_has_one_form(text: str, canonical: str) -> None:
    url = read_url(text)
    assert str(url.copy_with(host=url.raw_host.decode())) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "unix:///var/run/docker.sock",
        "http://",
        "http:///path",
        "http://[fe80::1%25eth0]/",
        "http://999.1.1.1/",
        "http://a..b/",
        "http://exa mple.org/",
        "http://example.org:99999/",
        "http://good.example\\@evil.example/",
        "http://evil.example℀.good.example/",
        "",
    ],
)
def test_what_is_no_page_on_the_web_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://user:secret@exa mple.org/",
        "http://user:pass@secret@exa mple.org/",
        "http://user:secret/word@[bad",
        "https:user:secret@example.org/",
        "https:/user:secret@example.org/",
        "http:\\\\user:secret@example.org/",
        "user:secret@example.org",
    ],
)
def test_a_refusal_never_shows_a_password(text: str) -> None:
    with pytest.raises(Refused) as refused:
        read_url(text)
    assert "secret" not in str(refused.value)


@given(st.text(max_size=80))
def test_no_text_breaks_the_reading_of_urls(text: str) -> None:
    for candidate in (text, f"http://{text}", f"http://{text}/x"):
        try:
            url = read_url(candidate)
        except Refused:
            continue
        assert url.scheme in ("http", "https")
        assert not url.userinfo
        assert url.host


@pytest.mark.parametrize(
    ("url", "prefix", "inside"),
    [
        ("https://a.example/docs/x", "https://a.example/docs", True),
        ("https://a.example/docs", "https://a.example/docs/", False),
        ("https://a.example/docs", "https://a.example/docs", True),
        ("https://a.example/docs-secret", "https://a.example/docs", False),
        ("https://a.example/docs/../private", "https://a.example/docs", False),
        ("https://a.example/docs/%2e%2e/private", "https://a.example/docs", False),
        ("http://a.example/docs/x", "https://a.example/docs", False),
        ("https://a.example:8443/docs/x", "https://a.example/docs", False),
        ("https://a.example:443/docs/x", "https://a.example/docs", True),
        ("https://a.example/docs/..%2fprivate", "https://a.example/docs", False),
        ("https://a.example/docs/..\\private", "https://a.example/docs", False),
        ("https://a.example/docs/..;x/private", "https://a.example/docs", False),
        ("https://a.example/docs/%252e%252e/private", "https://a.example/docs", False),
        ("https://a.example/docs//%2e%2e/private", "https://a.example/docs", False),
        ("https://a.example/docs/..%00/private", "https://a.example/docs", False),
        ("https://a.example/docs/a..b/x;y/...", "https://a.example/docs", True),
        ("https://a.example/docs/", "https://a.example/docs/", True),
        ("https://b.a.example/docs/x", "https://a.example/docs", False),
        ("https://a.example/x", "https://a.example", True),
        ("https://a.example/x", "file:///", False),
    ],
)
def test_a_prefix_ends_at_a_slash(url: str, prefix: str, inside: bool) -> None:
    assert is_under(URL(url), prefix) is inside
