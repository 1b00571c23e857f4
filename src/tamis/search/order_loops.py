"""The compiled loops of the order search: selecting parents, and moving nodes while that helps.

What has not been counted is asked for: of a table in memory at once, through a pointer to what
counts it (``counting/direct``). Other sources answer in batches: what is missing is written down,
the caller has it counted for all that wait (``parents``) and calls again. The steps of a selection
are those of ``pps`` and ``selection`` without their decisions; a property test holds both to one
oracle.

Compiling takes long where functions are many and pass many arrays around. So there are few, and six
flat arrays beside the pointer and what it reads. A set of nodes is an address: so many words, one
bit a node.

* ``M``, the memory: a header, scratch sets, sets for each node, what is missing, and then entries.
  An entry has a head, eight fields, the set by which it is found, and a second set. It is a context
  (a target and what is given) or a selection (a target and its candidates; the second set are
  rivals, who were no candidates and would change it).
* ``Q``: where entries are, by a hash of head and set.
* ``R``, ``S``: the rows of contexts. The other nodes by their cmi, the largest first, each in one
  number with the context that follows when it is taken, 0 while nobody has asked (``NODE_BITS``);
  and their strengths, nan where they were not asked for.
* ``T``: thresholds, and the families of contexts: the score, and of each member itself, its cmi and
  its strength given the others. Also the strengths of sets that may be taken together.
* ``V``: one order, and where climbing from it has come to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tamis.counting.compiled import Floats, Ints, compiled, inner, popcount, whole
from tamis.counting.direct import ANSWER_LOOP
from tamis.search.paths import CLEARLY_MORE


def wholes(start: int, stop: int) -> list[int]:
    """Numbers to be passed to loops: of constants numba would compile a version for each."""
    return [whole(one) for one in range(start, stop)]


(
    D, W, LIMIT, BACKWARD, N_MADE, N_MOST, IS_FULL, USED, N_ENTRIES, N_MISSING, ROOM, MISSING,
    LISTED, JUDGED, LIST, QUESTION, REPLY,
) = wholes(0, 17)  # fmt: skip
"""The header of ``M``: nodes, words of a set, the most members, whether members may leave,
selections made and allowed, whether there is room, where it begins, the number of entries, what is
missing: so many, so much room, where; how much of ``R`` and of ``T`` is used; how many of a row are
listed at first; and where questions are put, and in ``T`` where the replies come."""
EMPTY, CANDIDATES, ALLOWED, RIVALS, GIVEN, BESIDE, ARRIVED, CONCERNED = wholes(17, 25)
"""Where scratch sets are; nobody is in the first."""
(
    BLOCKED, MENTIONED, REQUIRED, TOGETHER_OF, N_JUDGED, SET_THRESHOLDS, AT_ONCE, BOUND,
) = wholes(25, 33)  # fmt: skip
"""Where the sets of nodes are: who may not be a parent, who may be taken together with others, who
must be a parent; for each node where its sets to be taken together are, a number and then they,
the strongest first; how many of these are judged; where in ``T`` their thresholds are; of how many
nodes the moves are prepared at once, so that they are counted in few batches: 0 where nothing waits
for batches; and whether anybody is blocked or mentioned."""
HEADER = 40
SIZE, START, LENGTH, FAMILY, TOGETHER, ASKED, ENTROPY, CAME_FROM = wholes(1, 9)
"""Fields of a context, -1 where unknown: how many are given, where its row begins and how long it
is, where in ``T`` its family is, and the strengths of sets there, what was asked for and has not
come, one less than a bit each, where in ``T`` its entropy is, and the context before the best was
taken: whoever takes single candidates only comes to a set on one way."""
CONTEXT, MOST, BY_SET, GROWN = wholes(1, 5)
"""Of a selection: the context of the parents, the number of candidates up to which they stay,
whether several were taken together, and the context before any of them left again."""
SET = whole(9)
"""Where the set of an entry begins."""
WITH_SETS = whole(2**40)
"""Added to the head of a selection among candidates of whom several may be taken together."""
NONE = whole(-1)
NODE_BITS = whole(24)
"""Of a number in ``R``: so many bits are the node, those above them the context that follows."""
ROW, STRENGTH, FAMILIES, GROUP = wholes(0, 4)
"""What may be missing: a row, a strength at a place of it, a family, the strength of a set."""
RISE, THRESHOLDS = wholes(0, 2)
"""In ``T``: by how much the score rises with the tuck that was tried last, and the thresholds."""
SCORE, MEMBERS = wholes(0, 2)
"""In a family; each member has three numbers."""

(
    MODE,
    NODES,
    HEAD,
    QUEUED,
    PREPARED,
    NODE,
    STAGE,
    N_TUCKS,
    N_CHANGED,
    PARENT,
    CHILD,
    ONLY,
) = wholes(0, 12)
"""The header of ``V``: what is about to be done, the number of nodes; the queue's first and length,
and how many are prepared; whose moves are tried and how far; how many edges it has, and nodes the
move that is tried; the edge to be tucked, and whether only to see what that does."""
ORDER, PLACES, SELECTED, QUEUE, IS_QUEUED, FRESH, CHANGED, TUCKS, MOVED, BEFORE, WAITING = wholes(
    12, 23
)
"""Where its parts are: at last the nodes before each place, and those that each has to wait for."""
READY = whole(2)
"""In place of 1 for a node in the queue: all that its moves ask for has been selected."""
PAUSE, ROUNDS = wholes(23, 25)
"""Where the number of nodes is that are to be admitted before others are told; and where what each
admission saw is written down, a number a node: where in ``T`` its entropy was (0: nowhere)."""
ASK, SETTLE, TUCK, CLIMB, ADMIT, DONE, REFUSED = wholes(0, 7)
"""Modes: to select, to take another order and climb, to tuck an edge and climb, to climb, to admit
nodes by their entropies."""

Advance = Callable[[Ints, Ints, Ints, Ints, Floats, Floats, Ints, int], None]

ROUNDING = 1e-6
"""Scores of equivalent graphs differ by less than this, in nats."""


@inner
def has(A: Ints, at: int, k: int) -> bool:
    """Whether a node is in a set."""
    word: int = A[at + (k >> 6)]
    return word >> (k & 63) & 1 != 0


@inner
def add(A: Ints, at: int, k: int) -> None:
    """Put a node into a set."""
    A[at + (k >> 6)] |= whole(1) << (k & 63)


@inner
def drop(A: Ints, at: int, k: int) -> None:
    """Take a node out of a set."""
    A[at + (k >> 6)] &= ~(whole(1) << (k & 63))


@inner
def copy(A: Ints, at: int, B: Ints, to: int, n_words: int) -> None:
    """Copy a set."""
    for w in range(n_words):
        B[to + w] = A[at + w]


@inner
def unite(A: Ints, at: int, B: Ints, to: int, n_words: int) -> None:
    """Add a set to another one."""
    for w in range(n_words):
        B[to + w] |= A[at + w]


@inner
def meet(A: Ints, at: int, B: Ints, other: int, n_words: int) -> bool:
    """Whether two sets have a node in common."""
    common = whole(0)
    for w in range(n_words):
        common |= A[at + w] & B[other + w]
    return common != 0


@inner
def find(M: Ints, Q: Ints, head: int, at: int) -> int:
    """The entry with this head and set, new if there is none."""
    n_words, mask = M[W], Q.shape[0] - 1
    mixed = head * whole(0x1E3779B97F4A7C15)
    for w in range(n_words):
        mixed = (mixed ^ M[at + w]) * whole(0x56E8FEB86659FD93)
        mixed ^= mixed >> 32
    slot = mixed & mask
    while Q[slot] > 0:
        differs = M[Q[slot]] ^ head
        for w in range(n_words):
            differs |= M[Q[slot] + SET + w] ^ M[at + w]
        if differs == 0:
            break
        slot = (slot + 1) & mask
    new: int = Q[slot]
    if new > 0:
        return new
    new = M[USED]
    Q[slot] = new
    M[USED] += SET + 2 * n_words
    M[N_ENTRIES] += 1
    M[new] = head
    for i in range(1, SET):
        M[new + i] = -1
    copy(M, at, M, new + SET, n_words)
    return new


@inner
def miss(M: Ints, what: int, which: int, place: int) -> None:
    """Write down what is missing, rows and families once."""
    if what != STRENGTH and what != GROUP:
        if (M[which + ASKED] + 1) >> what & 1:
            return
        M[which + ASKED] += whole(1) << what
    at = M[MISSING] + 3 * M[N_MISSING]
    M[at] = what
    M[at + 1] = which
    M[at + 2] = place
    M[N_MISSING] += 1


@inner
def put_question(M: Ints, context: int) -> int:
    """Write the columns of a context where questions are put, its target last; how many."""
    at: int = M[QUESTION]
    n = at
    for w in range(M[W]):
        bits = np.uint64(M[context + SET + w])
        while bits != 0:
            rest = bits & (bits - np.uint64(1))
            M[n] = 64 * w + np.int64(popcount((bits ^ rest) - np.uint64(1)))
            bits = rest
            n += 1
    M[n] = M[context] // 2
    return n + 1 - at


@inner
def node_at(R: Ints, place: int) -> int:
    """The node at a place of a row."""
    node: int = R[place] & ((whole(1) << NODE_BITS) - 1)
    return node


@inner
def list_row(M: Ints, R: Ints, S: Floats, T: Floats, context: int, n: int, length: int) -> None:
    """List those of the reply that are not among the n of the context, so many, by their cmi."""
    start, stop = M[LISTED], M[LISTED]
    for k in range(M[D]):
        cmi = T[M[REPLY] + k]
        if stop - start == length and cmi <= S[stop - 1]:
            continue
        if k == M[context] // 2 or has(M, context + SET, k):
            continue
        if stop - start < length:
            stop += 1
        place = stop - 1
        while place > start and S[place - 1] < cmi:
            S[place] = S[place - 1]
            R[place] = R[place - 1]
            place -= 1
        S[place] = cmi
        R[place] = k
    for place in range(start, stop):
        S[place] = np.nan
    M[context + START] = start
    M[context + LENGTH] = stop - start
    M[LISTED] = stop
    if M[context + ENTROPY] < 0:
        T[M[JUDGED]] = T[M[REPLY] + M[D]]
        M[context + ENTROPY] = M[JUDGED]
        M[JUDGED] += 1


@inner
def make_place(M: Ints, T: Floats, context: int) -> bool:
    """Let a context have a place for the strength of each set that may be taken; False where there
    is no room."""
    if M[context + TOGETHER] >= 0:
        return True
    n_sets = M[M[M[TOGETHER_OF] + M[context] // 2]]
    if M[JUDGED] + n_sets > T.shape[0]:
        M[IS_FULL] = 1
        return False
    for i in range(M[JUDGED], M[JUDGED] + n_sets):
        T[i] = np.nan
    M[context + TOGETHER] = M[JUDGED]
    M[JUDGED] += n_sets
    return True


@inner
def put_group(M: Ints, context: int, which: int, n: int) -> None:
    """Write behind the n columns of a context those of one of its sets that are not given."""
    own = M[M[TOGETHER_OF] + M[context] // 2] + 1 + which * M[W]
    at = M[QUESTION] + n
    M[at] = 0
    for k in range(M[D]):
        if has(M, own, k) and not has(M, context + SET, k):
            M[at] += 1
            M[at + M[at]] = k


@inner
def ask(
    E: Ints, M: Ints, R: Ints, S: Floats, T: Floats, what: int, context: int,
    place: int,
) -> bool:  # fmt: skip
    """Have something counted; False where it must wait, for a batch or for room."""
    if E.shape[0] == 0:
        miss(M, what, context, place)
        return False
    n = put_question(M, context)
    if what == ROW:
        before, length = M[context + LENGTH], M[D] - n
        wanted = M[LIST] if before < 0 else 8 * before
        length = wanted if wanted < length else length
        if M[LISTED] + length > S.shape[0] or M[JUDGED] == T.shape[0]:
            M[IS_FULL] = 1
            return False
        if answer(E[ANSWER_LOOP], (E, what, M, M[QUESTION], n, T, M[REPLY])) != 0:
            list_row(M, R, S, T, context, n, length)
            return True
    elif what == STRENGTH:
        M[M[QUESTION] + n] = node_at(R, place)
        if answer(E[ANSWER_LOOP], (E, what, M, M[QUESTION], n, T, M[REPLY])) != 0:
            S[place] = T[M[REPLY]]
            return True
    elif what == GROUP:
        if not make_place(M, T, context):
            return False
        put_group(M, context, place, n)
        to = M[context + TOGETHER] + place
        if answer(E[ANSWER_LOOP], (E, what, M, M[QUESTION], n, T, to)) != 0:
            return True
    else:
        if M[JUDGED] + 3 * n > T.shape[0]:
            M[IS_FULL] = 1
            return False
        if answer(E[ANSWER_LOOP], (E, what, M, M[QUESTION], n, T, M[JUDGED])) != 0:
            M[context + FAMILY] = M[JUDGED]
            M[JUDGED] += 3 * n - 2
            return True
    miss(M, what, context, place)
    return False


@inner
def n_below(T: Floats, d: int, strength: float) -> int:
    """How many thresholds are below a strength."""
    low, high = whole(0), d + 1
    while low < high:
        middle = (low + high) // 2
        if T[THRESHOLDS + middle] < strength:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def best_set(E: Ints, M: Ints, R: Ints, S: Floats, T: Floats, context: int, n_left: int) -> int:
    """Where none of ALLOWED passes alone: the set that clears its threshold by most, the first of
    equals; the threshold is that of the best of all sets of its size. 0 if none does, NONE where a
    strength is missing."""
    n_words, sets = M[W], M[M[TOGETHER_OF] + M[context] // 2]
    best, margin, n_judged, waits = whole(0), 0.0, whole(0), False
    for i in range(M[sets]):
        at = sets + 1 + i * n_words
        lacks = n_fresh = whole(0)
        for w in range(n_words):
            lacks |= M[at + w] & ~M[M[ALLOWED] + w]
            fresh = M[at + w] & ~M[context + SET + w]
            while fresh != 0:
                fresh &= fresh - 1
                n_fresh += 1
        if lacks != 0 or n_fresh < 2 or n_fresh > M[LIMIT] - M[context + SIZE]:
            continue
        if (M[context + TOGETHER] < 0 or np.isnan(T[M[context + TOGETHER] + i])) and not ask(
            E, M, R, S, T, GROUP, context, i
        ):
            waits = True
        else:
            threshold = T[M[SET_THRESHOLDS] + n_fresh * (M[D] + 1) + n_left]
            lead = T[M[context + TOGETHER] + i] - threshold
            if lead > margin * CLEARLY_MORE:
                best, margin = at, lead
        n_judged += 1
        if n_judged == M[N_JUDGED]:
            break
    return NONE if waits else best


@inner
def is_full(M: Ints, Q: Ints) -> bool:
    """Whether there may be no room for what one step adds: few entries, and few things missing."""
    if (
        M[USED] + 4 * (SET + 2 * M[W]) > M.shape[0]
        or 2 * M[N_ENTRIES] + 8 > Q.shape[0]
        or M[N_MISSING] + 20 > M[ROOM]
    ):
        M[IS_FULL] = 1
    return bool(M[IS_FULL] != 0)


@inner
def grow(
    E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, target: int, n: int,
    made: int,
) -> int:  # fmt: skip
    """PPS: take the best of the n CANDIDATES while it passes, or several where none does. The
    context where that ends; NONE where something is missing."""
    d, n_words, rivals, given = M[D], M[W], M[RIVALS], M[GIVEN]
    required = M[REQUIRED] + target * n_words
    size = lacks = whole(0)
    for w in range(n_words):
        candidates = M[M[CANDIDATES] + w]
        M[M[ALLOWED] + w] = candidates & ~M[M[BLOCKED] + target * n_words + w]
        M[rivals + w] = 0
        lacks |= M[required + w] & ~candidates
    copy(M, M[EMPTY], M, given, n_words)
    if lacks == 0 and meet(M, required, M, required, n_words):
        # Required parents are members from the start, once all of them are candidates.
        copy(M, required, M, given, n_words)
        for k in range(d):
            if has(M, required, k):
                size += 1
    context = find(M, Q, 2 * target, given)
    M[context + SIZE] = size
    M[made + MOST], M[made + BY_SET] = d, 0
    while True:
        if is_full(M, Q):
            return NONE
        size = M[context + SIZE]
        best = stop = whole(0)
        if size < n and size < M[LIMIT]:
            if M[context + LENGTH] < 0 and not ask(E, M, R, S, T, ROW, context, size):
                return NONE
            best = M[context + START]
            stop = best + M[context + LENGTH]
            while best < stop and not has(M, M[ALLOWED], node_at(R, best)):
                best += 1
            if best == stop and M[context + LENGTH] < d - 1 - size:
                if not ask(E, M, R, S, T, ROW, context, size):
                    return NONE
                continue
        if best == stop:
            M[made + MOST] = n  # one more may change everything
            return context
        if np.isnan(S[best]) and not ask(E, M, R, S, T, STRENGTH, context, best):
            return NONE
        strength, threshold = S[best], T[THRESHOLDS + n - size]
        passes = strength > threshold
        for place in range(M[context + START], best):
            # Who is ahead of one that passes would be taken first, or try and fail.
            if passes or not S[place] <= threshold:
                add(M, rivals, node_at(R, place))
        if passes:
            up_to = n_below(T, d, strength) - 1 + size
            if up_to < M[made + MOST]:
                M[made + MOST] = up_to
            if R[best] >> NODE_BITS == 0:
                copy(M, context + SET, M, given, n_words)
                add(M, given, node_at(R, best))
                following = find(M, Q, 2 * target, given)
                M[following + SIZE] = size + 1
                R[best] |= following << NODE_BITS
            following = R[best] >> NODE_BITS
            if M[made + BY_SET] == 0:
                M[following + CAME_FROM] = context
            context = following
            continue
        if M[M[TOGETHER_OF] + target] == 0:
            return context
        together = best_set(E, M, R, S, T, context, n - size)
        if together == 0:
            return context
        if together < 0:
            return NONE
        copy(M, context + SET, M, given, n_words)
        unite(M, together, M, given, n_words)
        context = find(M, Q, 2 * target, given)
        M[context + SIZE] = 0
        for k in range(d):
            if has(M, given, k):
                M[context + SIZE] += 1
        M[made + BY_SET] = 1


@inner
def choose(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, target: int, n: int) -> int:
    """The selection of a target among the n CANDIDATES; NONE where something is missing.

    What PPS has grown is shrunk again: superfluous members leave one at a time, the weakest first.
    """
    n_words = M[W]
    if is_full(M, Q):
        return NONE
    sets = WITH_SETS if M[M[TOGETHER_OF] + target] != 0 else whole(0)
    made = find(M, Q, 2 * target + 1 + sets, M[CANDIDATES])
    if M[made + CONTEXT] >= 0:
        return made
    context = grow(E, M, Q, R, S, T, target, n, made)
    if context < 0:
        return NONE
    M[made + GROWN] = context
    required = M[REQUIRED] + target * n_words
    shrinks = M[BACKWARD] != 0 and M[context + SIZE] > 1
    while True:
        if is_full(M, Q):
            return NONE
        if M[context + FAMILY] < 0 and not ask(E, M, R, S, T, FAMILIES, context, M[context + SIZE]):
            return NONE
        if not shrinks:
            break
        size, first = M[context + SIZE], M[context + FAMILY] + MEMBERS
        threshold, needed, weakest = T[THRESHOLDS + n - size + 1], np.inf, NONE
        for one in range(first, first + 3 * size, 3):
            if has(M, required, whole(T[one])):
                continue
            if T[one + 2] >= threshold:
                if T[one + 2] < needed:
                    needed = T[one + 2]
            elif (
                weakest < 0
                or T[one + 1] < T[weakest + 1]
                or (T[one + 1] == T[weakest + 1] and T[one + 2] < T[weakest + 2])
            ):
                weakest = one
        # The least strength that keeps its member does so up to this number of candidates.
        up_to = n_below(T, M[D], np.nextafter(needed, np.inf)) - 2 + size
        if up_to < M[made + MOST]:
            M[made + MOST] = up_to
        if weakest < 0:
            break
        copy(M, context + SET, M, M[GIVEN], n_words)
        drop(M, M[GIVEN], whole(T[weakest]))
        context = find(M, Q, 2 * target, M[GIVEN])
        M[context + SIZE] = size - 1
        shrinks = size > 1
    M[N_MADE] += 1
    M[made + CONTEXT] = context
    copy(M, M[RIVALS], M, made + SET + n_words, n_words)
    return made


@inner
def stays(M: Ints, target: int, selection: int, more: int, n: int) -> bool:
    """Whether a selection is the same with more candidates, a set, who are n then.

    False also where that is not plain to see: sets that were refused stay so among more
    candidates, but one that was taken need not be the best any more.
    """
    n_words = M[W]
    blocked = M[BLOCKED] + target * n_words
    return (
        n <= M[selection + MOST]
        and M[selection + BY_SET] == 0
        and not meet(M, selection + SET + n_words, M, more, n_words)
        and not meet(M, M[MENTIONED] + target * n_words, M, more, n_words)
        and not meet(M, blocked, M, blocked, n_words)
    )


@inner
def stays_with(M: Ints, V: Ints, target: int, selection: int, at: int, n_more: int, n: int) -> bool:
    """``stays`` with few more candidates, listed at ``at``: of wide tables whole sets are long."""
    if n > M[selection + MOST] or M[selection + BY_SET] != 0:
        return False
    n_words = M[W]
    rivals, mentioned = selection + SET + n_words, M[MENTIONED] + target * n_words
    for i in range(at, at + n_more):
        if has(M, rivals, V[i]) or (M[BOUND] and has(M, mentioned, V[i])):
            return False
    blocked = M[BLOCKED] + target * n_words
    return M[BOUND] == 0 or not meet(M, blocked, M, blocked, n_words)


@inner
def try_tuck(
    E: Ints,
    M: Ints,
    Q: Ints,
    R: Ints,
    S: Floats,
    T: Floats,
    V: Ints,
    parent: int,
    child: int,
    allowed: bool,
) -> int:
    """What moving the child before the parent would do: who stands where, in FRESH, who selects
    what, in CHANGED, and by how much the score rises. NONE where something is missing; REFUSED
    where it must not be, if only what is ``allowed`` is tried."""
    n_words, arrived = M[W], M[ARRIVED]
    start, stop = V[V[PLACES] + parent], V[V[PLACES] + child]
    # With the child go those of its ancestors that stand between.
    copy(M, M[V[V[SELECTED] + child] + CONTEXT] + SET, M, M[CONCERNED], n_words)
    copy(M, M[EMPTY], M, arrived, n_words)
    V[V[MOVED]] = child
    n_moved, n_passed = whole(1), whole(0)
    for place in range(stop - 1, start - 1, -1):
        k = V[V[ORDER] + place]
        if k != parent and has(M, M[CONCERNED], k):
            unite(M, M[V[V[SELECTED] + k] + CONTEXT] + SET, M, M[CONCERNED], n_words)
            V[V[MOVED] + n_moved] = k
            n_moved += 1
        else:
            V[V[FRESH] + stop - start - n_passed] = k
            add(M, arrived, k)
            n_passed += 1
    for i in range(n_moved):
        k = V[V[MOVED] + n_moved - 1 - i]
        V[V[FRESH] + i] = k
        if allowed and meet(V, V[WAITING] + k * n_words, M, arrived, n_words):
            return REFUSED
    copy(M, M[EMPTY], M, arrived, n_words)
    waits = False
    V[N_CHANGED] = 0
    T[RISE] = 0.0
    for i in range(stop - start + 1):
        k = V[V[FRESH] + i]
        own, place = V[V[SELECTED] + k], start
        if i >= n_moved:
            if stays_with(M, V, k, own, V[MOVED], n_moved, start + i):
                continue
            place = V[V[PLACES] + k]
        copy(V, V[BEFORE] + place * n_words, M, M[CANDIDATES], n_words)
        unite(M, arrived, M, M[CANDIDATES], n_words)
        if i < n_moved:
            add(M, arrived, k)
        selection = choose(E, M, Q, R, S, T, k, start + i)
        if selection < 0:
            waits = True
            continue
        V[V[CHANGED] + 2 * V[N_CHANGED]] = k
        V[V[CHANGED] + 2 * V[N_CHANGED] + 1] = selection
        V[N_CHANGED] += 1
        T[RISE] += (
            T[M[M[selection + CONTEXT] + FAMILY] + SCORE] - T[M[M[own + CONTEXT] + FAMILY] + SCORE]
        )
    return NONE if waits else whole(0)


@inner
def go_to(M: Ints, V: Ints, start: int, n: int, changed: int, n_changed: int, also: int) -> None:
    """Let the n nodes in FRESH stand from ``start`` on, and so many select what ``changed`` says.
    Whom that concerns has its moves tried: nodes whose parents change, these parents, and one
    more."""
    n_words, concerned = M[W], M[CONCERNED]
    copy(M, M[EMPTY], M, concerned, n_words)
    for i in range(n_changed):
        k, selection = V[changed + 2 * i], V[changed + 2 * i + 1]
        old, new = V[V[SELECTED] + k], M[selection + CONTEXT]
        V[V[SELECTED] + k] = selection
        if old < 0 or M[old + CONTEXT] != new:
            add(M, concerned, k)
            unite(M, new + SET, M, concerned, n_words)
            if old >= 0:
                unite(M, M[old + CONTEXT] + SET, M, concerned, n_words)
    for i in range(n):
        place, k = start + i, V[V[FRESH] + i]
        V[V[ORDER] + place] = k
        V[V[PLACES] + k] = place
        here = V[BEFORE] + place * n_words
        copy(V, here, V, here + n_words, n_words)
        add(V, here + n_words, k)
    for place in range(V[NODES]):
        k = V[V[ORDER] + place]
        if (k == also or has(M, concerned, k)) and V[V[IS_QUEUED] + k] == 0:
            V[V[IS_QUEUED] + k] = 1
            V[V[QUEUE] + (V[HEAD] + V[QUEUED]) % V[NODES]] = k
            V[QUEUED] += 1


@inner
def settle(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints) -> bool:
    """Take the order in FRESH: who must select anew does. False where something is missing."""
    n_words, beside, arrived = M[W], M[BESIDE], M[ARRIVED]
    copy(M, M[EMPTY], M, beside, n_words)
    waits = False
    V[N_CHANGED] = 0
    for place in range(V[NODES]):
        k = V[V[FRESH] + place]
        own, old = V[V[SELECTED] + k], V[BEFORE] + V[V[PLACES] + k] * n_words
        anew = own < 0
        if not anew:
            lost = more = whole(0)
            for w in range(n_words):
                lost |= M[M[own + CONTEXT] + SET + w] & ~M[beside + w]
                M[arrived + w] = M[beside + w] & ~V[old + w]
                more |= M[arrived + w]
            anew = lost != 0 or (more != 0 and not stays(M, k, own, arrived, place))
        if anew:
            copy(M, beside, M, M[CANDIDATES], n_words)
            selection = choose(E, M, Q, R, S, T, k, place)
            if selection < 0:
                waits = True
            else:
                V[V[CHANGED] + 2 * V[N_CHANGED]] = k
                V[V[CHANGED] + 2 * V[N_CHANGED] + 1] = selection
                V[N_CHANGED] += 1
        add(M, beside, k)
    if not waits:
        go_to(M, V, whole(0), V[NODES], V[CHANGED], V[N_CHANGED], NONE)
    return not waits


@inner
def prepare(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints) -> None:
    """Select for all moves of the next nodes as the order is now: few will change it, and together
    they are counted in few batches."""
    n_words = M[W]
    for i in range(V[QUEUED]):
        if i == M[AT_ONCE]:
            break
        node = V[V[QUEUE] + (V[HEAD] + i) % V[NODES]]
        if V[V[IS_QUEUED] + node] == READY:
            continue
        own = M[V[V[SELECTED] + node] + CONTEXT]
        n_missing = M[N_MISSING]
        for j in range(M[own + SIZE]):
            parent = whole(T[M[own + FAMILY] + MEMBERS + 3 * j])
            copy(V, V[BEFORE] + V[V[PLACES] + parent] * n_words, M, M[CANDIDATES], n_words)
            choose(E, M, Q, R, S, T, node, V[V[PLACES] + parent])
            try_tuck(E, M, Q, R, S, T, V, parent, node, False)
        if M[N_MISSING] == n_missing and M[IS_FULL] == 0:
            V[V[IS_QUEUED] + node] = READY


@inner
def climb(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints) -> bool:
    """Move the nodes that are queued, and those whom the moves concern, before their parents, the
    last first, and before those who must not be, while the score rises. False where something is
    missing."""
    places, tucks = V[PLACES], V[TUCKS]
    while True:
        if V[NODE] < 0:
            if V[QUEUED] == 0:
                return True
            if V[PREPARED] == 0 and M[N_MADE] > M[N_MOST]:
                return True
            if V[PREPARED] == 0 and M[AT_ONCE] > 0:
                prepare(E, M, Q, R, S, T, V)
                if M[N_MISSING] > 0 or M[IS_FULL] > 0:
                    return False
                V[PREPARED] = M[AT_ONCE] if V[QUEUED] > M[AT_ONCE] else V[QUEUED]
                for i in range(V[PREPARED]):
                    V[V[IS_QUEUED] + V[V[QUEUE] + (V[HEAD] + i) % V[NODES]]] = 1
            V[NODE] = V[V[QUEUE] + V[HEAD]]
            V[HEAD] = (V[HEAD] + 1) % V[NODES]
            V[QUEUED] -= 1
            V[PREPARED] -= int(V[PREPARED] > 0)
            V[V[IS_QUEUED] + V[NODE]] = 0
            V[STAGE] = -1
        node = V[NODE]
        if V[STAGE] < 0:
            own = M[V[V[SELECTED] + node] + CONTEXT]
            for i in range(M[own + SIZE]):
                parent = whole(T[M[own + FAMILY] + MEMBERS + 3 * i])
                j = i
                while j > 0 and V[places + V[tucks + j - 1]] < V[places + parent]:
                    V[tucks + j] = V[tucks + j - 1]
                    j -= 1
                V[tucks + j] = parent
            V[N_TUCKS] = M[own + SIZE]
            for place in range(V[places + node] if M[BOUND] else whole(0)):
                # Whoever must not be a parent may be a child.
                if has(M, M[BLOCKED] + node * M[W], V[V[ORDER] + place]):
                    V[tucks + V[N_TUCKS]] = V[V[ORDER] + place]
                    V[N_TUCKS] += 1
            V[STAGE] = 0
        while V[STAGE] < V[N_TUCKS]:
            parent = V[tucks + V[STAGE]]
            if has(M, M[V[V[SELECTED] + node] + CONTEXT] + SET, parent) or (
                has(M, M[BLOCKED] + node * M[W], parent) and V[places + parent] < V[places + node]
            ):
                tried = try_tuck(E, M, Q, R, S, T, V, parent, node, True)
                if tried == NONE:
                    return False
                if tried == 0 and T[RISE] > ROUNDING:
                    n = V[places + node] - V[places + parent] + 1
                    go_to(M, V, V[places + parent], n, V[CHANGED], V[N_CHANGED], node)
            V[STAGE] += 1
        V[NODE] = NONE


@inner
def select_admitted(
    E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints, k: int
) -> bool:
    """Let a node have selected among the admitted, by PPS alone, and know how uncertain that leaves
    it. False where something is missing.

    What a node has selected is in an entry of its own, which is found by nobody else; PLACES says
    for how many admitted nodes it holds, and one more.
    """
    n, n_words, own = V[STAGE], M[W], V[V[SELECTED] + k]
    if V[V[PLACES] + k] == n + 1:
        return True
    if is_full(M, Q):
        return False
    last = V[ORDER] + n - 1
    if (
        V[V[PLACES] + k] == n > 0
        and not (M[BOUND] and has(M, M[REQUIRED] + k * n_words, V[last]))
        and stays_with(M, V, k, own, last, whole(1), n)
    ):
        V[V[PLACES] + k] = n + 1
        return True
    V[V[PLACES] + k] = 0
    copy(V, V[BEFORE], M, M[CANDIDATES], n_words)
    own = find(M, Q, -1 - k, M[EMPTY])
    V[V[SELECTED] + k] = own
    context = grow(E, M, Q, R, S, T, k, n, own)
    if context < 0 or (
        M[context + ENTROPY] < 0 and not ask(E, M, R, S, T, ROW, context, M[context + SIZE])
    ):
        return False
    M[own + CONTEXT] = context
    copy(M, M[RIVALS], M, own + SET + n_words, n_words)
    V[V[PLACES] + k] = n + 1
    return True


@inner
def admit(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints) -> bool:
    """Admit the nodes in FRESH one at a time: of those that wait for nobody else, the one that is
    least uncertain given what it has selected. False where something is missing."""
    n_words, admitted, left = M[W], V[BEFORE], V[BEFORE] + M[W]
    while V[STAGE] < V[PAUSE]:
        n_left, waits = V[NODES] - V[STAGE], False
        for i in range(n_left):
            if not select_admitted(E, M, Q, R, S, T, V, V[V[FRESH] + i]):
                waits = True
        if waits:
            return False
        best, least = whole(0), np.inf
        for i in range(n_left):
            k = V[V[FRESH] + i]
            place = M[M[V[V[SELECTED] + k] + CONTEXT] + ENTROPY]
            if V[ROUNDS] > 0:
                V[V[ROUNDS] + V[STAGE] * M[D] + k] = place
            entropy = T[place]
            if entropy < least and not meet(V, V[WAITING] + k * n_words, V, left, n_words):
                best, least = i, entropy
        k = V[V[FRESH] + best]
        for i in range(best, n_left - 1):
            V[V[FRESH] + i] = V[V[FRESH] + i + 1]
        V[V[ORDER] + V[STAGE]] = k
        add(V, admitted, k)
        drop(V, left, k)
        V[STAGE] += 1
    return True


@inner
def go_on(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints) -> None:
    """Go on with an order until what it is about to do is done, or something is missing."""
    if V[MODE] == ASK:
        # For the nodes in ORDER, among as many candidates as FRESH says, sets in BEFORE.
        waits = False
        for i in range(V[NODES]):
            copy(V, V[BEFORE] + i * M[W], M, M[CANDIDATES], M[W])
            V[V[CHANGED] + i] = choose(E, M, Q, R, S, T, V[V[ORDER] + i], V[V[FRESH] + i])
            waits |= V[V[CHANGED] + i] < 0
        if not waits:
            V[MODE] = DONE
    if V[MODE] == SETTLE and settle(E, M, Q, R, S, T, V):
        V[MODE] = DONE if V[ONLY] else CLIMB
    if V[MODE] == TUCK:
        parent, child = V[PARENT], V[CHILD]
        tried = try_tuck(E, M, Q, R, S, T, V, parent, child, True)
        if tried == REFUSED:
            V[MODE] = REFUSED
        elif tried == 0 and V[ONLY]:
            V[MODE] = DONE
        elif tried == 0:
            n = V[V[PLACES] + child] - V[V[PLACES] + parent] + 1
            go_to(M, V, V[V[PLACES] + parent], n, V[CHANGED], V[N_CHANGED], NONE)
            add(V, V[WAITING] + parent * M[W], child)
            V[MODE] = CLIMB
    if V[MODE] == CLIMB and climb(E, M, Q, R, S, T, V):
        V[MODE] = DONE
    if V[MODE] == ADMIT and admit(E, M, Q, R, S, T, V):
        V[MODE] = DONE


@compiled
def advance(E: Ints, M: Ints, Q: Ints, R: Ints, S: Floats, T: Floats, V: Ints, size: int) -> None:
    """Go on with several orders, which are end to end, each of this size."""
    for start in range(0, V.shape[0], size):
        go_on(E, M, Q, R, S, T, V[start : start + size])


answer: Any = None
"""What calls ``direct.answer`` by its address: of numba, and so not there before a loop is made."""


def compiled_advance() -> Advance:
    """The loop that can be compiled from now on: what counts is a pointer to it."""
    global answer
    if answer is None:
        from tamis.counting import pointers

        answer = pointers.answer_at
    return cast(Advance, advance)
