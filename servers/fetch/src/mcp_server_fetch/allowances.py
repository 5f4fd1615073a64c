"""What the operator lets through the guard although it is private: the language of `--allow-host`."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import NamedTuple

from .addresses import Address, meant


class Allowance(NamedTuple):
    """Something private that the operator lets through: a name, an address or a network, perhaps at one port."""

    name: str | None
    network: IPv4Network | IPv6Network | None
    port: int | None

    def covers(self, host: str, port: int, address: Address) -> bool:
        """Whether a connection falls under it."""
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return meant(address) in self.network
        return self.name == _folded(host)


def read_allowance(text: str) -> Allowance:
    """What `--allow-host` says: `name`, `address` or `network`, each with an optional `:port`. Else ValueError."""
    host, port = text.strip(), None
    head, colon, tail = host.rpartition(":")
    if colon and tail.isdigit() and (":" not in head or head.endswith("]")):
        host, port = head, int(tail)
    host = host.removeprefix("[").removesuffix("]")
    try:
        network = ip_network(host)
        if network.num_addresses == 1:
            network = ip_network(meant(network.network_address))  # in whatever form the address is written
        return Allowance(None, network, port)
    except ValueError:
        pass
    if not host or "/" in host or ":" in host:
        raise ValueError(f"{text!r} is no host: a name, an address or a network such as 10.0.0.0/8")
    return Allowance(_folded(host), None, port)


def _folded(host: str) -> str:
    return host.lower().removesuffix(".")
