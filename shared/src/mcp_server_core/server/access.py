"""The allowed places of each caller: what the operator granted, as the caller's roots narrow it."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..places import Grant, Patience, Places, RootsMode

_REMEMBERED = 64  # sets of roots; each holds a few open directories


class Access:
    """The operator's word, and one Places for each set of roots that clients have sent."""

    def __init__(self, grants: "Sequence[Grant] | Callable[[], Sequence[Grant]]" = ()) -> None:
        self._grants = grants
        self.mode: RootsMode = "narrow"
        self.read_only = False
        self._by_roots: OrderedDict[tuple[str, ...], Places] = OrderedDict()
        self._patience: Patience | None = None  # shared, so that a directory that hangs is known to all

    @property
    def wants_roots(self) -> bool:
        """Whether the client's roots make a difference at all."""
        return self.mode != "ignore"

    def known(self, roots: tuple[str, ...]) -> "Places | None":
        """The places of a caller with these roots, if there was one before."""
        return self._by_roots.get(roots)

    def places(self, roots: tuple[str, ...]) -> "Places":
        """The places of a caller with these roots. Blocks: it looks at the disk."""
        from ..places import Patience, Places

        known = self._by_roots.get(roots)
        if known is None:
            self._patience = patience = self._patience or Patience()
            known = Places(
                self._granted(), roots, mode=self.mode, read_only=self.read_only, patience=patience
            )
            known = self._by_roots.setdefault(roots, known)
            if len(self._by_roots) > _REMEMBERED:
                # Not closed here: a call may still be using it. Its directories go with the last reference.
                self._by_roots.popitem(last=False)
        return known

    def _granted(self) -> "Sequence[Grant]":
        """What the operator granted; worked out here if it was left for later."""
        if callable(self._grants):
            self._grants = tuple(self._grants())
        return self._grants
