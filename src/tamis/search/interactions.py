"""Looking ahead: sets of candidates that are tried where no single one passes.

The parents of a parity say nothing one by one, so PPS stops before the first of them. The
strongest known interactions among the candidates are then judged, each set as one candidate and
as the best of all sets of its size. Beyond the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from tamis.constants import constants
from tamis.information.interface import Interaction
from tamis.knowledge import as_bits

Listed = tuple[tuple[int, tuple[int, ...]], ...]
"""Sets of nodes, the strongest first, each with its members as bits too."""


def listed(interactions: Sequence[Interaction]) -> Listed:
    """The sets of these interactions as ``sets_to_try`` reads them, which is asked very often."""
    return tuple((as_bits(members), members) for _, members in interactions)


def sets_to_try(
    interactions: Listed, candidates: int, given: tuple[int, ...], limit: int
) -> tuple[tuple[int, ...], ...]:
    """What the strongest interactions among the candidates (one bit each) add to what is given,
    if it is more than one member and not more than there is room for."""
    sets: list[tuple[int, ...]] = []
    for bits, members in interactions:
        if bits & ~candidates:
            continue
        fresh = tuple(k for k in members if k not in given) if given else members
        if 2 <= len(fresh) <= limit - len(given):
            sets.append(fresh)
            if len(sets) == constants.sets_judged:
                break
    return tuple(sets)
