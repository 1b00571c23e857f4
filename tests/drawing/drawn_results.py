"""Results with any names and shape, and a bootstrap that nobody made: for pictures and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tamis.result import Admitted, Edge, Masked, Result, Selection, Trace, Verdict
from tamis.settings import Settings


def verdict(target, other, given=(), *, dependent=True):
    gain, p = (0.2, 1e-20) if dependent else (0.0001, 0.6)
    margin = 40.0 if dependent else -5.0
    return Verdict(target, (other,), tuple(given), gain, p, 0.01, margin, "p", dependent)


def chain(names, *, search="node"):
    """A result in which every node is the parent of the next; a number makes names."""
    listed = tuple(f"v{k:02}" for k in range(names)) if isinstance(names, int) else names
    return layered([(name,) for name in listed], list(pairwise(listed)), search)


def layered(layers, edges, search="node"):
    """A result of these layers and edges, with a made-up story that fits them."""
    layers = tuple(map(tuple, layers))
    order = tuple(name for layer in layers for name in layer)
    place = {name: i for i, name in enumerate(order)}
    layer_of = {name: j for j, layer in enumerate(layers, start=1) for name in layer}
    parents = {name: tuple(p for p, child in edges if child == name) for name in order}
    one_by_one = search == "sequential"
    entropies = {name: 0.1 + 0.01 * place[name] for name in order}
    admissions = tuple(
        Admitted(
            name,
            place[name] + 1 if one_by_one else layer_of[name],
            entropies[name],
            order[place[name] + 1] if place[name] + 1 < len(order) else None,
            entropies[name] + 0.05 if place[name] + 1 < len(order) else None,
            None,
        )
        for name in order
    )
    maskings = tuple(
        Masked(name, j, entropies[name] + 0.2, verdict(name, layers[j - 1][0]))
        for name in order
        for j in range(1, layer_of[name])
        if not one_by_one
    )
    selections = tuple(
        Selection(name, tuple(verdict(name, p) for p in parents[name]), None, (), ())
        for name in order
    )
    return Result(
        names=tuple(sorted(order)),
        levels=dict.fromkeys(order, ("no", "yes")),
        n_rows=1000,
        settings=Settings(search=search).to_dict() | {"tamis": "0.1.0"},
        layers=layers,
        order=order,
        parents=parents,
        entropies=entropies,
        edges=tuple(
            Edge(p, child, 0.1 + 0.01 * i, 1e-9, 1, 0.1, 0.05, "equivalence", 1.0)
            for i, (p, child) in enumerate(edges)
        ),
        trace=Trace(admissions, maskings, selections),
    )


@dataclass(frozen=True)
class Resampled:
    """A bootstrap with these shares; edges that are not named never came."""

    n: int
    edges: Mapping[tuple[str, str], float]
    layers: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def skeleton(self, a: str, b: str) -> float:
        return min(1.0, self.edges.get((a, b), 0.0) + self.edges.get((b, a), 0.0))
