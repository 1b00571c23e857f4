"""Columns that follow from others: copies, recodings, groups of levels, sums and differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tamis.tables.columns import Column
from tamis.tables.kinds import FEWEST_ROWS
from tamis.tables.refusals import dropping, listed, shown
from tamis.tables.suspicions import FEWEST_CODES, Found, Suspicion

MOST_COLUMNS = 500
"""Functions are looked for among at most this number of columns: the work grows with its square."""

_SCREENED = 256
"""Rows on which all pairs of columns are tried first; few pairs are left for all rows."""
_FITTED = 2000
"""Rows on which linear functions are found, before they are tried on all."""
_SURE = 20.0
_SURE_OF_COPY = 5.0
"""Nats by which a function of another column, and a recoding of all its levels, must be unlikely
to be one by chance."""
_EXACT = 1e-6
_ROUNDED = 5e-3
"""The largest residual of a linear function, as a share of the column's spread: of any, and of a
sum or difference that may have been rounded when it was written down."""
_MOST_TERMS = 6
_SEED = 18

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


def relations_of(columns: Sequence[Found]) -> dict[str, Suspicion]:
    """The columns that follow from others, by name, each with one way in which it does."""
    usable = [one for one in columns if _varies(one)]
    found = dict(_copies(usable))
    rest = [one for one in usable if one.name not in found][:MOST_COLUMNS]
    if not rest or rest[0].n_rows < FEWEST_ROWS:
        return found
    for name, one in (*_linear(rest), *_groups(rest)):
        found.setdefault(name, one)
    groups = {name for name, one in found.items() if one.topic == "identifier"}
    for name, one in _intervals([one for one in rest if one.name not in groups]):
        found.setdefault(name, one)
    return found


def _follows(column: Found, what: str) -> tuple[str, Suspicion]:
    do = f"keep one of them ({dropping([column.name])})"
    return column.name, Suspicion("function", what, do)


def _varies(column: Found) -> bool:
    if column.n_present < FEWEST_ROWS:
        return False
    numbers = column.numbers
    return len(column.labels) > 1 or (numbers is not None and bool((numbers != numbers[0]).any()))


def _copies(columns: Sequence[Found]) -> Iterator[tuple[str, Suspicion]]:
    """Columns whose levels go one to one with those of an earlier one, missing alike."""
    first: dict[bytes, str] = {}
    needed = _SURE_OF_COPY + 2 * math.log(max(len(columns), 1))
    for column in columns:
        key = _fingerprint(column)
        if key is None or -column.n_present * _log_agreement(column) < needed:
            continue
        other = first.setdefault(key, column.name)
        if other != column.name:
            what = f"goes one to one with {shown(other)}, of which it is a copy or a recoding"
            yield (
                column.name,
                Suspicion("copy", what, f"keep one of them ({dropping([column.name])})"),
            )


def _fingerprint(column: Found) -> bytes | None:
    """A hash of how a column groups the rows; None where nearly every row is a group."""
    from hashlib import blake2b

    absent = b"" if column.absent is None else np.packbits(column.absent).tobytes()
    if 2 * column.n_values <= column.n_present:
        codes = _by_first_row(column.codes, column.n_values)
        return blake2b(absent + b"levels" + codes.tobytes()).digest()
    if column.numbers is None:
        return None
    return blake2b(absent + b"numbers" + (column.numbers + 0.0).tobytes()).digest()


def _by_first_row(codes: Codes, n_levels: int) -> Codes:
    """The levels numbered in the order in which rows show them first."""
    first = np.empty(n_levels, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    ranks = np.empty(n_levels, dtype=np.int32)
    ranks[np.argsort(first)] = np.arange(n_levels, dtype=np.int32)
    return ranks[codes]


def _groups(columns: Sequence[Found]) -> Iterator[tuple[str, Suspicion]]:
    """Columns that have one value for each level of another, such as the country of a city; if
    that other one has several such columns and many levels, it says what rows belong together."""
    functions = _functions([one for one in columns if 2 * one.n_values <= one.n_present])
    for finer, coarser in functions:
        if len(coarser) > 1 and finer.n_values > FEWEST_CODES:
            yield finer.name, _group_name(finer, coarser)
    for finer, coarser in functions:
        if len(coarser) == 1 or finer.n_values <= FEWEST_CODES:
            for one in coarser:
                yield _follows(one, f"has one value for each value of {shown(finer.name)}")


def _group_name(finer: Found, coarser: Sequence[Found]) -> Suspicion:
    names = listed(shown(one.name) for one in coarser)
    what = f"says which rows belong together: for each of its values {names} have one value"
    do = "such rows may not be independent"
    if finer.labels:
        do += f"; leave out this column ({dropping([finer.name])}) or those"
    return Suspicion("identifier", what, do)


def _functions(levelled: Sequence[Found]) -> list[tuple[Found, list[Found]]]:
    """Columns, those of fewest levels first, with those that have one value for each of theirs."""
    if len(levelled) < 2:
        return []
    sample = _sample(levelled[0].n_rows, _SCREENED)
    codes = np.stack([_over_all_rows(one)[sample] for one in levelled])
    agreement = np.array([_log_agreement(one) for one in levelled])
    n_levels = np.array([one.n_values for one in levelled])
    needed = _SURE + 2 * math.log(len(levelled))
    found = []
    for k in np.argsort(n_levels, kind="stable").tolist():
        finer = levelled[k]
        chance = (finer.n_present - n_levels[k]) * agreement
        likely = (n_levels < n_levels[k]) & (chance < -needed) & _agrees(codes, k)
        coarser = [levelled[j] for j in np.flatnonzero(likely).tolist()]
        found.append((finer, [one for one in coarser if _is_function(one, finer)]))
    return [(finer, coarser) for finer, coarser in found if coarser]


def _agrees(codes: Codes, k: int) -> NDArray[np.bool_]:
    """Which columns show the same in sampled rows that have the same level of column k."""
    _, first, level = np.unique(codes[k], return_index=True, return_inverse=True)
    shown_first = codes[:, first[level]]
    differ = (codes != shown_first) & (codes >= 0) & (shown_first >= 0) & (codes[k] >= 0)
    agree: NDArray[np.bool_] = ~differ.any(axis=1)
    return agree


def _log_agreement(column: Found) -> float:
    """The logarithm of the chance that two rows agree."""
    shares = np.bincount(column.codes) / column.n_present
    return float(np.log((shares**2).sum()))


def _is_function(column: Found, of: Found) -> bool:
    own, other = _over_all_rows(column), _over_all_rows(of)
    both = (own >= 0) & (other >= 0)
    if 2 * int(both.sum()) < column.n_present or len(np.unique(own[both])) < 2:
        return False
    pairs = other[both].astype(np.int64) * column.n_values + own[both]
    return len(np.unique(pairs)) == len(np.unique(other[both]))


def _intervals(columns: Sequence[Found]) -> Iterator[tuple[str, Suspicion]]:
    """Columns whose levels are intervals of a column of numbers, such as an age group."""
    cut = [one for one in columns if isinstance(one.held, Column) and one.held.kind != "number"]
    whole = [one for one in columns if one.numbers is not None and _many(one)]
    if not cut or not whole:
        return
    sample = _sample(cut[0].n_rows, _SCREENED)
    codes = np.stack([_over_all_rows(one)[sample] for one in cut])
    needed = _SURE + math.log(len(cut) * len(whole))
    sure = np.array([_log_ways(one) > needed for one in cut])
    for column in whole:
        values = _numbers_over_all_rows(column)
        for j in np.flatnonzero(sure & _are_runs(codes, values[sample])).tolist():
            if cut[j] is not column and _are_runs(_over_all_rows(cut[j])[np.newaxis], values)[0]:
                yield _follows(cut[j], f"has one value for each range of {shown(column.name)}")


def _many(column: Found) -> bool:
    """Whether a column takes more values than rows could share by chance."""
    return isinstance(column.held, Column) and column.held.kind == "number"


def _are_runs(codes: Codes, values: Floats) -> NDArray[np.bool_]:
    """Which columns, in the order of these values, show every level in one run."""
    order = np.argsort(values, kind="stable")
    order = order[~np.isnan(values[order])]
    return np.array([_is_runs(own[order], values[order]) for own in codes], dtype=np.bool_)


def _is_runs(codes: Codes, values: Floats) -> bool:
    codes, values = codes[codes >= 0], values[codes >= 0]
    ends = codes[1:] != codes[:-1]
    if len(codes) < FEWEST_ROWS or not ends.any() or (values[1:][ends] == values[:-1][ends]).any():
        return False
    return 1 + int(ends.sum()) == len(np.unique(codes))


def _log_ways(column: Found) -> float:
    """In how many orders the levels could stand, for each in which all are in runs; in nats."""
    counts = np.bincount(column.codes)
    if counts.min() < 2:
        # A level of one row is always in one run.
        return 0.0
    ways = gammaln(counts.sum() + 1) - gammaln(counts + 1).sum() - gammaln(len(counts) + 1)
    return float(ways)


def _linear(columns: Sequence[Found]) -> Iterator[tuple[str, Suspicion]]:
    """Columns that are linear functions of earlier ones, such as a difference of two weights."""
    numeric = [one for one in columns if one.numbers is not None]
    chosen, rows = _complete(numeric)
    if len(chosen) < 2 or int(rows.sum()) < len(chosen) + FEWEST_ROWS:
        return
    matrix = np.column_stack([_numbers_over_all_rows(one)[rows] for one in chosen])
    few = matrix[_sample(len(matrix), max(_FITTED, 4 * len(chosen)))]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = few.std(axis=0)
    basis: list[int] = []
    directions = np.empty((len(few), 0))
    # Numbers whose squares no float holds are refused by name when they are learned from.
    for j in np.flatnonzero((spread > 0) & np.isfinite(spread)).tolist():
        direction = (few[:, j] - few[:, j].mean()) / spread[j]
        # Twice, because once leaves rounding errors behind.
        for _ in range(2):
            direction = direction - directions @ (directions.T @ direction)
        size = float(np.linalg.norm(direction)) / math.sqrt(len(few))
        if size < _ROUNDED and basis:
            words = _formula([one.name for one in chosen], matrix, basis, j)
            if words is not None:
                yield _follows(chosen[j], words)
                continue
        if size > _EXACT:
            basis.append(j)
            directions = np.column_stack([directions, direction / np.linalg.norm(direction)])


def _complete(columns: Sequence[Found]) -> tuple[list[Found], NDArray[np.bool_]]:
    """Columns, those that are missing least first, as long as half of the rows have them all."""
    rows = np.ones(columns[0].n_rows if columns else 0, dtype=np.bool_)
    chosen: list[int] = []
    for k in sorted(range(len(columns)), key=lambda k: columns[k].n_missing):
        absent = columns[k].absent
        left = rows if absent is None else rows & ~absent
        if 2 * int(left.sum()) >= len(rows):
            chosen.append(k)
            rows = left
    return [columns[k] for k in sorted(chosen)], rows


def _formula(names: Sequence[str], matrix: Floats, basis: list[int], j: int) -> str | None:
    """Column j of the matrix as a linear function of few of the others, if it is one."""
    centred = matrix - matrix.mean(axis=0)
    spread = centred.std(axis=0)
    first = np.linalg.lstsq(centred[:, basis], centred[:, j], rcond=None)[0]
    weighty = np.abs(first) * spread[basis] > 10 * _ROUNDED * spread[j]
    terms = [k for k, counts in zip(basis, weighty, strict=True) if counts]
    if not 1 <= len(terms) <= _MOST_TERMS:
        return None
    slopes = np.linalg.lstsq(centred[:, terms], centred[:, j], rcond=None)[0]
    residual = float((centred[:, j] - centred[:, terms] @ slopes).std() / spread[j])
    alike = bool(np.ptp(np.abs(slopes)) <= 2 * _ROUNDED * np.abs(slopes).max())
    if residual > _EXACT and not (alike and residual < _ROUNDED):
        return None
    constant = float(matrix[:, j].mean() - matrix[:, terms].mean(axis=0) @ slopes)
    words = _in_words([names[k] for k in terms], slopes, constant, float(spread[j]))
    return f"is {words}" + ("" if residual <= _EXACT else ", rounded")


def _in_words(names: Sequence[str], slopes: Floats, constant: float, spread: float) -> str:
    parts = []
    for name, slope in zip(names, slopes.tolist(), strict=True):
        size = abs(slope)
        factor = "" if abs(size - 1) <= _ROUNDED else f"{size:.4g} "
        sign = "-" if slope < 0 else "+"
        parts.append(f"{sign} {factor}{shown(name)}")
    if abs(constant) > _ROUNDED * spread:
        parts.append(f"{'-' if constant < 0 else '+'} {abs(constant):.4g}")
    # A positive term comes first, as one would write it.
    parts.sort(key=lambda part: part.startswith("-"))
    return " ".join(parts).removeprefix("+ ")


def _sample(n_rows: int, size: int) -> NDArray[np.intp]:
    """A sample of the rows, or all of them; the same for the same table."""
    if n_rows <= size:
        return np.arange(n_rows)
    drawn = np.random.default_rng(_SEED).choice(n_rows, size, replace=False)
    return np.sort(drawn)


def _over_all_rows(column: Found) -> Codes:
    """The level in every row by number, -1 where it is missing."""
    if column.absent is None:
        return column.codes
    codes = np.full(column.n_rows, -1, dtype=np.int32)
    codes[~column.absent] = column.codes
    return codes


def _numbers_over_all_rows(column: Found) -> Floats:
    """The number in every row, nan where it is missing."""
    numbers = np.full(column.n_rows, np.nan)
    if column.numbers is not None:
        numbers[slice(None) if column.absent is None else ~column.absent] = column.numbers
    return numbers
