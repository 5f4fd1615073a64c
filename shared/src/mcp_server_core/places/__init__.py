"""Allowed places: which directories a server may touch, and how it touches nothing else.

`parse_grants` reads the operator's directories, `Places` joins them with a client's roots, `Places.resolve` turns
a path into a `Spot`, and a Spot is where things are read and changed. `replace` writes a file atomically.
Everything blocks: call it from a worker thread. Standard library only.
"""

from mcp_server_core.places.effective import Listed
from mcp_server_core.places.handles import Identity, Place
from mcp_server_core.places.patience import Patience
from mcp_server_core.places.places import Places
from mcp_server_core.places.policy import ClientRoot, Grant, RootsMode, parse_grant, parse_grants, parse_root
from mcp_server_core.places.refusals import Changed, Missing, OtherDisk, Refused, Taken, shown
from mcp_server_core.places.replace import Stamp, Written, create_exclusive, replace
from mcp_server_core.places.spot import Spot
from mcp_server_core.places.turns import turn

__all__ = [
    "Changed",
    "ClientRoot",
    "Grant",
    "Identity",
    "Listed",
    "Missing",
    "OtherDisk",
    "Patience",
    "Place",
    "Places",
    "Refused",
    "RootsMode",
    "Spot",
    "Stamp",
    "Taken",
    "Written",
    "create_exclusive",
    "parse_grant",
    "parse_grants",
    "parse_root",
    "replace",
    "shown",
    "turn",
]
