"""What the direction of an arrow rests on, and how likely it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tamis.search.default import probability_of
from tamis.search.directions import Directions
from tamis.search.members import CLAIMED, Edge
from tamis.search.outcome import Outcome

GIVEN = "given"
EQUIVALENCE = "equivalence"
ENTROPY = "entropy"
NONE = "none"
"""It follows from background knowledge, alone or with the class; every equivalent DAG has it; the
noise entropies give it at least ``CLAIMED``; less than that."""


class Warrant(NamedTuple):
    """What a direction rests on, and its probability."""

    kind: str
    probability: float


def warrants(
    outcome: Outcome,
    found: Directions,
    losses: Mapping[Edge, float],
    is_given: Callable[[Edge], bool],
) -> dict[Edge, Warrant]:
    """The warrant of every edge (parent, child) of a DAG.

    ``found`` are the directions of its class, ``losses`` what the likelihood loses without one that
    all members have; where nobody has asked, the class is taken for certain. ``is_given`` says
    which directions follow from knowledge alone.
    """
    parents = {k: one.members for k, one in outcome.boundaries.items()}
    answer = {}
    for edge in ((p, k) for k, members in parents.items() for p in members):
        if is_given(edge):
            answer[edge] = Warrant(GIVEN, 1.0)
        elif edge in found.compelled:
            chance = probability_of(losses[edge]) if edge in losses else 1.0
            # The class is learned: what follows from it and knowledge together may be wrong.
            kind = GIVEN if edge in found.forced else EQUIVALENCE
            answer[edge] = Warrant(kind if chance >= CLAIMED else NONE, chance)
        else:
            chance = found.probabilities.get(edge, 0.0)
            answer[edge] = Warrant(ENTROPY if chance >= CLAIMED else NONE, chance)
    return answer
