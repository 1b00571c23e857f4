"""GES, greedy equivalence search (Chickering 2002, "Optimal structure identification with greedy
search"): forward with Insert(X, Y, T), then backward with Delete(X, Y, H), on CPDAGs.

The operators are those of the article, and a phase takes the valid one that gains most until none
gains. An operator is made anew only when what it was made of has changed: those into Y rest on Y's
parents and neighbours and on the edges around the latter. All wait in a heap. Whether a
semi-directed path forbids an insertion is asked when it comes first, because any edge can change
that; one that is forbidden waits for the next step. Sets of columns are whole numbers, a bit a
column. NA is the set of Y's neighbours that X is adjacent to.

Of equal gains the one with the smaller X, then the smaller Y, comes first. Hauser and Bühlmann's
third phase, turning, is left out, as by Chickering, causal-learn and Tetrad. The paper ran Tetrad's
GES (FGES) with its discrete BIC score; FGES differs from ``"bic"`` here in a penalty discount and a
prior on the number of parents (see ``pc.py``) and in leaving out, by default, pairs of columns that
are independent by themselves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tamis.baselines.interface import Adjacency, Learned
from tamis.counting.compiled import uncompiled
from tamis.counting.counts import n_log_n
from tamis.counting.memory import MemoryCounts
from tamis.errors import DataError, SettingError
from tamis.metrics.equivalence import compelled_edges
from tamis.tables import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[int, ...]
Edge = tuple[int, int, int]
"""x, y and S, each as a set of columns: the bits of a whole number."""

RIDGE = 1e-10
"""Added to the correlation of a column with itself, so that copies of columns have a score too."""


class GraphScore(ABC):
    """A function J of sets of columns; its values are kept."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self._kept: dict[int, float] = {}

    @abstractmethod
    def joint(self, sets: Sequence[Columns]) -> Floats:
        """J of each set of columns, of which one may be empty."""

    def gains(self, edges: Sequence[Edge]) -> list[float]:
        """How much better a graph scores with each edge than without it."""
        needed = {m for x, y, s in edges for m in (s, s | x, s | y, s | x | y)}
        new = sorted(needed.difference(self._kept))
        if new:
            found = self.joint([tuple(members(mask)) for mask in new]).tolist()
            self._kept.update(zip(new, found, strict=True))
        kept = self._kept
        return [kept[s | x | y] + kept[s] - (kept[s | x] + kept[s | y]) for x, y, s in edges]

    def gain(self, x: int, y: int, given: Iterable[int]) -> float:
        """The gain of one edge between columns ``x`` and ``y``."""
        return self.gains([(1 << x, 1 << y, sum(1 << int(k) for k in given))])[0]

    def of_dag(self, adjacency: NDArray[np.int8]) -> float:
        """The score of a DAG, 1 at [i, j] for i → j."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in adjacency.T]
        families = [tuple(sorted((*own, y))) for y, own in enumerate(parents)]
        return float((self.joint(families) - self.joint(parents)).sum())


class DiscreteBIC(GraphScore):
    """Log-likelihood less ``penalty`` / 2 times ln n for each free probability.

    A column with r levels whose parents have q configurations, seen or not, has q (r - 1) free
    probabilities. Half of Tetrad's discrete BIC score with the same penalty discount, without
    its prior on the number of parents.
    """

    def __init__(self, table: Table, penalty: float = 1.0) -> None:
        super().__init__(table.n_variables)
        self._cells = _Cells(table)
        self._price = 0.5 * penalty * math.log(table.n_rows)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """The sum of n ln n over the cells, less the price of all of them."""
        n_rows = self._cells.n_rows
        return np.array(
            [n_log_n(n, n_rows).sum() - self._price * size for n, size in self._cells.of(sets)]
        )


class BDeu(GraphScore):
    """The Bayesian score of Heckerman et al. (1995) with an equivalent sample size of 1, each edge
    having the prior probability of one expected parent: causal-learn's score."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.n_variables)
        if table.n_variables < 3:
            raise DataError(
                "The BDeu score is not defined for two columns: its prior expects one parent a "
                "column and leaves no probability for none. Use 'ges-bic'."
            )
        self._cells = _Cells(table)
        self._odds = -math.log(table.n_variables - 2)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """ln of the Dirichlet integral over the cells, and the prior of an edge between all pairs
        of the set. The prior of no edges is the same for all DAGs and left out."""
        return np.array(
            [
                gammaln(n + 1 / size).sum() - len(n) * gammaln(1 / size)
                + self._odds * len(one) * (len(one) - 1) / 2
                for one, (n, size) in zip(sets, self._cells.of(sets), strict=True)
            ]
        )  # fmt: skip


class GaussianBIC(GraphScore):
    """Log-likelihood of linear Gaussian regressions less ``penalty`` / 2 times ln n for each
    coefficient and each variance, without the term of 2π: the score of ges and of causal-learn.

    ``rows`` has a row a case.
    """

    def __init__(self, rows: Floats, penalty: float = 1.0) -> None:
        n_rows, n_columns = rows.shape
        super().__init__(n_columns)
        self._n_rows = n_rows
        self._price = 0.5 * penalty * math.log(n_rows)
        self._scales = np.log(rows.var(axis=0))
        self._correlation = np.corrcoef(rows, rowvar=False) + RIDGE * np.eye(n_columns)

    def joint(self, sets: Sequence[Columns]) -> Floats:
        """The log-likelihood of a set, less the price of its complete DAG."""
        found = np.zeros(len(sets))
        sizes = np.array([len(one) for one in sets])
        for size in set(sizes.tolist()) - {0}:
            chosen = np.flatnonzero(sizes == size)
            columns = np.array([sets[i] for i in chosen.tolist()])
            blocks = self._correlation[columns[:, :, None], columns[:, None, :]]
            spread = np.linalg.slogdet(blocks)[1] + self._scales[columns].sum(axis=1)
            price = self._price * size * (size + 1) / 2
            found[chosen] = -0.5 * self._n_rows * (size + spread) - price
        return found


class _Cells:
    """The counts of the cells of sets of columns, which are counted by the rows, and the number of
    cells whether they occur or not, so that many parents cost no more than the rows do."""

    def __init__(self, table: Table) -> None:
        self.n_rows = table.n_rows
        self._sizes: list[float] = table.arities.astype(float).tolist()
        self._counts = MemoryCounts(table, n_jobs=1)

    def of(self, sets: Sequence[Columns]) -> Iterator[tuple[Ints, float]]:
        """For each set the counts of the cells that occur, and the number of all its cells."""
        tables = iter(self._counts.tables([one for one in sets if one]))
        for one in sets:
            everything = np.array([self.n_rows])
            yield next(tables) if one else everything, math.prod(self._sizes[k] for k in one)


def members(mask: int) -> Iterator[int]:
    """The columns of a set, from the first to the last."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


LEAST_GAIN = 1e-6
"""A step must gain more than this, which is far above the rounding of scores."""


@dataclass(frozen=True)
class GES:
    """Greedy equivalence search, forward and backward.

    ``score`` is "bic" for discrete BIC, "bdeu" for BDeu as in causal-learn, or "gaussian" for the
    BIC of linear Gaussian columns; ``penalty`` multiplies the penalty of either BIC.
    """

    name: str = "ges"
    score: Literal["bic", "bdeu", "gaussian"] = "bdeu"
    penalty: float = 1.0

    extra: ClassVar[str] = ""
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ("tamis", "numpy")

    @property
    def takes_numbers(self) -> bool:
        """Whether continuous columns can be learned from."""
        return self.score == "gaussian"

    @property
    def needs_numbers(self) -> bool:
        """Whether labels cannot be learned from."""
        return self.score == "gaussian"

    def prepare(self, table: Table) -> None:
        """Have the compiled loops at hand, which takes no part in the time of learning."""
        before, uncompiled.spent = uncompiled.spent, math.inf
        try:
            self._score_on(table).gain(0, 1, ())
        finally:
            uncompiled.spent = before

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that GES finds; nothing is random."""
        return Learned(greedy_equivalence_search(self._score_on(table)))

    def _score_on(self, table: Table) -> GraphScore:
        if self.score == "bic":
            return DiscreteBIC(table, self.penalty)
        if self.score == "bdeu":
            return BDeu(table)
        if self.score == "gaussian":
            numbers = [table.numbers(k) for k in range(table.n_variables)]
            return GaussianBIC(np.column_stack(numbers), self.penalty)
        raise SettingError(f"score must be 'bic', 'bdeu' or 'gaussian', not {self.score!r}")


def greedy_equivalence_search(score: GraphScore) -> Adjacency:
    """The CPDAG in which GES ends from the graph without edges."""
    empty = Pattern([0] * score.n_columns, [0] * score.n_columns)
    return _climb(score, _climb(score, empty, INSERTIONS), DELETIONS).adjacency


class Pattern:
    """A partially directed graph: the parents and the undirected neighbours of each column."""

    def __init__(self, parents: list[int], neighbours: list[int]) -> None:
        self.parents = parents
        self.neighbours = neighbours

    @cached_property
    def children(self) -> list[int]:
        """The columns that each column has an arrow to."""
        found = [0] * len(self.parents)
        for y, parents in enumerate(self.parents):
            for x in members(parents):
                found[x] |= 1 << y
        return found

    @cached_property
    def adjacent(self) -> list[int]:
        """All that each column has an edge with."""
        around = zip(self.parents, self.neighbours, self.children, strict=True)
        return [parents | neighbours | children for parents, neighbours, children in around]

    @property
    def adjacency(self) -> Adjacency:
        """1 at [i, j] for i → j; 1 at [i, j] and at [j, i] for an undirected edge."""
        found: Adjacency = np.zeros((len(self.parents), len(self.parents)), dtype=np.int8)
        for y, (parents, neighbours) in enumerate(zip(self.parents, self.neighbours, strict=True)):
            found[list(members(parents | neighbours)), y] = 1
        return found


class Operator(NamedTuple):
    """Insert or delete the edge from x to y. ``clique`` is NA and T for an insertion, NA without H
    for a deletion; with y's parents it is ``base``, all that y depends on beside x."""

    loss: float
    x: int
    y: int
    clique: int
    base: int
    version: int


Candidate = tuple[int, int, int]
"""x, the clique and the base of an operator into a given column."""


class Kind(NamedTuple):
    """What the two phases differ in; the last takes NA too."""

    sign: int
    candidates: Callable[[Pattern, int], Iterator[Candidate]]
    is_valid: Callable[[Pattern, Operator], bool]
    apply: Callable[[Pattern, Operator, int], None]


def _insertions(pattern: Pattern, y: int) -> Iterator[Candidate]:
    """Those for which NA and T are a clique, the first condition of theorem 15."""
    adjacent, neighbours = pattern.adjacent, pattern.neighbours[y]
    everyone = (1 << len(adjacent)) - 1
    for x in members(everyone & ~adjacent[y] & ~(1 << y)):
        na = neighbours & adjacent[x]
        around = neighbours & ~na
        for k in members(na):
            around &= adjacent[k]
        if all(not na & ~adjacent[k] & ~(1 << k) for k in members(na)):
            for clique in _cliques(na, around, adjacent):
                yield x, clique, clique | pattern.parents[y]


def _deletions(pattern: Pattern, y: int) -> Iterator[Candidate]:
    """Those for which NA without H is a clique, the condition of theorem 17."""
    adjacent, neighbours = pattern.adjacent, pattern.neighbours[y]
    for x in members(pattern.parents[y] | neighbours):
        for clique in _cliques(0, neighbours & adjacent[x], adjacent):
            yield x, clique, (clique | pattern.parents[y]) & ~(1 << x)


def _cliques(clique: int, among: int, adjacent: list[int]) -> Iterator[int]:
    """The clique with each set of others, adjacent to all of it, that makes a clique with it."""
    yield clique
    while among:
        low = among & -among
        among ^= low
        yield from _cliques(clique | low, among & adjacent[low.bit_length() - 1], adjacent)


def _closes_no_cycle(pattern: Pattern, operator: Operator) -> bool:
    """Whether every semi-directed path from y to x, along arrows and undirected edges, goes through
    the clique: the second condition of theorem 15."""
    target, waiting = 1 << operator.x, 1 << operator.y
    seen = operator.clique | waiting
    while waiting:
        k = waiting.bit_length() - 1
        reached = (pattern.children[k] | pattern.neighbours[k]) & ~seen
        if reached & target:
            return False
        seen |= reached
        waiting = waiting & ~(1 << k) | reached
    return True


def _insert(pattern: Pattern, operator: Operator, na: int) -> None:
    """Add x → y, and point T at y."""
    pattern.parents[operator.y] |= 1 << operator.x
    for t in members(operator.clique & ~na):
        _point(pattern, t, operator.y)


def _delete(pattern: Pattern, operator: Operator, na: int) -> None:
    """Remove the edge, and point y and x at H."""
    x, y = operator.x, operator.y
    pattern.parents[y] &= ~(1 << x)
    pattern.neighbours[y] &= ~(1 << x)
    pattern.neighbours[x] &= ~(1 << y)
    for h in members(na & ~operator.clique):
        _point(pattern, y, h)
        if pattern.neighbours[x] >> h & 1:
            _point(pattern, x, h)


def _point(pattern: Pattern, tail: int, head: int) -> None:
    """Make an undirected edge an arrow."""
    pattern.neighbours[tail] &= ~(1 << head)
    pattern.neighbours[head] &= ~(1 << tail)
    pattern.parents[head] |= 1 << tail


INSERTIONS = Kind(1, _insertions, _closes_no_cycle, _insert)
DELETIONS = Kind(-1, _deletions, lambda _pattern, _operator: True, _delete)


def _climb(score: GraphScore, pattern: Pattern, kind: Kind) -> Pattern:
    """Apply the valid operator that gains most until none gains."""
    versions = [0] * score.n_columns
    heap: list[Operator] = []
    made = _operators(score, pattern, kind, range(score.n_columns), versions)
    forbidden: list[Operator] = []
    while made or heap:
        for operator in made:
            heappush(heap, operator)
        best, made = heappop(heap), []
        if best.version != versions[best.y]:
            continue
        if not kind.is_valid(pattern, best):
            forbidden.append(best)
            continue
        before, pattern = pattern, _applied(pattern, kind, best)
        changed = _changed(before, pattern, 1 << best.x | 1 << best.y)
        for y in changed:
            versions[y] += 1
        made = [*forbidden, *_operators(score, pattern, kind, changed, versions)]
        forbidden = []
    return pattern


def _operators(
    score: GraphScore, pattern: Pattern, kind: Kind, into: Iterable[int], versions: list[int]
) -> list[Operator]:
    """The operators into some columns that gain, scored in one batch."""
    found = [(y, *one) for y in into for one in kind.candidates(pattern, y)]
    gains = score.gains([(1 << x, 1 << y, base) for y, x, _, base in found])
    return [
        Operator(-kind.sign * gain, x, y, clique, base, versions[y])
        for gain, (y, x, clique, base) in zip(gains, found, strict=True)
        if kind.sign * gain > LEAST_GAIN
    ]


def _changed(before: Pattern, after: Pattern, ends: int) -> list[int]:
    """The columns whose operators may differ: those with other parents or neighbours, the ends of
    the edge that came or went, and their neighbours, which see other cliques."""
    return [
        y
        for y, neighbours in enumerate(after.neighbours)
        if ends & (neighbours | 1 << y)
        or neighbours != before.neighbours[y]
        or after.parents[y] != before.parents[y]
    ]


def _applied(pattern: Pattern, kind: Kind, operator: Operator) -> Pattern:
    """The CPDAG of the DAGs that extend the graph that an operator makes."""
    changed = Pattern(pattern.parents.copy(), pattern.neighbours.copy())
    kind.apply(changed, operator, pattern.neighbours[operator.y] & pattern.adjacent[operator.x])
    order, dag = extension(changed)
    forced = compelled_edges(order, {y: set(members(own)) for y, own in enumerate(dag)})
    found = Pattern([0] * len(dag), [0] * len(dag))
    for x, y in ((x, y) for y, own in enumerate(dag) for x in members(own)):
        if (x, y) in forced:
            found.parents[y] |= 1 << x
        else:
            found.neighbours[y] |= 1 << x
            found.neighbours[x] |= 1 << y
    return found


def extension(pattern: Pattern) -> tuple[list[int], list[int]]:
    """A DAG with the arrows of a partially directed graph and no further colliders (Dor and Tarsi
    1992), its order and the parents of each column. Sinks are taken off one by one."""
    left, order, dag = (1 << len(pattern.parents)) - 1, [], pattern.parents.copy()
    while left:
        sink = next(k for k in members(left) if _is_sink(pattern, k, left))
        dag[sink] |= pattern.neighbours[sink] & left
        left &= ~(1 << sink)
        order.append(sink)
    return order[::-1], dag


def _is_sink(pattern: Pattern, k: int, left: int) -> bool:
    """Whether a column points at nobody and every neighbour is adjacent to all others around it."""
    around = pattern.adjacent[k] & left
    neighbours = members(pattern.neighbours[k] & left)
    return not pattern.children[k] & left and all(
        not around & ~pattern.adjacent[n] & ~(1 << n) for n in neighbours
    )
