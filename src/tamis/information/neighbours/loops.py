"""The compiled loop of all nearest-neighbour estimates of I(X ; Y | S).

One pass over the rows serves one context and any number of candidates: the distances to a row in S,
and in S with the target, are the candidates' common work. Rows come sorted by a coordinate that
every distance bounds, so that only rows close in it are looked at. Measured from 1000 to 16 000
rows this beats trees, the more so the larger S; only without S do trees win at 16 000 rows
(docs/continuous.md).
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import Floats, Ints, compiled, inner

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
