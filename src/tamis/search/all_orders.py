"""The best of all orders of a few nodes.

The parents of a node depend on which nodes stand before it, not on their order. So the best order
of a set of nodes ends with some node, preceded by the best order of the others: 2^d sets are
compared in place of d! orders (Silander and Myllymäki, 2006). Beyond the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.search.selection import Asked, Selector


def best_order(selector: Selector, order: Sequence[int], rounding: float) -> list[int]:
    """The order of these nodes whose DAG scores best; of equals that which ends like ``order``."""
    score = _scores(selector, order)
    everyone = sum(1 << k for k in order)
    known = selector.constraints
    waits = {k: 0 if known is None else known.waits[k] & everyone for k in order}
    best = {0: 0.0}
    last: dict[int, int] = {}
    for nodes in sorted(_subsets(order), key=int.bit_count):
        for k in reversed(order):
            before = nodes & ~(1 << k)
            # What k waits for stands before it; a set that breaks this has no order.
            if not nodes >> k & 1 or waits[k] & ~before or before not in best:
                continue
            found = best[before] + score[k, before]
            if nodes not in best or found > best[nodes] + rounding:
                best[nodes], last[nodes] = found, k
    return _ending_with(last, everyone)


def _scores(selector: Selector, order: Sequence[int]) -> dict[Asked, float]:
    """How well each node is explained by parents among each set of the others."""
    asked = [(k, nodes) for nodes in [0, *_subsets(order)] for k in order if not nodes >> k & 1]
    found = selector.select_all(asked)
    return {one: selected.score for one, selected in zip(asked, found, strict=True)}


def _subsets(order: Sequence[int]) -> list[int]:
    """All sets of some of these nodes, one bit each."""
    found = [0]
    for k in order:
        found += [nodes | 1 << k for nodes in found]
    return found[1:]


def _ending_with(last: dict[int, int], nodes: int) -> list[int]:
    found: list[int] = []
    while nodes:
        found.append(last[nodes])
        nodes &= ~(1 << last[nodes])
    return found[::-1]
