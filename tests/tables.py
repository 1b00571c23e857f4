"""Small tables for the tests: random ones by hypothesis, and rows turned into a Table."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tamis.tables import Table


def table_of(rows: np.ndarray) -> Table:
    """A table of these rows, every level of which occurs."""
    columns = [np.unique(column, return_inverse=True) for column in np.asarray(rows).T]
    codes = np.array([inverse.ravel() for _, inverse in columns])
    dtype = np.min_scalar_type(int(codes.max()))
    return Table(
        names=tuple(f"x{k}" for k in range(len(columns))),
        levels=tuple(tuple(values.tolist()) for values, _ in columns),
        codes=np.ascontiguousarray(codes.astype(dtype)),
    )


def varying(table: np.ndarray) -> np.ndarray:
    """The columns that have more than one value; the others take no part in a search."""
    return table[:, (table != table[0]).any(axis=0)]


@st.composite
def rows(draw, columns=(2, 5), length=(2, 80), levels=4):
    """A 2-D array of small integers; few rows make ties, empty cells and constant columns."""
    d = draw(st.integers(*columns))
    n = draw(st.integers(*length))
    tops = draw(st.lists(st.integers(1, levels), min_size=d, max_size=d))
    seed = draw(st.integers(0, 2**32 - 1))
    skew = draw(st.sampled_from([1.0, 3.0]))
    rng = np.random.default_rng(seed)
    table = np.stack([np.floor(top * rng.random(n) ** skew) for top in tops], axis=1).astype(int)
    copies = draw(npst.arrays(bool, d))
    for k in range(1, d):
        if copies[k]:  # a noisy copy of the column before, so that something depends
            flips = rng.random(n) < 0.2
            table[:, k] = np.where(flips, table[:, k], table[:, k - 1])
    return table
