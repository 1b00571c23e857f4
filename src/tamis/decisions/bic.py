"""The Bayesian information criterion: dependence must raise the likelihood past its penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions import parameters
from tamis.decisions.kinds import refuse_shuffled
from tamis.decisions.rule import Rule
from tamis.information.interface import Floats, Tests


@final
@dataclass(frozen=True)
class BIC(Rule):
    """Dependence is a gain in log-likelihood above df ln(n) / 2, and above ln(tests) more.

    The score n I_plugin - df ln(n) / 2 is, for large n, the log Bayes factor of dependence
    against independence (Schwarz, 1978): at 0 they are equally likely, at 3 dependence is
    twenty times as likely. The bar ln(tests) is the prior of the extended criterion, which
    gives each candidate an equal share (Chen and Chen, 2008, gamma = 1); with one test it is
    the plain BIC.

    Promise: consistency. As n grows over fixed columns, false dependences and missed ones both
    vanish, without a level to choose.

    Does not hold: no false-positive rate is promised at any n. The penalty grows with the
    degrees of freedom, so with many levels or a large boundary it starves: real dependence
    goes unseen until n is large.
    """

    name = "bic"
    unit = "nats over the penalty"

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The same rule, if there are rows to count."""
        parameters.require_rows("BIC", n_rows)
        return self

    def scores(self, evidence: Tests) -> Floats:
        """The log-likelihood that dependence gains, less its penalty."""
        parameters.require_rows("BIC", evidence.n_rows)
        refuse_shuffled("BIC", evidence)
        # A test without degrees of freedom pays for one: nothing gained must not clear bar 0.
        # Nor does one without rows earn anything by it.
        log_rows = np.log(np.maximum(evidence.n_tested, 1.0))
        penalty = np.maximum(evidence.df, 1.0) * (0.5 * log_rows)
        score: Floats = evidence.n_tested * evidence.plugin - penalty
        return score

    def bar(self, tests: NDArray[np.int64] | int) -> Floats:
        """ln(tests); no tests at all count as one."""
        return np.asarray(np.log(np.maximum(tests, 1)))
