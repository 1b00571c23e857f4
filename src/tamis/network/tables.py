"""Conditional tables: their shapes, and rows that sum to one.

A row is kept to the last bit if it sums to 1 but for the rounding of floats, and divided by
its sum otherwise. What was divided once is therefore left alone ever after, and a network
that is written and read again is the same network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from tamis.errors import DataError
from tamis.network.parts import Floats, row_text
from tamis.tables import Label

TOLERANCE = 1e-6
"""How far a row may be from summing to 1 when a network is made; the 24 networks of the
bnlearn repository miss it by at most 3e-7."""
ROUNDING = 0.02
"""How far a row from a file or another library may be from 1: four levels written with two
decimals miss it by no more. Such rows are divided by their sums, past TOLERANCE with a
warning."""
_KEPT = 1e-12


def checked_tables(
    names: Sequence[str],
    levels: Sequence[Sequence[Label]],
    parents: Sequence[Sequence[int]],
    tables: Iterable[ArrayLike],
) -> tuple[Floats, ...]:
    """Read-only tables of the right shapes, whose rows are probabilities."""
    given = tuple(tables)
    if len(given) != len(names):
        raise DataError(
            f"There are {len(names)} names but {len(given)} tables; give one for every variable."
        )
    checked = []
    for k, table in enumerate(given):
        among = [levels[p] for p in parents[k]]
        values = _floats(names[k], table)
        _check_shape(names[k], values, (*map(len, among), len(levels[k])))
        fault = fault_in(values, TOLERANCE)
        if fault is not None:
            row, what = fault
            about = row_text(names[k], [names[p] for p in parents[k]], among, row)
            raise DataError(f"The probabilities of {about} {what}.")
        checked.append(read_only(rescaled(values)))
    return tuple(checked)


def fault_in(table: Floats, tolerance: float) -> tuple[int, str] | None:
    """The first row that is no distribution, and what is wrong with it; None if all are."""
    rows = table.reshape(-1, table.shape[-1])
    for wrong, what in (
        (~np.isfinite(rows), "hold {}, which is not a number"),
        (rows < 0, "hold {}, which is negative"),
    ):
        if wrong.any():
            row = int(wrong.any(axis=1).argmax())
            return row, what.format(float(rows[row][wrong[row]][0]))
    off = misses(rows)
    # A hair more, because 0.02 and its like are not floats.
    beyond = off > tolerance * (1 + 1e-9)
    if beyond.any():
        row = int(beyond.argmax())
        return row, f"sum to {_sums(rows)[row]:.9g}, which misses 1 by {off[row]:.3g}"
    return None


def misses(table: Floats) -> Floats:
    """How far each row is from summing to 1."""
    return np.asarray(np.abs(_sums(table.reshape(-1, table.shape[-1])) - 1.0))


def rescaled(table: Floats) -> Floats:
    """The table with every row summing to 1; rows that do so keep all their bits."""
    total = _sums(table)[..., np.newaxis]
    return np.where(np.abs(total - 1.0) <= _KEPT, table, table / total)


def read_only(table: Floats) -> Floats:
    """The array, made read-only."""
    table.setflags(write=False)
    return table


def _sums(rows: Floats) -> Floats:
    # Accumulated from left to right, so that the last bit is the same on every machine.
    # Absurd numbers may overflow; their sum is then far from 1 all the same.
    with np.errstate(over="ignore"):
        return np.asarray(np.add.accumulate(rows, axis=-1)[..., -1])


def _floats(name: str, table: ArrayLike) -> Floats:
    try:
        # Adding zero turns -0.0 into 0.0.
        return np.array(table, dtype=np.float64, order="C") + 0.0
    except (TypeError, ValueError) as error:
        raise DataError(f"The table of {name!r} is not an array of numbers ({error}).") from error


def _check_shape(name: str, table: Floats, wanted: tuple[int, ...]) -> None:
    if table.shape != wanted:
        raise DataError(
            f"The table of {name!r} has shape {table.shape}, not {wanted}: one axis for each "
            "parent in the order of its parents, and the last for the variable itself."
        )
