"""What a network is made of, as readers and fitters hand it over before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.tables import Label

Floats = NDArray[np.float64]

MOST_CELLS = 2**26
"""The most probabilities that a network is read or fitted with: 512 MiB of them."""
MOST_PARENTS = 31
"""A table has one axis a parent and one for the child; every supported numpy can hold 32."""


class Parts(NamedTuple):
    """The four fields of a ``BayesianNetwork``."""

    names: tuple[str, ...]
    levels: tuple[tuple[Label, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]


def row_text(
    child: str, parents: Sequence[str], levels: Sequence[Sequence[Label]], row: int
) -> str:
    """One row of a table in words: ``'tub' given 'asia' = 'yes'``.

    ``levels`` are those of the parents, and ``row`` counts their configurations, the last
    parent changing fastest.
    """
    if not parents:
        return repr(child)
    shape = tuple(len(labels) for labels in levels)
    codes = np.unravel_index(row, shape)
    states = [labels[int(code)] for labels, code in zip(levels, codes, strict=True)]
    pairs = [f"{name!r} = {state!r}" for name, state in zip(parents, states, strict=True)]
    return f"{child!r} given {', '.join(pairs)}"
