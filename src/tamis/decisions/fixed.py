"""The rule of the paper's algorithms: a gain counts when it exceeds a given number of nats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions import parameters
from tamis.decisions.rule import Rule
from tamis.information.interface import Floats, Tests


@final
@dataclass(frozen=True)
class Fixed(Rule):
    """Dependence is a gain above ``threshold`` nats, however many tests there are.

    The paper's kappa and omega; its authors' program uses 0.005 and 0.001.

    Promise: with exact information, and a threshold below the gaps of the network (xi for a
    boundary, eta / 2 for a mask), the answers are those of the population. It is the only
    rule for exact information.

    Does not hold: on rows nothing is promised. The gain of independent columns shrinks like
    1/n and grows with the number of cells, so the false-positive rate of one threshold
    depends on both: 0.001 nats on two binary columns gives .31 at 500 rows, 0 at 10 000.
    """

    threshold: float

    name = "fixed"
    unit = "nats"

    def __post_init__(self) -> None:
        value = parameters.threshold("Fixed", "threshold", self.threshold)
        object.__setattr__(self, "threshold", value)

    def scores(self, evidence: Tests) -> Floats:
        """The gain itself, by the estimator that the source of information uses."""
        return evidence.cmi

    def bar(self, tests: NDArray[np.int64] | int) -> Floats:
        """The threshold, whatever the number of tests."""
        return np.full(np.shape(tests), self.threshold)
