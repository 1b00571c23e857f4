"""Positivity, the weaker condition cond:mi that the paper puts in its place, and minimality.

cond:mi: I(X_k ; pa(k) | A) > 0 for every ancestral set A that misses a parent of k. There are
exponentially many such sets, and one for each edge settles it. Since I(X_k ; pa(k) | A) =
H(X_k | A) - H(X_k | pa(k)), the information falls as A grows; and the sets that miss the parent p
are those inside the largest one, which is everything but p and its descendants. So for each edge
p -> k one inequality is checked: H(X_k | all but p and its descendants) > h_k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tamis.identifiability.known import Known, resolved
from tamis.identifiability.verdicts import UNDECIDABLE, Condition, Findings, Violation
from tamis.network import GaussianNetwork


def positivity(known: Known) -> Condition:
    """Every cell of the joint distribution has positive probability.

    The joint is the product of the tables, and all combinations occur once all tables are
    positive; so it is enough to look at these. Normal densities are positive everywhere.
    """
    findings = Findings(tolerance=0.0)
    network = known.network
    for k, table in enumerate(() if isinstance(network, GaussianNetwork) else network.tables):
        smallest = float(table.min())
        findings.add(smallest, partial(_zero, known, k, table))
    return findings.condition(
        "positivity",
        "Positivity",
        good="Every combination of values can occur, so Markov boundaries are unique.",
        bad="Some combinations of values cannot occur; what matters then is nondegeneracy.",
        unit="probability",
    )


def _zero(known: Known, k: int, table: NDArray[np.float64]) -> Violation:
    network = known.network
    zeros = np.argwhere(table == 0)
    *configuration, level = (int(v) for v in zeros[0])
    label = network.levels[k][level]
    given = ", ".join(
        f"{known.name(p)}={network.levels[p][v]}"
        for p, v in zip(known.parents[k], configuration, strict=True)
    )
    text = f"P({known.name(k)}={label}" + (f" | {given})" if given else ")") + " = 0"
    if len(zeros) > 1:
        text += f", and {len(zeros) - 1} more in its table"
    return Violation(text, (known.name(k),), {"zeros": float(len(zeros))})


def minimality(known: Known) -> Condition:
    """Whether the graph is a minimal I-map, as every theorem assumes: no edge can be left out.

    A parent is needed when it informs about the node given all the other parents.
    """

    def gain(p: int, k: int) -> float:
        return known.information.gain(k, [p], set(known.parents[k]) - {p})

    return _edge_by_edge(known, gain, _superfluous).condition(
        "minimal",
        "Minimal I-map",
        good="Every edge is needed.",
        bad="Some edge can be left out, and no method can find it.",
    )


def nondegeneracy(known: Known) -> Condition:
    """cond:mi, by one inequality an edge (see above)."""

    def slack(p: int, k: int) -> float:
        return resolved(least_uncertainty(known, k, p) - known.own(k))

    return _edge_by_edge(known, slack, _certain_too_soon).condition(
        "nondegeneracy",
        "Nondegeneracy (cond:mi)",
        good="As long as a parent is missing, whatever else is known, the node is less certain.",
        bad="Some node can be as certain as it will ever be before its last parent is known.",
    )


def _edge_by_edge(
    known: Known,
    slack: Callable[[int, int], float],
    violation: Callable[[Known, int, int], Violation],
) -> Findings:
    """One inequality for each edge p -> k."""
    findings = Findings()
    for k, parents in enumerate(known.parents):
        for p in parents:
            try:
                findings.add(slack(p, k), partial(violation, known, p, k))
            except UNDECIDABLE as error:
                findings.skip(str(error))
    return findings


def _superfluous(known: Known, p: int, k: int) -> Violation:
    text = f"{known.name(p)} -> {known.name(k)} makes no difference given the other parents"
    return Violation(text, known.called((p, k)))


def least_uncertainty(known: Known, k: int, p: int) -> float:
    """The least H(X_k | A) over the ancestral sets A that miss the parent p."""
    without = frozenset(a for a in known.ancestors[k] if a != p and p not in known.ancestors[a])
    return known.entropy(k, without)


def _certain_too_soon(known: Known, p: int, k: int) -> Violation:
    return Violation(
        f"{known.name(p)} -> {known.name(k)}: given all nodes but {known.name(p)} and what comes "
        "after it, the parents still missing say nothing more",
        known.called((p, k)),
    )
