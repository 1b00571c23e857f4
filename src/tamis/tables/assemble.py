"""Encoded columns become a table, once names, shape and numbers of levels are in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tamis.errors import DataError, SettingError
from tamis.tables.columns import Codes, Column, smallest_unsigned
from tamis.tables.kinds import IGNORE, Told, is_writable, require_known
from tamis.tables.refusals import listed, shown
from tamis.tables.sources import (
    Encoding,
    Source,
    Sources,
    check_weights,
    columns_or_refusal,
    left_out,
    missing_notes,
    read_weights,
    settle_present,
    still_missing,
    with_weights,
)
from tamis.tables.table import Table

Missing = Literal["error", "drop", "level", "pairwise", "drop-anyway"]
"""What may be done about missing values."""
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class Reading:
    """``continuous``: whether numbers that cannot be levels are kept. ``missing``: one of MISSING.
    ``weights``: the name of the column that holds the rows' weights, a sequence of them, or None.
    ``types``: the kinds of columns that the user has named. ``look``: who is shown the columns
    before they are typed, in place of making a table of them.
    """

    continuous: bool = False
    missing: str = "error"
    weights: object = None
    types: Mapping[str, Told] = field(default_factory=dict)
    look: Callable[[Any], None] | None = None


def require_missing(missing: object) -> None:
    """Refuse what is no choice about missing values."""
    if not isinstance(missing, str) or missing not in MISSING:
        choices = ", ".join(map(repr, MISSING))
        raise SettingError(f"missing must be one of {choices}, not {missing!r}")


def build_table(
    names: Iterable[object],
    n_rows: int,
    sources: Iterable[Source],
    encoding: Encoding[Source],
    how: Reading,
) -> Table:
    """The table whose k-th column is the k-th source, encoded, as ``how`` says.

    All columns are tried before any is refused, so that one error names every bad column.
    """
    if how.look is not None:
        texts = check_different(tuple(map(_text, names)))
        how.look(Sources(texts, list(sources), encoding, n_rows, continuous=True))
        return Table((), (), np.zeros((0, n_rows), dtype=np.uint8))
    checked, sources = _without_ignored(tuple(map(_text, names)), sources, how.types)
    require_rows(checked, n_rows)
    given = Sources(checked, sources, encoding, n_rows, how.continuous, types=how.types)
    if how.weights is None and how.missing == "error":
        # The usual case: a column may be forgotten as soon as it is encoded.
        return _table(given, columns_or_refusal(given.names, given.settle()))
    given = _weighted(given.kept(), how.weights)
    if how.missing in ("drop", "drop-anyway"):
        return _complete(given, however_many=how.missing == "drop-anyway")
    if how.missing == "error":
        return _table(given, columns_or_refusal(given.names, given.settle()))
    as_level = how.missing == "level"
    columns, absent = settle_present(given, as_level=as_level)
    kept = still_missing(columns, absent, as_level=as_level)
    return _table(given, columns, kept, missing_notes(given.names, absent, kept))


def _without_ignored(
    names: tuple[str, ...], sources: Iterable[Source], types: Mapping[str, Told]
) -> tuple[tuple[str, ...], Iterable[Source]]:
    """The names that are left, checked, and their columns."""
    require_known(types, names)
    if IGNORE not in types.values():
        return check_names(names), sources
    kept = [types.get(name) != IGNORE for name in names]
    return check_names(compress(names, kept)), compress(sources, kept)


def _complete(given: Sources[Source], *, however_many: bool) -> Table:
    """The table of the rows in which nothing is missing."""
    settled = given.settle_present()
    named = zip(given.names, settled, strict=True)
    absent = {name: one.absent for name, one in named if one.absent is not None}
    if not absent:
        return _table(given, columns_or_refusal(given.names, [one.outcome for one in settled]))
    rows, note = left_out(absent, however_many=however_many)
    kept = given.take(rows)
    return _table(kept, columns_or_refusal(kept.names, kept.settle()), losses=(note,))


def _weighted(given: Sources[Source], weights: object) -> Sources[Source]:
    """Give columns the weights of their rows, and leave out rows of weight 0."""
    if weights is None:
        return given
    if isinstance(weights, str):
        column, given = given.without(weights)
        check_names(given.names)
        found = check_weights(column, f"The weights in column {shown(weights)}")
    else:
        found = read_weights(weights, given.n_rows)
    weighted = given.with_weights(found).take(found > 0)
    require_rows(weighted.names, weighted.n_counted)
    return weighted


def require_rows(names: Sequence[str], n_rows: int) -> None:
    """Refuse a table that is too short to say anything."""
    if n_rows < 2:
        raise DataError(
            f"The table with columns {listed(map(shown, names))} needs at least 2 rows, "
            f"but has {n_rows or 'none'}. Add rows: dependence is counted over them."
        )


def _table(
    given: Sources[Source],
    columns: Sequence[Column],
    missing: dict[int, NDArray[np.bool_]] | None = None,
    notes: tuple[str, ...] = (),
    losses: tuple[str, ...] = (),
) -> Table:
    table = Table(
        given.names,
        tuple(column.levels for column in columns),
        _stack(columns, given.n_rows),
        {k: column.numbers for k, column in enumerate(columns) if column.numbers is not None},
        missing or {},
        kinds=tuple(column.kind for column in columns),
        told=frozenset(k for k, name in enumerate(given.names) if name in given.types),
        losses=losses,
        notes=notes,
    )
    return with_weights(table, given.weights)


def check_names(names: Iterable[object]) -> tuple[str, ...]:
    """At least two names as strings, none of them empty, repeated or impossible to write."""
    texts = tuple(map(_text, names))
    if len(texts) < 2:
        found = f"only {shown(texts[0])}" if texts else "none"
        raise DataError(
            f"The table needs at least 2 columns, but has {found}. Add the columns to relate; "
            "if they are there, check how they are separated."
        )
    empty = [k for k, text in enumerate(texts) if not text.strip()]
    if empty:
        positions = listed(str(k + 1) for k in empty)
        raise DataError(
            f"The name of column {positions} of {len(texts)} is empty. Give every column a name, "
            "or drop it if it is an index that was saved with the table (--drop '')."
        )
    return check_different(texts)


def check_different(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Check that no name is repeated or impossible to write."""
    repeated = [text for text, count in Counter(texts).items() if count > 1]
    if repeated:
        raise DataError(
            f"Several columns share the name {listed(map(shown, repeated))}. "
            "Rename them so that every name is used once; names are compared as strings."
        )
    unwritable = [text for text in texts if not is_writable(text)]
    if unwritable:
        raise DataError(
            f"The column name {listed(map(shown, unwritable))} holds a lone surrogate, which "
            "UTF-8 cannot write. Rename the column."
        )
    return texts


def _text(name: object) -> str:
    return "" if name is None else str(name)


def _stack(columns: Sequence[Column], n_rows: int) -> Codes:
    most = max(len(column.levels) for column in columns)
    # Filled row by row, so that nothing of the user's memory lives on in the table.
    codes: Codes = np.empty((len(columns), n_rows), dtype=smallest_unsigned(most))
    for k, column in enumerate(columns):
        codes[k] = column.codes
    return codes
