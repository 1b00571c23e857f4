"""TAM, the outer loop: find a layer, find its nodes' parents, grow the ancestral set, repeat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import numpy as np

from tamis.information.interface import Floats, Source
from tamis.knowledge import Constraints
from tamis.search import layers
from tamis.search.boundaries import (
    WIDE,
    Boundaries,
    GrownBoundaries,
    SearchedBoundaries,
    whole_ancestral_set,
)
from tamis.search.layers import LayerStep
from tamis.search.orders import Ordering, by_entropy
from tamis.search.outcome import Admission, Masking, Outcome, Rounds
from tamis.search.own_boundary import own_search
from tamis.search.parents import ParentSelector
from tamis.search.selection import Selector
from tamis.settings import Settings

Progress = Callable[[int, int], None]
"""Called with the number of nodes admitted so far and the number of all nodes."""


def run(
    information: Source,
    settings: Settings,
    progress: Progress | None = None,
    expected: Mapping[int, frozenset[int]] | None = None,
) -> Outcome:
    """Learn the DAG: layers and, for each node, the boundary that is its set of parents.

    Where it matters only whether the ``expected`` parents are found, the search ends with the first
    layer that rules them out.
    """
    d = information.n_variables
    selector = Selector.of(information, settings)
    constant = [k for k in range(d) if not information.varies(k)]
    in_loops = None if expected else _in_loops(selector, settings)
    if in_loops is not None:
        varying = [k for k in range(d) if information.varies(k)]
        order, _, rounds = by_entropy(in_loops, varying, told_of(information, varying, progress))
        if rounds is not None:
            found = Ordering.along(in_loops, order)
            return told_in_rounds(selector, settings, found, rounds)
    boundaries = _boundaries(information, selector, settings)
    outcome = Outcome()
    _admit_constants(outcome, boundaries, constant)
    # In order, and quick to leave.
    remaining = dict.fromkeys(k for k in range(d) if information.varies(k))
    n_ancestors: dict[int, int] = {}
    while remaining:
        tau, step = _next_layer(information, boundaries, remaining, settings)
        layer = step[0]
        _record(outcome, boundaries, tau, step)
        n_ancestors.update(dict.fromkeys(layer, d - len(constant) - len(remaining)))
        outcome.boundaries |= zip(layer, boundaries.close(layer), strict=True)
        outcome.layers.append(layer)
        if expected and not all(expected[k] <= {*outcome.boundaries[k].members} for k in layer):
            break
        boundaries.offer(layer)
        for k in layer:
            del remaining[k]
        if progress is not None:
            progress(d - len(remaining), d)
    _backward(selector, outcome, n_ancestors, settings)
    _place_constants(outcome, constant)
    return outcome


def _in_loops(selector: Selector, settings: Settings) -> ParentSelector | None:
    """What admits one node at a time in compiled loops, where these have the table counted and
    there is room for the entropies of all rounds."""
    plain = settings.boundary == "pps" and settings.backward != "together"
    if settings.search != "sequential" or not plain or selector.n_variables > WIDE:
        return None
    found = ParentSelector(selector)
    return found if found.counts_at_once else None


def told_in_rounds(
    selector: Selector, settings: Settings, found: Ordering, rounds: Floats
) -> Outcome:
    """What "sequential" has found: the DAG of its order, and the entropies of each round."""
    order = found.order
    constant = sorted(set(range(selector.n_variables)).difference(order))
    outcome = Outcome(
        [[k] for k in order],
        known=found.told(selector, constant),
        tell_boundaries=partial(selector.boundaries_along, order, constant),
        tell_rounds=partial(_rounds_of, order, rounds, constant, settings.constraints),
    )
    _place_constants(outcome, constant)
    return outcome


def _rounds_of(
    order: Sequence[int],
    rounds: Floats,
    constant: Sequence[int],
    constraints: Constraints | None,
) -> Rounds:
    """The rounds of "sequential", by the entropies of each."""
    told = Rounds([Admission(k, 0, 0.0, None, None, None) for k in constant])
    remaining = dict.fromkeys(sorted(order))
    for number, (k, entropies) in enumerate(zip(order, rounds.copy(), strict=True)):
        told.uncertainties.append(entropies)
        entropy = float(entropies[k])
        if constraints is not None:
            entropies[list(remaining.keys() - constraints.free(remaining))] = np.inf
        del remaining[k]
        entropies[k] = np.inf
        after = int(entropies.argmin())
        least = float(entropies[after])
        if least == np.inf:
            told.admissions.append(Admission(k, number, entropy, None, None, None))
        else:
            told.admissions.append(Admission(k, number, entropy, after, least, None))
    return told


def told_of(
    information: Source, varying: Sequence[int], progress: Progress | None
) -> Callable[[int], None] | None:
    """Progress as searches tell it: columns that never vary are there from the start."""
    if progress is None:
        return None
    d = information.n_variables
    return lambda n_admitted: progress(d - len(varying) + n_admitted, d)


def _admit_constants(outcome: Outcome, boundaries: Boundaries, constant: list[int]) -> None:
    """Columns that never vary are isolated nodes of the first layer and nobody's candidates."""
    outcome.boundaries |= zip(constant, boundaries.close(constant), strict=True)
    outcome.rounds.admissions += [Admission(k, 0, 0.0, None, None, None) for k in constant]


def _place_constants(outcome: Outcome, constant: Sequence[int]) -> None:
    if constant:
        first = outcome.layers[0] if outcome.layers else []
        outcome.layers[:1] = [[*constant, *first]]


def _boundaries(information: Source, selector: Selector, settings: Settings) -> Boundaries:
    if settings.boundary == "pps":
        return GrownBoundaries(information, selector.pps, first_come=settings.is_reference)
    if callable(settings.boundary):
        search = own_search(settings.boundary, information, settings.constraints)
    else:
        search = whole_ancestral_set
    return SearchedBoundaries(information, search, settings.constraints)


def _next_layer(
    information: Source,
    boundaries: Boundaries,
    remaining: Collection[int],
    settings: Settings,
) -> tuple[list[int], LayerStep]:
    """The order tau, as far as it is needed, and the layer found in it; who waits for others is
    not in it yet."""
    rule = settings.masking_rule
    free = None if settings.constraints is None else settings.constraints.free(remaining)
    if settings.search == "sequential":
        first, second = layers.by_entropy(boundaries, free)
        return [first] if second is None else [first, second], ([first], {}, {})
    tau = boundaries.in_order(remaining if free is None else free)
    if settings.search == "sieve":
        return tau, layers.by_sieve(boundaries, tau, rule)
    return tau, layers.by_masking(
        information,
        boundaries,
        tau,
        rule,
        whole_layer=settings.search in ("layer", "reference"),
        inclusive=not settings.is_reference,
    )


def _record(outcome: Outcome, boundaries: Boundaries, tau: list[int], step: LayerStep) -> None:
    """Keep why each node entered this layer or not."""
    layer, masked, closest = step
    number = len(outcome.layers)
    entropies = boundaries.entropies
    outcome.rounds.uncertainties.append(entropies)
    position = {k: i for i, k in enumerate(tau)}
    for k in layer:
        after = tau[position[k] + 1] if position[k] + 1 < len(tau) else None
        outcome.rounds.admissions.append(
            Admission(
                k,
                number,
                float(entropies[k]),
                after,
                None if after is None else float(entropies[after]),
                closest.get(k),
            )
        )
    outcome.maskings += [
        Masking(k, number, float(entropies[k]), decision) for k, decision in masked.items()
    ]


def _backward(
    selector: Selector, outcome: Outcome, n_ancestors: dict[int, int], settings: Settings
) -> None:
    """Shrink the boundaries; the search never looks back at them, so all together at the end.

    A boundary of a single PPS step has nothing superfluous by construction.
    """
    if settings.backward == "none":
        return
    from_pps = settings.boundary == "pps"
    nodes = [k for k in n_ancestors if len(outcome.boundaries[k].members) > from_pps]
    shrunk = selector.shrink(
        [outcome.boundaries[k] for k in nodes],
        [n_ancestors[k] for k in nodes],
        together=settings.backward == "together",
        grown=from_pps,
    )
    outcome.boundaries |= zip(nodes, shrunk, strict=True)
