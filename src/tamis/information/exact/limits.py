"""The refusal of a question whose tables would not fit in memory."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.errors import DataError

CELL = 8
"""Bytes of a probability."""
MOST_AXES = 32
"""The number of dimensions that every supported numpy can hold."""
MOST_CELLS = 2**31
"""With two levels or more a variable, a table and one axis more stay below ``MOST_AXES``."""
SHOWN = 8
"""Variables that a message names."""


class TooLarge(DataError):  # noqa: N818 -- an error by its family, a size by its name
    """A question that exact inference cannot answer in the memory it was allowed.

    ``cells`` and ``bytes`` are the size of the largest single table that it needs, and ``what``
    names the variables whose joint distribution needs it.
    """

    def __init__(self, cells: int, limit: float, what: Sequence[str]) -> None:
        self.cells = cells
        self.bytes = cells * CELL
        self.what = tuple(what)
        most = MOST_CELLS * CELL
        super().__init__(
            f"the joint distribution of {_listed(self.what)} needs a table of {cells:.3g} cells, "
            f"{_size(self.bytes)}; {_size(min(limit, most))} are allowed. Condition on fewer "
            f"variables, merge levels, or raise memory_limit, which can be {_size(most)} at most."
        )


def check_size(cells: int, limit: float, what: Sequence[str]) -> None:
    """Refuse a table of more cells than fit into the limit, which is in bytes."""
    if cells > MOST_CELLS or cells * CELL > limit:
        raise TooLarge(cells, limit, what)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} TiB"
