"""The F test of a regression coefficient, or of several: exact for Gaussian errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import betainc

from tamis.decisions.kinds import refuse_shuffled
from tamis.decisions.pvalue import PValueRule
from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests


@final
@dataclass(frozen=True, repr=False)
class FTest(PValueRule):
    """Linear dependence of numbers: is the partial correlation 0?

    With R^2 the share of the remaining variance that the candidates explain, 1 - R^2 =
    exp(-2 gain), and (R^2 / q) / ((1 - R^2) / nu) follows F with q and nu degrees of freedom
    (Fisher, 1924), where q counts the candidates and nu the rows left after fitting everything.

    Promise: for errors that are Gaussian with one variance, and for many rows whatever their law, a
    false dependence is declared in a share ``alpha`` of the independent tests, and over the
    candidates of one choice together in at most that share.

    Does not hold: dependence without correlation is not seen. Errors whose spread depends on the
    conditioning variables make p-values too small or too large, at any number of rows.
    """

    name = "f-test"

    def p_values(self, evidence: Tests) -> Floats:
        """The upper tail of F, as an incomplete beta function of 1 - R^2."""
        refuse_shuffled("FTest", evidence)
        if evidence.residual is None:
            raise SettingError(
                "FTest tests numbers; for levels choose Permutation, ChiSquared or BIC"
            )
        residual = evidence.residual
        unexplained = np.exp(-2.0 * np.maximum(evidence.plugin, 0.0))
        # Without rows left to judge by, nothing can be said.
        p: Floats = np.where(
            residual > 0,
            betainc(np.maximum(residual, 1.0) / 2, evidence.df / 2, unexplained),
            1.0,
        )
        return p
