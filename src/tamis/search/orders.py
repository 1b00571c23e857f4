"""The order of the nodes whose DAG scores best.

An order has a DAG: each node selects its parents among those before it. Here the order is changed
while the penalised likelihood of its DAG rises, by two kinds of moves. A node goes to the best of
all places (Andrews et al., 2023, BOSS), or an edge i -> j is *tucked*: j, with those of its
ancestors that stand between, goes before i (Lam, Andrews and Ramsey, 2022). Where neither helps,
the search starts again from the best order so far with some nodes put anywhere (Wienöbst et al.,
2025, FLOP). Who passes whom changes the candidates of these two nodes alone, and most selections
say themselves that the change does not concern them (``ParentSelector.stays``). Beyond the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import or_
from random import Random
from typing import NamedTuple

from tamis.constants import constants
from tamis.search.parents import ParentSelector, Selected
from tamis.search.selection import Asked

TOGETHER = 16
"""How many nodes have their moves prepared at once."""
ROUNDING = 1e-6
"""Scores of equivalent graphs differ by less than this, in nats."""


@dataclass
class Ordering:
    """An order of the nodes, and the parents of each among those before it.

    ``waits[k]`` has a bit for each node that stands before k in every order.
    """

    order: list[int]
    selected: dict[int, Selected]
    waits: Sequence[int]
    _places: list[int] = field(default_factory=list, repr=False)
    _before: list[int] = field(default_factory=list, repr=False)

    @classmethod
    def along(cls, selector: ParentSelector, order: Sequence[int]) -> Ordering:
        """The order as it is given, with parents selected."""
        known = selector.selector.pps.constraints
        waits = (0,) * selector.n_variables if known is None else known.waits
        found = cls(list(order), {}, waits)
        asked = [(k, found.before(place)) for place, k in enumerate(order)]
        found.selected = dict(zip(order, selector.select_all(asked), strict=True))
        return found

    def place(self, k: int) -> int:
        """Where a node stands."""
        if not self._places:
            self._places = [0] * (1 + max(self.order))
            for i, one in enumerate(self.order):
                self._places[one] = i
        return self._places[k]

    def before(self, place: int) -> int:
        """The nodes before a place, one bit each."""
        if not self._before:
            self._before = list(accumulate((1 << k for k in self.order), or_, initial=0))
        return self._before[place]

    def go_to(self, order: list[int], selected: dict[int, Selected]) -> set[int]:
        """Take this order, in which these nodes have these parents; whom it concerns: nodes whose
        parents have changed, and those parents."""
        concerned: set[int] = set()
        for k, one in selected.items():
            old, new = self.selected[k].members, one.members
            if old != new:
                concerned |= {k, *old, *new}
        self.order = order
        self.selected.update(selected)
        self._places, self._before = [], []
        return concerned

    @property
    def is_wide(self) -> bool:
        """Whether there are too many nodes to try all places, so that edges are only tucked."""
        return len(self.order) > constants.wide

    def copy(self) -> Ordering:
        """A copy that can go elsewhere."""
        return Ordering(list(self.order), dict(self.selected), self.waits)

    @property
    def score(self) -> float:
        """The penalised likelihood of the whole DAG."""
        return total(list(self.selected.values()))

    @property
    def parents(self) -> dict[int, frozenset[int]]:
        """The DAG."""
        return {k: frozenset(one.members) for k, one in self.selected.items()}


class Move(NamedTuple):
    """Where a move leads, who selects other parents there, and by how much the score rises."""

    order: list[int]
    selected: dict[int, Selected]
    rise: float


def best_ordering(
    selector: ParentSelector, starts: Sequence[Sequence[int]], *, first_may_do: bool
) -> Ordering:
    """The best order found from these starts and from new ones near the best of them.

    If ``first_may_do`` and moves from the first start lead hardly higher, it is what the paper's
    conditions promise, and there is nothing more to look for.
    """
    selector.allow(2)
    best = Ordering.along(selector, starts[0])
    score = best.score
    climb(selector, best, best.order)
    if best.is_wide or (first_may_do and best.score <= score + constants.clear_rise):
        return best
    most = selector.affordable
    for order in starts[1:]:
        if selector.n_made > most:
            break
        found = Ordering.along(selector, order)
        climb(selector, found, order)
        if found.score > best.score + ROUNDING:
            best = found
    chance = Random(len(best.order))
    fruitless = 0
    for _ in range(constants.most_starts if len(best.order) > 2 else 0):
        if selector.n_made > most:
            break
        found = best.copy()
        climb(selector, found, _shuffle(selector, found, chance))
        if found.score > best.score + ROUNDING:
            best, fruitless = found, 0
        else:
            fruitless += 1
        if fruitless == constants.fruitless_starts:
            break
    return best


def loss_without(
    selector: ParentSelector, found: Ordering, parent: int, child: int, *, climbs: bool = True
) -> float:
    """By how much the best score falls if ``child`` is to stand before ``parent``, as far as moves
    from this order show; if nothing ``climbs`` from there, only that it falls by no more."""
    other = found.copy()
    first = tuck(selector, other, parent, child)
    if first is None:
        return math.inf
    if found.is_wide or not climbs:
        return max(-first.rise, 0.0)
    concerned = other.go_to(first.order, first.selected)
    waits = list(other.waits)
    waits[parent] |= 1 << child
    other.waits = waits
    climb(selector, other, concerned)
    return max(found.score - other.score, 0.0)


def climb(selector: ParentSelector, found: Ordering, nodes: Iterable[int]) -> None:
    """Move these nodes, and those whom the moves concern, while the score rises."""
    waiting = dict.fromkeys(sorted(nodes, key=found.place))
    while waiting and not selector.is_spent:
        batch = list(waiting)[:TOGETHER]
        _prepare(selector, found, batch)
        for k in batch:
            waiting.pop(k)
            for moved in _moves(selector, found, k):
                waiting |= dict.fromkeys(sorted(moved, key=found.place))


def _moves(selector: ParentSelector, found: Ordering, node: int) -> Iterable[set[int]]:
    """Move a node to its best place, then before its parents; whom each move concerns."""
    move = None if found.is_wide else best_place(selector, found, node)
    if move is not None:
        yield found.go_to(move.order, move.selected) | {node}
    for parent in sorted(found.selected[node].members, key=found.place, reverse=True):
        if parent in found.selected[node].members:
            move = tuck(selector, found, parent, node)
            if move is not None and move.rise > ROUNDING:
                yield found.go_to(move.order, move.selected) | {node}


def best_place(selector: ParentSelector, found: Ordering, node: int) -> Move | None:
    """The best place for a node, if it is better than where it stands."""
    here, own = found.place(node), found.selected[node]
    best: tuple[float, int, dict[int, Selected]] | None = None
    for places in (range(here - 1, -1, -1), range(here + 1, len(found.order))):
        rise, now, changed = 0.0, own, dict[int, Selected]()
        forward = places.step > 0
        before = found.before(here)
        for place in places:
            other = found.order[place]
            first, second = (other, node) if forward else (node, other)
            if found.waits[first] >> second & 1:
                break
            was = found.selected[other]
            if forward:
                if node in was.members:
                    changed[other] = selector.select(other, before)
                    rise += changed[other].score - was.score
                before |= 1 << other
                if not selector.stays(node, now, 1 << other, place):
                    now = selector.select(node, before)
            else:
                before &= ~(1 << other)
                if other in now.members:
                    now = selector.select(node, before)
                if not selector.stays(other, was, 1 << node, place + 1):
                    changed[other] = selector.select(other, before | 1 << node)
                    rise += changed[other].score - was.score
            whole = rise + now.score - own.score
            if whole > ROUNDING and (best is None or whole > best[0]):
                best = whole, place, {**changed, node: now}
    if best is None:
        return None
    order = list(found.order)
    order.insert(best[1], order.pop(here))
    return Move(order, best[2], best[0])


def tuck(selector: ParentSelector, found: Ordering, parent: int, child: int) -> Move | None:
    """What moving ``child`` before ``parent`` would do; None where it must not."""
    start, moved, passed = _tucked(found, parent, child)
    later = sum(1 << k for k in passed)
    if any(found.waits[k] & later for k in moved):
        return None
    asked = _asked(selector, found, start, moved, passed)
    fresh = dict(zip((k for k, _ in asked), selector.select_all(asked), strict=True))
    rise = total(list(fresh.values())) - total([found.selected[k] for k in fresh])
    order = list(found.order)
    order[start : start + len(moved) + len(passed)] = [*moved, *passed]
    return Move(order, fresh, rise)


def _shuffle(selector: ParentSelector, found: Ordering, chance: Random) -> set[int]:
    """Put some nodes anywhere; whom that concerns."""
    order = list(found.order)
    for _ in range(max(2, round(math.sqrt(len(order))))):
        k = order.pop(chance.randrange(len(order)))
        first, last = _room(order, found.waits, k)
        order.insert(chance.randint(first, last), k)
    asked: list[Asked] = []
    before = 0
    for place, k in enumerate(order):
        old = found.before(found.place(k))
        lost, more = old & ~before, before & ~old
        own = found.selected[k]
        if any(lost >> p & 1 for p in own.members) or (
            more and not selector.stays(k, own, more, place)
        ):
            asked.append((k, before))
        before |= 1 << k
    fresh = selector.select_all(asked)
    return found.go_to(order, dict(zip((k for k, _ in asked), fresh, strict=True)))


def _room(order: Sequence[int], waits: Sequence[int], node: int) -> tuple[int, int]:
    """The first and the last place at which a node may be inserted."""
    first, last = 0, len(order)
    for place, k in enumerate(order):
        if waits[node] >> k & 1:
            first = place + 1
        if waits[k] >> node & 1:
            return first, min(last, place)
    return first, last


def _prepare(selector: ParentSelector, found: Ordering, nodes: Sequence[int]) -> None:
    """Select for all moves of some nodes as the order is now: few will change it, and together
    they are counted in few batches."""
    asked: list[Asked] = []
    for node in nodes:
        here, own = found.place(node), found.selected[node]
        bit = 1 << node
        for place, other in enumerate(() if found.is_wide else found.order):
            was = found.selected[other]
            if place < here and not selector.stays(other, was, bit, place + 1):
                asked.append((other, found.before(place) | bit))
            elif place > here and node in was.members:
                asked.append((other, found.before(place) & ~bit))
        for parent in own.members:
            asked.append((node, found.before(found.place(parent))))
            asked += _asked(selector, found, *_tucked(found, parent, node))
    selector.select_all(asked)


def _asked(
    selector: ParentSelector,
    found: Ordering,
    start: int,
    moved: Sequence[int],
    passed: Sequence[int],
) -> list[Asked]:
    """Who must select anew after a tuck, and among which candidates: those that are moved, which
    lose the passed ones, and those that are passed, if they care for the moved ones."""
    asked: list[Asked] = []
    before, arrived = found.before(start), 0
    for k in moved:
        asked.append((k, before | arrived))
        arrived |= 1 << k
    for place, k in enumerate(passed, start + len(moved)):
        if not selector.stays(k, found.selected[k], arrived, place):
            asked.append((k, found.before(found.place(k)) | arrived))
    return asked


def _tucked(found: Ordering, parent: int, child: int) -> tuple[int, list[int], list[int]]:
    """Where the tuck begins, and the nodes from there to the child: those that are moved to the
    front, which are the child and its ancestors, and those that they pass."""
    start, stop = found.place(parent), found.place(child) + 1
    between = found.order[start:stop]
    ancestors = set(found.selected[child].members)
    moved, passed = [child], []
    for k in reversed(between[:-1]):
        if k in ancestors and k != parent:
            ancestors.update(found.selected[k].members)
            moved.append(k)
        else:
            passed.append(k)
    return start, moved[::-1], passed[::-1]


def total(selected: Sequence[Selected]) -> float:
    """The score of several nodes together, whatever their order."""
    return math.fsum(one.score for one in selected)
