"""Differential entropy of a few columns, from a density smoothed over boxes.

For a box of side h the smoothed density at x is the probability of the box around x divided by
h^d, and every point x is the centre of one cell of one shifted grid. So the integral over x is an
average over shifts of sums over cells.

With all rows at once the estimator is Wu and Yang's with n in the place of the number of cells:
a polynomial where the count is at most L = 1.6 ln n, the corrected plug-in above. With halves it
is the article's: the count of one half (the pilot) chooses, the other estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.errors import DataError, SettingError
from tamis.information.estimators.minimax import (
    DEGREE_RATE,
    INTERVAL_RATE,
    LARGEST_DEGREE,
    WORKING_DIGITS,
    Minimax,
    best_approximations,
)
from tamis.information.interface import Floats, Ints
from tamis.plugins import whole
from tamis.portable import random_words
from tamis.tables.refusals import listed, shown

Boundary = Literal["cut", "open"]
Bandwidth = Literal["shared", "own"]

MOST_SHIFTS = 4096
"""More shifts than this change nothing that rows could show."""


@dataclass(frozen=True)
class Smoothing:
    """The settings of the estimator; what each follows is said in ``lipschitz``.

    Parameters
    ----------
    smoothness
        s in (0, 2], the smoothness that the densities are taken to have. 2 is the most that the
        theory can use; a smaller s makes the bandwidth smaller.
    constant
        c in h = c (n ln n)^(-1/(s+d)), in units of a column's range. The theory leaves it open.
    boundary
        What happens at the walls of the cube that the rows span. "cut": cells end there.
        "open": the density goes on as 0 outside, and smoothing may spill over.
    bandwidth
        "shared": all entropies of one difference are smoothed alike, with the h of the largest
        set in it. "own": each set by its own dimension, as the paper has it.
    split
        Whether one half of the rows chooses between the regimes for the other, as in the article.
    shifts
        How many shifted grids the integral over the cube is averaged over.
    seed
        Of the halves and of the shifts.
    """

    smoothness: float = 2.0
    constant: float = 0.7
    boundary: Boundary = "cut"
    bandwidth: Bandwidth = "shared"
    split: bool = False
    shifts: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        _require_between("smoothness", self.smoothness, 2.0)
        _require_between("constant", self.constant, math.inf)
        _require_choice("boundary", self.boundary, get_args(Boundary))
        _require_choice("bandwidth", self.bandwidth, get_args(Bandwidth))
        _require_choice("split", self.split, (True, False))
        whole("shifts", self.shifts, 1, MOST_SHIFTS)
        whole("seed", self.seed, 0)

    def width(self, n_rows: int, dimension: int) -> float:
        """h for a number of rows and of dimensions; never more than the whole cube."""
        exponent = -1.0 / (self.smoothness + dimension)
        return min(self.constant * math.pow(n_rows * math.log(n_rows), exponent), 1.0)

    def to_dict(self) -> dict[str, float | int | str | bool]:
        """What JSON can hold, enough to estimate the same again."""
        return asdict(self)


def _require_between(name: str, value: float, most: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= most or math.isinf(value):
        upper = "" if math.isinf(most) else f" and at most {most:g}"
        raise SettingError(f"{name} must be a number above 0{upper}, not {value!r}")


def _require_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    # By identity of type too: 1 is not True here.
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


class DifferentialEntropy:
    """h(X_S) in nats for sets S of columns: the entropy of cells plus the mean log volume."""

    def __init__(self, cube: Cube, smoothing: Smoothing) -> None:
        self.cube = cube
        self.smoothing = smoothing
        self._shifts = [
            column_shifts(name, smoothing.shifts, smoothing.seed) for name in cube.names
        ]
        self._first_half = None
        if smoothing.split:
            # In order of names: the halves are those of the rows, however columns are arranged.
            by_name = sorted(range(len(cube.names)), key=cube.names.__getitem__)
            columns = [cube.scaled[k] for k in by_name]
            self._first_half = halves(columns, cube.n_rows, smoothing.seed)

    def estimate(self, members: Sequence[int], width: float) -> float:
        """The entropy of these columns, smoothed over boxes of side ``width``."""
        if not members:
            return 0.0
        # In order of names, so that sums are rounded alike however columns are arranged.
        members = sorted(members, key=self.cube.names.__getitem__)
        shifts: Floats = np.array([self._shifts[k] for k in members])
        grids = count_grids(
            self.cube, members, width, shifts, self.smoothing.boundary, self._first_half
        )
        found = [_entropy_of_cells(counts) + log_volume for counts, log_volume in grids]
        return float(np.mean(found) + sum(self.cube.log_side[k] for k in members))


def _entropy_of_cells(counts: Ints) -> float:
    if len(counts) == 1:
        return float(whole_terms(int(counts.sum()))[counts[0]].sum())
    one, other = counts
    return float((halved_terms(one, other).sum() + halved_terms(other, one).sum()) / 2)


ATOM = 0.1
"""A value that takes more than this share of the rows is an atom: there is no density."""
FEWEST_ROWS = 20
"""With fewer rows no bandwidth makes sense, and one repeated value would be an atom."""


@dataclass(frozen=True, eq=False)
class Cube:
    """Every column scaled to [0, 1]; ``log_side``, the side's length, takes an entropy back.

    The side is the range seen, widened by 2/(n-1): the support of a uniform column, estimated
    without bias. So a wall is never at a row, and no cell that holds a row is thin.
    A constant column spans no side of the cube: it is all 0 and ``varies`` says so.
    """

    names: tuple[str, ...]
    scaled: Floats
    log_side: Floats
    varies: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.scaled.shape[1])


def to_cube(names: Sequence[str], columns: Floats) -> Cube:
    """Scale the columns, or say which of them have no density."""
    columns = np.asarray(columns, dtype=np.float64)
    _check_shape(names, columns)
    low, high = columns.min(axis=1), columns.max(axis=1)
    # Halved before they are subtracted, because the range of two finite floats may be none.
    half_range = high / 2 - low / 2
    varies = half_range > 0
    _check_atoms(names, columns, varies)
    n_rows = columns.shape[1]
    half_side = np.where(varies, half_range * ((n_rows + 1) / (n_rows - 1)), 1.0)
    scaled = (columns / 2 - low[:, None] / 2) / half_side[:, None] + 1 / (n_rows + 1)
    log_side = np.where(varies, np.log(half_side) + np.log(2.0), 0.0)
    return Cube(tuple(names), scaled, log_side, varies)


def _check_shape(names: Sequence[str], columns: Floats) -> None:
    if columns.ndim != 2 or len(columns) != len(names):
        raise DataError(
            f"{len(names)} names for an array of shape {columns.shape}; pass one row of the array "
            "for each name."
        )
    n_rows = columns.shape[1]
    if n_rows < FEWEST_ROWS:
        raise DataError(
            f"The columns have {n_rows} rows; an estimate of differential entropy needs at least "
            f"{FEWEST_ROWS}. Add rows."
        )
    bad = [name for name, column in zip(names, columns, strict=True) if _not_finite(column)]
    if bad:
        raise DataError(
            f"Column {listed(map(shown, bad))} holds missing or infinite values. "
            "Drop those rows or fill them in."
        )


def _not_finite(column: Floats) -> bool:
    return not bool(np.isfinite(column).all())


def _check_atoms(names: Sequence[str], columns: Floats, varies: NDArray[np.bool_]) -> None:
    seen = []
    for name, column in zip(np.array(names)[varies], columns[varies], strict=True):
        values, counts = np.unique(column, return_counts=True)
        most = int(counts.argmax())
        if counts[most] > ATOM * len(column):
            seen.append(
                f"column {shown(str(name))} is {float(values[most])!r} in {counts[most]} of "
                f"{len(column)} rows"
            )
    if seen:
        raise DataError(
            f"A column with atoms has no density: {listed(seen, separator='; ')}. Use "
            "information='counts' after tamis.discretize, or leave the column out."
        )


MOST_CODES = 2**62
"""Cells are numbered by 64-bit integers."""


class Counted(NamedTuple):
    """The occupied cells of one grid, in order of their place.

    ``counts`` has a row for each part of the rows (one, or two halves); ``log_volume`` is the
    mean over the rows of ln(volume of the row's cell).
    """

    counts: Ints
    log_volume: float


def count_grids(
    cube: Cube,
    members: Sequence[int],
    width: float,
    shifts: Floats,
    boundary: Boundary,
    first_half: NDArray[np.bool_] | None = None,
) -> Iterator[Counted]:
    """The counts of each shifted grid; ``shifts`` has a row for each member."""
    side = math.ceil(1.0 / width) + 1
    if side ** len(members) > MOST_CODES:
        raise SettingError(
            f"a bandwidth of {width:.3g} in {len(members)} dimensions makes more cells than can "
            "be numbered: raise constant"
        )
    for shift in shifts.T:
        codes = np.zeros(cube.n_rows, dtype=np.int64)
        log_volume = 0.0
        for k, offset in zip(members, shift, strict=True):
            places = np.floor(cube.scaled[k] / width + offset).astype(np.int64)
            log_volume += _mean_log_width(places, width, float(offset), boundary)
            codes = codes * side + places
        yield Counted(_counts(codes, side ** len(members), first_half), log_volume)


def _mean_log_width(places: Ints, width: float, offset: float, boundary: Boundary) -> float:
    """The mean over rows of ln(width of the row's cell); cells at a wall may end there."""
    if boundary == "open":
        return math.log(width)
    rows = np.bincount(places)
    edges = np.clip((np.arange(len(rows) + 1) - offset) * width, 0.0, 1.0)
    occupied = rows > 0
    return float(rows[occupied] @ np.log(np.diff(edges)[occupied])) / len(places)


def _counts(codes: Ints, n_cells: int, first_half: NDArray[np.bool_] | None) -> Ints:
    """Rows of each occupied cell, by halves if there are any."""
    if n_cells > 4 * len(codes) + 1024:
        # Sorting wins when cells are scattered; the order of the cells stays the same.
        _, codes = np.unique(codes, return_inverse=True)
    total = np.bincount(codes)
    occupied = total > 0
    if first_half is None:
        return total[occupied][None, :]
    first = np.bincount(codes[first_half], minlength=len(total))
    return np.stack([first[occupied], (total - first)[occupied]])


@lru_cache(maxsize=16)
def whole_terms(n_rows: int) -> Floats:
    """The term of a cell by its count, from 0 to n, when all rows are used at once."""
    terms = Minimax().terms(np.arange(n_rows + 1), n_rows, n_rows)
    terms.flags.writeable = False
    return terms


def halved_terms(pilot: Ints, counts: Ints) -> Floats:
    """The terms of cells: ``pilot`` of them from one half of the rows, ``counts`` from the other.

    Where the pilot is small, the polynomial, which a U-statistic estimates without bias.
    A count beyond its interval shows that the pilot was wrong and gets the corrected plug-in.
    Elsewhere the second-order Taylor expansion of phi about the pilot's share.
    """
    n_pilot, n_rows = int(pilot.sum()), int(counts.sum())
    polynomial = polynomial_terms(n_rows)
    large = pilot > _degree(n_rows)
    rare = ~large & (counts < len(polynomial))
    found = np.asarray(entr(counts / n_rows) + 0.5 / n_rows)
    found[rare] = polynomial[counts[rare]]
    found[large] = taylor_terms(pilot[large] / n_pilot, counts[large], n_rows)
    return found


def taylor_terms(share: Floats, counts: Ints, n_rows: int) -> Floats:
    """phi(p) + phi'(p)(q - p) + phi''(p)(q - p)^2 / 2 at a fixed p, unbiased for a true share q.

    q is estimated by the count's share and q^2 by the U-statistic N(N-1) / n(n-1); the terms
    collect to -q ln p + (p - q^2 / p) / 2.
    """
    first = counts / n_rows
    second = counts * (counts - 1.0) / (n_rows * (n_rows - 1.0))
    found: Floats = -first * np.log(share) + (share - second / share) / 2
    return found


@lru_cache(maxsize=16)
def polynomial_terms(n_rows: int) -> Floats:
    """The polynomial's term for the counts from 0 to M = 3.5 ln n, where its interval ends.

    sum_m a_m M^(1-m) N(N-1)...(N-m+1) + N ln(n/M), divided by n; an empty cell adds nothing.
    The falling factorials are built up by differences, in decimals because the terms cancel
    (see ``minimax``, whose terms these continue beyond the count L).
    """
    degree = _degree(n_rows)
    with localcontext(Context(prec=WORKING_DIGITS)):
        M = INTERVAL_RATE * Decimal(n_rows).ln()
        differences = []
        factor = M
        for m, coefficient in enumerate(best_approximations()[degree]):
            differences.append(coefficient * factor)
            factor = factor * (m + 1) / M
        values = [float(_newton(differences, count)) for count in range(int(M) + 1)]
    counts = np.arange(len(values))
    terms: Floats = (np.array(values) + counts * math.log(n_rows / M)) / n_rows
    terms[0] = 0.0
    terms.flags.writeable = False
    return terms


def _newton(differences: list[Decimal], count: int) -> Decimal:
    """sum_m difference_m binomial(count, m)."""
    return sum((step * math.comb(count, m) for m, step in enumerate(differences)), start=Decimal(0))


def _degree(n_rows: int) -> int:
    """L, the degree and the largest pilot count that meets the polynomial."""
    return min(int(DEGREE_RATE * math.log(n_rows)), LARGEST_DEGREE)


_HALVES = b"halves of the rows"


def column_shifts(name: str, shifts: int, seed: int) -> Floats:
    """One shift in each of ``shifts`` equal parts of [0, 1), in the column's own order.

    Over several columns that is a Latin hypercube: each column alone is covered evenly.
    """
    order = np.argsort(random_words(seed, b"shifts of " + name.encode(), shifts), kind="stable")
    placed: Floats = (order + 0.5) / shifts
    return placed


def halves(columns: Sequence[Floats], n_rows: int, seed: int) -> NDArray[np.bool_]:
    """Which rows are in the first half.

    A random half of the sorted rows is a random half of the rows, whatever order they came in.
    Equal rows are interchangeable, so their order is of no account.
    """
    sorted_rows = np.lexsort(tuple(columns)) if columns else np.arange(n_rows)
    drawn = np.argsort(random_words(seed, _HALVES, n_rows), kind="stable")
    first = np.zeros(n_rows, dtype=np.bool_)
    first[sorted_rows[drawn[: n_rows // 2]]] = True
    return first
