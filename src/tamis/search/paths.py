"""The compiled inner loop of the selector: the steps of PPS as far as they have been counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counting.compiled import Floats, Ints, Pairs, inner, interpretable, whole

Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

FULL, REFUSED, NEEDS_STRENGTH, NEEDS_ROW, NEEDS_WHOLE, NEEDS_ROOM = range(6)
"""Why a path ends: nobody is left, or no more may be taken; the best candidate has failed; its
strength, or the row after it, has not been counted, or not as a whole; or the path has no room."""
LEFT = -2
"""Less the row that was left last, where the next one has not been counted."""

CLEARLY_MORE = 1 + 1e-9
"""Margins that differ by a smaller factor are equal: strengths of tests are rounded, by the order
of levels, and columns that say the same must tie whatever their levels are called."""


@interpretable(lambda active, *arguments: 1e-5 * len(active) * arguments[4].shape[1])
def follow(
    active: Ints,
    newcomers: Ints,
    rows: Ints,
    depths: Ints,
    n_candidates: Ints,
    candidates: Flags,
    limit: int,
    cmi: Floats,
    whole: Flags,
    rank: Ints,
    known: Pairs,
    strengths: Floats,
    following: Pairs,
    thresholds: Floats,
    inclusive: bool,
    rivals: Bytes,
    most: Ints,
    path: Ints,
    walked: Ints,
    answers: Floats,
    ends: Ints,
) -> None:
    """Take the best candidate of each active selection while it passes; ``ends`` become why each
    path ends.

    Selection i stands at ``rows[i]`` (negative where that has not been counted), given
    ``depths[i]`` members, which are the first of ``path[i]``; at last the best candidate that is
    not taken (or not yet) comes after them. ``rivals`` become those who are no candidates and would
    have been taken instead, a bit each, and ``most`` is the number of candidates up to which all
    that was taken passes. The first ``walked[i]`` of the path were the best before there were
    ``newcomers``. ``answers`` are the strengths that paths have ended for; they are kept at their
    rows, and none (nan) is left.
    """
    for a in range(active.shape[0]):
        i = active[a]
        mask = i if candidates.shape[0] > 1 else 0
        while True:
            row, depth = rows[i], depths[i]
            if depth >= limit or depth >= n_candidates[i]:
                ends[a] = FULL
                break
            if row < 0:
                ends[a] = NEEDS_ROW
                break
            if depth >= path.shape[1]:
                ends[a] = NEEDS_ROOM
                break
            answered = not np.isnan(answers[i])
            if answered:
                best = int(path[i, depth])
            elif depth < walked[i]:
                best = int(path[i, depth])
                for k in newcomers:
                    if candidates[mask, k] and wins(cmi, row, k, best, rank):
                        best = k
                        walked[i] = depth
            else:
                best = largest(cmi, row, candidates, mask, rank)
            if not whole[row] and (best < 0 or cmi[row, best] == -np.inf):
                ends[a] = NEEDS_WHOLE
                break
            if best < 0:
                ends[a] = FULL
                break
            path[i, depth] = best
            slot = best % known.shape[1]
            if answered:
                known[row, slot] = best
                strengths[row, slot] = answers[i]
                following[row, slot] = -1
                answers[i] = np.nan
            elif known[row, slot] != best:
                walked[i] = min(walked[i], depth)
                ends[a] = NEEDS_STRENGTH
                break
            strength = strengths[row, slot]
            threshold = thresholds[n_candidates[i] - depth]
            passes = strength > threshold or (inclusive and strength == threshold)
            if depth >= walked[i]:
                walked[i] = depth + 1
                mark(i, row, depth, best, cmi, rivals)
            if not passes:
                ends[a] = REFUSED
                break
            most[i] = min(most[i], passes_up_to(strength, thresholds, inclusive) + depth)
            depths[i] = depth + 1
            rows[i] = following[row, slot] if following[row, slot] >= 0 else LEFT - row


@interpretable(lambda newcomers, *arguments: 1e-6 * (len(newcomers) + 1) * len(arguments[-1]))
def concerned(
    newcomers: Ints, n_candidates: int, rivals: Bytes, most: Ints, remains: Flags, found: Ints
) -> int:
    """The remaining nodes whose selection may change now that there are these newcomers are the
    first of ``found``; how many there are."""
    n_found = 0
    for i in range(remains.shape[0]):
        if not remains[i]:
            continue
        is_so = most[i] < n_candidates
        for k in newcomers:
            is_so |= (rivals[i, k >> 3] >> (k & 7) & 1) == 1
        if is_so:
            found[n_found] = i
            n_found += 1
    return n_found


@inner
def largest(cmi: Floats, row: int, candidates: Flags, mask: int, rank: Ints) -> int:
    """The candidate of largest cmi, of equals that of lowest rank."""
    best = whole(-1)
    for k in range(cmi.shape[1]):
        if (
            candidates[mask, k]
            and cmi[row, k] > -np.inf
            and (best < 0 or wins(cmi, row, k, best, rank))
        ):
            best = k
    return best


@inner
def wins(cmi: Floats, row: int, k: int, best: int, rank: Ints) -> bool:
    """Whether k is better than the best so far."""
    more = cmi[row, k] - cmi[row, best]
    return bool(more > 0 or (more == 0 and rank[k] < rank[best]))


@inner
def mark(i: int, row: int, depth: int, best: int, cmi: Floats, rivals: Bytes) -> None:
    """Mark those ahead of the best candidate, who would be tried first.

    The first step begins the marks; later ones leave what is there, which does no harm.
    """
    if depth == 0:
        for byte in range(rivals.shape[1]):
            rivals[i, byte] = 0
    for k in range(cmi.shape[1]):
        if cmi[row, k] < cmi[row, best] or (cmi[row, k] == cmi[row, best] and k >= best):
            continue
        rivals[i, k >> 3] |= 1 << (k & 7)


@inner
def passes_up_to(strength: float, thresholds: Floats, inclusive: bool) -> int:
    """The largest number of candidates the best of which passes with this strength."""
    low, high = 0, thresholds.shape[0]
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] < strength or (inclusive and thresholds[middle] == strength):
            low = middle + 1
        else:
            high = middle
    return low - 1
