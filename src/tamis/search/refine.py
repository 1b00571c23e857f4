"""Refinement: moves on the learned order, where the likelihood clearly asks for them.

The searches rank nodes by conditional entropy; where uncertainty does not grow along the arrows
they put some children before their parents, and pay with edges that the truth does not have. A
*tuck* of an edge i -> j takes j, with those of its ancestors that stand between, to the place
before i (Lam, Andrews and Ramsey, 2022); the parents of all nodes that are passed are chosen
anew. It is kept if the penalised likelihood rises: graphs that fit the rows equally well stay as
the entropies have oriented them. Whether all moves together rise beyond noise is for the caller
(``auto``) to judge. Beyond the paper.

Where single tucks have overruled the entropies beyond noise, the search goes on from there: of a
few nodes to the best of all orders (``all_orders``), of more along paths of tucks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import or_
from typing import NamedTuple

from tamis.search.all_orders import best_order
from tamis.search.outcome import Move
from tamis.search.selection import Asked, Selected, Selector, total

TOGETHER = 16
"""The tucks of so many children are prepared at once."""
FEW = 8
"""Of so many nodes all orders are tried."""
DEEPEST = 3
"""Paths of so many tucks are tried where no single one raises the score."""


@dataclass
class Refined:
    """An order of the nodes, the parents of each among those before it, and how it came about."""

    order: list[int]
    selected: dict[int, Selected]
    moves: list[Move]
    _places: list[int] = field(default_factory=list, repr=False)
    _before: list[int] = field(default_factory=list, repr=False)

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

    def go_to(self, order: list[int], selected: Mapping[int, Selected], move: Move) -> None:
        """Take this order, in which these nodes have these parents."""
        self.order = order
        self.selected.update(selected)
        self.moves.append(move)
        self._places, self._before = [], []

    @property
    def score(self) -> float:
        """The penalised likelihood of the whole DAG."""
        return total(list(self.selected.values()))

    @property
    def rise(self) -> float:
        """By how much the moves have raised it."""
        return math.fsum(move.rise for move in self.moves)

    @property
    def chances(self) -> float:
        """How much more all rises may be by chance than a single one: like the root of their
        number."""
        return math.sqrt(sum(move.rise > move.bar for move in self.moves))


class Tuck(NamedTuple):
    """``child`` goes before ``parent``: the nodes from place ``start`` on in their new order, with
    their new parents, and by how much the score would rise."""

    parent: int
    child: int
    start: int
    selected: dict[int, Selected]
    rise: float


def refine(selector: Selector, order: Sequence[int], bar: float, clear: float = 0.0) -> Refined:
    """Tuck edges while that raises the score by more than ``bar``; every rise is final, so there
    is an end.

    Where no single tuck rises any more, and the kept ones have risen by more than ``clear``, times
    the root of their number, all orders are tried, or paths of tucks that leave the score as it is
    until their last one raises it. Before that the order is the entropies' own: there are so many
    graphs that some score higher by chance.
    """
    found = Refined(list(order), select_along(selector, order), [])
    look_farther = _try_all_orders if len(order) <= FEW else _look_deeper
    while _sweep(selector, found, bar) or (
        found.moves and found.rise > clear * found.chances and look_farther(selector, found, bar)
    ):
        pass
    return found


def _try_all_orders(selector: Selector, found: Refined, bar: float) -> bool:
    """Go to the best of all orders, one node after the other; say whether it is better.

    On the way the score may fall; the last move has the whole rise.
    """
    best = best_order(selector, found.order, bar)
    selected = select_along(selector, best)
    rise = total(list(selected.values())) - found.score
    if rise <= bar:
        return False
    steps = _steps(found.order, best)
    found.moves += [Move(k, before, 0.0, bar) for k, before in steps[:-1]]
    found.go_to(best, selected, Move(*steps[-1], rise, bar))
    return True


def _steps(order: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, int]]:
    """Which node goes before which, one after the other, to come to the wanted order."""
    now = list(order)
    steps = []
    for place, k in enumerate(wanted):
        if now[place] != k:
            steps.append((k, now[place]))
            now.remove(k)
            now.insert(place, k)
    return steps


def _sweep(selector: Selector, found: Refined, bar: float) -> bool:
    """Try every edge once; say whether any tuck was kept."""
    n_moves = len(found.moves)
    nodes = list(found.order)
    for i in range(0, len(nodes), TOGETHER):
        children = nodes[i : i + TOGETHER]
        _prepare(selector, found, children)
        for child in children:
            for parent in _nearest_first(found, child):
                one = found.selected[child].chosen
                if parent in one.members or parent == one.barred:
                    tuck = _tuck(selector, found, parent, child)
                    if tuck.rise > bar:
                        _keep(found, tuck, bar)
    return len(found.moves) > n_moves


def _look_deeper(selector: Selector, found: Refined, bar: float) -> bool:
    """Follow tucks that change nothing to one that raises the score; say whether there is one."""
    for child in list(found.order):
        for parent in (*_nearest_first(found, child), *_nearly(found, child)):
            path = _path(selector, found, _tuck(selector, found, parent, child), bar, DEEPEST)
            if path:
                for tuck in path:
                    _keep(found, tuck, bar)
                return True
    return False


def _path(
    selector: Selector, found: Refined, tuck: Tuck, bar: float, deepest: int
) -> list[Tuck] | None:
    """This tuck and those after it up to one that rises, if it or they do.

    After a tuck that leaves the score alone only the edges at nodes with new parents can have
    become worth another one.
    """
    if tuck.rise > bar:
        return [tuck]
    if deepest == 1 or tuck.rise < -bar:
        return None
    changed = {k for k, one in tuck.selected.items() if one.members != found.selected[k].members}
    after = Refined(list(found.order), dict(found.selected), [])
    _keep(after, tuck, bar)
    for child in after.order:
        for parent in (*after.selected[child].members, *_nearly(after, child)):
            if (child in changed or parent in changed) and (parent, child) != (
                tuck.child,
                tuck.parent,
            ):
                step = _tuck(selector, after, parent, child)
                rest = _path(selector, after, step, bar, deepest - 1)
                if rest:
                    return [tuck, *rest]
    return None


def select_along(selector: Selector, order: Sequence[int]) -> dict[int, Selected]:
    """The parents of each node among those before it."""
    found = Refined(list(order), {}, [])
    asked = [(k, found.before(place)) for place, k in enumerate(order)]
    return dict(zip(order, selector.select_all(asked), strict=True))


def _prepare(selector: Selector, found: Refined, children: Sequence[int]) -> None:
    """Select for all tucks of some children's edges as the order is now: few will change it, and
    together they are counted in few batches."""
    asked: list[Asked] = []
    for child in children:
        for parent in found.selected[child].members:
            asked += _asked(selector, found, *_tucked(found, parent, child))
    selector.select_all(asked)


def _asked(
    selector: Selector, found: Refined, start: int, moved: Sequence[int], passed: Sequence[int]
) -> list[Asked]:
    """Who must select anew after a tuck, and among which candidates: those that are moved, which
    lose the passed ones, and those that are passed, if they care for the moved ones."""
    asked: list[Asked] = []
    before, arrived = found.before(start), 0
    for k in moved:
        asked.append((k, before | arrived))
        arrived |= 1 << k
    for place, k in enumerate(passed, start + len(moved)):
        if not selector.stays(k, found.selected[k].chosen, arrived, place):
            asked.append((k, found.before(found.place(k)) | arrived))
    return asked


def _nearest_first(found: Refined, child: int) -> list[int]:
    """The parents of a node, and one that knowledge forbids though the rows ask for it: it may be
    a child."""
    one = found.selected[child].chosen
    near = one.members if one.barred is None else (*one.members, one.barred)
    return sorted(near, key=found.place, reverse=True)


def _nearly(found: Refined, child: int) -> tuple[int, ...]:
    """The candidate that was nearest to becoming a parent: an edge that only shows in another order
    is often among these."""
    refused = found.selected[child].chosen.refused
    return () if refused is None else (refused,)


def _tucked(found: Refined, parent: int, child: int) -> tuple[int, list[int], list[int]]:
    """Where the tuck begins, and the nodes from there to the child: those that are moved to the
    front, which are the child and its ancestors, and those that they pass."""
    order = found.order
    start, stop = found.place(parent), found.place(child) + 1
    between = order[start:stop]
    ancestors = set(found.selected[child].members)
    moved, passed = [child], []
    for k in reversed(between[:-1]):
        if k in ancestors and k != parent:
            ancestors.update(found.selected[k].members)
            moved.append(k)
        else:
            passed.append(k)
    return start, moved[::-1], passed[::-1]


def _tuck(selector: Selector, found: Refined, parent: int, child: int) -> Tuck:
    """What moving ``child`` before ``parent`` would do."""
    start, moved, passed = _tucked(found, parent, child)
    if selector.constraints is not None and not selector.constraints.allows(moved, passed):
        return Tuck(parent, child, start, {}, -math.inf)
    asked = _asked(selector, found, start, moved, passed)
    fresh = dict(zip((k for k, _ in asked), selector.select_all(asked), strict=True))
    selected = {k: fresh.get(k, found.selected[k]) for k in (*moved, *passed)}
    rise = total(list(selected.values())) - total([found.selected[k] for k in selected])
    return Tuck(parent, child, start, selected, rise)


def _keep(found: Refined, tuck: Tuck, bar: float) -> None:
    """Make the move."""
    order = list(found.order)
    order[tuck.start : tuck.start + len(tuck.selected)] = tuck.selected
    found.go_to(order, tuck.selected, Move(tuck.child, tuck.parent, tuck.rise, bar))
