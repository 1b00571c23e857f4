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
from tamis.search.selection import Selected, Selector, total


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
        for child in list(found.order):
            for parent in _nearest_first(found, child):
                if parent in found.selected[child].members and _tuck(
                    selector, found, parent, child, bar
                ):
                    changed = True
    return found


def select_along(selector: Selector, order: Sequence[int]) -> dict[int, Selected]:
    """The parents of each node among those before it."""
    return _select(selector, frozenset(), order)


def _select(
    selector: Selector, before: frozenset[int], order: Sequence[int]
) -> dict[int, Selected]:
    selected = {}
    for k in order:
        selected[k] = selector.select(k, before)
        before |= {k}
    return selected


def _nearest_first(found: Refined, child: int) -> list[int]:
    position = {k: i for i, k in enumerate(found.order)}
    return sorted(found.selected[child].members, key=position.__getitem__, reverse=True)


def _tuck(selector: Selector, found: Refined, parent: int, child: int, bar: float) -> bool:
    """Move ``child`` before ``parent`` if the score rises by more than ``bar``."""
    order = found.order
    start, stop = order.index(parent), order.index(child) + 1
    between = order[start:stop]
    ancestors = {child}
    for k in reversed(between[1:-1]):
        if any(k in found.selected[a].members for a in ancestors):
            ancestors.add(k)
    moved = [k for k in between if k in ancestors]
    passed = [k for k in between if k not in ancestors]
    fresh = _select(selector, frozenset(order[:start]), moved + passed)
    rise = total(list(fresh.values())) - total([found.selected[k] for k in between])
    if rise <= bar:
        return False
    found.order[start:stop] = moved + passed
    found.selected.update(fresh)
    found.moves.append(Move(child, parent, rise, bar))
    return True
