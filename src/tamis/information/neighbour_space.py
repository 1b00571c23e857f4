"""I(X ; Y | S) from distances between rows, for many Y at once, and of columns shuffled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from tamis.counting.compiled import Floats, Ints, compiled, inner
from tamis.information.continuous import Words, words


class Space:
    """Columns with distances: a measured one by its values, one of levels 0 or 1.

    ``columns`` has shape (d, n); ``is_levels`` says which of them hold codes. Two rows are as far
    apart as in the column that sets them apart most.
    """

    def __init__(self, names: Sequence[str], columns: Floats, is_levels: Sequence[bool]) -> None:
        self.names = tuple(names)
        self.columns = np.ascontiguousarray(columns)
        self.is_levels = tuple(is_levels)
        self.ties = any(is_levels)
        self.caps = np.where(self.is_levels, 1.0, np.inf)
        self._psi = np.concatenate([[0.0], digamma(np.arange(1, self.n_rows + 1))])

    @property
    def n_rows(self) -> int:
        """The paper's n."""
        return int(self.columns.shape[1])

    def gains(self, target: int, given: Sequence[int], candidates: Sequence[int], k: int) -> Floats:
        """I(target ; l | given) for single columns l, raw: an estimate may be below 0."""
        chosen = np.array(candidates, dtype=np.int64)
        return self._estimates(
            target, given, self.columns[chosen][:, None, :], self.caps[chosen][:, None], k
        )

    def shuffled_gains(
        self, target: int, given: Sequence[int], members: Sequence[int], rows: Ints, k: int
    ) -> Floats:
        """I(target ; members | given) of the columns as they are, then in other orders of rows."""
        block = self.columns[list(members)]
        blocks = np.concatenate([block[None], block[:, rows].swapaxes(0, 1)])
        caps = np.broadcast_to(self.caps[list(members)], blocks.shape[:2])
        return self._estimates(target, given, blocks, np.ascontiguousarray(caps), k)

    def orders(self, key: Sequence[int], given: Sequence[int], number: int, seed: int) -> Ints:
        """Orders of the rows that keep what is given; ``key`` names the columns of the test."""
        given = sorted(given, key=self.names.__getitem__)
        names = [[self.names[v] for v in key], [self.names[v] for v in given]]
        size = (number, self.n_rows)
        chance = words(seed, [["shuffle"], *names], number * self.n_rows).reshape(size)
        if not given:
            return anywhere(chance)
        measured = [v for v in given if not self.is_levels[v]]
        levels = [v for v in given if self.is_levels[v]]
        if not measured:
            return within_strata(self._strata(levels), chance)
        more = words(seed, [["visits"], *names], number * self.n_rows).reshape(size)
        points = np.column_stack([*self.columns[measured], *self._indicators(levels)])
        return nearby(points, chance, more)

    def _strata(self, levels: Sequence[int]) -> Ints:
        _, strata = np.unique(self.columns[levels], axis=1, return_inverse=True)
        return np.asarray(strata, dtype=np.int64).ravel()

    def _indicators(self, levels: Sequence[int]) -> list[Floats]:
        """A 0/1 column for every level: under the maximum norm, two levels are 1 apart."""
        return [
            (self.columns[v] == code).astype(np.float64)
            for v in levels
            for code in np.unique(self.columns[v])
        ]

    def _estimates(
        self, target: int, given: Sequence[int], blocks: Floats, caps: Floats, k: int
    ) -> Floats:
        window = self._window(target, given)
        order = np.argsort(window, kind="stable")
        inside = np.array(given, dtype=np.int64)
        tally = neighbour_counts(
            window[order],
            np.ascontiguousarray(self.columns[inside][:, order]),
            self.caps[inside],
            self.columns[target : target + 1, order],
            self.caps[target : target + 1],
            np.ascontiguousarray(blocks[:, :, order]),
            caps,
            k,
            self.ties,
        )
        # Row by row: a matrix product rounds by the number of candidates in company.
        found: Floats = (tally * self._psi).sum(axis=1) / self.n_rows
        return found

    def _window(self, target: int, given: Sequence[int]) -> Floats:
        """A coordinate that the distances bound; levels have no order, and bound nothing."""
        for v in given or [target]:
            if not self.is_levels[v]:
                return np.asarray(self.columns[v])
        return np.zeros(self.n_rows)


SLACK = 1.5
"""How far to look for the k-th neighbour: this many times as far as the rows before had theirs."""


STEP = 0.05
"""Where that was not far enough, look at least so far: columns have a spread of about 1."""
LARGEST = 1e300
"""Above every distance, and below the infinite one of a row from itself."""


@inner
def widen(far: Floats, column: Floats, here: float, cap: float) -> None:
    """Raise ``far`` to the distances of a column's values from one value; no distance in the
    column is above its cap.

    Here and below loops run from 0 over slices: an index that might be negative, as Python allows,
    keeps the compiler from vectorising.
    """
    for j in range(far.shape[0]):
        apart = abs(column[j] - here)
        apart = apart if apart < cap else cap
        far[j] = far[j] if far[j] > apart else apart


@inner
def merge(merged: Floats, one: Floats, other: Floats) -> None:
    """The larger of two distances, row by row."""
    for j in range(merged.shape[0]):
        merged[j] = one[j] if one[j] > other[j] else other[j]


@inner
def closer(far: Floats, limit: float) -> int:
    """How many rows are closer than the limit."""
    count = 0
    for j in range(far.shape[0]):
        count += far[j] < limit
    return count


@inner
def within(far: Floats, reach: float, kept: Floats) -> int:
    """Keep the distances up to ``reach``; return how many there are."""
    count = 0
    for j in range(far.shape[0]):
        kept[count] = far[j]
        count += far[j] <= reach
    return count


@inner
def kth_smallest(values: Floats, k: int) -> float:
    """The k-th smallest of at least k values, which are put in another order (Hoare, 1961)."""
    low, high, place = 0, values.shape[0] - 1, k - 1
    while low < high:
        pivot = values[place]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < place:
            low = i
        if place < i:
            high = j
    found: float = values[place]
    return found


@inner
def first_from(window: Floats, value: float) -> int:
    """The first place in a sorted array that holds at least this value."""
    low, high = 0, window.shape[0]
    while low < high:
        middle = (low + high) // 2
        if window[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def look_around(
    near: Floats,
    columns: Floats,
    caps: Floats,
    i: int,
    start: int,
    stop: int,
) -> None:
    """Raise the distances of these rows from row i by those in several columns."""
    for v in range(columns.shape[0]):
        widen(near[start:stop], columns[v, start:stop], columns[v, i], caps[v])


@compiled
def neighbour_counts(
    window: Floats,
    given: Floats,
    given_caps: Floats,
    target: Floats,
    target_caps: Floats,
    candidates: Floats,
    candidate_caps: Floats,
    k: int,
    ties: bool,
) -> Ints:
    """For each candidate, how often each neighbour count enters I(target ; candidate | given).

    One pass over the rows serves one context and any number of candidates: the distances to a row
    in S, and in S with the target, are their common work. Rows come sorted by a coordinate that
    every distance bounds, so that only rows close in it are looked at. Measured from 1000 to 16 000
    rows this beats trees, the more so the larger S; only without S do trees win at 16 000 rows
    (docs/continuous.md).

    Entry v of a candidate is the number of rows in which psi(v) is added, less those in which it
    is subtracted: whole numbers, so that the order of rows leaves no trace. ``window`` is sorted
    and bounds the distance in ``given``, or in ``target`` where nothing is given; a window of
    zeros makes every row a neighbour to look at. ``candidates`` has shape (candidates, columns,
    rows), and there are more than k rows.

    Without ``ties``, the counts are of rows strictly closer than the k-th neighbour, and the row
    itself (Frenzel and Pompe, 2007). With them, of other rows as close as that, and k becomes
    the number of those that are as close in all columns together (Mesner and Shalizi, 2020).
    """
    n, m = window.shape[0], candidates.shape[0]
    alone = given.shape[0] == 0
    itself = 1 if ties else 0
    tally = np.zeros((m, n + 1), dtype=np.int64)
    in_given, in_target, in_candidate, joint = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    kept = np.empty(n + 1)
    usual = np.full(m, np.inf)
    for i in range(n):
        # What the candidates share is known for the rows low <= j < high.
        low, high = i, i
        for c in range(m):
            reach = SLACK * usual[c]
            while True:
                start = first_from(window, window[i] - reach)
                stop = first_from(window, np.nextafter(window[i] + reach, np.inf))
                for a, b in ((start, low), (high, stop)):
                    if a < b:
                        in_given[a:b] = 0.0
                        look_around(in_given, given, given_caps, i, a, b)
                        in_target[a:b] = in_given[a:b]
                        look_around(in_target, target, target_caps, i, a, b)
                low, high = min(low, start), max(high, stop)
                in_candidate[start:stop] = in_given[start:stop]
                look_around(in_candidate, candidates[c], candidate_caps[c], i, start, stop)
                merge(joint[start:stop], in_target[start:stop], in_candidate[start:stop])
                joint[i] = np.inf
                found = within(joint[start:stop], min(reach, LARGEST), kept)
                if found >= k:
                    break
                reach = max(2.0 * reach, STEP)
            radius = kth_smallest(kept[:found], k)
            usual[c] = radius if usual[c] == np.inf else 0.9 * usual[c] + 0.1 * radius
            limit = np.nextafter(radius, np.inf) if ties else radius
            tally[c, closer(joint[start:stop], limit) if ties else k] += 1
            tally[c, (n if alone else closer(in_given[start:stop], limit)) - itself] += 1
            tally[c, closer(in_target[start:stop], limit) - itself] -= 1
            if alone:
                # Nothing bounds the distance in the candidate alone: all rows count.
                in_candidate[:] = 0.0
                look_around(in_candidate, candidates[c], candidate_caps[c], i, 0, n)
                start, stop = 0, n
            tally[c, closer(in_candidate[start:stop], limit) - itself] -= 1
    return tally


CLOSE = 5
"""Rows, the row itself among them, that may stand in for one: Runge's choice."""


def anywhere(chance: Words) -> Ints:
    """Rows in any order, all orders equally likely: one for each line of random words."""
    return np.argsort(chance, axis=1, kind="stable").astype(np.int64)


def within_strata(strata: Ints, chance: Words) -> Ints:
    """Rows shuffled among those of their own stratum."""
    home = np.argsort(strata, kind="stable")
    shuffled = np.empty(chance.shape, dtype=np.int64)
    for line, row_words in zip(shuffled, chance, strict=True):
        line[home] = np.lexsort((row_words, strata))
    return shuffled


def nearby(points: Floats, chance: Words, order_words: Words) -> Ints:
    """Local permutations in the space of these points, one a line, under the maximum norm.

    The rows are visited in a random order, and each takes the place of one of its nearest
    neighbours in S, one not taken yet where there is one (Runge, 2018). So a shuffled column keeps
    its dependence on S, but for a blur as wide as those neighbours are apart, and loses all other.
    """
    close = min(CLOSE, len(points))
    _, neighbours = cKDTree(points).query(points, k=close, p=np.inf)
    neighbours = np.asarray(neighbours, dtype=np.int64).reshape(len(points), close)
    return choose(neighbours, anywhere(order_words), chance)


@compiled
def choose(neighbours: Ints, orders: Ints, chance: NDArray[np.uint64]) -> Ints:
    """For each order, the row that every row takes its value from."""
    n, close = neighbours.shape
    chosen = np.empty(orders.shape, dtype=np.int64)
    options = np.empty(close, dtype=np.int64)
    for b in range(orders.shape[0]):
        free = np.ones(n, dtype=np.bool_)
        for i in orders[b]:
            bits = chance[b, i]
            for v in range(close):
                options[v] = neighbours[i, v]
            for v in range(close - 1, 0, -1):
                # Twelve bits a step: five steps fit a word, and the bias is below 1 in 500.
                other = np.int64(bits & np.uint64(4095)) % (v + 1)
                bits >>= np.uint64(12)
                options[v], options[other] = options[other], options[v]
            pick = 0
            while pick < close - 1 and not free[options[pick]]:
                pick += 1
            chosen[b, i] = options[pick]
            free[options[pick]] = False
    return chosen
