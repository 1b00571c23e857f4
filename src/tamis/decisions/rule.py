"""When a gain counts as dependence: every rule turns evidence into a score and sets a bar."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from tamis.information.interface import Floats, Tests


class Rule(ABC):
    """A decision rule: X_k depends on X_l when the score of their evidence clears the bar.

    One number, the score, orders all tests of a run by how strongly they speak for
    dependence; the bar rises with the number of candidates the best of which is judged, and
    never falls with it, so that a refusal stays a refusal when candidates are added.
    """

    name: str
    unit: str
    """What a score is measured in once turned into its ``natural`` form: "nats", "p", or "nats
    over the penalty"; all but "p" speak for dependence when large."""

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for data of this size; a rule that needs rows refuses to go without."""
        return self

    @abstractmethod
    def scores(self, evidence: Tests) -> Floats:
        """How strongly each test speaks for dependence; larger is stronger, always finite."""

    def ceilings(self, evidence: Tests) -> Floats:
        """What each score is at most; quicker than the scores where there are very many."""
        return self.scores(evidence)

    @abstractmethod
    def bar(self, tests: NDArray[np.int64] | int) -> Floats:
        """The score to clear when the test is the best of ``tests`` candidates."""

    def accepts(
        self, scores: Floats, tests: NDArray[np.int64] | int, *, inclusive: bool = False
    ) -> NDArray[np.bool_]:
        """Which scores count as dependence; ``inclusive`` lets the bar itself count."""
        bar = self.bar(tests)
        return scores >= bar if inclusive else scores > bar

    def natural(self, score: float) -> float:
        """The score as a person reads it: a gain in nats or a p-value."""
        return score
