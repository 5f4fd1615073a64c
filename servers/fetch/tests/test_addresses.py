"""Which addresses are public, in whatever spelling."""

from contextlib import suppress
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_fetch.addresses import is_metadata, literal, not_public, nowhere
from mcp_server_fetch.allowances import read_allowance

PRIVATE = {
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "169.254.1.1": "link-local",
    "169.254.169.254": "cloud metadata",
    "100.100.100.200": "cloud metadata",
    "100.64.0.1": "shared (carrier-grade NAT)",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "224.0.0.1": "multicast",
    "239.255.255.250": "multicast",
    "255.255.255.255": "broadcast",
    "240.0.0.1": "reserved",
    "192.0.0.8": "special-purpose",
    "192.0.2.1": "special-purpose",
    "198.18.0.1": "special-purpose",
    "203.0.113.9": "special-purpose",
    "::": "unspecified",
    "::1": "loopback",
    "fc00::1": "private",
    "fd12:3456::1": "private",
    "fec0::1": "private",
    "fe80::1": "link-local",
    "fd00:ec2::254": "cloud metadata",
    "ff02::1": "multicast",
    "2001:db8::1": "special-purpose",
    "2001::1": "special-purpose",
    "2002:7f00:1::": "special-purpose",
    "2002:808:808::": "special-purpose",
    "64:ff9b:1::808:808": "local NAT64",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.1.2.3": "private",
    "::ffff:169.254.169.254": "cloud metadata",
    "::127.0.0.1": "loopback",
    "::ffff:0:127.0.0.1": "loopback",
    "64:ff9b::127.0.0.1": "loopback",
    "64:ff9b::a9fe:a9fe": "cloud metadata",
    "4000::1": "reserved",
    "100::1": "special-purpose",
}
PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
)


@pytest.mark.parametrize(("text", "kind"), PRIVATE.items())
def test_an_address_that_is_not_public_is_called_what_it_is(text: str, kind: str) -> None:
    assert not_public(ip_address(text)) == kind


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_public(text: str) -> None:
    assert not_public(ip_address(text)) is None


@pytest.mark.parametrize(
    "text", ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::ffff:0.0.0.0"]
)
def test_some_addresses_are_nowhere(text: str) -> None:
    assert nowhere(ip_address(text)) is not None


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("3232235777", "192.168.1.1"),
        ("::1", "::1"),
        ("0:0:0:0:0:ffff:7f00:1", "::ffff:7f00:1"),
    ],
)
def test_every_spelling_of_an_address_is_one(host: str, address: str) -> None:
    assert literal(host) == ip_address(address)


@pytest.mark.parametrize("host", ["example.org", "1.2.3.4.example", "a.b.c", "localhost", "x0x7f"])
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host) is None


@pytest.mark.parametrize(
    "host", ["256.1.1.1", "1.2.3.4.5", "4294967296", "1..2", "fe80::1%eth0", "a.1", "09.1.1.1"]
)
def test_what_ends_like_a_number_and_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(ValueError):
        literal(host)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_and_its_wrapped_forms_are_judged_alike(address: object) -> None:
    plain = not_public(ip_address(str(address)))
    for prefix in ("::ffff:", "64:ff9b::", "::ffff:0:"):
        assert not_public(ip_address(f"{prefix}{address}")) == plain


@given(st.ip_addresses())
def test_what_is_nowhere_or_metadata_is_never_public(address: object) -> None:
    found = ip_address(str(address))
    if nowhere(found) or is_metadata(found):
        assert not_public(found) is not None


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_hosts(text: str) -> None:
    with suppress(ValueError):
        literal(text)


@pytest.mark.parametrize(
    ("text", "host", "port", "address", "covered"),
    [
        ("localhost", "LOCALHOST.", 80, "127.0.0.1", True),
        ("localhost:3000", "localhost", 3000, "::1", True),
        ("localhost:3000", "localhost", 3001, "::1", False),
        ("10.0.0.0/8", "intranet", 80, "10.9.9.9", True),
        ("10.0.0.0/8", "intranet", 80, "11.9.9.9", False),
        ("127.0.0.1", "x", 80, "::ffff:127.0.0.1", True),
        ("::ffff:127.0.0.1", "x", 80, "127.0.0.1", True),
        ("[::1]:8080", "x", 8080, "::1", True),
        ("::1", "x", 1, "::1", True),
        ("wiki.corp", "evil.example", 80, "10.0.0.1", False),
    ],
)
def test_an_allowance_covers_what_it_names(
    text: str, host: str, port: int, address: str, covered: bool
) -> None:
    assert read_allowance(text).covers(host, port, ip_address(address)) is covered


@pytest.mark.parametrize("text", ["", "http://x", "a/b", ":80", "10.0.0.0/99"])
def test_an_allowance_that_names_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no host"):
        read_allowance(text)
