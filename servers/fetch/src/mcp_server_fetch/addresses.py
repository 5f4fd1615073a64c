"""Which addresses are public, and which spellings are addresses. Pure: no name is looked up here.

The tables follow the IANA registries of special-purpose addresses. They are written out, because what the
standard library calls global differs between its releases.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Never a destination of a page, whatever the operator allows.
_NO_DESTINATION_4 = {
    "unspecified": "0.0.0.0/8",
    "multicast": "224.0.0.0/4",
    "broadcast": "255.255.255.255/32",
}
_SPECIAL_4 = {
    "loopback": "127.0.0.0/8",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16",
    "link-local": "169.254.0.0/16",
    "shared (carrier-grade NAT)": "100.64.0.0/10",
    "special-purpose": "192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24 "
    "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24",
    "reserved": "240.0.0.0/4",
}
_NO_DESTINATION_6 = {"unspecified": "::/128", "multicast": "ff00::/8"}
_SPECIAL_6 = {
    "loopback": "::1/128",
    "private": "fc00::/7 fec0::/10",
    "link-local": "fe80::/10",
    "local NAT64": "64:ff9b:1::/48",
    # Teredo, benchmarking, ORCHID, documentation, 6to4: no ordinary site lives there, and tunnels lead anywhere.
    "special-purpose": "2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 100::/64",
}
# Cloud machines hand out credentials here. `--allow-private-ips` does not open these; only their own name does.
_METADATA = {
    ip_address(text)
    for text in ("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "fd00:ec2::254")
}


def _networks_4(table: dict[str, str]) -> list[tuple[IPv4Network, str]]:
    return [(IPv4Network(text), name) for name, texts in table.items() for text in texts.split()]


def _networks_6(table: dict[str, str]) -> list[tuple[IPv6Network, str]]:
    return [(IPv6Network(text), name) for name, texts in table.items() for text in texts.split()]


_NOWHERE = (_networks_4(_NO_DESTINATION_4), _networks_6(_NO_DESTINATION_6))
_SPECIAL = (_networks_4(_SPECIAL_4), _networks_6(_SPECIAL_6))
_UNICAST_6 = IPv6Network("2000::/3")
# Prefixes whose last 32 bits are the IPv4 address that is meant: mapped, compatible, translated, NAT64.
_HOLDS_IPV4 = [IPv6Network(text) for text in ("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96")]


def meant(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one, where packets would end up there."""
    if isinstance(address, IPv6Address) and int(address) > 1 and any(address in net for net in _HOLDS_IPV4):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def nowhere(address: Address) -> str | None:
    """Why nothing can be fetched from an address, even if everything private is allowed."""
    return _find(_NOWHERE, meant(address))


def is_metadata(address: Address) -> bool:
    """Whether a cloud's metadata service answers there."""
    return meant(address) in _METADATA


def not_public(address: Address) -> str | None:
    """What kind of address this is, unless it is a public one."""
    address = meant(address)
    if address in _METADATA:
        return "cloud metadata"
    kind = _find(_NOWHERE, address) or _find(_SPECIAL, address)
    if kind is None and isinstance(address, IPv6Address) and address not in _UNICAST_6:
        return "reserved"
    return kind


def _find(
    tables: tuple[list[tuple[IPv4Network, str]], list[tuple[IPv6Network, str]]], address: Address
) -> str | None:
    if isinstance(address, IPv4Address):
        return next((name for network, name in tables[0] if address in network), None)
    return next((name for network, name in tables[1] if address in network), None)


_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def literal(host: str) -> Address | None:
    """The address a host spells, in any spelling a resolver or browser would take; None if it is a name.

    ValueError if it ends like a number and is no address: that is never a name.
    """
    if ":" in host:
        if "%" in host:
            raise ValueError("an address with a zone is never public")
        return IPv6Address(host)
    labels = host.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(labels[-1]):
        return None
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) for label in labels):
        raise ValueError("not an IPv4 address")
    return _from_numbers([_number(label) for label in labels])


def _number(label: str) -> int:
    if label[:2] in ("0x", "0X"):
        return int(label[2:] or "0", 16)
    if len(label) > 1 and label[0] == "0":
        return int(label, 8)
    return int(label)


def _from_numbers(numbers: list[int]) -> IPv4Address:
    """The last number fills all the bytes that the others leave (127.1 is 127.0.0.1)."""
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise ValueError("not an IPv4 address")
    high = sum(number << 8 * (3 - index) for index, number in enumerate(first))
    return IPv4Address(high + last)
