"""Polyforests: polytrees side by side, the setting of Theorem poly."""

from __future__ import annotations

from tamis.errors import SettingError
from tamis.simulate.graphs.graph import Arrows, Graph, labelled
from tamis.simulate.graphs.trees import directed, uniform_tree
from tamis.simulate.options import number, whole
from tamis.simulate.streams import Purpose, Seed, Stream


def polyforest(
    d: int, *, components: int | None = None, drop: float | None = None, seed: Seed
) -> Graph:
    """A uniform random tree without some of its edges, the others pointing either way.

    Either ``components`` says how many trees are left, all sets of edges of that size being
    equally likely to go; or every edge goes independently with probability ``drop``. Forests
    made so are not uniform over all forests: small trees beside a large one are the rule.
    """
    d = whole("d", d, 1)
    if (components is None) == (drop is None):
        raise SettingError("polyforest needs either components or drop, and not both")
    chance = Stream(seed, Purpose.GRAPH)
    edges = uniform_tree(d, chance)
    if components is not None:
        kept = _all_but(edges, _checked_components(components, d) - 1, chance)
    else:
        kept = edges[~chance.coins(number("drop", drop, 0, 1), len(edges))]
    return labelled(d, directed(kept, chance), seed)


def _checked_components(components: int, d: int) -> int:
    if whole("components", components, 1) > d:
        raise SettingError(f"components must be at most d, which is {d}, not {components!r}")
    return int(components)


def _all_but(edges: Arrows, removed: int, chance: Stream) -> Arrows:
    return edges[chance.permutation(len(edges))[removed:]]
