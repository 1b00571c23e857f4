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
def file_rows(
    rows: Ints,
    targets: Ints,
    members: Ints,
    members_start: Ints,
    fresh_entropies: Floats,
    fresh_gains: Floats,
    offered: Ints,
    rank: Ints,
    entropy: Floats,
    gains: Floats,
    owner: Ints,
    depth: Ints,
    best: Ints,
    best_gain: Floats,
    score: Floats,
    taken: Flags,
    entropies: Floats,
    max_size: int,
) -> Ints:
    """Enter fresh steps into the store, the last of their targets' paths, and let all nodes
    offered so far compete in them; return those in which there is something to decide.

    Step i conditions on ``members[members_start[i] : members_start[i + 1]]``.
    """
    undecided = np.empty(rows.shape[0], dtype=np.int64)
    n_undecided = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        owner[row] = targets[i]
        depth[row] = members_start[i + 1] - members_start[i]
        entropy[row] = fresh_entropies[i]
        entropies[targets[i]] = fresh_entropies[i]
        for k in range(gains.shape[1]):  # element by element: a slice takes seconds to compile
            gains[row, k] = fresh_gains[i, k]
        for m in range(members_start[i], members_start[i + 1]):
            gains[row, members[m]] = -np.inf  # a member is no candidate any more
        best[row] = -1
        best_gain[row] = -np.inf
        score[row] = 0.0
        taken[row] = False
        compete(row, offered, rank, gains, best, best_gain)
        if best[row] >= 0 and depth[row] < max_size:
            undecided[n_undecided] = row
            n_undecided += 1
    return undecided[:n_undecided]


@compiled
def decide(
    rows: Ints,
    scores: Floats,
    bars: Floats,
    inclusive: bool,
    depth: Ints,
    score: Floats,
    taken: Flags,
) -> Ints:
    """Record the scores of the best candidates of these steps; return the steps that are taken,
    which are those whose score clears ``bars[depth]``."""
    accepted = np.empty(rows.shape[0], dtype=np.int64)
    n_accepted = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        score[row] = scores[i]
        bar = bars[depth[row]]
        if scores[i] > bar or (inclusive and scores[i] == bar):
            taken[row] = True
            accepted[n_accepted] = row
            n_accepted += 1
    return accepted[:n_accepted]


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
    by_set: Flags,
    score: Floats,
    bars: Floats,
    inclusive: bool,
    max_size: int,
) -> tuple[Ints, Ints]:
    """The first step of each path that the newcomers change: those to take back, because they
    were taken, and those to decide anew, because a newcomer won them.

    A step changes when a newcomer wins it, or when the candidate taken there no longer clears
    ``bars[depth]``, the bar for a step that deep; such a step lapses and stays refused.
    """
    d = gains.shape[1]
    earliest = np.empty(d, dtype=np.int64)
    improved = np.empty(d, dtype=np.bool_)
    for k in range(d):
        earliest[k] = -1
        improved[k] = False
    for row in range(owner.shape[0]):
        k = owner[row]
        if k < 0:
            continue
        won = compete(row, newcomers, rank, gains, best, best_gain)
        changed = won
        if taken[row] and not won and not by_set[row]:
            bar = bars[depth[row]]
            changed = score[row] < bar if inclusive else score[row] <= bar
        if changed and (earliest[k] < 0 or depth[row] < depth[earliest[k]]):
            earliest[k] = row
            improved[k] = won
    return first_of(earliest, improved, depth, taken, max_size)


@inner
def first_of(
    earliest: Ints, improved: Flags, depth: Ints, taken: Flags, max_size: int
) -> tuple[Ints, Ints]:
    """Sort the changed steps into those to take back and those to decide."""
    to_take_back = np.empty(earliest.shape[0], dtype=np.int64)
    to_decide = np.empty(earliest.shape[0], dtype=np.int64)
    n_back = n_decide = 0
    for k in range(earliest.shape[0]):
        row = earliest[k]
        if row < 0:
            continue
        if taken[row]:
            to_take_back[n_back] = row
            n_back += 1
        if improved[k] and depth[row] < max_size:
            to_decide[n_decide] = row
            n_decide += 1
    return to_take_back[:n_back], to_decide[:n_decide]
