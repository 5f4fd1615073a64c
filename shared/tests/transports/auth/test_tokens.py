"""Static tokens: reading the list, and letting in who is on it."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.transports.auth.access import Refused
from mcp_server_core.transports.auth.tokens import StaticTokens

pytestmark = pytest.mark.anyio

TOKEN = "abcdefgh-IJKLMNOP-0123"
OTHER = "zyxwvuts-98765432=="


async def test_a_token_lets_in_the_one_it_is_named_after() -> None:
    tokens = StaticTokens.from_text(f"# who may come in\n\nalice:{TOKEN}\n  bob : {OTHER}  \n")
    assert await tokens.check(f"Bearer {TOKEN}".encode()) == "token:alice"
    assert await tokens.check(f"bearer {OTHER}".encode()) == "token:bob"


async def test_a_token_without_a_name_gives_a_stable_principal_that_does_not_tell_it() -> None:
    first = await StaticTokens.from_text(TOKEN).check(f"Bearer {TOKEN}".encode())
    again = await StaticTokens.from_text(f"{OTHER}\n{TOKEN}").check(f"Bearer {TOKEN}".encode())
    assert first == again
    assert first.startswith("token:#")
    assert TOKEN not in first


async def test_a_name_may_have_an_old_and_a_new_token() -> None:
    tokens = StaticTokens.from_text(f"alice:{TOKEN}\nalice:{OTHER}")
    principals = [await tokens.check(f"Bearer {token}".encode()) for token in (TOKEN, OTHER)]
    assert principals == ["token:alice", "token:alice"]


@pytest.mark.parametrize(
    "authorization", [None, b"", b"Basic " + TOKEN.encode(), TOKEN.encode(), b"Bearer \xff"]
)
async def test_a_request_without_a_token_is_asked_for_one(authorization: bytes | None) -> None:
    with pytest.raises(Refused) as caught:
        await StaticTokens.from_text(TOKEN).check(authorization)
    assert (caught.value.status, caught.value.challenge) == (401, 'Bearer realm="mcp"')


@pytest.mark.parametrize("token", [OTHER, TOKEN[:-1], TOKEN + "4", TOKEN.lower(), "a" * 1_000_000])
async def test_a_token_that_is_not_listed_is_refused(token: str) -> None:
    with pytest.raises(Refused) as caught:
        await StaticTokens.from_text(TOKEN).check(f"Bearer {token}".encode())
    assert (caught.value.status, caught.value.challenge) == (401, 'Bearer realm="mcp", error="invalid_token"')


@given(header=st.binary(max_size=100) | st.binary(max_size=60).map(b"Bearer ".__add__))
async def test_whatever_a_client_sends_is_refused_in_order(header: bytes, anyio_backend: str) -> None:
    with pytest.raises(Refused):
        await StaticTokens.from_text(TOKEN).check(header)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no token in it"),
        ("# nothing\n\n", "there is no token in it"),
        ("\nalice:short", "line 2: a token has at least 16 characters"),
        ("alice:", "line 1: a token has at least 16 characters"),
        (f":{TOKEN}", "line 1: a name consists of"),
        (f"al ice:{TOKEN}", "line 1: a name consists of"),
        (f"{TOKEN} {OTHER}", "line 1: a token consists of"),
        (f"{TOKEN}é", "line 1: a token consists of"),
        (f"alice:{TOKEN}\nbob:{TOKEN}", "the same token is listed under two names"),
    ],
)
def test_a_list_that_is_out_of_order_is_explained_without_telling_a_token(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        StaticTokens.from_text(text)
    assert TOKEN not in str(caught.value)


async def test_tokens_are_read_from_a_file_as_editors_write_it(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xef\xbb\xbfalice:" + TOKEN.encode() + b"\r\n")
    assert await StaticTokens.from_file(file).check(f"Bearer {TOKEN}".encode()) == "token:alice"


@pytest.mark.parametrize("data", [b"short", b"\xff\xfe" + TOKEN.encode()])
def test_an_error_in_a_file_names_the_file(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(data)
    with pytest.raises(ValueError, match="tokens"):
        StaticTokens.from_file(file)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize(("mode", "warnings"), [(0o600, 0), (0o640, 0), (0o644, 1)])
def test_a_file_that_everybody_can_read_is_pointed_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, warnings: int
) -> None:
    file = tmp_path / "tokens"
    file.write_text(TOKEN)
    file.chmod(mode)
    with caplog.at_level(logging.WARNING, "mcp_server_core"):
        StaticTokens.from_file(file)
    assert len(caplog.records) == warnings
    assert TOKEN not in caplog.text


def test_there_is_nothing_to_discover() -> None:
    assert StaticTokens.from_text(TOKEN).documents() == {}


def test_static_tokens_load_neither_jwt_nor_httpx() -> None:
    code = (
        "import sys; import mcp_server_core.transports.auth.tokens;"
        "sys.exit(bool({'jwt', 'httpx', 'cryptography', 'anyio'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
