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
from some plane on (``next_even``).

What is found here is only where to look: a search judges the sets by their own tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import (
    Floats,
    Ints,
    Pairs,
    Words,
    compiled,
    inner,
    popcount,
    uncompiled,
    whole,
)
from tamis.counting.few_planes import FewPlanes, seconds_for
from tamis.counting.sharing import share
from tamis.counting.tables import plane_ones

MOST_BYTES = 2**31
"""The counts of all sets must fit into this."""
ROUNDING = 1e-9
"""Dependences that differ by less are equal."""
ALL_LOOKED_AT = 3
"""Sets of up to this number of planes are all looked at, however uneven these are."""
STEPS = 64
"""The steps by which ``even_sets`` tells shares apart."""
FIRST_ROOM = 2**16
"""Sets that there is room for at first; what is not written to takes no memory."""
TOGETHER = 64
"""Sets compared together; only where one of them is strong they are gone through."""


Found = tuple[int, tuple[int, ...], float]
"""A column, others that together say something about it, and how strongly."""


class Interaction(NamedTuple):
    """Columns that together say something about a column, and how many standard errors their
    parity's dependence is from none."""

    strength: float
    members: tuple[int, ...]


def words_to_read(n_planes: int, n_words: int, largest: int) -> int:
    """The forecast: words read to look at all sets of up to ``largest`` candidates."""
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


class Parities:
    """The odd rows of all sets of planes up to a size, ordered by their largest members."""

    def __init__(
        self, words: Words, column: Ints, n_rows: int, largest: int, ones: Ints | None = None
    ) -> None:
        """``ones`` are those of each plane, which else are counted."""
        self.n_rows = n_rows
        self._order, self._even = by_evenness(plane_ones(words) if ones is None else ones, n_rows)
        self._words = words[self._order]
        self._column = column[self._order]
        self._top = largest + 1  # the target is one more
        n_planes = len(words)
        sizes = [math.comb(n_planes, size) for size in range(self._top + 1)]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)])
        self._few: FewPlanes | None = None
        self._odd: Pairs = np.zeros(int(self._offsets[-1]), dtype=np.int32)
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

    def shares(self, size: int) -> int:
        """The number of planes that can be the largest of a set."""
        return max(len(self._words) - size + 1, 0)

    def count(self, size: int, start: int, stop: int) -> None:
        """Count the sets of this size whose largest member is one of these, by position."""
        if start >= stop:
            return
        low = size - 1
        if size == 1:
            ones = plane_ones(self._words[start:stop])
            self._odd[self._offsets[1] + start : self._offsets[1] + stop] = ones
        else:
            count_odd(
                self._words, *first_set(size, start + low, self._even), stop + low, self._choose,
                self._even, self._least(size),
                self._odd[self._offsets[size] : self._offsets[size + 1]],
            )  # fmt: skip

    def count_all(self, n_jobs: int) -> None:
        """Count the sets of all sizes."""
        seconds = seconds_for(self._column)
        if uncompiled.allows(strong_sets, seconds):
            uncompiled.spent += seconds
            self._few = FewPlanes(self._words, self._column, self.n_rows)
            return
        self.count_planes(n_jobs)

    def count_planes(self, n_jobs: int) -> None:
        """Count the planes that there are now, in compiled loops."""
        for size in range(1, self._top + 1):

            def part(start: int, stop: int, size: int = size) -> None:
                self.count(size, start, stop)

            # A set is counted at its largest plane, and large planes are the largest of many.
            work = math.comb(len(self._words), size) * self._words.shape[1]
            share(n_jobs, self.shares(size), work, part, power=1 / size)

    def found(self) -> list[Found]:
        """The columns and the sets of others that they depend on together.

        A set is listed only if no part of it says as much.
        """
        return [one for size in range(3, self._top + 1) for one in self.strong(size)]

    def strong(self, size: int) -> list[Found]:
        """Every set of this size that passes the threshold."""
        n_sets = int(self._offsets[size + 1] - self._offsets[size])
        if n_sets == 0:
            return []
        if self._few is not None:
            sets, targets, strengths = self._few.strong(size, self._threshold(size), ROUNDING)
            shares = self._even[sets[:, 1:]]
            shares[:, 0] *= 2.0 - shares[:, 0]  # as in ``share_of``
            kept = np.prod(shares, axis=1) >= self._least(size)
            return of_columns(self._column[sets[kept]], targets[kept], strengths[kept])
        single = self._single_strengths()

        def find(*room: Any) -> int:  # noqa: ANN401 - arrays
            return strong_sets(
                *first_set(size, size - 1, self._even), self._odd, single, self._offsets,
                self._choose, self._column, self.n_rows, self._threshold(size), self._even,
                self._least(size), *room,
            )  # fmt: skip

        targets, sets, strengths = listed(find, size)
        return of_columns(self._column[sets], targets, strengths)

    def _single_strengths(self) -> Floats:
        """How strongly each plane depends on each other one alone."""
        n_planes = len(self._column)
        mean = 1.0 - 2.0 / self.n_rows * self._odd[: self._offsets[3]]
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
    sets = np.zeros((top + 1, STEPS + 1))  # by their size and what they cost
    sets[0, 0] = 1.0
    found = np.zeros(top + 1)
    for k in range(len(even) - 1, 0, -1):  # with all of those before as the most even one
        found[2:] += k * sets[: top - 1, : max(STEPS + 1 - second[k], 0)].sum(axis=1)
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


def listed(find: Callable[..., int], size: int) -> tuple[Ints, Ints, Floats]:
    """Targets, sets of this size and strengths, which are written to where there is room for them,
    and else again where there is."""
    room = needed = FIRST_ROOM
    while True:
        targets, sets = np.empty(room, dtype=np.int64), np.empty((room, size), dtype=np.int64)
        strengths = np.empty(room)
        needed = find(targets, sets, strengths)
        if needed <= room:
            return targets[:needed], sets[:needed], strengths[:needed]
        room = needed


def of_columns(columns: Ints, targets: Ints, strengths: Floats) -> list[Found]:
    """Sets of planes of a size as sets of columns, as many of each target as are listed: the
    strongest. ``columns`` are those of the planes, and ``targets`` say which plane is the target.
    """
    each = np.arange(len(columns))
    targeted = columns[each, targets]
    others = columns.copy()
    others[each, targets] = -1
    others = np.sort(others, axis=1)[:, 1:]
    base = int(columns.max(initial=0)) + 1
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


@compiled
def count_odd(
    words: Words,
    member: Ints,
    share: Floats,
    best: Floats,
    stop: int,
    choose: Ints,
    even: Floats,
    least: float,
    out: Pairs,
) -> None:
    """The rows with an odd number of ones, for every set of planes that are even enough and whose
    largest is before ``stop``, from ``member`` on.

    The smallest member runs innermost, so that the answers are written one after the other:
    the place of a set is the sum of choose(member j, j + 1).
    """
    size, n_words = member.shape[0], words.shape[1]
    xor = np.empty((size, n_words), dtype=np.uint64)  # of the members from j on
    changed = size - 1
    while True:
        changed = next_even(member, whole(1), changed, stop, even, best, least, share)
        if changed == 0:
            return
        for j in range(changed, 0, -1):
            for w in range(n_words):
                above = xor[j + 1, w] if j + 1 < size else np.uint64(0)
                xor[j, w] = words[member[j], w] ^ above
        place = place_of(member, size, choose)
        for p in range(member[1]):
            total = np.uint64(0)
            for w in range(n_words):
                total += popcount(words[p, w] ^ xor[1, w])
            out[place + p] = np.int64(total)
        changed = advance(member, whole(1))


@inner
def share_of(even: Floats, plane: int, j: int) -> float:
    """What this plane leaves of what a set can show if it is the member j, from the most even
    one on, and not the first."""
    w = even[plane]
    return float(w * (2.0 - w) if j == 1 else w)


@inner
def next_even(
    member: Ints,
    lowest: int,
    changed: int,
    stop: int,
    even: Floats,
    best: Floats,
    least: float,
    share: Floats,
) -> int:
    """Go on, if need be, to a set whose planes are even enough; the largest member that changed,
    or 0 if there is none before the largest plane is ``stop``."""
    last = member.shape[0] - 1
    j = most = changed
    while j >= lowest:
        if member[last] == stop:
            return 0
        share[j] = share[j + 1] * share_of(even, member[j], j)
        if share[j] * best[j] >= least:
            j -= 1
        elif j == last:
            return 0
        else:  # planes that come later are less even still
            for i in range(lowest, j + 1):
                member[i] = i
            j = advance(member, j + 1)
            most = j if j > most else most
    return int(most)


@inner
def advance(member: Ints, lowest: int) -> int:
    """Go on to the next set, leaving the members below ``lowest`` to the caller; the largest
    member that changed."""
    j = lowest
    last = member.shape[0] - 1
    while j < last and member[j] + 1 == member[j + 1]:
        member[j] = j
        j += 1
    member[j] += 1
    return j


@compiled
def strong_sets(
    member: Ints,
    share: Floats,
    best: Floats,
    odd: Pairs,
    single: Floats,
    offsets: Ints,
    choose: Ints,
    column: Ints,
    n_rows: int,
    threshold: float,
    even: Floats,
    least_shown: float,
    targets: Ints,
    sets: Ints,
    strengths: Floats,
) -> int:
    """Write the sets and targets that pass the threshold, as far as there is room; say how many.

    The smallest member runs innermost: the places of the sets, and of the sets without one of
    their larger members, are then one after the other.
    """
    size = member.shape[0]
    least, twice = threshold * threshold / n_rows, 2.0 / n_rows
    found, stop = 0, column.shape[0]
    changed = size - 1
    while True:
        changed = next_even(member, whole(1), changed, stop, even, best, least_shown, share)
        if changed == 0:
            return found
        first = int(offsets[size]) + place_of(member, size, choose)
        for t in range(size):
            # Either the target or the parity of the others is the same for all of them.
            without = offsets[size - 1] + place_of(member, t, choose)
            fixed = 1.0 - twice * odd[offsets[1] + member[t] if t > 0 else without]
            varying = without if t > 0 else offsets[1]
            for begin in range(0, member[1], TOGETHER):
                end = min(begin + TOGETHER, member[1])
                if not is_one_strong(odd, twice, begin, end, fixed, varying, first, least):
                    end = begin
                for p in range(begin, end):
                    changing = 1.0 - twice * odd[varying + p]
                    spread = (1.0 - fixed * fixed) * (1.0 - changing * changing)
                    lead = 1.0 - twice * odd[first + p] - fixed * changing
                    if lead * lead <= least * spread or spread <= 0.0:
                        continue
                    member[0] = p
                    strength = np.abs(lead) / np.sqrt(spread)
                    # Most are strong because of a single member, which is seen at once.
                    if (
                        strongest_pair(member, t, single) < strength - ROUNDING
                        and are_apart(member, column)
                        and says_more(member, t, strength, odd, twice, offsets, choose)
                    ):
                        if found < targets.shape[0]:
                            targets[found] = t
                            strengths[found] = strength * np.sqrt(n_rows)
                            for j in range(size):
                                sets[found, j] = member[j]
                        found += 1
        changed = advance(member, whole(1))


@inner
def strongest_pair(member: Ints, t: int, single: Floats) -> float:
    """The dependence of member t on that other one it depends on most."""
    most = 0.0
    for j in range(member.shape[0]):
        if j != t and single[member[t], member[j]] > most:
            most = single[member[t], member[j]]
    return most


@inner
def is_one_strong(
    odd: Pairs,
    twice: float,
    start: int,
    stop: int,
    fixed: float,
    varying: int,
    first: int,
    least: float,
) -> bool:
    """Whether one of some sets may be strong; without a branch, several at once."""
    many = 0
    for p in range(start, stop):
        changing = 1.0 - twice * odd[varying + p]
        lead = 1.0 - twice * odd[first + p] - fixed * changing
        many += lead * lead > least * (1.0 - fixed * fixed) * (1.0 - changing * changing)
    return many > 0


@inner
def place_of(member: Ints, without: int, choose: Ints) -> int:
    """The place of a set without one of its members, or, if that is none of them, of the whole set,
    while its smallest member is 0: members above the one that is missing lose a rank."""
    place = np.int64(0)
    for j in range(1, member.shape[0]):
        if j != without:
            place += choose[member[j], j + 1 if j < without else j]
    return int(place)


@inner
def are_apart(member: Ints, column: Ints) -> bool:
    """Whether these planes belong to different columns."""
    same = 0
    for j in range(1, member.shape[0]):
        for i in range(j):
            same += column[member[i]] == column[member[j]]
    return same == 0


@inner
def says_more(
    member: Ints, t: int, strength: float, odd: Pairs, twice: float, offsets: Ints, choose: Ints
) -> bool:
    """Whether t depends on the parity of all the others more than on that of some of them: by the
    size of the correlation of their signs, which does not mind uneven planes."""
    own = 1.0 - twice * odd[offsets[1] + member[t]]
    everyone = (1 << member.shape[0]) - 1
    for chosen in range(1, everyone):
        if not chosen >> t & 1 or chosen == 1 << t:
            continue
        # The places of the chosen members, and of these without t.
        whole = others = np.int64(0)
        size = 0
        for j in range(member.shape[0]):
            if chosen >> j & 1:
                size += 1
                whole += choose[member[j], size]
                if j != t:
                    others += choose[member[j], size if j < t else size - 1]
        rest = 1.0 - twice * odd[offsets[size - 1] + others]
        spread = (1.0 - own * own) * (1.0 - rest * rest)
        if spread > 0.0:
            lead = np.abs(1.0 - twice * odd[offsets[size] + whole] - own * rest)
            if lead / np.sqrt(spread) >= strength - ROUNDING:
                return False
    return True
