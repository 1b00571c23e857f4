"""The law of one variable given its parents: a table, regressions in cells, or log odds.

A parent of levels comes as codes, in which one past the last means a level that was never seen; a
parent of numbers comes as floats. Draws use sums, products and ``tamis.portable`` only, so that
they are the same on every machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.network.sampling import drawn
from tamis.portable import exp, normal_quantile
from tamis.tables import Label

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Values = Ints | Floats

_LOG_2PI = math.log(2 * math.pi)


class Variable(NamedTuple):
    """What a law knows of a parent, or of the variable itself; numbers have no levels."""

    name: str
    levels: tuple[Label, ...]

    @property
    def is_number(self) -> bool:
        """Whether it has numbers and no levels."""
        return not self.levels


@dataclass(frozen=True)
class Coefficient:
    """What a parent does to its child, other parents being equal.

    A number changes a number by ``value`` for each unit; ``standardised`` is the same in standard
    deviations of both columns. A ``level`` of the parent changes the mean of a number by ``value``
    from that of the parent's first level, other numbers being at their means. Where the child has
    levels, ``value`` is what is added to the log odds of ``child_level`` against its first level.
    ``when`` names the levels of the child's other parents in which this holds; none is: in all.
    ``standard_error`` is infinite where the rows do not determine the coefficient.
    """

    value: float
    standard_error: float
    standardised: float
    level: Label | None = None
    child_level: Label | None = None
    when: tuple[tuple[str, Label], ...] = ()

    def about(self, parent: str) -> str:
        """The coefficient of this parent in one line."""
        level = "" if self.level is None else f" = {self.level!r}"
        child = "" if self.child_level is None else f" on {self.child_level!r}"
        when = ", ".join(f"{name!r} = {label!r}" for name, label in self.when)
        where = f" where {when}" if when else ""
        return (
            f"{parent!r}{level}{child}{where}: {short(self.value, 4)} (standard error "
            f"{short(self.standard_error, 2)}; standardised {short(self.standardised, 3)})"
        )


def short(value: float, digits: int) -> str:
    """A number with this number of digits, or with all those before the point if they are more."""
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e9 else f"{value:.{digits}g}"


class Law(ABC):
    """The law of a variable given its parents."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def draw(self, given: Sequence[Values], uniform: Floats) -> Values:
        """Values for rows whose parents are these, from numbers spread evenly over (0, 1)."""

    @abstractmethod
    def log_densities(self, own: Values, given: Sequence[Values], unseen: float | None) -> Floats:
        """ln of the probability or density in every row; a label that is none of k levels has the
        probability ``unseen`` / (k + 1)."""

    @abstractmethod
    def coefficients(self, place: int) -> tuple[Coefficient, ...]:
        """What the parent at this place does; none where a table says it."""


def cells_of(given: Sequence[Values], arities: Sequence[int]) -> tuple[Ints, NDArray[np.bool_]]:
    """The cell of the levels that every row is in, the last parent changing fastest, and whether
    all these levels have been seen; the cell is 0 where one has not."""
    n = len(given[0]) if given else 0
    cell, seen = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
    for codes, arity in zip(given, arities, strict=True):
        cell = cell * arity + codes.astype(np.int64)
        seen &= codes < arity
    return np.where(seen, cell, 0), seen


@dataclass(frozen=True, eq=False)
class TableLaw(Law):
    """The probabilities of levels given levels: ``table`` has an axis a parent, its own last."""

    own: Variable
    parents: tuple[Variable, ...]
    table: Floats

    @property
    def n_parameters(self) -> int:
        """In every row all probabilities but one."""
        n_cells = int(self.table.size)
        return n_cells - n_cells // int(self.table.shape[-1])

    def draw(self, given: Sequence[Values], uniform: Floats) -> Values:
        """Levels."""
        cell, _ = self._cells(given, len(uniform))
        return np.asarray(drawn(self.table, cell, uniform), dtype=np.int64)

    def log_densities(self, own: Values, given: Sequence[Values], unseen: float | None) -> Floats:
        """Levels of parents that were never seen together say nothing: all levels alike."""
        arity = self.table.shape[-1]
        cell, seen = self._cells(given, len(own))
        known = own < arity
        rows = self.table.reshape(-1, arity)
        probabilities = rows[cell, np.where(known, own, 0).astype(np.int64)]
        probabilities = np.where(seen, probabilities, 1.0 / arity)
        with np.errstate(divide="ignore"):
            return np.log(np.where(known, probabilities, (unseen or 0.0) / (arity + 1)))

    def coefficients(self, place: int) -> tuple[Coefficient, ...]:
        """None: the table is the answer."""
        return ()

    def _cells(self, given: Sequence[Values], n: int) -> tuple[Ints, NDArray[np.bool_]]:
        if not given:
            return np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
        return cells_of(given, self.table.shape[:-1])


@dataclass(frozen=True)
class Regression:
    """One linear regression: value = intercept + sum of slopes times numbers + N(0, scale²)."""

    intercept: float
    slopes: tuple[float, ...]
    scale: float
    """The standard deviation of the noise."""
    standard_errors: tuple[float, ...]
    """Of the slopes."""
    centre: float
    """The mean where the parents have the means that they have in all rows,"""
    centre_error: float
    """and its standard error."""
    n_rows: int


@dataclass(frozen=True, eq=False)
class CellLaw(Law):
    """A number given numbers and levels: a regression for each cell of the levels.

    ``which`` has an axis for each parent of levels and the place of the cell's regression in
    ``regressions``. The first of these is that of all rows, whatever their levels; it serves the
    cells with too few rows for one of their own.
    """

    own: Variable
    parents: tuple[Variable, ...]
    which: Ints
    regressions: tuple[Regression, ...]
    deviations: tuple[float, ...]
    """The standard deviations of the parents, and last its own."""
    _numbers: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = [[one.intercept, *one.slopes, one.scale] for one in self.regressions]
        object.__setattr__(self, "_numbers", np.array(rows))

    @property
    def n_parameters(self) -> int:
        """Intercept, slopes and scale of each regression that a cell has."""
        used = len(np.unique(self.which))
        return used * (2 + sum(parent.is_number for parent in self.parents))

    def draw(self, given: Sequence[Values], uniform: Floats) -> Values:
        """Numbers."""
        mean, scale = self._means(given, len(uniform))
        return mean + scale * normal_quantile(uniform)

    def log_densities(self, own: Values, given: Sequence[Values], unseen: float | None) -> Floats:
        """The density per unit of the column."""
        mean, scale = self._means(given, len(own))
        # A number so far away that its square is infinite has no density, and scores say so.
        with np.errstate(over="ignore"):
            far = ((own - mean) / scale) ** 2
        return np.asarray(-0.5 * (far + _LOG_2PI) - np.log(scale))

    def coefficients(self, place: int) -> tuple[Coefficient, ...]:
        """One for each cell that has a regression of its own, or that of all rows if none has."""
        if self.parents[place].is_number:
            return tuple(self._slopes(place))
        return tuple(self._differences(place))

    def _slopes(self, place: int) -> Iterator[Coefficient]:
        j = sum(parent.is_number for parent in self.parents[:place])
        ratio = self.deviations[place] / self.deviations[-1] if self.deviations[-1] else 0.0
        for when, one in self._own_cells():
            yield Coefficient(
                one.slopes[j], one.standard_errors[j], one.slopes[j] * ratio, when=when
            )

    def _differences(self, place: int) -> Iterator[Coefficient]:
        name, levels = self.parents[place]
        found = {frozenset(when): one for when, one in self._own_cells()}
        for when, one in self._own_cells():
            level = dict(when).get(name)
            rest = tuple(pair for pair in when if pair[0] != name)
            first = found.get(frozenset((*rest, (name, levels[0]))))
            if level is None or level == levels[0] or first is None:
                continue
            value = one.centre - first.centre
            yield Coefficient(
                value,
                math.hypot(one.centre_error, first.centre_error),
                value / self.deviations[-1] if self.deviations[-1] else 0.0,
                level=level,
                when=rest,
            )

    def _own_cells(self) -> list[tuple[tuple[tuple[str, Label], ...], Regression]]:
        """The cells that have a regression of their own, as names with levels."""
        parents = [parent for parent in self.parents if not parent.is_number]
        if not parents or not self.which.any():
            return [((), self.regressions[0])]
        cells = product(*(parent.levels for parent in parents))
        names = [parent.name for parent in parents]
        return [
            (tuple(zip(names, cell, strict=True)), self.regressions[place])
            for cell, place in zip(cells, self.which.ravel().tolist(), strict=True)
            if place
        ]

    def _means(self, given: Sequence[Values], n: int) -> tuple[Floats, Floats]:
        numbers = [v for v, one in zip(given, self.parents, strict=True) if one.is_number]
        levels = [v for v, one in zip(given, self.parents, strict=True) if not one.is_number]
        place = np.zeros(n, dtype=np.int64)
        if levels:
            cell, seen = cells_of(levels, self.which.shape)
            place = np.where(seen, self.which.ravel()[cell], 0)
        chosen = self._numbers[place]
        mean = chosen[:, 0].copy()
        for j, values in enumerate(numbers, start=1):
            mean += chosen[:, j] * values
        return mean, chosen[:, -1]


@dataclass(frozen=True, eq=False)
class LogitLaw(Law):
    """Levels given numbers, and levels beside them: multinomial logistic regression.

    Its ``features`` are, for each parent of numbers, the numbers, and for each parent of levels an
    indicator of each level but the first, all less their ``means`` and divided by their
    ``deviations``; then the ``pairs`` of these that are multiplied. ``weights`` has a line for each
    level but the first: a constant, and a coefficient a feature.
    """

    own: Variable
    parents: tuple[Variable, ...]
    means: Floats
    deviations: Floats
    pairs: tuple[tuple[int, int], ...]
    weights: Floats
    errors: Floats
    """The standard errors of the weights."""

    @property
    def n_parameters(self) -> int:
        """All weights."""
        return self.weights.size

    def draw(self, given: Sequence[Values], uniform: Floats) -> Values:
        """Levels."""
        odds = exp(_less_largest(self._log_odds(given)))
        steps = np.add.accumulate(odds, axis=0)
        below = uniform[np.newaxis] * steps[-1] >= steps[:-1]
        return np.asarray(below.sum(axis=0), dtype=np.int64)

    def log_densities(self, own: Values, given: Sequence[Values], unseen: float | None) -> Floats:
        """A level of a parent that was never seen moves the odds nowhere."""
        arity = len(self.own.levels)
        known = own < arity
        odds = _less_largest(self._log_odds(given))
        chosen = odds[np.where(known, own, 0).astype(np.int64), np.arange(len(own))]
        found = chosen - np.log(np.exp(odds).sum(axis=0))
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(known, found, np.log((unseen or 0.0) / (arity + 1))))

    def coefficients(self, place: int) -> tuple[Coefficient, ...]:
        """On the log odds, where the other features are at their means."""
        origins = list(origins_of(self.parents))
        found = []
        for j, (origin, level) in enumerate(origins):
            if origin != place:
                continue
            for line, child_level in enumerate(self.own.levels[1:]):
                weight, error = self.weights[line, j + 1], self.errors[line, j + 1]
                scale = self.deviations[j]
                value = float(weight / scale)
                standardised = float(weight) if level is None else value
                found.append(
                    Coefficient(
                        value,
                        float(error / scale),
                        standardised,
                        level=level,
                        child_level=child_level,
                    )
                )
        return tuple(found)

    def _log_odds(self, given: Sequence[Values]) -> Floats:
        """Of every level against the first, a line a level; sums from left to right."""
        lines = main_features(self.parents, given)
        # An indicator of a level that was never seen is left at its mean.
        features = [
            np.where(np.isnan(line), 0.0, (line - mean) / scale)
            for line, mean, scale in zip(lines, self.means, self.deviations, strict=True)
        ]
        features += [features[i] * features[j] for i, j in self.pairs]
        odds = np.zeros((len(self.weights) + 1, len(lines[0])))
        for line, weights in zip(odds[1:], self.weights, strict=True):
            line += weights[0]
            for weight, feature in zip(weights[1:], features, strict=True):
                line += weight * feature
        return odds


def origins_of(parents: Sequence[Variable]) -> Iterator[tuple[int, Label | None]]:
    """For each main feature the parent it comes from, and the level it indicates."""
    for place, parent in enumerate(parents):
        if parent.is_number:
            yield place, None
        else:
            yield from ((place, level) for level in parent.levels[1:])


def main_features(parents: Sequence[Variable], given: Sequence[Values]) -> list[Floats]:
    """Numbers, and indicators of levels, which are nan for a level that was never seen."""
    lines: list[Floats] = []
    for parent, values in zip(parents, given, strict=True):
        if parent.is_number:
            lines.append(np.asarray(values, dtype=np.float64))
            continue
        unseen = np.where(values < len(parent.levels), 0.0, np.nan)
        lines += [(values == code) + unseen for code in range(1, len(parent.levels))]
    return lines


def _less_largest(odds: Floats) -> Floats:
    """Log odds that no exponential overflows."""
    return np.asarray(odds - odds.max(axis=0))
