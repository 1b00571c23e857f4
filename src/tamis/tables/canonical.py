"""One order for the rows of a table, whatever order they came in.

Sums of floats depend on the order of their terms, and so do random numbers that are dealt out to
rows. Sorted first, the same rows give the same answer to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tamis.tables.table import Table

Ints = NDArray[np.int64]


def in_canonical_order(table: Table) -> Table:
    """The table with its rows sorted: by the continuous columns in the order of their names, which
    have few ties as a rule, then by the others, by what is missing and by their weights. Rows that
    agree in all of them are the same."""
    place = np.zeros(table.n_rows, dtype=np.int64)
    tied = np.arange(table.n_rows)
    for values in _keys(table):
        tied = _untie(place, tied, values[tied])
        if not len(tied):
            break
    return table.arrange(np.argsort(place, kind="stable"))


def _keys(table: Table) -> Iterator[NDArray[np.generic]]:
    """What rows are sorted by, the first first."""
    columns = sorted(
        range(table.n_variables), key=lambda k: (not table.is_continuous(k), table.names[k])
    )
    for k in columns:
        # No two nan are the same, and so none would ever tie.
        yield np.nan_to_num(table.numbers(k)) if table.is_continuous(k) else table.codes[k]
    yield from (table.missing[k] for k in columns if k in table.missing)
    if table.weights is not None:
        yield table.weights


def _untie(place: Ints, tied: Ints, values: NDArray[np.generic]) -> Ints:
    """Give rows that share their place one by their values; return those that share it still.

    The place of a row is the number of rows that come before all that are tied with it.
    """
    order = np.lexsort((values, place[tied]))
    rows, sorted_values = tied[order], values[order]
    shared = place[rows]
    new_place = shared[1:] != shared[:-1]
    new_value = new_place | (sorted_values[1:] != sorted_values[:-1])
    place[rows] += _first_of_run(new_value) - _first_of_run(new_place)
    still = np.zeros(len(rows), dtype=np.bool_)
    still[1:] |= ~new_value
    still[:-1] |= ~new_value
    return rows[still]


def _first_of_run(begins: NDArray[np.bool_]) -> Ints:
    """For each entry where its run of equal entries begins; the first entry begins one."""
    starts = np.zeros(len(begins) + 1, dtype=np.int64)
    starts[1:] = np.where(begins, np.arange(1, len(begins) + 1), 0)
    return np.maximum.accumulate(starts)
