"""The metadata of a protected resource: what it says and where it is."""

import json

import pytest
from mcp_server_core.transports.auth.jwt import JwtAuthorizer
from mcp_server_core.transports.auth.resource import canonical

ISSUER = "https://issuer.example"
ROOT = "/.well-known/oauth-protected-resource"


def test_the_metadata_leads_to_the_issuer() -> None:
    authorizer = JwtAuthorizer(ISSUER, resource="https://Mcp.Example/mcp/", scopes=["mcp:read"])
    assert json.loads(authorizer.documents()[ROOT]) == {
        "resource": "https://mcp.example/mcp",
        "authorization_servers": [ISSUER],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["mcp:read"],
    }


def test_the_metadata_of_a_server_without_scopes_lists_none() -> None:
    authorizer = JwtAuthorizer(ISSUER, resource="https://mcp.example/mcp")
    assert "scopes_supported" not in json.loads(authorizer.documents()[ROOT])


@pytest.mark.parametrize(
    ("resource", "paths"),
    [
        ("https://mcp.example/mcp", {ROOT, f"{ROOT}/mcp"}),
        ("https://mcp.example/a/mcp/", {ROOT, f"{ROOT}/a/mcp"}),
        ("https://mcp.example", {ROOT}),
        ("https://mcp.example/", {ROOT}),
    ],
)
def test_the_metadata_is_at_the_root_and_under_the_path(resource: str, paths: set[str]) -> None:
    documents = JwtAuthorizer(ISSUER, resource=resource).documents()
    assert documents.keys() == paths
    assert len(set(documents.values())) == 1


@pytest.mark.parametrize(
    "resource",
    [
        "mcp",
        "/mcp",
        "ftp://a/mcp",
        "https://",
        "https://a/mcp?x=1",
        "https://a/#b",
        "https://u@a/",
        "https://é/",
        "https://a/\n",
    ],
)
def test_a_resource_is_a_plain_web_address(resource: str) -> None:
    with pytest.raises(ValueError, match="is not a public address"):
        JwtAuthorizer(ISSUER, resource=resource)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("HTTPS://A.Example:443/Path/", "https://a.example/Path"),
        ("http://a.example:80", "http://a.example"),
        ("http://a.example:443/", "http://a.example:443"),
        ("https://a.example/p?Q=1", "https://a.example/p?Q=1"),
        ("api://Notes/", "api://Notes/"),
        ("https://a.example/#f", "https://a.example/#f"),
        ("https://A.example\n", "https://A.example\n"),
    ],
)
def test_addresses_are_compared_in_one_spelling(uri: str, expected: str) -> None:
    assert canonical(uri) == expected
