"""The loops that look at sets of planes: all of them counted, or screened on a sample of rows.

``interactions`` says what is looked for and calls them.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import (
    Floats,
    Ints,
    Pairs,
    Words,
    compiled,
    inner,
    interpretable,
    popcount,
    whole,
)

ROUNDING = 1e-9
"""Dependences that differ by less are equal."""
TOGETHER = 64
"""Sets compared together; only where one of them is strong they are gone through."""
LOOK_WORDS = 8
"""The words on which what stands out on the first two is looked at."""


def n_apart(column: Ints, size: int) -> float:
    """The sets of planes of different columns, given the column of each plane."""
    found = np.zeros(size + 1)
    found[0] = 1.0
    for n_planes in np.bincount(column):
        found[1:] += n_planes * found[:-1]
    return float(found[size])


@interpretable(lambda words, *more: 1e-6 * words.shape[1] * n_apart(more[5], len(more[0])))
def count_odd(
    words: Words,
    member: Ints,
    share: Floats,
    best: Floats,
    stop: int,
    choose: Ints,
    column: Ints,
    even: Floats,
    least: float,
    out: Pairs,
) -> None:
    """The rows with an odd number of ones, for every set of planes that are even enough, and but
    for the smallest of different columns, whose largest is before ``stop``, from ``member`` on.

    The smallest member runs innermost, so that the answers are written one after the other:
    the place of a set is the sum of choose(member j, j + 1).
    """
    size, n_words = member.shape[0], words.shape[1]
    xor = np.empty((size, n_words), dtype=np.uint64)  # of the members from j on
    changed = size - 1
    while True:
        changed = next_even(member, whole(1), changed, stop, even, best, least, column, share)
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
    column: Ints,
    share: Floats,
) -> int:
    """Go on, if need be, to a set whose planes from member ``lowest`` on are even enough and of
    different columns; the largest member that changed, or 0 if there is none before the largest
    plane is ``stop``."""
    last = member.shape[0] - 1
    j = most = changed
    while j >= lowest:
        if member[last] == stop:
            return 0
        share[j] = share[j + 1] * share_of(even, member[j], j)
        # Planes that come later are less even still, but they may be of another column.
        shows = share[j] * best[j] >= least
        if shows and are_apart(member, j, column):
            j -= 1
        elif j == last:
            return 0
        else:
            passed = j if shows else j + 1
            for i in range(lowest, passed):
                member[i] = i
            j = advance(member, passed)
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


@interpretable(lambda member, *more: 4e-6 * len(member) * n_apart(more[6], len(member)))
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
    found, stop = whole(0), column.shape[0]
    changed = size - 1
    while True:
        changed = next_even(member, whole(1), changed, stop, even, best, least_shown, column, share)
        if changed == 0:
            return found
        first = int(offsets[size]) + place_of(member, size, choose)
        for t in range(size):
            # Either the target or the parity of the others is the same for all of them.
            without = offsets[size - 1] + place_of(member, t, choose)
            fixed = 1.0 - twice * odd[offsets[1] + member[t] if t > 0 else without]
            varying = without if t > 0 else offsets[1]
            for p in range(member[1]):
                changing = 1.0 - twice * odd[varying + p]
                spread = (1.0 - fixed * fixed) * (1.0 - changing * changing)
                lead = 1.0 - twice * odd[first + p] - fixed * changing
                if lead * lead <= least * spread or spread <= 0.0:
                    continue
                member[0] = p
                strength = np.abs(lead) / np.sqrt(spread)
                # Most are strong because of a single member, which is seen at once.
                if strongest_pair(member, t, single) < strength - ROUNDING and are_apart(
                    member, whole(0), column
                ):
                    mean = counted_means(member, odd, twice, offsets, choose)
                    found = written(mean, t, strength, member, found, targets, sets, strengths)
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
def place_of(member: Ints, without: int, choose: Ints) -> int:
    """The place of a set without one of its members, or, if that is none of them, of the whole set,
    while its smallest member is 0: members above the one that is missing lose a rank."""
    place = np.int64(0)
    for j in range(1, member.shape[0]):
        if j != without:
            place += choose[member[j], j + 1 if j < without else j]
    return int(place)


@inner
def are_apart(member: Ints, j: int, column: Ints) -> bool:
    """Whether the plane of member j belongs to another column than those of all later members."""
    same = 0
    for i in range(j + 1, member.shape[0]):
        same += column[member[i]] == column[member[j]]
    return same == 0


@inner
def counted_means(member: Ints, odd: Pairs, twice: float, offsets: Ints, choose: Ints) -> Floats:
    """The mean sign of every part of a set, which has a bit for each member, from what was
    counted."""
    mean = np.ones(1 << member.shape[0])
    for part in range(1, mean.shape[0]):
        place = np.int64(0)
        size = 0
        for j in range(member.shape[0]):
            if part >> j & 1:
                size += 1
                place += choose[member[j], size]
        mean[part] = 1.0 - twice * odd[offsets[size] + place]
    return mean


@inner
def written(
    mean: Floats,
    t: int,
    strength: float,
    member: Ints,
    found: int,
    targets: Ints,
    sets: Ints,
    strengths: Floats,
) -> int:
    """Write down that member t depends on the parity of the others so strongly, if there is room
    and it depends less on that of any part of them; the number of what is written."""
    everyone = mean.shape[0] - 1
    for chosen in range(1, everyone):
        if chosen >> t & 1 and dependence(mean, chosen, t) >= strength - ROUNDING:
            return found
    if found < targets.shape[0]:
        targets[found] = t
        strengths[found] = strength
        for j in range(member.shape[0]):
            sets[found, j] = member[j]
    return found + 1


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
        changed = next_even(member, whole(2), changed, stop, even, best, least, column, share)
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
                if not (
                    are_apart(member, whole(0), column) and are_apart(member, whole(1), column)
                ):
                    continue
                n_judged += 1
                if n_judged * fewer_judged > room:
                    continue
                mean_of = part_means(words, n_sampled, member)
                for t in range(size):
                    strength = dependence(mean_of, mean_of.shape[0] - 1, t)
                    if strength > threshold:
                        found = written(
                            mean_of, t, strength, member, found, targets, sets, strengths
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
