"""What can be read off the graph alone: polyforests and directed paths."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from tamis.identifiability.known import Known
from tamis.identifiability.verdicts import Condition, Violation


@dataclass(frozen=True)
class Paths:
    """How many directed paths there are."""

    total: int
    most: int
    """Between one pair of nodes."""
    ends: tuple[str, str] | None
    """Such a pair."""

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "total": self.total,
            "most": self.most,
            "ends": None if self.ends is None else list(self.ends),
        }


def directed_paths(known: Known) -> Paths:
    """Count the directed paths between all pairs, by dynamic programming along the arrows."""
    order = list(nx.topological_sort(known.graph))
    total, most, ends = 0, 0, None
    for start in order:
        ways = {start: 1}
        for k in order:
            if k != start:
                n = sum(ways.get(p, 0) for p in known.parents[k])
                if n:
                    ways[k] = n
                    total += n
                    if n > most:
                        most, ends = n, (known.name(start), known.name(k))
    return Paths(total, most, ends)


def polyforest(known: Known) -> Condition:
    """Whether the skeleton has no cycle.

    Theorem thm:poly and Lemma lem:poly then promise the PPS condition and C2. Both fail for the
    noisy parity of fair coins, and with more than two levels a node can be independent of its
    grandparent along a single path (docs/departures.md); so both are computed all the same.
    """
    skeleton = known.graph.to_undirected()
    cycles = nx.cycle_basis(skeleton)
    holds = not cycles
    shortest = min(cycles, key=len) if cycles else []
    names = known.called(shortest)
    text = "the skeleton has a cycle: " + " - ".join((*names, *names[:1]))
    return Condition(
        "polyforest",
        "Polyforest",
        holds,
        None,
        "At most one path joins any two nodes, so effects cannot cancel along several."
        if holds
        else f"The skeleton has {len(cycles)} independent "
        + ("cycle." if len(cycles) == 1 else "cycles."),
        unit="",
        violations=() if holds else (Violation(text, names),),
        details={"independent_cycles": len(cycles)},
    )
