"""Information from counts of rows that are not all alike: some columns are missing in some of them,
or each has a survey weight, or both.

**Missing values.** Every question is asked of the rows that have all its columns: the
available-case, or pairwise, treatment. Where values are missing completely at random each answer is
that of a smaller sample, and no answer wastes a row; but the rows differ from question to question,
so that answers need not fit together: a cmi may grow or fall only because other rows were asked.
Where what is missing depends on what it would have been, the rows that are left are a biased
sample, here as after leaving rows out.

**Weights.** A row stands for w units of a population. Probabilities are shares of weight. Rows are
worth n = (sum w)^2 / sum w^2 of equal weight (Kish, 1965), and counts are scaled to add up to that
n: entropies are corrected, and likelihoods counted, as if there were so many rows. Tests have an n
of their own (``real_count_loops.equal_rows``), because what a row is worth depends on what it is
asked. Not known here: clusters, whose rows are alike, and strata of the survey; clusters make every
p-value too small.

A row without a weight weighs 1, and what it is worth is its number: there is one way to count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from tamis.counting.counts import dense_cells, n_log_n
from tamis.counting.independence import SCALE, STATS
from tamis.counting.lookup import fixed_point
from tamis.errors import SettingError
from tamis.information.estimators import AnyEstimator, EntropyEstimator, as_additive
from tamis.information.interface import (
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Profiles,
    Query,
    Source,
)
from tamis.information.null_laws import CountTests
from tamis.information.real_count_loops import (
    Codes,
    Runs,
    Terms,
    judge_rows,
    sorted_rows,
)
from tamis.information.regret import price
from tamis.tables.sources import effective_rows
from tamis.tables.table import Table

STATES_BYTES = 2**26
"""The joint states of recent sets of columns are kept while they fit in this."""

KNOWN_BYTES = 2**27
"""Tests of whole contexts are kept while they fit in this."""
STEPS = 2.0**20
"""Weights are whole numbers of such parts of a row, so that sums do not depend on their order."""
SIGNS = np.array([-1, 1, 1, -1])
"""I(X_k ; X_l | S) = -H(S) + H(S, X_k) + H(S, X_l) - H(S, X_k, X_l)."""

Flags = NDArray[np.bool_]


class RealCountInformation(Source):
    """H and I of a table of levels with missing values, survey weights, or both. Each test says how
    many rows it has. Looking ahead is off: it goes by complete rows of equal weight.
    """

    title = "counts of rows with missing values or weights"
    test_names = CountTests.offered
    abilities = frozenset({Ability.LIKELIHOOD, Ability.JOINT_TESTS})

    def __init__(self, table: Table, estimator: str | AnyEstimator = "grassberger") -> None:
        is_weighted = table.weights is not None
        self.names = table.names
        self.n_rows = float(table.n_rows)
        if table.weights is not None:
            self.n_rows = effective_rows(table.weights)
        self.estimator = as_additive(
            estimator, "a table with survey weights" if is_weighted else "missing='pairwise'"
        )
        require_scaling(self.estimator, is_weighted)
        self._n_table = table.n_rows
        self._missing = table.missing
        self._sizes: list[int] = table.arities.tolist()
        self._rows = _Rows(table, self.n_rows)
        self._terms = _terms(self.estimator, table.n_rows, is_weighted)
        self._rests: dict[float, float] = {}
        self._known: dict[Context, tuple[float, CountTests]] = {}
        self._alone: dict[int, float] = {}

    def varies(self, k: int) -> bool:
        """Whether the column has more than one level."""
        return self._sizes[k] > 1

    def rows_behind(self, group: Group) -> int | None:
        """How many rows have a value in each of these columns; None where all rows have."""
        return n_rows_of(self._missing, group, self._n_table)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given), each on the rows that have the target and all that is given."""
        nobody = np.zeros(0, dtype=np.int64)
        return np.array([self._answers(context, nobody)[0] for context in contexts], dtype=float)

    def profiles(self, contexts: Sequence[Context]) -> Profiles:
        """Entropies and cmi; the tests, whose rows differ, are asked for apart."""
        known = [self._whole(context) for context in contexts]
        cmi = np.array([tests.cmi for _, tests in known])
        return Profiles(
            np.array([entropy for entropy, _ in known], dtype=np.float64),
            cmi.reshape(len(contexts), self.n_variables),
        )

    def tests(self, queries: Sequence[Query]) -> CountTests:
        """The candidates of all queries, end to end, each on the rows that have its columns."""
        found = []
        for target, given, others in queries:
            context, candidates = Context(target, given), np.asarray(others, dtype=np.int64)
            if context in self._known:
                found.append(self._known[context][1].at(candidates))
            else:
                found.append(self._answers(context, candidates)[1])
        return _end_to_end(found)

    def joint_tests(self, groups: Sequence[Group]) -> CountTests:
        """Groups of variables, each missing where one of its members is."""
        return _end_to_end([self._test_group(group) for group in groups])

    def penalised_likelihoods(self, contexts: Sequence[Context]) -> Floats:
        """What the parents explain a row, on the rows that have all of them, times all rows.

        Likelihoods on different rows cannot be compared. Their means can: the node-average
        likelihood of Balov (2013) and Bodewes and Scutari (2021). Here it is taken of a
        difference, target with and without its parents on the same rows, each at its price by
        quotient NML; to which comes the target alone, on all rows that have it. So what differs
        between sets of parents is what they explain, and not whose rows were asked, and an edge
        scores the same in both directions.
        """
        return np.array([self._score(*context) for context in contexts], dtype=np.float64)

    # Entropies and tests.

    def _whole(self, context: Context) -> tuple[float, CountTests]:
        """The entropy of a context and the tests of all variables with it."""
        known = self._known.get(context)
        if known is None:
            known = self._answers(context, np.arange(self.n_variables))
            if len(self._known) * self.n_variables * 8 * (STATS + 2) < KNOWN_BYTES:
                self._known[context] = known
        return known

    def _answers(self, context: Context, candidates: Ints) -> tuple[float, CountTests]:
        """The entropy of a context and some tests; a candidate that is part of its context says
        nothing and has no test."""
        asked = np.append(candidates, self.n_variables)
        sums, stats, used = self._judged(context, self._rows.codes, self._rows.arities, asked)
        sums[-1, 2:] = 0  # what is left of the constant column is -H(S) + H(S, X_k)
        cmi = self._rescaled(sums, used)
        is_own = np.zeros(self.n_variables, dtype=np.bool_)
        is_own[[context.target, *context.given]] = True
        own = np.flatnonzero(is_own[candidates])
        cmi[own] = 0.0
        stats[own] = 0.0
        return float(cmi[-1]), CountTests(cmi[:-1], stats=stats[:-1], n_rows=used[:-1])

    def _test_group(self, group: Group) -> CountTests:
        """Several variables as one candidate."""
        states, n_states = self._rows.states(group.members)
        codes = np.where(states < 0, n_states, states)[None, :].astype(np.uint32)
        only = np.zeros(1, dtype=np.int64)
        context = Context(group.target, group.given)
        sums, stats, used = self._judged(context, codes, np.array([n_states]), only)
        return CountTests(self._rescaled(sums, used), stats=stats, n_rows=used)

    def _judged(
        self, context: Context, codes: Codes, arities: Ints, candidates: Ints
    ) -> tuple[Ints, Floats, Floats]:
        """Rows of ``codes`` as candidates: the sums that their cmi is made of, their tests, and
        what their rows are worth."""
        used = np.zeros(len(candidates))
        sums = np.zeros((len(candidates), 4), dtype=np.int64)
        stats = np.zeros((len(candidates), STATS))
        runs, unit = self._rows.runs(*context), self._rows.unit
        judge_rows(runs, unit, codes, arities, candidates, self._terms, used, sums, stats)
        stats[:, 0] *= self._n_table / np.where(used > 0, used, 1.0)
        return sums, stats, used

    def _rescaled(self, sums: Ints, used: Floats) -> Floats:
        """Entropies added with their signs, from sums of the f of all rows.

        n f(j; n) is the same for all n but for a multiple of j (``require_scaling``), which adds
        up to the same for every table of the same rows: that of a table of single rows.
        """
        share = self._n_table / np.where(used > 0, used, 1.0)
        rests = np.array([self._rest(n) for n in used.tolist()])
        # A table with all rows in one cell is certain, whatever f says.
        certain = sums == 0
        scaled: Floats = (sums @ SIGNS) / SCALE * share + (~certain @ SIGNS) * rests
        return scaled

    def _rest(self, used: float) -> float:
        known = self._rests.get(used)
        if known is None:
            rows = used or 1.0, self._n_table
            some, all_of_them = (_counted_in(self.estimator, n)[0] for n in rows)
            known = self._rests[used] = float(some - all_of_them)
        return known

    # Scores.

    def _score(self, target: int, given: tuple[int, ...]) -> float:
        if not given and target in self._alone:
            return self._alone[target]
        inside, strata, levels, n = self._rows.tables(target, given)
        width = self._sizes[target]
        n_states = math.prod(float(self._sizes[k]) for k in given)
        told = float(n_log_n(inside, n).sum() - n_log_n(strata, n).sum())
        told -= price(width, n_states, round(n))
        share = self.n_rows / max(n, 1.0)
        if not given:
            self._alone[target] = share * told
            return self._alone[target]
        alone = float(n_log_n(levels, n).sum() - n_log_n(n, n)) - price(width, 1.0, round(n))
        return self._score(target, ()) + share * (told - alone)


class _Rows:
    """The rows of a table and their weights, in parts of a row (``unit``); rows that say the same
    are one. Joint states of columns are remembered.

    ``codes`` are the table's, with the number of levels of a column where it is missing, and a
    last column that is 0 everywhere.
    """

    def __init__(self, table: Table, worth: float) -> None:
        steps = squares = np.ones(table.n_rows)
        self.unit = 1.0
        if table.weights is not None:
            self.unit = 1.0 / STEPS
            scale = worth / table.weights.sum()
            steps = np.maximum(np.rint(table.weights * scale * STEPS), 1.0)
            squares = np.maximum(np.rint((steps / STEPS) ** 2 * STEPS), 1.0)
        codes = table.codes.astype(np.uint32)
        for k, absent in table.missing.items():
            codes[k, absent] = len(table.levels[k])
        all_alike, n_alike = np.zeros(table.n_rows, dtype=np.int64), 1
        for k, arity in enumerate(table.arities.tolist()):
            # A missing value is a level here.
            all_alike, n_alike = _extended(all_alike, n_alike, codes, k, arity + 1)
        self._weights, self._squares = (
            np.bincount(all_alike, one, n_alike).astype(np.int64) for one in (steps, squares)
        )
        self.codes = np.zeros((table.n_variables + 1, n_alike), dtype=codes.dtype)
        self.codes[:-1, all_alike] = codes
        self.arities = np.append(table.arities, 1)
        self._known: dict[tuple[int, ...], tuple[Ints, int]] = {}

    def states(self, columns: tuple[int, ...]) -> tuple[Ints, int]:
        """The joint state of these columns in each row, in order of the levels and -1 where one of
        them is missing; and how many there are.

        Sets grow by one column at a time, so the states of all but the last are often at hand.
        """
        size = len(columns)
        while size and columns[:size] not in self._known:
            size -= 1
        n_rows = self.codes.shape[1]
        known = self._known[columns[:size]] if size else (np.zeros(n_rows, dtype=np.int64), 1)
        for k in columns[size:]:
            known = _extended(*known, self.codes, k, int(self.arities[k]))
        self._known[columns] = known
        while len(self._known) * n_rows * 8 > STATES_BYTES:
            self._known.pop(next(iter(self._known)))
        return known

    def runs(self, target: int, given: tuple[int, ...]) -> Runs:
        """The rows that have these columns, by stratum and level."""
        strata, _ = self.states(given)
        family, n_cells = self.states((*given, target))
        return sorted_rows(family, n_cells, strata, self._weights, self._squares)

    def tables(self, target: int, given: tuple[int, ...]) -> tuple[Floats, Floats, Floats, float]:
        """The counts of cells, strata and levels in the rows that have all these columns, and what
        they add up to: what these rows are worth."""
        family, n_cells = self.states((*given, target))
        inside, squares = (
            np.bincount(family + 1, amounts, n_cells + 1)[1:].astype(np.float64)
            for amounts in (self._weights, self._squares)
        )
        inside *= self.unit * inside.sum() / max(float(squares.sum()), 1.0)
        a_row = np.zeros(n_cells + 1, dtype=np.int64)
        a_row[family] = np.arange(len(family))  # rows that lack a column fall into the last place
        strata, _ = self.states(given)
        of_cell = strata[a_row[:-1]], self.codes[target, a_row[:-1]]
        by_stratum, by_level = (np.bincount(places, inside).astype(float) for places in of_cell)
        return inside, by_stratum, by_level, float(inside.sum())


def _extended(before: Ints, n_states: int, codes: Codes, k: int, arity: int) -> tuple[Ints, int]:
    """States with one more column, numbered from 0, and how many there are."""
    states = before * arity + codes[k]
    states[(before < 0) | (codes[k] >= arity)] = -1
    if n_states * arity > dense_cells(len(before)):
        values, numbers = np.unique(states, return_inverse=True)
        n_missing = int(values[0] < 0)
        return numbers - n_missing, len(values) - n_missing
    # The last place is for what is missing, which -1 finds.
    numbers = np.zeros(n_states * arity + 1, dtype=np.int64)
    numbers[states] = 1
    numbers[-1] = 0
    n_found = int(numbers.sum())
    numbers = np.cumsum(numbers) - numbers
    numbers[-1] = -1
    return numbers[states], n_found


def _terms(estimator: EntropyEstimator, n_rows: int, is_weighted: bool) -> Terms:
    """The estimator's f, with ``n_rows`` rows, as the loops take it.

    At counts that are not whole the formulas of the plug-in and of Miller and Madow hold as they
    are, -p ln p and what comes to it. Grassberger's G is defined at whole numbers: between them f
    goes straight from one to the next, which is its mean over all ways to round a count up or down
    that keep the count on average.
    """
    # Squares of weights are rounded, to at least two thirds: some rows may seem to be worth more.
    counts = np.arange(2 * n_rows + 3 if is_weighted else n_rows + 1)
    whole = estimator.terms(counts, n_rows, 1)
    plain = entr(counts / n_rows)
    known = fixed_point(whole)
    known[0] = 0
    constant = int(fixed_point(np.array(estimator.constant(n_rows))))
    is_straight = estimator.name == "grassberger"
    return known, fixed_point(plain), is_straight, float(whole[1] - plain[1]), constant, n_rows


def require_scaling(estimator: EntropyEstimator, is_weighted: bool) -> None:
    """Refuse an estimator whose f for fewer rows does not follow from that for all of them, or is
    not known at counts that are not whole."""
    if is_weighted and estimator.name not in ("grassberger", "miller-madow", "plugin"):
        raise SettingError(
            f"entropy={estimator.name!r} needs whole counts, and survey weights make none: use "
            "'grassberger', 'miller-madow' or 'plugin'"
        )
    follows = not (estimator.uses_support or estimator.clips)
    if follows:
        few, many = (_counted_in(estimator, n) for n in (100, 1000))
        off = many - few - np.arange(1, 6) * (many[0] - few[0])
        follows = bool(np.abs(off).max() < 1e-9)
    if not follows:
        raise SettingError(
            f"entropy={estimator.name!r} depends on the rows in more than one way, and with "
            "missing='pairwise' they differ from test to test: use 'grassberger', 'plugin', "
            "'miller-madow' or 'jackknife', or missing='drop' or 'level'"
        )


def _counted_in(estimator: EntropyEstimator, n_rows: float) -> Floats:
    """n f(j; n) for the first few j."""
    counts = np.arange(1, 6, dtype=np.int64)
    # The formulas divide counts by rows, whatever type they have.
    terms = estimator.terms(counts, n_rows, 1)  # type: ignore[arg-type]
    return np.asarray(n_rows * terms, dtype=np.float64)


def n_rows_of(missing: Mapping[int, Flags], group: Group, n_rows: int) -> int | None:
    """How many rows have all columns of a group; None where none of these is missing anywhere."""
    columns = (group.target, *group.given, *group.members)
    absent = [missing[k] for k in columns if k in missing]
    return n_rows - int(np.logical_or.reduce(absent).sum()) if absent else None


def _end_to_end(parts: Sequence[CountTests]) -> CountTests:
    """All tests as one batch."""
    nothing = CountTests(np.zeros(0), stats=np.zeros((0, STATS)), n_rows=np.zeros(0))
    return nothing.followed_by(parts)
