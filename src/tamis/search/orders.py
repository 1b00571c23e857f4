"""The order of the nodes whose DAG scores best.

An order has a DAG: each node selects its parents among those before it. Here the order is changed
while the penalised likelihood of its DAG rises: an edge i -> j is *tucked*, that is, j, with those
of its ancestors that stand between, goes before i (Lam, Andrews and Ramsey, 2022). Where no tuck
helps, the search starts again from the best order so far with a few nodes put anywhere (Wienöbst et
al., 2025, FLOP). The moves themselves are compiled (``order_loops``); here is where they start.
Beyond the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import or_
from random import Random
from typing import NamedTuple

import numpy as np

from tamis.constants import constants
from tamis.counting.compiled import Floats, Ints
from tamis.information.interface import Context
from tamis.knowledge import as_bits
from tamis.search import order_loops as loops
from tamis.search.boundaries import WIDE
from tamis.search.order_loops import ROUNDING
from tamis.search.outcome import Found
from tamis.search.parents import ParentSelector, Selected, new_walk, part, sets_of
from tamis.search.selection import Selector

TOLD = 100
"""About as often is told how far a search has come."""
STARTS = 5
"""New starts that are climbed from side by side, so that what they miss is counted together."""


DOUBTS = 8
"""An order whose score is lower by more than so many times ``nats_per_doubt`` casts no doubt."""


class End(NamedTuple):
    """Where a climb has ended: the score, and the place of each node."""

    score: float
    places: Ints


class Ordering:
    """An order of the nodes, and the parents of each among those before it."""

    def __init__(self, selector: ParentSelector, walk: Ints) -> None:
        self.selector = selector
        self.walk = walk
        """The order as the loops read it."""
        self.beside: list[End] = []
        """Other orders that score nearly as well, as far as climbs have come to them."""

    @classmethod
    def of(cls, selector: ParentSelector, order: Sequence[int]) -> Ordering:
        """An order in which nobody has selected yet."""
        return cls(selector, new_walk(order, selector.n_variables, selector.waits))

    @classmethod
    def along(cls, selector: ParentSelector, order: Sequence[int]) -> Ordering:
        """The order as it is given, with parents selected."""
        found = cls.of(selector, order)
        found.walk[loops.ONLY] = 1
        selector.run([found.walk])
        return found

    @property
    def order(self) -> list[int]:
        """The nodes."""
        order: list[int] = part(self.walk, loops.ORDER).tolist()
        return order

    def place(self, k: int) -> int:
        """Where a node stands."""
        return int(part(self.walk, loops.PLACES)[k])

    @property
    def end(self) -> End:
        """Where it is now."""
        return End(self.score, part(self.walk, loops.PLACES).copy())

    def copy(self) -> Ordering:
        """A copy that can go elsewhere."""
        return Ordering(self.selector, self.walk.copy())

    def go_to(self, order: Sequence[int]) -> None:
        """Be about to take this order, and to climb from it."""
        part(self.walk, loops.FRESH)[:] = order
        self.walk[loops.MODE] = loops.SETTLE
        self.walk[loops.ONLY] = 0

    def tuck(self, parent: int, child: int, *, only: bool) -> None:
        """Be about to move the child before the parent, to hold it there and to climb; or ``only``
        to see what the move would do."""
        self.walk[[loops.MODE, loops.PARENT, loops.CHILD, loops.ONLY]] = (
            loops.TUCK, parent, child, only,
        )  # fmt: skip
        self.walk[loops.QUEUED] = 0
        part(self.walk, loops.IS_QUEUED)[:] = 0

    def _entries(self) -> Ints:
        entries: Ints = part(self.walk, loops.SELECTED)[part(self.walk, loops.ORDER)]
        return entries

    @property
    def scores(self) -> list[float]:
        """The penalised likelihood of each node given its parents."""
        return self.selector.scores(self._entries())

    @property
    def score(self) -> float:
        """The penalised likelihood of the whole DAG."""
        return math.fsum(self.scores)

    @property
    def selected(self) -> dict[int, Selected]:
        """What each node has selected."""
        entries = zip(self.order, self._entries().tolist(), strict=True)
        return {k: self.selector.selected(one) for k, one in entries}

    @property
    def parents(self) -> dict[int, frozenset[int]]:
        """The DAG."""
        members = self.selector.members(self._entries())
        return {k: frozenset(one) for k, one in zip(self.order, members, strict=True)}

    def told(self, selector: Selector, constant: Sequence[int]) -> dict[int, Found]:
        """The members of every node's boundary as they were taken, and its entropy; the selector is
        asked for those that were not taken one by one, and ``constant`` columns have none."""
        order, entries, parents = self.order, self._entries(), self.parents
        taken = {k: list[int]() for k in constant}
        taken |= zip(order, self.selector.taken(entries), strict=True)
        contexts = [Context(k, tuple(sorted(own))) for k, own in taken.items()]
        entropies = selector.pps.information.entropies(contexts).tolist()
        found = {
            k: Found(tuple(p for p in own if p in parents[k]), entropy)
            for (k, own), entropy in zip(taken.items(), entropies, strict=True)
        }
        before = accumulate((1 << k for k in order), or_, initial=0)
        again = [
            (k, bits)
            for k, bits, entry in zip(order, before, entries.tolist(), strict=False)
            if k in selector.pps.required or self.selector.took_sets(entry)
        ]
        boundaries = selector.boundaries(again) if again else []
        return found | {one.target: Found(one.members, one.entropy) for one in boundaries}


class Admitted(NamedTuple):
    """The order in which "sequential" admits nodes, those that have selected several parents
    together, and, unless there are too many to keep, the entropies of all nodes before each
    admission, infinite where there is nothing to admit any more."""

    order: list[int]
    by_set: list[int]
    rounds: Floats | None


def by_entropy(
    selector: ParentSelector, nodes: Sequence[int], progress: Callable[[int], None] | None = None
) -> Admitted:
    """How "sequential" admits nodes; ``progress`` is told how many have been admitted."""
    n, d = len(nodes), selector.n_variables
    walk = new_walk(nodes, d, selector.waits)
    start = len(walk)
    if d <= WIDE:
        walk = np.concatenate([walk, np.zeros(n * d, dtype=np.int64)])
        walk[loops.ROUNDS] = start
    part(walk, loops.BEFORE)[selector.n_words : 2 * selector.n_words] = sets_of(
        [as_bits(nodes)], selector.n_words
    )[0]
    n_told = n if progress is None else max(1, n // TOLD)
    while walk[loops.STAGE] < n:
        walk[loops.PAUSE] = min(int(walk[loops.STAGE]) + n_told, n)
        walk[loops.MODE] = loops.ADMIT
        selector.run([walk])
        if progress is not None:
            progress(int(walk[loops.STAGE]))
    order: list[int] = part(walk, loops.ORDER).tolist()
    own = part(walk, loops.SELECTED).tolist()
    by_set = [k for k in order if selector.took_sets(own[k])]
    rounds = selector.entropies(walk[start:].reshape(n, d)) if d <= WIDE else None
    return Admitted(order, by_set, rounds)


def best_ordering(
    selector: ParentSelector, starts: Sequence[Sequence[int]], *, first_may_do: bool
) -> Ordering:
    """The best order found from these starts and from new ones near the best of them.

    If ``first_may_do`` and moves from the first start lead hardly higher, it is what the paper's
    conditions promise, and there is nothing more to look for. Of few columns all orders are
    compared, in place of new starts.
    """
    selector.allow(2)
    n, most = len(starts[0]), selector.affordable
    best = Ordering.along(selector, starts[0])
    score = best.score
    if n <= constants.all_orders and n * 2 ** (n - 1) <= most:
        climb(selector, [best])
        found = better(best, [Ordering.along(selector, best_of_all(selector, starts[0]))])
        return best if first_may_do and found.score <= score + constants.clear_rise else found
    if first_may_do:
        climb(selector, [best])
        if best.score <= score + constants.clear_rise:
            return best
    others = [] if selector.n_made > most else [Ordering.of(selector, one) for one in starts[1:]]
    climb(selector, [best, *others])
    return from_new_starts(selector, better(best, others), most)


def from_new_starts(selector: ParentSelector, best: Ordering, most: int) -> Ordering:
    """The best order found from new starts near this one and near better ones; none are begun once
    so many selections have been made."""
    n = len(best.order)
    chance = Random(n)
    fruitless = 0
    ends = [best.end]
    enough = min(max(constants.fruitless_starts, n), constants.most_fruitless_starts)
    for _ in range(selector.affordable_starts // STARTS if n > 2 else 0):
        if selector.n_made > most or fruitless >= enough:
            break
        others = [best.copy() for _ in range(STARTS)]
        for one in others:
            one.go_to(shuffled(selector, one.order, chance))
        climb(selector, others)
        found = better(best, others)
        fruitless = fruitless + STARTS if found is best else 0
        best = found
        ends += [one.end for one in others]
    least = best.score - DOUBTS * constants.nats_per_doubt
    best.beside = [one for one in ends if one.score > least]
    return best


def best_of_all(selector: ParentSelector, nodes: Sequence[int]) -> list[int]:
    """The order of these nodes whose DAG scores best, of equals the first.

    What a node selects hangs on who stands before it, not on how these are ordered. So the best
    order of a set is that of the set without its last node, with this one after it (Silander and
    Myllymäki, 2006).
    """
    known = selector.selector.pps.constraints
    waits = [0] * selector.n_variables if known is None else known.waits
    n, everyone = len(nodes), as_bits(nodes)
    # A set is a bit for each place among ``nodes``: it comes after all that it contains.
    bits = [sum(1 << k for i, k in enumerate(nodes) if own >> i & 1) for own in range(2**n)]
    asked = {
        (i, before): (k, bits[before])
        for i, k in enumerate(nodes)
        for before in range(2**n)
        if not before >> i & 1 and waits[k] & everyone & ~bits[before] == 0
    }
    scores = dict(zip(asked, selector.all_scores(list(asked.values())), strict=True))
    highest = [0.0] + [-math.inf] * (2**n - 1)
    last = [0] * 2**n
    for own in range(1, 2**n):
        for i in (i for i in range(n) if own >> i & 1):
            before = own & ~(1 << i)
            score = highest[before] + scores.get((i, before), -math.inf)
            # What differs by rounding is equal: another engine may round otherwise.
            if score > highest[own] + ROUNDING:
                highest[own], last[own] = score, i
    order: list[int] = []
    own = 2**n - 1
    while own:
        order.insert(0, nodes[last[own]])
        own &= ~(1 << last[own])
    return order


def better(best: Ordering, others: Sequence[Ordering]) -> Ordering:
    """The best of some orders, the first of equals."""
    score = best.score
    for one in others:
        own = one.score
        if own > score + ROUNDING:
            best, score = one, own
    return best


def climb(selector: ParentSelector, orders: Sequence[Ordering]) -> None:
    """Move nodes while scores rise, in all orders side by side."""
    for one in orders:
        if one.walk[loops.MODE] == loops.DONE:
            one.walk[loops.MODE] = loops.CLIMB
    selector.run([one.walk for one in orders])


def losses_without(
    selector: ParentSelector, found: Ordering, edges: Sequence[tuple[int, int]], *, climbs: bool
) -> list[float]:
    """By how much the best score falls if the child of each edge is to stand before its parent, as
    far as moves from this order show; if nothing ``climbs`` from there, only that it falls by no
    more."""
    if len(found.order) > constants.wide or not climbs:
        rises = [tuck(selector, found, *edge) for edge in edges]
        return [math.inf if one is None else max(-one, 0.0) for one in rises]
    others = [found.copy() for _ in edges]
    for one, (parent, child) in zip(others, edges, strict=True):
        one.tuck(parent, child, only=False)
    selector.run([one.walk for one in others])
    score = found.score
    return [
        math.inf if one.walk[loops.MODE] == loops.REFUSED else max(score - one.score, 0.0)
        for one in others
    ]


def losses_beside(found: Ordering, edges: Sequence[tuple[int, int]]) -> list[float]:
    """By how much the score of other orders that climbs have come to is lower, of the best of those
    in which the child of each edge stands before its parent."""
    scores = np.array([one.score for one in found.beside])
    places = np.array([one.places for one in found.beside])
    score = found.score
    losses = []
    for parent, child in edges:
        turned = scores[places[:, child] < places[:, parent]] if len(scores) else scores
        losses.append(max(score - turned.max(initial=-math.inf), 0.0))
    return losses


def tuck(selector: ParentSelector, found: Ordering, parent: int, child: int) -> float | None:
    """By how much the score would rise if the child were moved before the parent, with those of its
    ancestors that stand between; None where it must not be."""
    found.tuck(parent, child, only=True)
    selector.run([found.walk])
    return selector.last_rise if found.walk[loops.MODE] == loops.DONE else None


def shuffled(selector: ParentSelector, order: Sequence[int], chance: Random) -> list[int]:
    """The order with a few nodes put anywhere."""
    known = selector.selector.pps.constraints
    fresh = list(order)
    n_moved = chance.randint(2, max(2, min(constants.most_moved, len(fresh) // constants.of_moved)))
    for k in chance.sample(fresh, n_moved):
        fresh.remove(k)
        first, last = (0, len(fresh)) if known is None else _room(fresh, known.waits, k)
        fresh.insert(chance.randint(first, last), k)
    return fresh


def _room(order: Sequence[int], waits: Sequence[int], node: int) -> tuple[int, int]:
    """The first and the last place at which a node may be inserted."""
    first, last = 0, len(order)
    for place, k in enumerate(order):
        if waits[node] >> k & 1:
            first = place + 1
        if waits[k] >> node & 1:
            return first, min(last, place)
    return first, last
