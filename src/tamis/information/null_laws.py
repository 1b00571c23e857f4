"""The laws of statistics under independence, and the tests that sources make with them.

================ ========================================= ========================
tests            statistic                                 laws by name
================ ========================================= ========================
RatioTests       the likelihood ratio G = 2 n plug-in cmi  chi-squared
CountTests       G, and Pearson's X2 over strata           permutation, chi-squared
MomentTests      G, and the partial correlation            f-test, chi-squared
ShuffleTests     the cmi next to those of shuffled rows    local-permutation
================ ========================================= ========================
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, chdtrc, gammaincc, stdtr

from tamis.counting.independence import ROUNDING, SMALLEST_P
from tamis.errors import SettingError
from tamis.information.interface import Floats, Tests


class LawfulTests(Tests):
    """Tests whose p-values follow from ``stats``, by laws that have a name."""

    __slots__ = ()

    @property
    def log_p(self) -> Floats:
        """ln of each p-value by the test that the source prefers."""
        return self.log_p_by(None)

    def log_p_by(self, test: str | None) -> Floats:
        """ln of each p-value by the test of this name, or by the one that the source prefers."""
        p = self._p_values(self._law(test))
        found: Floats = np.log(np.maximum(p, SMALLEST_P))
        return found

    def _law(self, test: str | None) -> str:
        if test is None:
            return self.offered[0]
        if test not in self.offered:
            raise SettingError(
                f"the rule {test!r} does not know the law of {self.origin} under independence: "
                f"choose {' or '.join(map(repr, self.offered))} (tamis.rules)"
            )
        return test

    @abstractmethod
    def _p_values(self, law: str) -> Floats:
        """The chance of a statistic as large as this under independence."""

    def _column(self, place: int) -> Floats:
        if self.stats is None:
            raise RuntimeError(f"tests of {self.origin} came without their statistics")
        return self.stats[:, place]


class RatioTests(LawfulTests):
    """Likelihood ratios: ``stats`` begins with the plug-in cmi and its degrees of freedom."""

    __slots__ = ()
    offered: ClassVar[tuple[str, ...]] = ("chi-squared",)
    origin = "conditional Gaussians"

    @property
    def plugin(self) -> Floats:
        """Half the statistic, a row: the plug-in cmi of counts."""
        return self._column(0)

    @property
    def df(self) -> Floats:
        """Degrees of freedom: those that the occupied levels leave, or candidates."""
        return self._column(1)

    def _p_values(self, law: str) -> Floats:
        """The upper tail of chi-squared at G = 2 n plugin (Wilks, 1938); 1 without freedom."""
        df = self.df
        # Rounding can leave the plug-in cmi of independent counts a hair below 0.
        g = np.maximum(2.0 * self.n_rows * self.plugin, 0.0)
        p: Floats = np.where(df > 0, chdtrc(np.where(df > 0, df, 1.0), g), 1.0)
        return p

    def penalised(self) -> Floats:
        """n plugin, less ln(n) / 2 for each degree of freedom."""
        # A test without degrees of freedom pays for one: nothing gained must not pass 0.
        # Nor does one without rows earn anything by it.
        log_rows = np.log(np.maximum(self.n_rows, 1.0))
        price = np.maximum(self.df, 1.0) * (0.5 * log_rows)
        found: Floats = self.n_rows * self.plugin - price
        return found


class CountTests(RatioTests):
    """Tests of levels: ``stats`` has the plug-in cmi, its degrees of freedom, Pearson's X2 summed
    over the strata of S, and the exact mean and variance of that X2 when the rows of X_k are
    permuted within each stratum."""

    __slots__ = ()
    offered = ("permutation", "chi-squared")
    origin = "counts"

    @property
    def pearson(self) -> Floats:
        """Pearson's X2, summed over strata."""
        return self._column(2)

    @property
    def null_mean(self) -> Floats:
        """The mean of X2 over all permutations."""
        return self._column(3)

    @property
    def null_variance(self) -> Floats:
        """The variance of X2 over all permutations."""
        return self._column(4)

    def _p_values(self, law: str) -> Floats:
        """The upper tail of the gamma law with the two moments of X2; 1 where no permutation
        changes it."""
        if law != "permutation":
            return super()._p_values(law)
        shape, at, silent = self._gamma()
        p: Floats = gammaincc(shape, at)
        if silent is not None:
            p[silent] = 1.0
        return p

    def _gamma(self) -> tuple[Floats, Floats, NDArray[np.bool_] | None]:
        """The shape of each test's gamma law, its X2 on the scale of that law, and which tests
        cannot speak, if any."""
        mean, variance = self.null_mean, self.null_variance
        speaks = np.minimum(mean, variance) > ROUNDING * mean
        all_speak = bool(speaks.all())
        if not all_speak:
            variance = np.where(speaks, variance, np.inf)
        rate = mean / variance
        return mean * rate, self.pearson * rate, None if all_speak else ~speaks


class MomentTests(RatioTests):
    """Tests of linear dependence: ``stats`` has the cmi, the number of candidates tested together
    and the rows left after fitting everything."""

    __slots__ = ()
    offered = ("f-test", "chi-squared")
    origin = "moments"

    @property
    def residual(self) -> Floats:
        """The rows left after fitting everything."""
        return self._column(2)

    def _p_values(self, law: str) -> Floats:
        """The upper tail of F, as an incomplete beta function of 1 - R^2 = exp(-2 cmi); 1 without
        rows left to judge by."""
        if law != "f-test":
            return super()._p_values(law)
        unexplained = np.exp(-2.0 * np.maximum(self.plugin, 0.0))
        residual = self.residual
        p: Floats = np.where(
            residual > 0,
            betainc(np.maximum(residual, 1.0) / 2, self.df / 2, unexplained),
            1.0,
        )
        return p


class ShuffleTests(LawfulTests):
    """A cmi next to those of locally shuffled rows: ``stats`` has the mean and the variance of
    these, and their number less one."""

    __slots__ = ()
    offered = ("local-permutation",)
    origin = "nearest neighbours"

    @property
    def null_mean(self) -> Floats:
        """The mean of the shuffled cmi."""
        return self._column(0)

    @property
    def null_variance(self) -> Floats:
        """Their variance."""
        return self._column(1)

    @property
    def df(self) -> Floats:
        """Their number less one."""
        return self._column(2)

    def _p_values(self, law: str) -> Floats:
        """The upper tail of Student's law; 1 where no shuffle changes the cmi."""
        error = np.sqrt(self.null_variance * (1.0 + 1.0 / (self.df + 1.0)))
        speaks = error > 0
        excess = (self.cmi - self.null_mean) / np.where(speaks, error, 1.0)
        p: Floats = np.where(speaks, stdtr(np.maximum(self.df, 1.0), -excess), 1.0)
        return p
