"""Entropies, gains and tests from nearest neighbours, as the searches ask for them.

Gains are estimates of Frenzel and Pompe (2007), after Kraskov, Stoegbauer and Grassberger (2004),
on the normal scores of the columns. A gain leaves a bias that depends on the columns, so that no
threshold in nats means the same everywhere: a test shuffles the candidate among close rows, which
keeps that bias (Runge, 2018), and ``LocalPermutation`` judges by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

import numpy as np
from scipy.special import digamma

from tamis.counting.sharing import usable_jobs
from tamis.errors import DataError
from tamis.information.continuous import (
    column_entropy,
    normal_scores,
    refuse_copies,
    require_numbers,
    tell_of_ties,
    untied,
)
from tamis.information.interface import (
    LEVELS,
    NUMBERS,
    Ability,
    Context,
    Floats,
    Group,
    Ints,
    Source,
)
from tamis.information.neighbour_space import Space
from tamis.information.null_laws import ShuffleTests
from tamis.plugins import whole
from tamis.tables.moments import varies
from tamis.tables.table import Table

FOR_GAINS = 20
"""Neighbours for gains: enough that noise is small next to the dependence it could hide."""
FOR_ENTROPIES = 10
"""Neighbours for what a boundary tells of its node. Fewer are less biased and noisier, more the
other way round; the learned graphs were best with 10 and 20 (docs/continuous.md)."""
SHUFFLES = 50
SHARED_SHUFFLES = 200
"""Shuffles for the tests of two continuous columns given nothing: one null serves them all."""
MOST_SHUFFLES = 100_000
"""Each holds an order of all rows, and beyond some hundreds p-values hardly change."""

Pair = tuple[int, int, tuple[int, ...]]
Tested = tuple[float, float, float, int]
"""A gain, the mean and the variance of its shuffled twins, and their number."""
Task = TypeVar("Task")
Answer = TypeVar("Answer")


class NearestNeighbours(Source):
    """What sources that work with neighbours share; ``space`` holds the columns.

    ``own_entropies`` are the H(X_k) given nothing. H(X_k | S) is H(X_k) less the gains of the
    members of S, one after the other in the order of their names.
    """

    title = "nearest neighbours"
    test_names = ShuffleTests.offered
    abilities = frozenset({Ability.JOINT_TESTS})

    def __init__(
        self,
        space: Space,
        own_entropies: Floats,
        varying: Sequence[bool],
        *,
        k: int = FOR_GAINS,
        shuffles: int = SHUFFLES,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.names = space.names
        self.n_rows = float(space.n_rows)
        self.k = whole("k", k, 1)
        self.shuffles = whole("shuffles", shuffles, 2, MOST_SHUFFLES)
        self.seed = whole("seed", seed, 0)
        if space.n_rows < self.k + 2:
            raise DataError(
                f"The table has {space.n_rows} rows; k={self.k} neighbours need at least "
                f"{self.k + 2}. Give k a smaller value, or gather more rows."
            )
        self._space = space
        self._own_entropies = np.asarray(own_entropies, dtype=np.float64)
        self._varies = tuple(varying)
        self._n_jobs = usable_jobs(n_jobs)
        self._known_gains: dict[Pair, float] = {}
        self._known_steps: dict[Pair, float] = {}
        self._known_tests: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Tested] = {}
        self._shared: Floats | None = None

    def varies(self, k: int) -> bool:
        """Whether the column holds more than one value."""
        return self._varies[k]

    def entropy_kinds(self) -> Sequence[str | None]:
        """Levels and numbers apart."""
        return [LEVELS if level else NUMBERS for level in self._space.is_levels]

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats; of a measurement it depends on the unit, and may be < 0."""
        chains = [self._chain(*self._reduced(context)) for context in contexts]
        self._learn(
            self._known_steps,
            (step for chain in chains for step in chain),
            min(FOR_ENTROPIES, self.k),
        )
        found = np.zeros(len(contexts))
        for i, (context, chain) in enumerate(zip(contexts, chains, strict=True)):
            if self._varies[context.target]:
                told = sum(self._known_steps[_twin(step)] for step in chain)
                found[i] = self._own_entropies[context.target] - told
        return found

    def cmi(self, contexts: Sequence[Context]) -> Floats:
        """I(target ; l | given) for every variable l: a row of d values for each context.

        Estimates are as they come; where there is no dependence about half of them are below 0.
        """
        asked = [self._asked(*self._reduced(context)) for context in contexts]
        self._learn(self._known_gains, (pair for row in asked for pair in row), self.k)
        found = np.zeros((len(contexts), self.n_variables))
        for line, row in zip(found, asked, strict=True):
            for pair in row:
                line[pair[1]] = self._known_gains[_twin(pair)]
        return found

    def joint_tests(self, groups: Sequence[Group]) -> ShuffleTests:
        """Each group with the moments of its shuffles, in which the members move together."""
        keys = []
        for target, given, members in groups:
            context = self._reduced(Context(target, given))
            silent = {target, *context.given}
            fresh = {v for v in members if v not in silent and self._varies[v]}
            keys.append((target, context.given, tuple(sorted(fresh, key=self.names.__getitem__))))
        missing = [key for key in dict.fromkeys(keys) if key not in self._known_tests]
        if any(self._is_free(*key) for key in missing):
            self._shared_null()
        tested = self._each(lambda key: self._test(*key), missing)
        self._known_tests.update(zip(missing, tested, strict=True))
        return self._as_tests([self._known_tests[key] for key in keys])

    def _as_tests(self, tests: Sequence[Tested]) -> ShuffleTests:
        found = np.array(tests, dtype=np.float64).reshape(-1, 4)
        stats = found[:, 1:].copy()
        stats[:, 2] = np.maximum(stats[:, 2] - 1, 0)
        return ShuffleTests(found[:, 0].copy(), stats=stats, n_rows=self.n_rows)

    def _test(self, target: int, given: tuple[int, ...], members: tuple[int, ...]) -> Tested:
        """A gain next to those of its shuffled twins."""
        if not members or not self._varies[target]:
            return 0.0, 0.0, 0.0, 0
        space = self._space
        if self._is_free(target, given, members):
            gain = float(space.gains(target, given, members, self.k)[0])
            null = self._shared_null()
        else:
            orders = space.orders((target, *members), given, self.shuffles, self.seed)
            gain, *rest = space.shuffled_gains(target, given, members, orders, self.k).tolist()
            null = np.array(rest)
        return gain, float(null.mean()), float(null.var(ddof=1)), len(null)

    def _is_free(self, target: int, given: tuple[int, ...], members: tuple[int, ...]) -> bool:
        """Whether the null is that of any two columns without ties: their scores are the same
        numbers, and a shuffle makes any order of them equally likely."""
        levels = self._space.is_levels
        pair = len(members) == 1 and not given
        return pair and not levels[target] and not levels[members[0]]

    def _shared_null(self) -> Floats:
        if self._shared is None:
            scores = normal_scores(np.arange(self._space.n_rows, dtype=np.float64))
            twins = Space(("one", "other"), np.array([scores, scores]), (False, False))
            twins.ties = self._space.ties
            number = max(self.shuffles, SHARED_SHUFFLES)
            orders = twins.orders((0, 1), (), number, self.seed)
            self._shared = twins.shuffled_gains(0, (), (1,), orders, self.k)[1:]
        return self._shared

    # What has been asked once is remembered: the searches come back to it.

    def _reduced(self, context: Context) -> Context:
        """The context without constant columns, which say nothing about anything."""
        return Context(context.target, tuple(v for v in context.given if self._varies[v]))

    def _chain(self, target: int, given: tuple[int, ...]) -> list[Pair]:
        """I(X ; S) as a sum of single gains, each given those before it."""
        if not self._varies[target]:
            return []
        ordered = sorted(given, key=self.names.__getitem__)
        return [(target, v, tuple(ordered[:i])) for i, v in enumerate(ordered)]

    def _asked(self, target: int, given: tuple[int, ...]) -> list[Pair]:
        """The gains of a row that are not 0 by definition."""
        if not self._varies[target]:
            return []
        silent = {target, *given}
        ordered = tuple(sorted(given, key=self.names.__getitem__))
        return [
            (target, v, ordered)
            for v in range(self.n_variables)
            if v not in silent and self._varies[v]
        ]

    def _learn(self, known: dict[Pair, float], pairs: Iterable[Pair], k: int) -> None:
        """Estimate the gains that are not known yet, those of one context together."""
        tasks: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        claimed = set()
        for pair in pairs:
            twin = _twin(pair)
            if twin not in known and twin not in claimed:
                claimed.add(twin)
                tasks.setdefault((pair[0], pair[2]), []).append(pair[1])
        answers = self._each(
            lambda task: self._space.gains(*task, tasks[task], k).tolist(), list(tasks)
        )
        for (target, given), found in zip(tasks, answers, strict=True):
            for v, gain in zip(tasks[target, given], found, strict=True):
                known[_twin((target, v, given))] = gain

    def _each(self, answer: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
        """The answers in order; threads share the tasks, and no answer depends on another."""
        if self._n_jobs == 1 or len(tasks) < 2:
            return [answer(task) for task in tasks]
        with ThreadPoolExecutor(self._n_jobs) as pool:
            return list(pool.map(answer, tasks))


def _twin(pair: Pair) -> Pair:
    """One name for I(X ; Y | S) and I(Y ; X | S), which are estimated alike."""
    one, other, given = pair
    return (one, other, given) if one < other else (other, one, given)


class NeighbourInformation(NearestNeighbours):
    """H and I of continuous columns, whatever the shape of their dependence."""

    @classmethod
    def from_table(
        cls,
        table: Table,
        *,
        k: int = FOR_GAINS,
        shuffles: int = SHUFFLES,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Rank the numbers of a table; levels that are numbers count as rounded ones."""
        numbers = {name: table.numbers(i) for i, name in enumerate(table.names)}
        seed = whole("seed", seed, 0)
        scores, entropies, varying = prepared(numbers, seed)
        space = Space(table.names, scores, [False] * len(numbers))
        return cls(space, entropies, varying, k=k, shuffles=shuffles, seed=seed, n_jobs=n_jobs)


def prepared(numbers: dict[str, Floats], seed: int) -> tuple[Floats, Floats, list[bool]]:
    """The normal scores of columns, their entropies, and whether they vary."""
    for name, values in numbers.items():
        require_numbers(name, values)
    varying = {name: values for name, values in numbers.items() if varies(name, values)}
    refuse_copies(varying.items())
    n = len(next(iter(numbers.values()))) if numbers else 0
    scores, entropies = np.zeros((len(numbers), n)), np.zeros(len(numbers))
    for i, (name, values) in enumerate(numbers.items()):
        if name in varying:
            spread = untied(name, values, seed)
            scores[i], entropies[i] = normal_scores(spread), column_entropy(spread)
    tell_of_ties(varying)
    return scores, entropies, [name in varying for name in numbers]


FOR_MIXED = 7
"""Mesner and Shalizi's own number of neighbours; levels leave fewer rows to choose among."""


class MixedInformation(NearestNeighbours):
    """H and I of levels and measurements together.

    Gains are those of Mesner and Shalizi (2020): neighbour counts that let ties be. A continuous
    column enters by its normal scores, so that its values are about 1 apart; two levels of a column
    are 0 or 1 apart, whatever they are called. Neighbours therefore share the levels of a row while
    there are enough such rows.

    A discrete entropy and a differential one have no common scale: H(X_k | S) is in nats for both,
    but that of a continuous column moves with its unit. An order between columns of different kinds
    is a convention, not a fact about them (docs/continuous.md).
    """

    @classmethod
    def from_table(
        cls,
        table: Table,
        *,
        k: int = FOR_MIXED,
        shuffles: int = SHUFFLES,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Measured columns by their ranks, all others by their levels, numbers among them."""
        seed = whole("seed", seed, 0)
        measured = [v for v, kind in enumerate(table.kinds) if kind == "number"]
        scores, own, varying = prepared({table.names[v]: table.numbers(v) for v in measured}, seed)
        columns = table.codes.astype(np.float64)
        entropies = np.array([level_entropy(codes) for codes in table.codes.astype(np.int64)])
        varies = [arity > 1 for arity in table.arities.tolist()]
        for place, v in enumerate(measured):
            columns[v], entropies[v], varies[v] = scores[place], own[place], varying[place]
        is_levels = [kind != "number" for kind in table.kinds]
        space = Space(table.names, columns, is_levels)
        return cls(space, entropies, varies, k=k, shuffles=shuffles, seed=seed, n_jobs=n_jobs)

    def entropies(self, contexts: Sequence[Context]) -> Floats:
        """H(target | given) in nats: of levels never below 0, of a measurement in its unit."""
        found = super().entropies(contexts)
        levels = [self._space.is_levels[context.target] for context in contexts]
        return np.where(levels, np.maximum(found, 0.0), found)


def level_entropy(codes: Ints) -> float:
    """H(X) of levels: psi(n) less the mean over rows of psi(count), after Grassberger (1988).

    In this form a constant has entropy 0, and terms are those that the gains are made of.
    """
    counts = np.bincount(codes)
    return float(digamma(len(codes)) - digamma(counts[codes]).mean())
