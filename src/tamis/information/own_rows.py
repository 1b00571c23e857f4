"""Information of any kind about a table in which values are missing: every question is put to a
source that knows the rows which have all its columns, and no others.

This is the available-case, or pairwise, treatment of missing values, as ``real_counts`` has it for
counts; what is said there about answers of different rows holds here too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.constants import constants
from tamis.errors import DataError
from tamis.information.incomplete import Flags, fit_moments
from tamis.information.interface import (
    LEVELS,
    NUMBERS,
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
    Tests,
    singles,
)
from tamis.information.kept import Kept
from tamis.information.real_counts import n_rows_of
from tamis.tables.table import Label, Table

FEWEST_ROWS = 10
"""Rows that are needed to say anything, besides two for each column."""
FEW_MASKS = 3
"""While values are missing in no more ways than this, or the table is small for their number, one
source for each set of rows knows all columns that it can; otherwise there would be too many, each
about columns that nobody asks for."""
MOST_CELLS = 2**26
"""Sources are kept while their tables have no more cells than this."""

MOST_SOURCES = 16
"""Sources are kept while there are no more of them than this, each about all columns."""

Columns = tuple[int, ...]


class _Part(NamedTuple):
    """A source about some of the rows, and the place in it of each column that it knows."""

    source: Source
    place: dict[int, int]

    def context(self, target: int, given: Columns) -> Context:
        """A context of the table, in the places of this source."""
        return Context(self.place[target], tuple(sorted(self.place[k] for k in given)))


class OwnRows(Source):
    """H and I of a table with missing values, by sources that ``make`` makes of parts of it."""

    def __init__(self, table: Table, make: Callable[[Table], Source]) -> None:
        self.names = table.names
        self.n_rows = float(table.n_rows)
        self._table = table
        self._make = make
        self._masks = _Masks(table)
        self._varies = [not table.never_varies(k) for k in range(table.n_variables)]
        self._is_number = [kind == "number" for kind in table.kinds]
        self._log_scale: Floats = np.array(
            [_log_spread(table, k) for k in range(table.n_variables)], dtype=np.float64
        )
        self._was_rescaled = False
        self._parts = Kept[tuple[frozenset[int], Columns], _Part](MOST_CELLS)
        self._refused: set[frozenset[int]] = set()
        n_masks = len(self._masks.distinct)
        n_cells = n_masks * table.n_rows * table.n_variables
        self._shares_sources = n_masks <= FEW_MASKS or n_cells <= MOST_CELLS
        self._control = LinearControl(table)
        self._known_apart: dict[Context, float] = {}
        self._tested: dict[Group, Tests] = {}
        self._scored: dict[Context, float] = {}
        # One column is enough to know what kind of source this is.
        example = self._made(self._masks.of((0,)), (0,)).source
        self._nothing = example.tests([])
        self._title = example.title
        self.test_names = example.test_names
        self.abilities = example.abilities - {Ability.LOOK_AHEAD}
        self.entropy_variance = example.entropy_variance / self._masks.share_present
        # A question about all columns goes to as many sources as there are sets of rows.

    @property
    def title(self) -> str:
        """What the sources are called, whose rows differ."""
        return f"{self._title} of each test's own rows"

    def varies(self, k: int) -> bool:
        """Whether the column takes more than one value where it is present."""
        return self._varies[k]

    def rows_behind(self, group: Group) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        return n_rows_of(self._table.missing, group, self._table.n_rows)

    def scale_free(self) -> OwnRows | None:
        """A source of numbers brought to one spread; None where there are none."""
        if not any(self._is_number):
            return None
        found = copy(self)
        found._was_rescaled = True
        return found

    def entropy_kinds(self) -> Sequence[str | None]:
        """Levels and numbers apart; of numbers that were standardised, nothing is compared."""
        varying = [k for k in range(self.n_variables) if self._is_number[k] and self._varies[k]]
        spread = np.ptp(self._log_scale[varying]) if varying else math.inf
        alike = not self._was_rescaled and spread <= constants.standardised
        return [(None if alike else NUMBERS) if number else LEVELS for number in self._is_number]

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), each on the rows that have the target and all that is given."""
        return np.array([self._entropy(*context) for context in contexts], dtype=np.float64)

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l, each on the rows that have all of them."""
        found = np.zeros((len(contexts), self.n_variables))
        for row, (target, given) in zip(found, contexts, strict=True):
            silent = {target, *given}
            others = [k for k in range(self.n_variables) if k not in silent]
            for part, members in self._by_rows(target, given, others):
                gains = part.source.cmi([part.context(target, given)])[0]
                row[members] = gains[[part.place[k] for k in members]]
        return found

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """The cmi; entropies are left open, because they may cost more, and few are read."""
        return Profiles(np.full(len(contexts), np.nan), self.cmi(contexts))

    def tests(self, queries: Sequence[Query]) -> Tests:
        """The candidates of all queries, end to end, each on the rows that have its columns."""
        for target, given, candidates in queries:
            groups = [Group(target, given, (int(k),)) for k in candidates]
            unknown = [group.members[0] for group in groups if group not in self._tested]
            silent = [k for k in unknown if k in (target, *given)]
            self._keep([Group(target, given, (k,)) for k in silent], None)
            others = [k for k in unknown if k not in silent]
            for part, members in self._by_rows(target, given, others):
                places = np.array([part.place[k] for k in members])
                found = part.source.tests([Query(*part.context(target, given), places)])
                self._keep([Group(target, given, (k,)) for k in members], found)
        return self._end_to_end(singles(queries))

    def joint_tests(self, groups: Sequence[Group]) -> Tests:
        """Groups of variables, each on the rows that have all its members."""
        for group in groups:
            if group not in self._tested:
                fresh = tuple(k for k in group.members if k not in (group.target, *group.given))
                part = self._part((group.target, *group.given, *fresh), ())
                places = tuple(part.place[k] for k in fresh) if part is not None else ()
                found = None
                if part is not None and fresh:
                    context = part.context(group.target, group.given)
                    found = part.source.joint_tests([Group(*context, places)])
                self._keep([group], found)
        return self._end_to_end(groups)

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """What the parents explain a row, on the rows that have all of them, times all rows; plus
        the target alone on its own rows: so ``real_counts`` compares scores of different rows too.
        """
        for context in contexts:
            if context not in self._scored:
                self._scored[context] = self._score(*context)
        return np.array([self._scored[context] for context in contexts], dtype=np.float64)

    # One question.

    def _entropy(self, target: int, given: Columns) -> float:
        part = self._part((target, *given), ())
        if part is None:
            # Too few rows have all of it: nothing is known of what the given ones tell.
            return self._entropy(target, ()) if given else 0.0
        if given:
            alone, left = part.source.entropies(
                [part.context(target, ()), part.context(target, given)]
            )
            found = self._entropy(target, ()) - float(alone - left) - self._apart(target, given)
            return found if self._is_number[target] else max(found, 0.0)
        found = float(part.source.entropies([part.context(target, ())])[0])
        rescaled = self._was_rescaled and self._is_number[target] and self._varies[target]
        return found - float(self._log_scale[target]) if rescaled else found

    def _score(self, target: int, given: Columns) -> float:
        alone = self._part((target,), ())
        if alone is None:
            return -self.n_rows * len(given)
        score = self._mean_score(alone, Context(target, ()))
        if not given:
            return score
        part = self._part((target, *given), ())
        if part is None:
            # What nothing can be said about is taken into a graph for nothing.
            return score - self.n_rows * len(given)
        explained = self._mean_score(part, Context(target, given))
        explained -= self._mean_score(part, Context(target, ()))
        return score + explained + self.n_rows * self._apart(target, given)

    def _apart(self, target: int, given: Columns) -> float:
        rows = self._masks.of((target, *given))
        if not rows or not self._varies[target]:
            return 0.0
        key = Context(target, given)
        if key not in self._known_apart:
            self._known_apart[key] = self._control.apart(target, given, self._masks.rows(rows))
        return self._known_apart[key]

    def _mean_score(self, part: _Part, context: Context) -> float:
        found = part.source.penalised_likelihoods([part.context(*context)])[0]
        return float(found) * self.n_rows / part.source.n_rows

    # Tests that are known.

    def _keep(self, groups: Sequence[Group], found: Tests | None) -> None:
        """Remember tests one by one; None is those that say nothing."""
        for i, group in enumerate(groups):
            if found is None:
                n_rows = self.rows_behind(group)
                one = _silent(self._nothing, self.n_rows if n_rows is None else n_rows)
            else:
                one = found.at(np.array([i]))
                one.n_rows = np.array([float(np.max(one.n_rows))])
            self._tested[group] = one

    def _end_to_end(self, groups: Sequence[Group]) -> Tests:
        if not groups:
            return self._nothing
        first, *others = [self._tested[group] for group in groups]
        return first.followed_by(others)

    # Sources of some rows.

    def _by_rows(
        self, target: int, given: Columns, others: Sequence[int]
    ) -> Iterable[tuple[_Part, list[int]]]:
        """The candidates that share their rows, with a source that knows them; those with too few
        rows are left out, and recorded as tests that say nothing."""
        shared: dict[frozenset[int], list[int]] = defaultdict(list)
        for k in others:
            shared[self._masks.of((target, *given, k))].append(k)
        for members in shared.values():
            part = self._part((target, *given, members[0]), tuple(members))
            if part is None:
                self._keep([Group(target, given, (k,)) for k in members], None)
            else:
                yield part, members

    def _part(self, family: Columns, more: Columns) -> _Part | None:
        """A source that knows the family, and ``more`` columns that have the same rows; None if
        these rows are too few."""
        rows = self._masks.of(family)
        wanted = tuple(sorted({*family, *more}))
        if self._masks.n_rows(rows) < FEWEST_ROWS + 2 * len(set(family)):
            return None
        everything = self._masks.complete_in(rows)
        if not self._shares_sources or rows in self._refused:
            return self._made(rows, wanted)
        try:
            return self._made(rows, everything)
        except DataError:
            # In these rows columns that nobody asked for may be functions of each other.
            self._refused.add(rows)
            return self._made(rows, wanted)

    def _made(self, rows: frozenset[int], columns: Columns) -> _Part:
        key = rows, columns
        part = self._parts.get(key)
        if part is None:
            table = _complete_part(self._table, self._masks.rows(rows), columns)
            part = _Part(self._make(table), {k: place for place, k in enumerate(columns)})
            # However short the table, a source remembers much of what it was asked.
            least = len(columns) * MOST_CELLS // (MOST_SOURCES * self.n_variables)
            self._parts.keep(key, part, max(len(columns) * table.n_rows, least))
        return part


class _Masks:
    """Which rows columns are missing in; columns that are missing in the same rows share a mask."""

    def __init__(self, table: Table) -> None:
        self._n_rows = table.n_rows
        self._d = table.n_variables
        found: dict[bytes, int] = {}
        self.distinct: list[Flags] = []
        self._of: dict[int, int] = {}
        for k, absent in sorted(table.missing.items()):
            bits = np.packbits(absent).tobytes()
            if bits not in found:
                found[bits] = len(self.distinct)
                self.distinct.append(absent)
            self._of[k] = found[bits]
        # inside[i]: the masks that hold all of mask i and more, and make it superfluous.
        self._inside = [
            {j for j, other in enumerate(self.distinct) if j != i and not (mask & ~other).any()}
            for i, mask in enumerate(self.distinct)
        ]
        n_absent = sum(int(flags.sum()) for flags in table.missing.values())
        self.share_present = 1 - n_absent / (self._d * table.n_rows)

    def of(self, columns: Columns) -> frozenset[int]:
        """The masks that together say where any of the columns is missing."""
        all_of_them = {self._of[k] for k in columns if k in self._of}
        return frozenset(i for i in all_of_them if not self._inside[i] & all_of_them)

    def complete_in(self, masks: frozenset[int]) -> Columns:
        """The columns that are missing in no other rows than these masks say."""
        covered = {i for i, wider in enumerate(self._inside) if i in masks or wider & masks}
        return tuple(k for k in range(self._d) if k not in self._of or self._of[k] in covered)

    def rows(self, masks: frozenset[int]) -> NDArray[np.int64]:
        """The rows in which none of the masks says that something is missing."""
        absent = np.zeros(self._n_rows, dtype=np.bool_)
        for i in masks:
            absent |= self.distinct[i]
        return np.flatnonzero(~absent)

    def n_rows(self, masks: frozenset[int]) -> int:
        """How many rows these are."""
        return len(self.rows(masks))


def _complete_part(table: Table, rows: NDArray[np.int64], columns: Columns) -> Table:
    """Some rows and columns in which nothing is missing; of levels only those that occur."""
    part = table.select(list(columns)).arrange(rows)
    codes = part.codes.copy()
    levels: list[tuple[Label, ...]] = []
    for k, labels in enumerate(part.levels):
        occurs = np.bincount(codes[k], minlength=len(labels)) > 0
        if labels and not occurs.all():
            codes[k] = (np.cumsum(occurs) - 1)[codes[k]]
            labels = tuple(label for label, one in zip(labels, occurs, strict=True) if one)
        levels.append(labels)
    return replace(part, levels=tuple(levels), codes=codes, missing={})


def _silent(like: Tests, n_rows: float) -> Tests:
    """A test that says nothing, among others of its kind."""
    stats = None if like.stats is None else np.zeros((1, like.stats.shape[1]))
    log_p = None if stats is not None or like.log_p is None else np.zeros(1)
    return type(like)(np.zeros(1), log_p, n_rows=np.array([float(n_rows)]), stats=stats)


def _log_spread(table: Table, k: int) -> float:
    """ln of the standard deviation of a number; 0 for levels and constants."""
    if table.kinds[k] != "number" or table.never_varies(k):
        return 0.0
    return math.log(float(np.std(table.numbers(k)[table.present(k)])))


MOST_NUMBERS = 300
"""Columns of numbers and indicators beyond which the covariance of all is not worth its time."""
ROUNDING = 1e-6
"""Of a variance: what varies less than this counts as determined, in some rows as in all."""


class LinearControl:
    """The linear information between columns, in some rows and in all; 0 without a covariance.

    What some columns explain of another is a mean over rows, and over different rows it differs,
    by chance or because of who is missing. The linear part of that difference can be known: by
    moments of the same rows on the one hand, of all rows by maximum likelihood on the other. Taken
    off, it leaves means that compare (a control variate). Levels take part by their indicators.
    """

    def __init__(self, table: Table) -> None:
        pieces = [_indicators(table, k) for k in range(table.n_variables)]
        starts = np.cumsum([0, *map(len, pieces)])
        self._places = [np.arange(a, b) for a, b in pairwise(starts.tolist())]
        self._values = np.concatenate(pieces)
        present = [np.repeat(table.present(k)[None], len(one), 0) for k, one in enumerate(pieces)]
        flags = np.concatenate(present)
        self._covariance = self._of_all(flags)
        self._known: dict[tuple[int, ...], float] = {}

    def apart(self, target: int, given: tuple[int, ...], rows: Ints) -> float:
        """How much more the given columns tell linearly of the target in all rows than in these."""
        covariance = self._covariance
        if covariance is None:
            return 0.0
        sets = (target,), given, tuple(sorted((target, *given)))
        whole = [self._in_all(covariance, one) for one in sets]
        places = np.concatenate([self._places[k] for k in sets[2]])
        inside = np.cov(self._values[np.ix_(places, rows)], bias=True).reshape(2 * (len(places),))
        where = {int(place): i for i, place in enumerate(places)}
        some = []
        for one in sets:
            at = [where[int(place)] for k in one for place in self._places[k]]
            some.append(_log_determinant(inside[np.ix_(at, at)]))
        return (whole[0] + whole[1] - whole[2]) - (some[0] + some[1] - some[2])

    def _of_all(self, present: Flags) -> Floats | None:
        n_numbers = len(present)
        often = bool((present.sum(axis=1) >= 2 * (n_numbers + 1)).all())
        if not often or not 0 < n_numbers <= MOST_NUMBERS:
            return None
        return fit_moments(self._values, present, roughly=True).covariance

    def _in_all(self, covariance: Floats, columns: tuple[int, ...]) -> float:
        if columns not in self._known:
            at = np.concatenate([self._places[k] for k in columns])
            self._known[columns] = _log_determinant(covariance[np.ix_(at, at)])
        return self._known[columns]


def _indicators(table: Table, k: int) -> Floats:
    """A number with mean 0 and variance 1; of levels the indicators of all but the first. Nothing
    of a column that never varies, and 0 where it is missing."""
    present = table.present(k)
    if table.never_varies(k):
        return np.zeros((0, table.n_rows))
    if table.kinds[k] == "number":
        found = table.numbers(k)[None]
    else:
        found = (table.codes[k] == np.arange(1, len(table.levels[k]))[:, None]).astype(np.float64)
    known = found[:, present]
    scaled = (found - known.mean(axis=1)[:, None]) / known.std(axis=1)[:, None]
    return np.where(present, scaled, 0.0)


def _log_determinant(covariance: Floats) -> float:
    """Half of ln det, which is the entropy but for a constant that cancels."""
    ridge = ROUNDING * np.eye(len(covariance))
    return 0.5 * float(np.linalg.slogdet(covariance + ridge)[1])
