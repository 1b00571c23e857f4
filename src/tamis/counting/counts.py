"""What every engine that counts a table can be asked, and what all of them decide alike.

There are two: ``memory.MemoryCounts`` goes over rows in memory, ``blocks.BlockCounts`` has passes
run over blocks wherever these are, in a packed file, in memory or on the workers of a cluster.
Their counts are the same, and so are their answers, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from tamis.counting.compiled import Asked, Floats, Ints, Judgements
from tamis.counting.independence import STATS
from tamis.counting.lookup import Lookup

if TYPE_CHECKING:
    from tamis.counting.looking import Looking

CROSSOVER = 192
"""Tables with more cells are counted row by row; measured for version 0.2."""
PAIR_TABLE_BYTES = 2**30
"""The joint counts of all pairs of planes are kept while they fit in this."""
DENSE_CELLS = 2**24
"""Tables with more cells than this, or than 64 a row, are kept as the list of those that occur."""


Question = tuple[int, tuple[int, ...]]
"""A target and its conditioning set."""


NO_PARTS = np.zeros(0, dtype=np.int64)


def n_log_n(counts: ArrayLike, n_rows: float) -> Floats:
    """n ln n of the counts of cells, which are ``n_rows`` together at most.

    Values are rounded to multiples of one power of two, so large that every sum of them is exact.
    So likelihoods depend neither on the order of levels nor on who adds, and columns that say the
    same tie. A cell is off by 1e-11 nats at most with 5000 rows, and by 2e-7 with 50 million.
    """
    bits = 52 - math.frexp(n_rows * math.log(max(n_rows, 1)))[1]
    found: Floats = np.ldexp(np.rint(np.ldexp(xlogy(counts, counts), bits)), -bits)
    return found


class Batch(NamedTuple):
    """Contexts and their candidates, laid end to end as the loops read them (``Asked``), each of
    one column or, where there are ``parts``, of several taken together; and the lookup of f with
    the head that each table uses."""

    contexts: Sequence[Question]
    candidates: Ints
    starts: Ints
    parts: Ints
    lookup: Lookup
    base_heads: Ints
    heads: Ints

    def asked(self) -> Asked:
        """As the loops read it."""
        variables, starts = laid_out([(*given, target) for target, given in self.contexts])
        return (
            variables, starts, self.candidates, self.starts, self.parts, self.base_heads, self.heads
        )  # fmt: skip

    def room(self, *, tests: bool) -> Judgements:
        """Room for the answers."""
        n = int(self.starts[-1])
        stats = np.empty((n if tests else 0, STATS))
        return Judgements(np.empty(len(self.contexts)), np.empty(n), stats)

    def columns(self, c: int) -> tuple[int, ...]:
        """The columns of candidate c."""
        span = slice(*self.parts[c : c + 2]) if len(self.parts) else slice(c, c + 1)
        return tuple(self.candidates[span].tolist())

    def tables(self) -> Iterator[tuple[int, ...]]:
        """The columns of each table that is needed."""
        for b, (target, given) in enumerate(self.contexts):
            yield (*given, target)
            for c in range(self.starts[b], self.starts[b + 1]):
                yield (*given, target, *self.columns(c))


def starts_of(sizes: Ints) -> Ints:
    """Where parts of these sizes begin when they are laid end to end, and where the last ends."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def part_starts(parts: Sequence[Sized]) -> Ints:
    """Where each part begins, and the last one ends, when they are laid end to end."""
    return np.array([0, *accumulate(map(len, parts))], dtype=np.int64)


def laid_out(sets: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
    """The sets end to end, and where each begins."""
    return np.array([k for one in sets for k in one], dtype=np.int64), part_starts(sets)


def in_runs(sizes: Iterable[int], most: int) -> Iterator[tuple[int, int]]:
    """Cut what has these sizes into runs of no more than ``most`` together, or of one that has
    more: the first of each, and the one after its last."""
    start = stop = held = 0
    for stop, size in enumerate(sizes):
        if held and held + size > most:
            yield start, stop
            start, held = stop, 0
        held += size
    if held:
        yield start, stop + 1


class Counts(Protocol):
    """The contingency tables of a table of levels, judged in batches."""

    whole_rows: ClassVar[int]
    """The number of variables up to which testing a whole row costs less than asking again."""
    shapes: Shapes
    """Of which batches are made."""

    @property
    def looking(self) -> Looking:
        """The sets of columns that say something together."""
        ...

    def judge(self, batch: Batch, *, tests: bool) -> Judgements:
        """Fold the table of each context with each of its candidates; test it where asked. A
        candidate that is part of its context gains nothing and has no test."""
        ...

    def tables(self, sets: Sequence[tuple[int, ...]]) -> list[Ints]:
        """For each set of columns the rows of every joint state that occurs, in their order."""
        ...


class Shapes:
    """The sizes of columns and of the tables they make: which are counted in planes and which row
    by row, and what support an estimator assumes for each."""

    def __init__(self, arities: Ints, planed: NDArray[np.bool_], n_rows: int) -> None:
        self.arities = arities
        self.planed = planed
        self.n_rows = n_rows
        self.sizes: list[int] = arities.tolist()
        self.widest = int(arities.max())
        self.all_planed = bool(planed.all())
        class_sizes = sorted(set(self.sizes))
        place = {size: i for i, size in enumerate(class_sizes)}
        self.classes: Ints = np.array([place[size] for size in self.sizes], dtype=np.int64)
        """Columns with as many levels have the same supports."""
        self._class_sizes: list[float] = [*class_sizes]
        self._everyone_often = np.zeros(0, dtype=np.int64)

    def n_cells(self, context: Question) -> int:
        """The cells of a context's own table, as far as it matters how many there are."""
        target, given = context
        cells = self.sizes[target]
        for k in given:
            cells *= self.sizes[k]
            if cells > CROSSOVER:
                return CROSSOVER + 1
        return cells

    @property
    def most_cells(self) -> int:
        """Tables with more are not laid out whole."""
        return dense_cells(self.n_rows)

    def n_joint(self, columns: Sequence[int]) -> int:
        """The cells that the table of these columns could have."""
        return math.prod(self.sizes[k] for k in columns)

    def is_small(self, context: Question) -> bool:
        """Whether a context's own table is counted in planes."""
        target, given = context
        few = self.n_cells(context) <= CROSSOVER
        return few and (self.all_planed or bool(self.planed[[target, *given]].all()))

    def are_small(self, context: Question, candidates: Ints) -> NDArray[np.bool_]:
        """Which candidates of a context are counted with it in planes."""
        # A candidate without levels to count must not bring a large context to the planes.
        if not self.is_small(context):
            return np.zeros(len(candidates), dtype=np.bool_)
        few = self.n_cells(context) * (self.arities[candidates] - 1) <= CROSSOVER
        found: NDArray[np.bool_] = few & self.planed[candidates]
        return found

    def batch(
        self, contexts: Sequence[Question], candidates: Sequence[Ints] | None, lookup: Lookup
    ) -> Batch:
        """A batch of candidates of one column each; None as candidates means every column."""
        if candidates is None:
            flat, starts = self._everyone(len(contexts))
        else:
            flat = candidates[0] if len(candidates) == 1 else np.concatenate(candidates)
            starts = part_starts(candidates)
        return Batch(contexts, flat, starts, NO_PARTS, lookup, *self.supports(contexts, lookup))

    def joint_batch(
        self, contexts: Sequence[Question], others: Sequence[tuple[int, ...]], lookup: Lookup
    ) -> Batch:
        """A batch in which each context has one candidate: several columns taken together."""
        members, parts = laid_out(others)
        if lookup.needs_support:
            supports = [
                self._supports([context], [float(self.n_joint(some))], lookup)
                for context, some in zip(contexts, others, strict=True)
            ]
            base, heads = map(np.concatenate, zip(*supports, strict=True))
        else:
            base, heads = _first_heads((len(contexts), 1, 2))
        starts = np.arange(len(contexts) + 1)
        return Batch(contexts, members, starts, parts, lookup, base, heads)

    def supports(self, contexts: Sequence[Question], lookup: Lookup) -> tuple[Ints, Ints]:
        """Which heads of the lookup the tables of contexts use, by class of candidate."""
        return self._supports(contexts, self._class_sizes, lookup)

    def _everyone(self, n_contexts: int) -> tuple[Ints, Ints]:
        """Every column as a candidate of each context; the longest list so far is kept."""
        d = len(self.sizes)
        if n_contexts * d > len(self._everyone_often):
            self._everyone_often = np.tile(np.arange(d), n_contexts)
        return self._everyone_often[: n_contexts * d], np.arange(0, n_contexts * d + 1, d)

    def _supports(
        self, contexts: Sequence[Question], candidate_cells: Sequence[float], lookup: Lookup
    ) -> tuple[Ints, Ints]:
        """Which head of the lookup each of the four tables of a gain uses."""
        shape = len(contexts), len(candidate_cells), 2
        if not lookup.needs_support:
            return _first_heads(shape)
        base = np.zeros((len(contexts), 2), dtype=np.int64)
        heads = np.zeros(shape, dtype=np.int64)
        largest = 1.0
        widest = max(float(width) for width in candidate_cells)
        for b, (target, given) in enumerate(contexts):
            strata = math.prod(float(self.sizes[k]) for k in given)
            cells = strata * float(self.sizes[target])
            base[b] = lookup.choice(strata), lookup.choice(cells)
            for c, width in enumerate(candidate_cells):
                heads[b, c] = lookup.choice(strata * width), lookup.choice(cells * width)
            largest = max(largest, cells * widest)
        lookup.reserve(int(min(self.n_rows, largest)))
        return base, heads


def dense_cells(n_rows: int) -> int:
    """Tables with more cells are kept as the list of those that occur."""
    return min(DENSE_CELLS, max(2**16, 64 * n_rows))


@lru_cache(maxsize=64)
def _first_heads(shape: tuple[int, int, int]) -> tuple[Ints, Ints]:
    """The heads where there is only one head: the same few shapes come again and again.

    The loops only read them; they are not marked so because that would compile a second version.
    """
    return np.zeros((shape[0], 2), dtype=np.int64), np.zeros(shape, dtype=np.int64)
