"""What the direction of an arrow rests on, and how likely it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tamis.information.interface import Source
from tamis.knowledge import Constraints
from tamis.search.auto import probability_of
from tamis.search.directions import directions
from tamis.search.members import CLAIMED, Edge
from tamis.search.outcome import Outcome

GIVEN = "given"
EQUIVALENCE = "equivalence"
ENTROPY = "entropy"
NONE = "none"
WARRANTS = (GIVEN, EQUIVALENCE, ENTROPY, NONE)
"""It follows from background knowledge, alone or with the class; every equivalent DAG has it; the
noise entropies give it at least ``CLAIMED``; less than that."""


class Warrant(NamedTuple):
    """What a direction rests on, and its probability."""

    kind: str
    probability: float


def warrants(
    information: Source,
    outcome: Outcome,
    losses: Mapping[Edge, float],
    constraints: Constraints | None,
    is_given: Callable[[Edge], bool],
    *,
    same_units: bool = False,
) -> dict[Edge, Warrant]:
    """The warrant of every edge (parent, child) of a DAG.

    ``losses`` are what the likelihood loses without a direction that all members of the class
    have; where nobody has asked, the class is taken for certain. ``is_given`` says which
    directions follow from knowledge alone, ``same_units`` that numbers are in one unit.
    """
    parents = {k: one.members for k, one in outcome.boundaries.items()}
    found = directions(information, parents, constraints, same_units=same_units)
    answer = {}
    for edge in ((p, k) for k, members in parents.items() for p in members):
        if is_given(edge) or edge in found.forced:
            answer[edge] = Warrant(GIVEN, 1.0)
        elif edge in found.compelled:
            chance = probability_of(losses[edge]) if edge in losses else 1.0
            answer[edge] = Warrant(EQUIVALENCE if chance >= CLAIMED else NONE, chance)
        else:
            chance = found.probabilities.get(edge, 0.0)
            answer[edge] = Warrant(ENTROPY if chance >= CLAIMED else NONE, chance)
    return answer
