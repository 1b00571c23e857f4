"""The alpha for a table whose edges are weak.

An alpha that leaves hardly any false edge in the graph costs nothing where edges are strong. Where
the edges it finds lie close above it, there are more below, and every step down adds some that are
true and some that are not. The strengths that were found tell how many of each, and so where to
stop: where one more edge is as likely false as true. Beyond the paper.
"""

from __future__ import annotations

import math

from scipy.special import ndtri_exp

from tamis.constants import constants
from tamis.search.outcome import Outcome


def alpha_for(outcome: Outcome, alpha: float, n_variables: int) -> float:
    """The alpha of the whole graph that the strengths of its edges ask for; ``alpha`` found them.

    It is never lower, and it stays where no weak edge was found: that there are any must be shown
    at alpha itself. In dense graphs it stays too.
    """
    found = [deviate(one) for one in outcome.strengths]
    pairs = n_variables * (n_variables - 1) / 2
    absent = pairs - len(found)
    before = deviate(math.log(pairs / alpha))
    n_near = sum(z <= before + constants.weak_reach for z in found)
    if not n_near or absent < 1 or len(found) > constants.weak_dense * n_variables:
        return alpha
    density = (n_near + constants.weak_unseen) / constants.weak_reach
    after = meeting(density, absent)
    expected = min(density * (before - after), absent)
    if expected < constants.weak_least * len(found):
        return alpha
    return max(alpha, min(constants.highest_alpha, pairs * math.erfc(after / math.sqrt(2))))


def meeting(density: float, absent: float) -> float:
    """The strength z at which false edges lie as densely as true ones, whose number for each
    standard error is ``density``: theirs is 2 phi(z) for each pair without an edge."""
    chance = 2 * absent / math.sqrt(2 * math.pi)
    return math.sqrt(2 * math.log(max(chance / density, 1.0)))


def deviate(strength: float) -> float:
    """The strength of a p-value exp(-strength): the normal deviate that has it as its two tails."""
    return -float(ndtri_exp(-max(strength, 0.0) - math.log(2)))
