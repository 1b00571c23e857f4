"""The compiled inner loops of an offer: newcomers compete at every step of every path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.counts.compiled import Floats, Ints, compiled, inner

Flags = NDArray[np.bool_]


@inner
def compete(
    row: int,
    newcomers: Ints,
    rank: Ints,
    gains: Floats,
    best: Ints,
    best_gain: Floats,
) -> bool:
    """Let the newcomers challenge the best candidate of one step; say whether one of them won.

    Of equal gains the lower rank wins.
    """
    won = False
    for a in newcomers:
        gain = gains[row, a]
        if gain > best_gain[row] or (
            gain == best_gain[row] and best[row] >= 0 and rank[a] < rank[best[row]]
        ):
            best[row] = a
            best_gain[row] = gain
            won = True
    return won


@compiled
def compete_in(
    rows: Ints,
    newcomers: Ints,
    rank: Ints,
    gains: Floats,
    best: Ints,
    best_gain: Floats,
) -> None:
    """The same for several steps."""
    for row in rows:
        compete(row, newcomers, rank, gains, best, best_gain)


@compiled
def first_changes(
    newcomers: Ints,
    rank: Ints,
    gains: Floats,
    best: Ints,
    best_gain: Floats,
    owner: Ints,
    depth: Ints,
    taken: Flags,
    score: Floats,
    bars: Floats,
    inclusive: bool,
    earliest: Ints,
    improved: Flags,
) -> None:
    """For each node the row of the first step that the newcomers change, or -1.

    A step changes when a newcomer wins it (``improved``), or when the candidate taken there
    no longer clears ``bars[depth]``, the bar for a step that deep.
    """
    for k in range(earliest.shape[0]):
        earliest[k] = -1
    for row in range(owner.shape[0]):
        k = owner[row]
        if k < 0:
            continue
        won = compete(row, newcomers, rank, gains, best, best_gain)
        changed = won
        if taken[row] and not won:
            bar = bars[depth[row]]
            changed = score[row] < bar if inclusive else score[row] <= bar
        if changed and (earliest[k] < 0 or depth[row] < depth[earliest[k]]):
            earliest[k] = row
            improved[k] = won
