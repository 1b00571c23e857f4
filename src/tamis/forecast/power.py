"""The smallest gain that a rule usually sees: the power of its test, solved for the gain.

With n rows and a true gain of g nats the statistic of a test, G = 2 n times the plug-in gain,
follows about the non-central chi-squared law with non-centrality 2 n g (Wald, 1943). Pearson's X2,
which ``Permutation`` uses, has the same law to first order. For numbers F is non-central with
n (exp(2 g) - 1), because 1 - R^2 = exp(-2 g).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import betaincinv, chdtri, chndtr, ncfdtr

from tamis.decisions.p_values import ChiSquared, FTest, Permutation, PValue
from tamis.decisions.rule import BIC, Fixed, Rule

POWER = 0.8
"""A dependence is called visible if it is found in this share of tables."""
FILLED = 5
"""Rows a cell below which the laws used here are rough."""
LEAST_UNEXPLAINED = 1e-3
"""Where 1 - R^2 must be smaller than this to be noticed, rows are too few for numbers."""
COIN = math.log(2)
"""The most that one coin can say about another, in nats."""


@dataclass(frozen=True)
class Detectable:
    """The smallest gain that a test of two columns finds with chance ``POWER``."""

    levels: tuple[int, int] | None
    """Of the two columns; None for two columns of numbers."""
    df: int
    gain: float
    """In nats."""
    effect: float
    """Two even coins: by how much the chance of one differs between the sides of the other.
    Numbers: the correlation. nan for more levels."""
    n_rows: float

    @property
    def possible(self) -> bool:
        """Whether two columns can be as dependent as that at all."""
        return self.gain < (math.inf if self.levels is None else math.log(min(self.levels)))

    @property
    def is_filled(self) -> bool:
        """Whether the cells hold enough rows for the figure to be near."""
        return self.levels is None or self.n_rows >= FILLED * self.levels[0] * self.levels[1]


def alpha_of(rule: Rule, n_tests: int) -> float | None:
    """The alpha of one of ``n_tests`` tests by a bound rule; None for a rule without an alpha."""
    return rule.alpha / max(n_tests, 1) if isinstance(rule, PValue) else None


def detectable(
    rule: Rule, n_rows: float, n_tests: int, levels: tuple[int, int] | None
) -> Detectable | None:
    """The smallest gain seen as the best of ``n_tests`` candidates; None where nobody knows.

    Of shuffles among neighbours, smoothed densities and rules of the user's making the power is not
    known beforehand. ``rule`` is bound to the table's size.
    """
    df = 1 if levels is None else (levels[0] - 1) * (levels[1] - 1)
    if df < 1:
        return None
    if isinstance(rule, FTest):
        gain = _of_numbers(float(rule.threshold_for(n_tests)), n_rows) if levels is None else None
    else:
        critical = _critical(rule, n_rows, n_tests, df, biased=levels is None)
        gain = None if critical is None else noncentrality(critical, df) / (2 * n_rows)
    if gain is None:
        return None
    return Detectable(levels, df, gain, _effect(levels, gain), n_rows)


def noncentrality(critical: float, df: int) -> float:
    """How far from independence chi-squared must be to pass ``critical`` with chance ``POWER``."""
    return _solved(lambda nc: 1 - float(chndtr(critical, df, nc)), critical, df)


def _critical(rule: Rule, n_rows: float, n_tests: int, df: int, *, biased: bool) -> float | None:
    """What 2 n times the plug-in gain must exceed."""
    threshold = float(rule.threshold_for(n_tests))
    if isinstance(rule, Permutation | ChiSquared):
        return float(chdtri(df, math.exp(-threshold)))
    if isinstance(rule, BIC):
        return 2 * threshold + df * math.log(n_rows)
    if isinstance(rule, Fixed):
        # The estimators of counts take off the bias of a plug-in gain, which is df / (2 n).
        return 2 * n_rows * threshold + (0 if biased else df)
    return None


def _of_numbers(threshold: float, n_rows: float) -> float | None:
    """One candidate and nothing to condition on: 1 and n - 2 degrees of freedom."""
    residual = n_rows - 2
    if residual < 1:
        return None
    unexplained = float(betaincinv(residual / 2, 0.5, math.exp(-threshold)))
    if unexplained < LEAST_UNEXPLAINED:
        return math.inf
    critical = residual * (1 - unexplained) / unexplained
    nc = _solved(lambda nc: 1 - float(ncfdtr(1, residual, nc, critical)), critical, 1)
    return 0.5 * math.log1p(nc / n_rows)


def _solved(power: Callable[[float], float], critical: float, df: int) -> float:
    """The non-centrality at which a rising power is ``POWER``; 0 if it is that without any."""
    if critical <= 0 or power(0.0) >= POWER:
        return 0.0
    # The mean of the statistic is df + nc and its variance 2 df + 4 nc.
    high = critical + 4 * math.sqrt(2 * df + 4 * critical) + 16
    while power(high) < POWER:
        high *= 2
    return float(brentq(lambda nc: power(nc) - POWER, 0.0, high, xtol=1e-6))


def _effect(levels: tuple[int, int] | None, gain: float) -> float:
    if levels is None:
        return math.sqrt(-math.expm1(-2 * gain))
    return difference_of_coins(gain) if levels == (2, 2) else math.nan


def difference_of_coins(gain: float) -> float:
    """Two even coins with this gain in nats: P(heads | heads) - P(heads | tails)."""
    if gain >= COIN:
        return 1.0
    if gain <= 0.0:
        return 0.0

    def told(difference: float) -> float:
        return sum(p * math.log(2 * p) for s in (-1, 1) if (p := (1 + s * difference) / 2) > 0)

    return float(brentq(lambda difference: told(difference) - gain, 0.0, 1.0, xtol=1e-9))
