"""Rows in the terms of a network, codes of its levels and numbers, and how well they fit it.

A table to learn from must have rows enough and columns that are no identifiers; rows that are only
to be scored need neither, so they are matched to the network as they come.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, TamisWarning
from tamis.network.parts import flat_index
from tamis.tables import Label, Table
from tamis.tables.columns import Column, encode_dates
from tamis.tables.read import columns_before_typing
from tamis.tables.refusals import ColumnRefused, listed, refusal, shown
from tamis.tables.sources import LEVEL, Settled, Sources, where_present

if TYPE_CHECKING:
    from tamis.network.interface import Network
    from tamis.network.model import BayesianNetwork


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SHOWN = 8


class Unseen(NamedTuple):
    """Labels of a column that are no levels of the network, and in how many rows they stand."""

    name: str
    labels: tuple[Label, ...]
    n_rows: int


@dataclass(frozen=True)
class Rows:
    """``values[k]`` is variable k in every row: a level by its code, or a number. A label that is
    no level has the code after the last, and is told in ``unseen``."""

    n: int
    values: tuple[Ints | Floats, ...]
    unseen: tuple[Unseen, ...]
    n_dropped: int = 0
    """Rows that were left out because a value was missing."""


def rows_of(
    names: Sequence[str],
    levels: Sequence[tuple[Label, ...]],
    data: object,
    *,
    drop_missing: bool = False,
) -> Rows:
    """The rows of any data, matched by the names of columns and the text of labels.

    A variable without levels is a number. Missing values are the level ``(missing)`` where there
    is such a level; other rows that lack one are refused, or left out.
    """
    columns = [
        _matched(name, own, settled)
        for name, own, settled in zip(names, levels, _settled(names, levels, data), strict=True)
    ]
    values, absent, unseen = zip(*columns, strict=True)
    kept = ~np.logical_or.reduce(absent)
    if not kept.all() and not drop_missing:
        raise _missing(names, absent)
    if not kept.any():
        raise DataError("There is no row to score: pass at least one that has all values.")
    told = [
        Unseen(name, labels, int((column[kept] == len(own)).sum()))
        for name, own, column, labels in zip(names, levels, values, unseen, strict=True)
        if labels
    ]
    return Rows(
        int(kept.sum()),
        tuple(column[kept] for column in values),
        tuple(one for one in told if one.n_rows),
        int((~kept).sum()),
    )


def _settled(
    names: Sequence[str], levels: Sequence[tuple[Label, ...]], data: object
) -> list[Settled]:
    """The columns of the variables, encoded where they are present."""
    if isinstance(data, Table):
        _require_columns(names, data.names)
        places = [data.names.index(name) for name in names]
        return [_of_table(data, k, bool(own)) for k, own in zip(places, levels, strict=True)]
    given: Sources[Any] = columns_before_typing(data)
    _require_columns(names, given.names)
    if not given.n_rows:
        raise DataError("There is no row to score: the table is empty.")
    found = dict(zip(given.names, given.columns, strict=True))
    return [
        where_present(_encoder(given, found[name], of_levels=bool(own)))
        for name, own in zip(names, levels, strict=True)
    ]


def _encoder(
    given: Sources[Any],
    source: Any,  # noqa: ANN401 - what a reader has of a column
    *,
    of_levels: bool,
) -> Callable[[Flags | None], Column]:
    def encode(rows: Flags | None) -> Column:
        try:
            return given.encoding.encode(given.encoding.rows_of(source, rows))
        except ColumnRefused as why:
            if of_levels and why.cells is not None:
                return encode_dates(why.cells)
            if why.numbers is None:
                raise
            return Column((), np.zeros(0, dtype=np.uint8), np.asarray(why.numbers, np.float64))

    return encode


def _of_table(table: Table, k: int, of_levels: bool) -> Settled:
    """A column of a table that has been read before."""
    present = table.present(k)
    absent = None if present.all() else ~present
    if table.is_continuous(k) or not of_levels:
        numbers = table.numbers(k)[present]
        return Settled(Column((), np.zeros(0, dtype=np.uint8), numbers), absent)
    return Settled(Column(table.levels[k], table.codes[k][present]), absent)


def _matched(
    name: str, levels: tuple[Label, ...], settled: Settled
) -> tuple[Ints | Floats, Flags, tuple[Label, ...]]:
    """A column over all rows, where it is missing, and its labels that are no levels."""
    column, absent = settled
    present: Ints | Floats
    unseen: tuple[Label, ...] = ()
    if isinstance(column, ColumnRefused):
        if absent is None or not absent.all():
            raise refusal([(name, column)])
        present = np.zeros(0, dtype=np.int64) if levels else np.zeros(0)
    elif levels:
        present, unseen = _codes(column, levels)
    else:
        present = _numbers(name, column)
    if absent is None:
        return present, np.zeros(len(present), dtype=np.bool_), unseen
    # A row that has a value finds it at its place among those that do; the others find a 0.
    values = np.append(present, 0)[np.where(absent, len(present), np.cumsum(~absent) - 1)]
    if LEVEL in levels:
        values[absent] = levels.index(LEVEL)
        absent = np.zeros_like(absent)
    return values, absent, unseen


def _codes(column: Column, levels: tuple[Label, ...]) -> tuple[Ints, tuple[Label, ...]]:
    """Codes by the text of labels, because BIF knows nothing else: a file's '0' is a table's 0."""
    code_of = {str(label): code for code, label in enumerate(levels)}
    labels: tuple[Label, ...] = column.levels
    codes: NDArray[Any] = column.codes
    if not labels:
        values, codes = np.unique(np.asarray(column.numbers) + 0.0, return_inverse=True)
        labels = tuple(f"{value:.15g}" for value in values.tolist())
    unseen = tuple(label for label in labels if str(label) not in code_of)
    own = np.array([code_of.get(str(label), len(levels)) for label in labels], dtype=np.int64)
    return own[codes], unseen


def _numbers(name: str, column: Column) -> Floats:
    if column.numbers is not None and not column.levels:
        return np.asarray(column.numbers, dtype=np.float64)
    labels = [label for label in column.levels if isinstance(label, str)]
    if labels:
        raise DataError(
            f"Column {shown(name)} holds {shown(labels[0])}, and is a number in the network. Give "
            "numbers, or fit with this column as a category."
        )
    return np.array(column.levels, dtype=np.float64)[column.codes]


def _require_columns(names: Sequence[str], given: Sequence[str]) -> None:
    known = set(given)
    absent = [name for name in names if name not in known]
    if absent:
        raise DataError(
            f"The table has no column {absent[0]!r}, which is a variable of the network. "
            "Add the column; columns that are no variables do no harm."
        )


def _missing(names: Sequence[str], absent: Sequence[Flags]) -> DataError:
    seen = [
        f"{shown(name)} in {int(flags.sum())} of {len(flags)} rows"
        for name, flags in zip(names, absent, strict=True)
        if flags.any()
    ]
    return DataError(
        f"Values are missing, of {listed(seen)}. The likelihood is of whole rows: fill them in or "
        "leave those rows out."
    )


def require_known_levels(
    rows: Rows, names: Sequence[str], levels: Sequence[tuple[Label, ...]]
) -> None:
    """Refuse labels that are no levels of the network."""
    for one in rows.unseen:
        own = levels[list(names).index(one.name)]
        more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
        raise DataError(
            f"Column {one.name!r} holds {one.labels[0]!r}, which is not a level of that variable. "
            f"Its levels are {', '.join(map(repr, own[:_SHOWN]))}{more}."
        )


Codes = NDArray[np.int64]
"""A line a variable; one past the last level where the label is none."""


def log_likelihood(network: BayesianNetwork, rows: Rows, unseen: float | None = None) -> float:
    """The sum over rows of ln P(row); the same to the last bit for any order of the rows.

    A label that is none of k levels has the probability ``unseen`` / (k + 1), and tells nothing
    about its children: these have all levels alike.
    """
    codes = np.array(rows.values, dtype=np.int64)
    arities = [len(labels) for labels in network.levels]
    total = []
    for k, table in enumerate(network.tables):
        known, others = _apart(codes, (*network.parents[k], k), arities, unseen)
        counts = np.bincount(known, minlength=table.size)
        seen = np.flatnonzero(counts)
        probabilities = table.ravel()[seen]
        if not probabilities.all():
            return -math.inf
        total += [*(counts[seen] * np.log(probabilities)).tolist(), others]
    return math.fsum(total)


def _apart(
    codes: Codes, family: tuple[int, ...], arities: list[int], unseen: float | None
) -> tuple[NDArray[np.intp], float]:
    """The cells of the rows whose levels the network has, and ln P of the other rows."""
    if unseen is None:
        return flat_index(codes, family, arities), 0.0
    has = np.array([codes[k] < arities[k] for k in family])
    known = flat_index(codes[:, has.all(axis=0)], family, arities)
    n_new = int((~has[-1]).sum())
    n_alike = int((has[-1] & ~has[:-1].all(axis=0)).sum())
    arity = arities[family[-1]]
    new = n_new * math.log(unseen / (arity + 1)) if n_new else 0.0
    return known, new - n_alike * math.log(arity)


def mean_log_likelihood(
    network: Network, data: object, *, n_learned: int, drop_missing: bool
) -> float:
    """The log-likelihood a row, in nats.

    A label that is no level is one more level of its column: one row, spread evenly over all
    levels, beside the ``n_learned`` rows of the others. What is left out or new is said in a
    warning.
    """
    rows = rows_of(network.names, network.levels, data, drop_missing=drop_missing)
    _warn(rows)
    total = network.log_likelihood_of(rows, 1.0 / (n_learned + 1))
    if not math.isfinite(total):
        raise DataError(
            "A row is impossible under the fitted network, so the mean log-likelihood is minus "
            "infinity. Fit with an equivalent_sample_size above 0, and leave out rows with numbers "
            "that are too far from the others for a float to hold their density."
        )
    return total / rows.n


def _warn(rows: Rows) -> None:
    if rows.n_dropped:
        _say(f"missing='drop' left out {rows.n_dropped} of {rows.n + rows.n_dropped} rows.")
    if rows.unseen:
        seen = [
            f"{shown(one.name)} has {listed(map(shown, one.labels))} in {one.n_rows} of {rows.n} "
            "rows"
            for one in rows.unseen
        ]
        _say(
            f"Labels that were never seen while learning: {listed(seen, separator='; ')}. Each "
            "counts as one more level, as probable as a prior of one row makes it."
        )


def _say(note: str) -> None:
    # The caller of TAM.score.
    warnings.warn(TamisWarning(note), stacklevel=5)
