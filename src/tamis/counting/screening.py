"""Larger sets of columns that say something together, looked for on a sample of the rows.

All sets of a size are too many to count on all rows long before they are too many to look at: a
parity that holds in four rows of five shows in 128 rows. So every set is screened on so many rows;
what stands out there is looked at on some more, and then judged on some thousand, as
``interactions`` judges smaller sets on all of them. Weaker parities are missed: of those that hold
in 80, 75 and 70 rows of a hundred, about 1 in 50 000, 1 in 150 and 1 in 8. So are sets of planes so
uneven that by themselves they could not show, as ``interactions`` has it.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Floats, Ints, Words, compiled, inner, popcount, whole
from tamis.counting.interactions import (
    ROUNDING,
    TOGETHER,
    Found,
    advance,
    are_apart,
    by_evenness,
    first_set,
    listed,
    next_even,
    of_columns,
    share_of,
    threshold_of,
)
from tamis.counting.tables import plane_ones

SCREEN_WORDS = 2
"""The words of the sample on which every set is screened, written out in ``stand_out``."""
LOOK_WORDS = 8
"""The words on which what stands out there is looked at."""


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
        self._lock = Lock()
        self._found: list[Found] = []

    def look(self, size: int, start: int, stop: int) -> None:
        """Look at the sets of this size whose largest member is one of these, by position."""
        if start >= stop:
            return
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

        targets, sets, strengths = listed(find, size)
        fresh = of_columns(self._column[sets], targets, strengths * math.sqrt(self._n_rows))
        with self._lock:
            self._found += fresh

    def found(self) -> list[Found]:
        """What was found, in an order that does not depend on who looked first."""
        return sorted(self._found)


@compiled
def stand_out(
    few: Words,
    n_few: Ints,
    words: Words,
    n_sampled: int,
    mean: Floats,
    pairs: Ints,
    pair_low: Words,
    pair_high: Words,
    pair_mean: Floats,
    column: Ints,
    member: Ints,
    share: Floats,
    best: Floats,
    stop: int,
    threshold: float,
    even: Floats,
    least: float,
    stands_out: float,
    still: float,
    least_looked: int,
    one_more_looked: int,
    fewer_judged: int,
    targets: Ints,
    sets: Ints,
    strengths: Floats,
) -> int:
    """Write the sets and targets that pass the threshold, as far as there is room; say how many.

    Of each set the rows with an odd number of ones are compared with what they would be if its
    planes were independent. The two smallest members run innermost, and all pairs below the third
    one stand in a row.
    """
    size = member.shape[0]
    xor = np.zeros((2, size + 1), dtype=np.uint64)  # of the members from j on
    product = np.ones(size + 1)
    joint = joint_means(few, n_few[1])
    n_screened = np.float64(n_few[0])
    far = stands_out * np.sqrt(n_screened)
    n_sets, n_looked, n_judged, found = 0, 0, 0, whole(0)
    changed = size - 1
    while True:
        changed = next_even(member, whole(2), changed, stop, even, best, least, share)
        if changed == 0:
            return found
        if changed == size - 1:
            n_sets, n_looked, n_judged = 0, 0, 0
        for j in range(changed, 1, -1):
            product[j] = mean[member[j]] * product[j + 1]
            xor[0, j] = few[member[j], 0] ^ xor[0, j + 1]
            xor[1, j] = few[member[j], 1] ^ xor[1, j + 1]
        x0, x1 = xor[0, 2], xor[1, 2]
        expected = n_screened * product[2]
        q = 1
        while q < member[2] and share[2] * share_of(even, q, 1) >= least:
            q += 1
        n_pairs = q * (q - 1) // 2
        room = least_looked + (n_sets + n_pairs) // one_more_looked
        for begin in range(0, n_pairs if n_looked < room else 0, TOGETHER):
            end = min(begin + TOGETHER, n_pairs)
            many = 0
            for i in range(begin, end):  # without a branch: several at once
                odd = np.int64(popcount(pair_low[i] ^ x0) + popcount(pair_high[i] ^ x1))
                many += np.abs(n_screened - 2 * odd - expected * pair_mean[i]) > far
            for i in range(begin, end if many else begin):
                odd = np.int64(popcount(pair_low[i] ^ x0) + popcount(pair_high[i] ^ x1))
                if np.abs(n_screened - 2 * odd - expected * pair_mean[i]) <= far:
                    continue
                n_looked += 1
                if n_looked > room:
                    break
                member[0], member[1] = pairs[0, i], pairs[1, i]
                if not still_stands_out(few, member, n_few[1], mean, joint, still):
                    continue
                if not are_apart(member, column):
                    continue
                n_judged += 1
                if n_judged * fewer_judged <= room:
                    found = judge_set(
                        words, n_sampled, member, threshold, found, targets, sets, strengths
                    )
        n_sets += n_pairs
        changed = advance(member, whole(2))


@inner
def joint_means(few: Words, n_few: int) -> Floats:
    """The mean sign of the parity of every pair of planes on some rows."""
    n_planes = few.shape[0]
    found = np.ones((n_planes, n_planes))
    for q in range(n_planes):
        for p in range(q):
            odd = np.uint64(0)
            for w in range(LOOK_WORDS):
                odd += popcount(few[p, w] ^ few[q, w])
            found[p, q] = found[q, p] = 1.0 - 2.0 * np.int64(odd) / n_few
    return found


@inner
def still_stands_out(
    few: Words, member: Ints, n_few: int, mean: Floats, joint: Floats, still: float
) -> bool:
    """Whether a set differs on more rows too from independent columns, and from columns of which
    any one pair depends on each other: pairs have been looked at."""
    odd = np.uint64(0)
    for w in range(LOOK_WORDS):
        xor = np.uint64(0)
        for j in range(member.shape[0]):
            xor ^= few[member[j], w]
        odd += popcount(xor)
    own = 1.0 - 2.0 * np.int64(odd) / n_few
    least = still / np.sqrt(n_few)
    size = member.shape[0]
    for a in range(size):
        for b in range(a):
            expected = joint[member[a], member[b]]
            for j in range(size):
                if j not in (a, b):
                    expected *= mean[member[j]]
            if np.abs(own - expected) <= least:
                return False
    return True


@inner
def judge_set(
    words: Words,
    n_rows: int,
    member: Ints,
    threshold: float,
    found: int,
    targets: Ints,
    sets: Ints,
    strengths: Floats,
) -> int:
    """Write down each member that depends on the parity of the others, and more than on that of
    some of them; the number of what is written."""
    size = member.shape[0]
    everyone = (1 << size) - 1
    mean = part_means(words, n_rows, member)
    for t in range(size):
        strength = dependence(mean, everyone, t)
        if strength <= threshold:
            continue
        says_more = True
        for chosen in range(1, everyone):
            if chosen >> t & 1 and chosen != 1 << t:
                says_more &= dependence(mean, chosen, t) < strength - ROUNDING
        if says_more:
            if found < targets.shape[0]:
                targets[found] = t
                strengths[found] = strength
                for j in range(size):
                    sets[found, j] = member[j]
            found += 1
    return found


@inner
def part_means(words: Words, n_rows: int, member: Ints) -> Floats:
    """The mean sign of every part of a set, which has a bit for each member: from one part to the
    next one member comes or goes."""
    mean = np.ones(1 << member.shape[0])
    xor = np.zeros(words.shape[1], dtype=np.uint64)
    part = 0
    for i in range(1, mean.shape[0]):
        j = 0
        while not i >> j & 1:
            j += 1
        part ^= 1 << j
        odd = np.uint64(0)
        for w in range(words.shape[1]):
            xor[w] ^= words[member[j], w]
            odd += popcount(xor[w])
        mean[part] = 1.0 - 2.0 * np.int64(odd) / n_rows
    return mean


@inner
def dependence(mean: Floats, chosen: int, t: int) -> float:
    """How strongly member t depends on the parity of the other chosen ones."""
    own, rest = mean[1 << t], mean[chosen & ~(1 << t)]
    spread = (1.0 - own * own) * (1.0 - rest * rest)
    if spread <= 0.0:
        return 0.0
    return float(np.abs(mean[chosen] - own * rest) / np.sqrt(spread))
