"""Refinement: moves on the learned order, where the likelihood clearly asks for them.

The searches rank nodes by conditional entropy; where uncertainty does not grow along the arrows
they put some children before their parents, and pay with edges that the truth does not have. A
*tuck* of an edge i -> j takes j, with those of its ancestors that stand between, to the place
before i (Lam, Andrews and Ramsey, 2022); the parents of all nodes that are passed are chosen
anew. It is kept if the penalised likelihood rises: graphs that fit the rows equally well stay as
the entropies have oriented them. Whether all moves together rise beyond noise is for the caller
(``auto``) to judge. Beyond the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamis.search.outcome import Move
from tamis.search.pps import as_bits
from tamis.search.selection import Asked, Selected, Selector, total

TOGETHER = 16
"""The tucks of so many children are prepared at once."""


@dataclass
class Refined:
    """An order of the nodes, the parents of each among those before it, and how it came about."""

    order: list[int]
    selected: dict[int, Selected]
    moves: list[Move]

    @property
    def score(self) -> float:
        """The penalised likelihood of the whole DAG."""
        return total(list(self.selected.values()))


def refine(selector: Selector, order: Sequence[int], bar: float) -> Refined:
    """Tuck edges while that raises the score by more than ``bar``; every rise is final, so there
    is an end."""
    found = Refined(list(order), select_along(selector, order), [])
    changed = True
    while changed:
        changed = False
        nodes = list(found.order)
        for i in range(0, len(nodes), TOGETHER):
            children = nodes[i : i + TOGETHER]
            _prepare(selector, found, children)
            for child in children:
                for parent in _nearest_first(found, child):
                    if parent in found.selected[child].members and _tuck(
                        selector, found, parent, child, bar
                    ):
                        changed = True
    return found


def select_along(selector: Selector, order: Sequence[int]) -> dict[int, Selected]:
    """The parents of each node among those before it."""
    return dict(zip(order, selector.select_all(_asked(0, order)), strict=True))


def _asked(before: int, order: Sequence[int]) -> list[Asked]:
    """Each node of an order with its candidates: those before all, and those before it."""
    asked = []
    for k in order:
        asked.append((k, before))
        before |= 1 << k
    return asked


def _prepare(selector: Selector, found: Refined, children: Sequence[int]) -> None:
    """Select for all tucks of some children's edges as the order is now: few will change it, and
    together they are counted in few batches."""
    asked = []
    for child in children:
        for parent in found.selected[child].members:
            _, before, tucked = _tucked(found, parent, child)
            asked += _asked(before, tucked)
    selector.select_all(asked)


def _nearest_first(found: Refined, child: int) -> list[int]:
    position = {k: i for i, k in enumerate(found.order)}
    return sorted(found.selected[child].members, key=position.__getitem__, reverse=True)


def _tucked(found: Refined, parent: int, child: int) -> tuple[int, int, list[int]]:
    """Where the tuck begins, the nodes before that as bits, and the nodes from there to the child
    in their new order: the child and its ancestors among them come first."""
    order = found.order
    start, stop = order.index(parent), order.index(child) + 1
    between = order[start:stop]
    ancestors = set(found.selected[child].members)
    moved, passed = [child], []
    for k in reversed(between[:-1]):
        if k in ancestors and k != parent:
            ancestors.update(found.selected[k].members)
            moved.append(k)
        else:
            passed.append(k)
    return start, as_bits(order[:start]), [*reversed(moved), *reversed(passed)]


def _tuck(selector: Selector, found: Refined, parent: int, child: int, bar: float) -> bool:
    """Move ``child`` before ``parent`` if the score rises by more than ``bar``."""
    start, before, tucked = _tucked(found, parent, child)
    fresh = selector.select_all(_asked(before, tucked))
    rise = total(fresh) - total([found.selected[k] for k in tucked])
    if rise <= bar:
        return False
    found.order[start : start + len(tucked)] = tucked
    found.selected.update(zip(tucked, fresh, strict=True))
    found.moves.append(Move(child, parent, rise, bar))
    return True
