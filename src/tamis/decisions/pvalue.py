"""What the rules that compute a p-value share: the score is -ln p, the bar is Bonferroni's."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions import parameters
from tamis.decisions.rule import Rule
from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests

SMALLEST_P = 1e-300
"""Smaller p-values count as this one, so that a score is finite; such scores tie."""


@dataclass(frozen=True, repr=False)
class PValueRule(Rule):
    """Dependence is a p-value below ``alpha`` divided by the number of tests.

    With ``whole_graph`` the level is shared out among the nodes too: bound to d columns it is
    alpha / d. A node is tested anew whenever its candidates grow in number, so the false parents
    expected in the graph are somewhat more than ``alpha``, up to about alpha ln(d): with alpha 0.1
    and independent columns 0.13, 0.20 and 0.42 were seen at d = 6, 12 and 40.
    """

    alpha: float = 0.05
    whole_graph: bool = False

    unit = "p"

    def __post_init__(self) -> None:
        value = parameters.probability(type(self).__name__, "alpha", self.alpha)
        object.__setattr__(self, "alpha", value)
        given: object = self.whole_graph
        if not isinstance(given, bool):
            name = type(self).__name__
            raise SettingError(f"{name}: whole_graph must be True or False, not {given!r}")

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for one node, if there are rows to test on."""
        parameters.require_rows(type(self).__name__, n_rows)
        self._require_share(max(n_variables, 1))
        if self.whole_graph:
            return replace(self, alpha=self.alpha / max(n_variables, 1), whole_graph=False)
        return self

    def _require_share(self, d: int) -> None:
        """Refuse a level whose share for one test is no float any more."""
        shares = d * d if self.whole_graph else d
        least = sys.float_info.min * shares
        if self.alpha < least:
            raise SettingError(
                f"{type(self).__name__}: alpha={self.alpha!r} is too small. With {d} columns it is "
                f"shared out among up to {shares} tests, and such a share is 0 as a float: use "
                f"{least * 1.01:.1e} or more."
            )

    def __repr__(self) -> str:
        share = ", whole_graph=True" if self.whole_graph else ""
        return f"{type(self).__name__}(alpha={self.alpha!r}{share})"

    @abstractmethod
    def p_values(self, evidence: Tests) -> Floats:
        """The chance of evidence as strong as this when X_k and the others are independent."""

    def scores(self, evidence: Tests) -> Floats:
        """-ln p, from 0 (nothing speaks for dependence) to about 691."""
        if math.isinf(evidence.n_rows):
            parameters.require_rows(type(self).__name__, evidence.n_rows)
        return 0.0 - np.log(np.maximum(self.p_values(evidence), SMALLEST_P))

    def bar(self, tests: NDArray[np.int64] | int) -> Floats:
        """ln(tests / alpha); no tests at all count as one."""
        if isinstance(tests, int):
            return np.asarray(math.log(max(tests, 1)) - math.log(self.alpha))
        bar: Floats = np.log(np.maximum(tests, 1)) - math.log(self.alpha)
        return bar

    def natural(self, score: float) -> float:
        """The p-value of the single test, not corrected for the number of tests."""
        return math.exp(-score)


@final
@dataclass(frozen=True, repr=False)
class Untested(PValueRule):
    """Stands where a source knows no law under independence: there is no p-value, so nan."""

    name = "untested"

    def p_values(self, evidence: Tests) -> Floats:
        """Not a number, for every test."""
        return np.full(len(evidence), np.nan)
