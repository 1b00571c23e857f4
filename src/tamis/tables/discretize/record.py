"""What was done to which column, in a form that a result can carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.tables.discretize.labels import interval_labels


@dataclass(frozen=True)
class Discretization:
    """How columns of numbers were cut into levels.

    Intervals contain their lower edge and not their upper one, except the last, which contains
    both.

    Attributes
    ----------
    method : str
        The method, as in `tamis.discretize`.
    edges : mapping from str to tuple of float
        For every column that was cut, the edges of its intervals in order.
    flat : tuple of str
        The columns in which "mdl" found no worthwhile cut and which were cut at the median.
    target : str or None
        The column that guided a supervised "mdl".

    Examples
    --------
    >>> import tamis
    >>> rows = {"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    >>> _, record = tamis.discretize(rows, bins=2)
    >>> record.edges["x"], record.labels("x")
    ((0.5, 2.0, 3.5), ('[0.5, 2)', '[2, 3.5]'))
    """

    method: str
    edges: Mapping[str, tuple[float, ...]]
    flat: tuple[str, ...] = ()
    target: str | None = None

    def labels(self, column: str) -> tuple[str, ...]:
        """The labels of a column's intervals, from the lowest to the highest."""
        return interval_labels(self.edges[column])

    def to_dict(self) -> dict[str, object]:
        """What JSON can hold."""
        return {
            "method": self.method,
            "edges": {name: list(edges) for name, edges in self.edges.items()},
            "flat": list(self.flat),
            "target": self.target,
        }


def place(values: NDArray[np.float64], edges: tuple[float, ...]) -> NDArray[np.int64]:
    """The number of the interval that holds each value, -1 where it is missing; the outer edges
    hold everything."""
    places = np.searchsorted(np.array(edges[1:-1]), values, side="right").astype(np.int64)
    return np.where(np.isnan(values), -1, places)
