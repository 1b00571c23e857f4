"""What is asked of ``tamis.discretize``, checked; and the cutting of one column by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np

from tamis.errors import DataError, SettingError
from tamis.plugins import is_whole
from tamis.tables.discretize.gaps import Floats, Gaps, Ints, gaps_of
from tamis.tables.discretize.labels import outer_edges
from tamis.tables.discretize.mdl import mdl_cuts
from tamis.tables.discretize.methods import equal_width_cuts, kmeans_cuts, quantile_cuts
from tamis.tables.discretize.supervised import supervised_cuts
from tamis.tables.refusals import listed, shown

Method = Literal["quantile", "kmeans", "mdl", "equal_width"]

DEFAULT_BINS = 4
MOST_MDL_BINS = 12
"""The default of ``bins``: how many there are, and how many "mdl" may choose."""

_CUTTERS: dict[str, Callable[[Gaps, int], tuple[float, ...]]] = {
    "quantile": quantile_cuts,
    "kmeans": kmeans_cuts,
    "equal_width": equal_width_cuts,
    "mdl": mdl_cuts,
}


class Cut(NamedTuple):
    """The edges of a column's intervals, and what is to be said about them."""

    edges: tuple[float, ...]
    flat: bool
    note: str | None


@dataclass(frozen=True)
class Request:
    """The request, with nothing in it that has no meaning."""

    method: str
    bins: int | Mapping[str, int] | None
    columns: tuple[str, ...] | None
    target: str | None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in get_args(Method):
            choices = ", ".join(map(repr, get_args(Method)))
            raise SettingError(f"method must be one of {choices}, not {self.method!r}")
        if self.target is not None and self.method != "mdl":
            raise SettingError(
                f"target guides method='mdl' only, not {self.method!r}: leave it out or choose mdl"
            )
        if self.target is not None and self.columns is not None and self.target in self.columns:
            raise SettingError(
                f"the target {shown(self.target)} cannot be among the columns to cut"
            )
        for name, bins in self._asked():
            _require_bins(name, bins)

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse names that the table does not have."""
        asked = [*(self.columns or ()), *([] if self.target is None else [self.target])]
        if isinstance(self.bins, Mapping):
            asked += list(self.bins)
        unknown = [name for name in asked if name not in known]
        if unknown:
            raise SettingError(
                f"there is no column {listed(map(shown, unknown))}; the table has "
                f"{listed(map(shown, known))}"
            )

    def cut(self, name: str, values: Floats, target: Ints | None) -> Cut:
        """The edges for one column, from the rows in which it is not missing; a target guides them
        where it is known too."""
        present = ~np.isnan(values)
        gaps = gaps_of(values[present])
        bins = self._bins(name)
        if len(gaps.values) < 2:
            raise DataError(
                f"Column {shown(name)} takes one value, {float(gaps.values[0])!r}, and cannot be "
                "cut. Leave it out of columns, or drop it."
            )
        if self.method != "mdl" and len(gaps.values) < bins:
            raise DataError(
                f"Column {shown(name)} takes {len(gaps.values)} values, fewer than the {bins} bins "
                "asked for. Ask for fewer bins, or leave it out of columns."
            )
        if target is None:
            cuts = _CUTTERS[self.method](gaps, bins)
        else:
            both = present & (target >= 0)
            known = gaps_of(values[both])
            cuts = supervised_cuts(known, values[both], target[both], bins) if both.any() else ()
        flat = not cuts
        if flat:
            cuts = quantile_cuts(gaps, 2)
        low, high = outer_edges(float(gaps.values[0]), float(gaps.values[-1]))
        edges = (low, *cuts, high)
        if any(b <= a for a, b in pairwise(edges)):
            raise DataError(
                f"Column {shown(name)} spans {low!r} to {high!r}: floats are too coarse there for "
                f"{bins} bins. Subtract a constant from it, or ask for fewer bins."
            )
        return Cut(edges, flat, self._note(name, len(cuts) + 1, flat=flat))

    def _note(self, name: str, found: int, *, flat: bool) -> str | None:
        if flat:
            why = "no cut pays" if self.target is None else f"no cut says enough of {self.target!r}"
            return f"column {shown(name)} was cut at the median, because {why}"
        if self.method != "mdl" and found < self._bins(name):
            return f"column {shown(name)} has {found} bins, because of ties, not {self._bins(name)}"
        return None

    def _bins(self, name: str) -> int:
        default = MOST_MDL_BINS if self.method == "mdl" else DEFAULT_BINS
        if isinstance(self.bins, Mapping):
            return self.bins.get(name, default)
        return default if self.bins is None else self.bins

    def _asked(self) -> list[tuple[str | None, int]]:
        if isinstance(self.bins, Mapping):
            return list(self.bins.items())
        return [] if self.bins is None else [(None, self.bins)]


def _require_bins(name: str | None, bins: object) -> None:
    if not is_whole(bins) or bins < 2:
        of = "" if name is None else f" of {shown(name)}"
        raise SettingError(f"bins{of} must be a whole number from 2 on, not {bins!r}")
