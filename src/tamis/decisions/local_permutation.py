"""A gain against those of locally shuffled twins, by Student's law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import stdtr

from tamis.decisions.kinds import refuse_smoothed
from tamis.decisions.pvalue import PValueRule
from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests


@final
@dataclass(frozen=True, repr=False)
class LocalPermutation(PValueRule):
    """The test of nearest-neighbour information: is the gain one that shuffling explains?

    The source shuffles the candidate among rows that are close in S (Runge, 2018) and gives the
    mean and the variance of the B shuffled gains. If those are Gaussian, and the gain is one of
    them, (gain - mean) / sqrt(variance (1 + 1/B)) follows Student's law with B - 1 degrees of
    freedom. So few shuffles mean larger p-values, never smaller ones, and a p-value can be
    below 1/B, which the correction for many candidates needs.

    Promise: given nothing, and where S tells little or tells it smoothly, a false dependence is
    declared in a share of about ``alpha`` of the independent tests. Measured at .05 with 500
    rows: .03 to .08 given up to two columns, .10 to .12 given three.

    Does not hold: where S of two or more columns drives both sides strongly and not linearly,
    rows that are neighbours still differ in what S tells them, the gain keeps part of it, and
    the shuffled gains less of it. Measured there: .23 given two columns, 1.0 given three. The
    shuffled gains are not quite Gaussian, so p-values far below 1/B are approximate.
    """

    name = "local-permutation"

    def p_values(self, evidence: Tests) -> Floats:
        """The upper tail of Student's law; 1 where no shuffle changes the gain."""
        if evidence.residual is not None or not np.isnan(evidence.pearson).all():
            raise SettingError(
                "LocalPermutation tests by shuffles, which nearest-neighbour information makes; "
                "for counts choose Permutation, for moments FTest"
            )
        refuse_smoothed("LocalPermutation", evidence)
        shuffles = evidence.df + 1.0
        error = np.sqrt(evidence.null_variance * (1.0 + 1.0 / shuffles))
        speaks = error > 0
        excess = (evidence.plugin - evidence.null_mean) / np.where(speaks, error, 1.0)
        p: Floats = np.where(speaks, stdtr(np.maximum(evidence.df, 1.0), -excess), 1.0)
        return p
