"""How methods look: one colour, one marker and one kind of line each, in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from tamis.experiments.summaries import in_order

# Okabe and Ito's colours, which most colour-blind people tell apart, and some more.
_KNOWN = {
    "sequential": ("#0072B2", "o"),
    "node": ("#D55E00", "s"),
    "reference": ("#000000", "^"),
    "sieve": ("#56B4E9", "D"),
    "layer": ("#B8860B", "P"),
    "sequential-pairs": ("#00008B", "X"),
    "sequential-gaussian": ("#3B9AB2", "p"),
    "node-gaussian": ("#D55E00", "o"),
    "pc": ("#009E73", "D"),
    "pc-g2": ("#66A61E", "d"),
    "ges": ("#CC79A7", "v"),
    "ges-bic": ("#882255", "v"),
    "hill-climbing": ("#E69F00", "<"),
    "tabu": ("#8C6D31", ">"),
    "miic": ("#7B4FA3", "h"),
    "equal-variance": ("#999999", "*"),
    "pc-fisher-z": ("#009E73", "D"),
    "ges-gaussian": ("#CC79A7", "v"),
}
_OTHERS = (("#A6761D", "8"), ("#E7298A", "H"), ("#1B9E77", "P"), ("#666666", "X"))
_OURS = ("sequential", "sieve", "node", "layer", "reference")


@dataclass(frozen=True)
class Look:
    """Of one method."""

    colour: str
    marker: str
    line: Literal["-", "--"]


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """The looks of methods in the order of the legend: tamis's own solid lines, others dashed."""
    others = cycle(_OTHERS)
    found = {}
    for name in in_order(methods):
        colour, marker = _KNOWN.get(name) or next(others)
        found[name] = Look(colour, marker, "-" if name.startswith(_OURS) else "--")
    return found
