"""How many contexts a search will ask for, and how long it will take.

The number of contexts is extrapolated from the lengths of the probed paths; the coefficients were
fitted on simulated tables and checked on others (docs/forecast.md). Seconds a context come from
the probe, so that they are those of this table on this machine; the time that Python takes besides
was measured on one machine, and is scaled by the pace of this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tamis.constants import constants
from tamis.forecast.probe import Probe

FRESH = {"sequential": (1.0, 0.1), "node": (1.0, 0.05), "auto": (3.0, 3.0)}
"""A node asks for its own row, and for a x + b x^2 more if the probed paths take x columns."""
FADES = {"node": 0.8, "auto": 0.95}
"""By how much fewer contexts are one deeper than the probed paths have it."""
A_NODE = 2e-4
A_CONTEXT = 2e-5
"""Seconds of Python for each node and each context of a single search."""
AUTO_CONTEXT = 1.5e-4
AUTO_COLUMN = 5e-6
"""Seconds of Python for each context of "auto", which refines, and for each column of it while all
places of an order are tried."""
FEW_MEMBERS, AUTO_MEMBER = 4, 8e-5
"""Work for each column that paths take beyond this number: dense graphs are searched for longer."""
BACKWARD = 0.7
"""Single tests of "auto" a context, for each column that the probed paths take."""
MASKED = 0.25
"""Tests that masking makes, of all pairs of columns."""
GROUPS = 1.0
LIKELIHOODS = 0.45
"""Joint tests and scores that "auto" asks for, a context."""


@dataclass(frozen=True)
class Work:
    """What a search of one reading will do."""

    contexts: float
    counting: float
    """Seconds spent on the rows of gains and, for "auto", on joint tests and scores."""
    bookkeeping: float
    """Seconds spent on everything else."""

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.counting + self.bookkeeping


def contexts_of(search: str, d: int, reached: Sequence[float]) -> float:
    """The rows of gains that a search asks for; ``reached`` are the shares of paths that take 1,
    2, ... columns or more, from which the means of their length and of its square follow."""
    a, b = FRESH.get(search, FRESH["node"])
    length = sum(reached)
    squared = sum((2 * j - 1) * share for j, share in enumerate(reached, start=1))
    return d * (1 + a * length + b * squared)


def work_of(
    search: str, d: int, found: Probe, *, looks_ahead: bool, scale: float, slow: float = 1.0
) -> Work:
    """The work of one search; ``scale`` leads from the probed part to the whole table, ``slow`` is
    the pace of Python."""
    contexts = contexts_of(search, d, found.reached)
    deep = (contexts - d) * _deep_cost(search, found)
    counting = (d * found.cost(0) + deep) * scale
    # A test reads rows, but not every column.
    longer = scale / max(d / found.columns, 1.0)
    tests = contexts + (MASKED * d**2 if search not in ("auto", "sequential") else 0.0)
    if search == "auto":
        # Where rows do not bring tests, members are also tested one by one on their way out.
        tests *= max(1.0, BACKWARD * sum(found.reached))
    counting += tests * found.test * longer
    if search != "auto":
        return Work(contexts, counting, slow * (d * A_NODE + contexts * A_CONTEXT))
    rest = LIKELIHOODS * found.likelihood + (GROUPS * found.group if looks_ahead else 0.0)
    counting += contexts * rest * longer
    many = max(sum(found.reached) - FEW_MEMBERS, 0.0)
    a_context = AUTO_CONTEXT + AUTO_MEMBER * many
    if d <= constants.wide:
        a_context += AUTO_COLUMN * d
    return Work(contexts, counting, slow * contexts * a_context)


def _deep_cost(search: str, found: Probe) -> float:
    """Seconds for a context with something to condition on: a depth counts as often as paths reach
    it, and the deeper the less, because a search offers fewer candidates than the probe."""
    if not found.reached:
        return found.cost(1)
    fade = FADES.get(search, FADES["node"])
    weights = [share * fade**j for j, share in enumerate(found.reached, start=1)]
    costs = [w * found.cost(j) for j, w in enumerate(weights, start=1)]
    return sum(costs) / sum(weights)
