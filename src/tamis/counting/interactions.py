"""Sets of columns that say something together: parities, counted for all sets at once.

The parents of a parity say nothing one by one, and only a search over sets of candidates finds
them. For bit planes that search is cheap: the rows in which an odd number of the planes of a set
are 1 is one popcount of their XOR, whatever the size of the set. With s = 1 - 2 x for each plane,
E(A) is the mean over rows of the product of s over the set A. A member t of A depends on the
parity of the others as far as E(A) differs from E(t) E(A - t); with more than two levels an
interaction shows in the planes of some of its levels.

Of planes that are mostly 0 or mostly 1 few sets need to be looked at. Let w = 1 - |E| of a plane.
Where no part of a set says anything, its E differs from the product of its planes' by at most the
w of all of them but the two most even ones, times 1 - E^2 of the less even of these two: else some
cell would have fewer than no rows. Sets that could not pass the threshold by themselves are left
out, and what they show is seen in their parts. With the most even plane first, these are all sets
from some plane on (``set_loops.next_even``).

Larger sets are looked for on a sample of the rows (``Screen``). All of them are too many to count
on all rows long before they are too many to look at: a parity that holds in four rows of five shows
in 128 rows. So every set is screened on so many rows; what stands out there is looked at on some
more, and then judged on some thousand, as smaller sets are on all of them. Weaker parities are
missed: of those that hold in 80, 75 and 70 rows of a hundred, about 1 in 50 000, 1 in 150 and 1 in
8. So are sets of planes so uneven that by themselves they could not show, as above.

What is found here is only where to look: a search judges the sets by their own tables.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Floats, Ints, Pairs, Words
from tamis.counting.passes import Pass, Sums, View
from tamis.counting.set_loops import LOOK_WORDS, count_odd, stand_out, strong_sets
from tamis.counting.sharing import share
from tamis.tables.planes import plane_ones

MOST_BYTES = 2**31
"""The counts of all sets must fit into this."""
ALL_LOOKED_AT = 3
"""Sets of up to this number of planes are all looked at, however uneven these are."""
STEPS = 64
"""The steps by which ``even_sets`` tells shares apart."""
FIRST_ROOM = 2**16
"""Sets that there is room for at first; what is not written to takes no memory."""
SCREEN_WORDS = 2
"""The words of the sample on which every set is screened, written out in ``stand_out``."""


Found = tuple[int, tuple[int, ...], float]
"""A column, others that together say something about it, and how strongly."""


class Interaction(NamedTuple):
    """Columns that together say something about a column, and how many standard errors their
    parity's dependence is from none."""

    strength: float
    members: tuple[int, ...]


def words_to_read(n_planes: int, n_words: int, largest: int) -> int:
    """The words that are read to look at all sets of up to ``largest`` candidates."""
    return sum(math.comb(n_planes, size) * n_words for size in range(3, largest + 2))


def affordable(n_planes: int, n_words: int) -> int:
    """The largest number of candidates that can be taken together within the budget; 1 is none."""
    budget = constants.counted_words + constants.counted_passes * n_planes**2 * n_words
    sizes = range(2, min(constants.largest_set, n_planes - 1) + 1)
    fit = [k for k in sizes if words_to_read(n_planes, n_words, k) <= budget]
    return max((k for k in fit if bytes_of_sets(n_planes, k) <= MOST_BYTES), default=1)


def bytes_of_sets(n_planes: int, largest: int) -> int:
    """What the counts of all sets take."""
    return 4 * sum(math.comb(n_planes, size) for size in range(largest + 2))


class PlanePass(Pass):
    """What is summed over rows by the planes among which interactions are looked for."""

    @abstractmethod
    def of_block(self, words: Words, n_rows: int, n_jobs: int = 1) -> Sums:
        """What these planes of so many rows say."""

    def over(self, view: View) -> Sums:
        """The sums over the rows of this view."""
        nothing: Words = np.zeros((len(interacting_columns(view.arities)), 0), dtype=np.uint64)
        found = self.of_block(nothing, 0)
        for group in view.groups():
            for one in group.each():
                words = interacting_planes(one.words[0], view.first, view.arities, one.n_rows)
                found = self.add(found, self.of_block(words, one.n_rows, view.n_jobs))
        return found


class Parities(PlanePass):
    """The odd rows of all sets of planes up to a size, ordered by their largest members.

    ``ones`` are those of each plane. What was counted becomes ``odd``.
    """

    def __init__(self, column: Ints, n_rows: int, largest: int, ones: Ints) -> None:
        self.n_rows = n_rows
        self._order, self._even = by_evenness(ones, n_rows)
        self._column = column[self._order]
        self._top = largest + 1  # the target is one more
        n_planes = len(column)
        sizes = [math.comb(n_planes, size) for size in range(self._top + 1)]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.n_sets = int(self._offsets[-1])
        self.odd: Pairs = np.zeros(0, dtype=np.int32)
        self._choose = np.array(
            [[math.comb(n, k) for k in range(self._top + 2)] for n in range(n_planes + 1)],
            dtype=np.int64,
        )

    def _threshold(self, size: int) -> float:
        return threshold_of(math.comb(len(self._column), size), size)

    def _least(self, size: int) -> float:
        """What a set of this size must be able to show by itself: the parts of those looked at are
        needed too."""
        larger = range(size, min(self._top, len(self._column)) + 1)
        lowest = min(map(self._threshold, larger)) / math.sqrt(self.n_rows)
        return min(lowest, constants.least_shown) if size > ALL_LOOKED_AT else 0.0

    def of_block(self, words: Words, n_rows: int, n_jobs: int = 1) -> Sums:
        """The odd rows of the sets of all sizes, among these planes."""
        words = words[self._order]
        odd: Any = np.zeros(self.n_sets, dtype=self._width)  # narrower than most sums
        odd[self._offsets[1] : self._offsets[2]] = plane_ones(words)
        for size in range(2, min(self._top, len(words)) + 1):
            low, least = size - 1, self._least(size)
            own = odd[self._offsets[size] : self._offsets[size + 1]]

            def part(
                start: int, stop: int, low: int = low, least: float = least, own: Pairs = own
            ) -> None:
                if start < stop:
                    first = first_set(low + 1, start + low, self._even)
                    count_odd(
                        words,
                        *first,
                        stop + low,
                        self._choose,
                        self._column,
                        self._even,
                        least,
                        own,
                    )

            # A set is counted at its largest plane, and large planes are the largest of many.
            work = len(own) * words.shape[1]
            share(n_jobs, len(words) - low, work, part, power=1 / size)
        return (odd,)

    def count(self, run: Callable[[PlanePass], Sums]) -> Parities:
        """Count all sets; ``run`` goes over all rows."""
        # What has travelled may be wider than it was.
        self.odd = run(self)[0].astype(self._width, copy=False)
        return self

    @property
    def _width(self) -> type[np.signedinteger[Any]]:
        return np.int32 if self.n_rows < 2**31 else np.int64

    def found(self) -> list[Found]:
        """The columns and the sets of others that they depend on together.

        A set is listed only if no part of it says as much.
        """
        return [one for size in range(3, self._top + 1) for one in self.strong(size)]

    def strong(self, size: int) -> list[Found]:
        """Every set of this size that passes the threshold."""
        if len(self._column) < size:
            return []

        def find(*room: Any) -> int:  # noqa: ANN401 - arrays
            return strong_sets(
                *first_set(size, size - 1, self._even), self.odd, self._single, self._offsets,
                self._choose, self._column, self.n_rows, self._threshold(size), self._even,
                self._least(size), *room,
            )  # fmt: skip

        return listed(find, size, self._column, self.n_rows)

    @cached_property
    def _single(self) -> Floats:
        """How strongly each plane depends on each other one alone."""
        n_planes = len(self._column)
        mean = 1.0 - 2.0 / self.n_rows * self.odd[: self._offsets[3]]
        own = mean[self._offsets[1] : self._offsets[2]]
        found = np.zeros((n_planes, n_planes))
        # Pairs are in the order of their larger members, as those below the diagonal are.
        larger, smaller = np.tril_indices(n_planes, -1)
        a, b = own[smaller], own[larger]
        spread = (1.0 - a * a) * (1.0 - b * b)
        apart = np.abs(mean[self._offsets[2] : self._offsets[3]] - a * b)
        strength = np.divide(apart, np.sqrt(spread), out=np.zeros(len(a)), where=spread > 0.0)
        found[smaller, larger] = found[larger, smaller] = strength
        return found


class Screen:
    """The sets of planes that stand out on a sample of the rows.

    ``words`` are the planes of the sampled rows, of which there are ``n_sampled``; ``n_rows`` is
    how many rows the table has.
    """

    def __init__(self, words: Words, n_sampled: int, column: Ints, n_rows: int) -> None:
        ones = plane_ones(words)
        order, self._even = by_evenness(ones, n_sampled)
        self._words = words[order]
        self._few: Words = np.zeros((len(words), LOOK_WORDS), dtype=np.uint64)
        self._few[:, : words.shape[1]] = self._words[:, :LOOK_WORDS]
        self._n_few = np.array([min(n_sampled, 64 * n) for n in (SCREEN_WORDS, LOOK_WORDS)])
        self._n_sampled = n_sampled
        self._n_rows = n_rows
        self._column = column[order]
        self._mean = 1.0 - 2.0 * ones[order] / n_sampled
        self._pairs = np.stack(np.tril_indices(len(words), -1)[::-1])
        """All pairs of planes, by the larger one."""
        smaller, larger = self._pairs
        self._pair_low, self._pair_high = (
            own[smaller] ^ own[larger] for own in self._few[:, :SCREEN_WORDS].T
        )
        self._pair_mean = self._mean[smaller] * self._mean[larger]

    def look(self, size: int, start: int, stop: int) -> list[Found]:
        """What stands out among the sets of this size whose largest member is one of these, by
        position."""
        if start >= stop:
            return []
        now = constants
        threshold = threshold_of(math.comb(len(self._words), size), size)
        threshold /= math.sqrt(self._n_sampled)

        def find(*room: Any) -> int:  # noqa: ANN401 - arrays
            return stand_out(
                self._few, self._n_few, self._words, self._n_sampled, self._mean, self._pairs,
                self._pair_low, self._pair_high, self._pair_mean, self._column,
                *first_set(size, start + size - 1, self._even), stop + size - 1, threshold,
                self._even, max(threshold, now.least_screened), now.stands_out,
                now.still_stands_out, now.least_looked, now.one_more_looked, now.fewer_judged,
                *room,
            )  # fmt: skip

        return listed(find, size, self._column, self._n_rows)


def threshold_of(n_sets: int, size: int) -> float:
    """The standard errors by which one of so many sets must differ from none: the tail of the
    normal law at z is below exp(-z^2 / 2), and so few pass by chance."""
    return math.sqrt(2 * math.log(n_sets * size / constants.false_sets))


def by_evenness(ones: Ints, n_rows: int) -> tuple[Ints, Floats]:
    """The order of planes from the most even one on, and w = 1 - |E| of each in that order."""
    uneven = np.abs(n_rows - 2 * ones)
    order = np.argsort(uneven, kind="stable")
    return order, 1.0 - uneven[order] / max(n_rows, 1)


def even_sets(even: Floats, least: float, top: int) -> list[int]:
    """How many sets of each size up to ``top`` have planes that are even enough to show so much, or
    rather more: shares are rounded in their favour."""
    with np.errstate(divide="ignore"):
        lost, lost_second = np.log(even), np.log(even * (2.0 - even))
    steps = [np.minimum(one / math.log(least) * STEPS, STEPS + 1) for one in (lost, lost_second)]
    cost, second = (one.astype(np.int64).tolist() for one in steps)
    enough = bisect(second, STEPS)  # of those from here on no set shows so much
    sets = np.zeros((top + 1, STEPS + 1))  # by their size and what they cost
    sets[0, 0] = 1.0
    found = np.zeros(top + 1)
    for k in range(enough - 1, 0, -1):  # with all of those before as the most even one
        found[2:] += k * sets[: top - 1, : STEPS + 1 - second[k]].sum(axis=1)
        if cost[k] <= STEPS:
            sets[1:, cost[k] :] += sets[:-1, : STEPS + 1 - cost[k]]
    return [math.comb(len(even), size) for size in range(ALL_LOOKED_AT + 1)] + [
        int(n) for n in found[ALL_LOOKED_AT + 1 :]
    ]


def first_set(size: int, largest: int, even: Floats) -> tuple[Ints, Floats, Floats]:
    """The first set with this largest plane; room for what its planes from member j on can show;
    and what those before can, at best."""
    member = np.arange(size)
    member[-1] = largest
    left = even[:size].copy()
    left[0] = 1.0
    left[1] *= 2.0 - left[1]
    return member, np.ones(size + 1), np.concatenate([[1.0], np.cumprod(left)])


def listed(find: Callable[..., int], size: int, column: Ints, n_rows: int) -> list[Found]:
    """Sets of this size, which are written to where there is room for them, and else again where
    there is; ``column`` is that of each plane."""
    room = needed = FIRST_ROOM
    while True:
        targets, sets = np.empty(room, dtype=np.int64), np.empty((room, size), dtype=np.int64)
        strengths = np.empty(room)
        needed = find(targets, sets, strengths)
        if needed <= room:
            strengths = strengths[:needed] * math.sqrt(n_rows)
            return of_columns(column[sets[:needed]], targets[:needed], strengths)
        room = needed


def of_columns(columns: Ints, targets: Ints, strengths: Floats) -> list[Found]:
    """Sets of planes of a size as sets of columns, as many of each target as are listed: the
    strongest. ``columns`` are those of the planes, and ``targets`` say which plane is the target.
    """
    if not len(columns):
        return []
    each = np.arange(len(columns))
    targeted = columns[each, targets]
    others = columns.copy()
    others[each, targets] = -1
    others = np.sort(others, axis=1)[:, 1:]
    base = int(columns.max()) + 1
    key = targeted
    for own in others.T:
        key = key * base + own
    falling = np.argsort(-strengths, kind="stable")
    first = falling[np.unique(key[falling], return_index=True)[1]]  # of each set its strongest
    # Which of equals comes first must not hang on rounding.
    first = first[np.lexsort((key[first], -np.round(strengths[first], 6), targeted[first]))]
    begins = np.searchsorted(targeted[first], targeted[first])
    kept = first[np.arange(len(first)) - begins < constants.sets_listed]
    lists = targeted[kept].tolist(), map(tuple, others[kept].tolist()), strengths[kept].tolist()
    return list(zip(*lists, strict=True))


def strongest_sets(found: Sequence[Found], n_columns: int) -> list[tuple[Interaction, ...]]:
    """For each column the sets of others that it depends on together, the strongest first."""
    known: list[dict[tuple[int, ...], float]] = [{} for _ in range(n_columns)]
    for target, members, strength in found:
        known[target][members] = max(strength, known[target].get(members, 0.0))
    return [_strongest(one) for one in known]


def _strongest(found: dict[tuple[int, ...], float]) -> tuple[Interaction, ...]:
    listed = [Interaction(z, members) for members, z in found.items()]
    # Which of equals comes first must not hang on rounding.
    listed.sort(key=lambda one: (-round(one.strength, 6), len(one.members), one.members))
    return tuple(listed[: constants.sets_listed])


def few_levels(arities: Ints) -> list[tuple[int, int]]:
    """The columns among which interactions are looked for, with their numbers of levels."""
    return [(k, n) for k, n in enumerate(arities.tolist()) if n <= constants.set_levels]


def interacting_columns(arities: Ints) -> Ints:
    """The column of each plane among which interactions are looked for.

    With more than two levels the last one has a plane here too: what it is called must not
    matter.
    """
    columns = [k for k, n in few_levels(arities) for _ in range(n if n > 2 else n - 1)]
    return np.array(columns, dtype=np.int64)


def interacting_planes(planes: Words, first: Ints, arities: Ints, n_rows: int) -> Words:
    """These planes of so many rows, column after column; ``first`` has each column's first plane
    among those that there are."""
    taking_part = few_levels(arities)
    size = sum(n if n > 2 else n - 1 for _, n in taking_part)
    found: Words = np.empty((size, planes.shape[1]), dtype=np.uint64)
    octets = np.zeros(planes.shape[1] * 8, dtype=np.uint8)
    everyone = np.packbits(np.ones(n_rows, dtype=np.bool_), bitorder="little")
    octets[: len(everyone)] = everyone
    at = 0
    for k, n in taking_part:
        own = planes[first[k] : first[k] + n - 1]
        found[at : at + n - 1] = own
        at += n - 1
        if n > 2:
            found[at] = octets.view("<u8") & ~np.bitwise_or.reduce(own, axis=0)
            at += 1
    return found
