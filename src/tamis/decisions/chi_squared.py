"""The likelihood-ratio test of independence: 2 n times the plug-in gain against chi-squared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import chdtrc

from tamis.decisions.kinds import refuse_shuffled
from tamis.decisions.pvalue import PValueRule
from tamis.information.interface import Floats, Tests


@final
@dataclass(frozen=True, repr=False)
class ChiSquared(PValueRule):
    """The G-test: under independence 2 n I_plugin follows chi-squared (Wilks, 1938).

    The degrees of freedom are those that the occupied levels of each stratum leave. A test
    without any has p = 1. Of conditional Gaussians it is the likelihood ratio, scaled to the mean
    that it has under independence (Bartlett, 1937).

    Promise: when the cells are well filled, about 5 expected rows a cell, a false dependence
    is declared in a share ``alpha`` of the independent tests, and over the candidates of one
    choice together in at most that share.

    Does not hold: in sparse tables, where G is far from chi-squared and the test finds either
    much too much or nothing; ``Permutation`` is made for those. Rows that repeat or depend on
    each other make every p-value too small.
    """

    name = "chi-squared"

    def p_values(self, evidence: Tests) -> Floats:
        """The upper tail of chi-squared at G = 2 n I_plugin."""
        refuse_shuffled("ChiSquared", evidence)
        df = evidence.df
        # Rounding can leave the plug-in gain of independent counts a hair below 0.
        g = np.maximum(2.0 * evidence.n_tested * evidence.plugin, 0.0)
        p: Floats = np.where(df > 0, chdtrc(np.where(df > 0, df, 1.0), g), 1.0)
        return p
