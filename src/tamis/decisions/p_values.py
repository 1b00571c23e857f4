"""The rules that weigh p-values: the strength is -ln p, the threshold is Bonferroni's.

Which p-value it is, is a matter of the source, which owns its tests. A rule says which of them it
asks for, and how large p may be.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions.rule import Rule, checked_probability, require_rows
from tamis.errors import SettingError
from tamis.information.interface import Floats, Source, Tests
from tamis.information.outside import PairTest, key_of, with_own_test
from tamis.plugins import Plain, beside, parameters_of, qualified_name


@dataclass(frozen=True, repr=False)
class PValue(Rule):
    """Dependence is a p-value below ``alpha`` divided by the number of tests.

    The p-value is that of the test which the source prefers, so the rule goes with every source
    that has one: counts, moments, neighbours, and sources from outside with ``test_names``.

    With ``whole_graph`` alpha is shared out among the nodes too: bound to d columns it is
    alpha / d. A node is tested anew whenever its candidates grow in number, so the false parents
    expected in the graph are somewhat more than ``alpha``, up to about alpha ln(d): with alpha 0.1
    and independent columns 0.13, 0.20 and 0.42 were seen at d = 6, 12 and 40.

    Promise: what the test of the source promises, and over the candidates of one choice together a
    false dependence in at most a share ``alpha``.

    Does not hold: where the test of the source does not.

    Parameters
    ----------
    alpha : float
        The largest p-value that counts as dependence, before the correction for many tests.
    whole_graph : bool
        Whether alpha is for the whole graph rather than for one node.

    Examples
    --------
    >>> import tamis
    >>> rule = tamis.rules.PValue(0.05, whole_graph=True)
    >>> rule.bind(n_rows=100, n_variables=5)
    PValue(alpha=0.01)
    """

    alpha: float = 0.05
    whole_graph: bool = False

    name = "p-value"
    unit = "p"
    test: ClassVar[str | None] = None
    """The test that is asked of the source; None is the one that it prefers."""

    def __post_init__(self) -> None:
        value = checked_probability(type(self).__name__, "alpha", self.alpha)
        object.__setattr__(self, "alpha", value)
        given: object = self.whole_graph
        if not isinstance(given, bool):
            name = type(self).__name__
            raise SettingError(f"{name}: whole_graph must be True or False, not {given!r}")

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for one node; the tests of tamis need rows to test on."""
        if self.test is not None:
            require_rows(type(self).__name__, n_rows)
        return self._share(n_variables)

    def _share(self, n_variables: int) -> Rule:
        self._require_share(max(n_variables, 1))
        if self.whole_graph:
            return replace(self, alpha=self.alpha / max(n_variables, 1), whole_graph=False)
        return self

    def _require_share(self, d: int) -> None:
        """Refuse an alpha whose share for one test is no float any more."""
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

    def attach(self, source: Source) -> Source:
        """The source as it is, if it has the test."""
        offered = source.test_names
        if not offered:
            raise SettingError(
                f"{type(self).__name__} asks for p-values, and {source.title} has none: use a "
                "threshold in nats, such as Fixed(0.04)"
            )
        if self.test is not None and self.test not in offered:
            raise SettingError(
                f"{type(self).__name__} does not go with {source.title}, whose tests are "
                f"{' and '.join(map(repr, offered))}: use the rule of that name, or PValue"
            )
        return source

    def p_values(self, tests: Tests) -> Floats:
        """The chance of information as large as this if X_k and the others are independent."""
        return np.asarray(np.exp(tests.log_p_by(self.test)), dtype=np.float64)

    def strengths(self, tests: Tests) -> Floats:
        """-ln p, from 0 (nothing speaks for dependence) to about 691."""
        return 0.0 - tests.log_p_by(self.test)

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """ln(tests / alpha); no tests at all count as one."""
        if isinstance(n_tests, int):
            return np.asarray(math.log(max(n_tests, 1)) - math.log(self.alpha))
        threshold: Floats = np.log(np.maximum(n_tests, 1)) - math.log(self.alpha)
        return threshold

    def natural(self, strength: float) -> float:
        """The p-value of the single test, not corrected for the number of tests."""
        return math.exp(-strength)


@final
@dataclass(frozen=True, repr=False)
class Permutation(PValue):
    """The permutation test of independence within strata, without permuting anything.

    Shuffle the rows of X_k within each stratum of S: the mean and the variance of X2 over all
    shuffles are known exactly (Haldane, 1940, gives one stratum; strata add). The p-value is
    the upper tail of the gamma law with these two moments. Where no shuffle changes X2, the
    table cannot speak and p = 1.

    Promise: a false dependence is declared in a share of about ``alpha`` of the independent
    tests, in well filled and in sparse tables alike. Measured at .05, over 80 random settings
    from .01 to 77 cells a row: .04 to .06 in 74 of them, never above .065.

    Does not hold: two moments do not fix a tail, so p-values below about .01 are approximate,
    and with them the correction for many candidates. Where levels are very uneven X2 has a
    heavier tail than the gamma law: at .001 up to .007 was seen. Where rows are so few that
    most tables cannot speak (30 cells a row), less than ``alpha`` is declared. Rows must be
    exchangeable within a stratum.

    Parameters
    ----------
    alpha, whole_graph
        As in `PValue`.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> tamis.markov_boundary(rows, "wet", rule=tamis.rules.Permutation(0.01))
    ['rain']
    """

    name = "permutation"
    test = "permutation"


@final
@dataclass(frozen=True, repr=False)
class ChiSquared(PValue):
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

    Parameters
    ----------
    alpha, whole_graph
        As in `PValue`.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> tamis.markov_boundary(rows, "wet", rule=tamis.rules.ChiSquared(0.01))
    ['rain']
    """

    name = "chi-squared"
    test = "chi-squared"


@final
@dataclass(frozen=True, repr=False)
class FTest(PValue):
    """The F-test of partial correlation, for linear dependence between numbers.

    With R^2 the share of the remaining variance that the candidates explain, 1 - R^2 =
    exp(-2 gain), and (R^2 / q) / ((1 - R^2) / nu) follows F with q and nu degrees of freedom
    (Fisher, 1924), where q counts the candidates and nu the rows left after fitting everything.

    Promise: for errors that are Gaussian with one variance, and for many rows whatever their law, a
    false dependence is declared in a share ``alpha`` of the independent tests, and over the
    candidates of one choice together in at most that share.

    Does not hold: dependence without correlation is not seen. Errors whose spread depends on the
    conditioning variables make p-values too small or too large, at any number of rows.

    Parameters
    ----------
    alpha, whole_graph
        As in `PValue`.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> x, noise = np.random.default_rng(1).normal(size=(2, 100))
    >>> rule = tamis.rules.FTest(0.01)
    >>> model = tamis.TAM("node", boundary_rule=rule, masking_rule=rule)
    >>> model.fit({"x": x, "y": x + noise}).graph_.number_of_edges()
    1
    """

    name = "f-test"
    test = "f-test"


@final
@dataclass(frozen=True, repr=False)
class LocalPermutation(PValue):
    """The test of nearest-neighbour information against shuffles among neighbouring rows.

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

    Parameters
    ----------
    alpha, whole_graph
        As in `PValue`.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> x, noise = np.random.default_rng(1).normal(size=(2, 100))
    >>> rule = tamis.rules.LocalPermutation(0.01)
    >>> model = tamis.TAM("node", information="neighbours", boundary_rule=rule, masking_rule=rule)
    >>> model.fit({"x": x, "y": x**2 + noise / 5}).graph_.number_of_edges()
    1
    """

    name = "local-permutation"
    test = "local-permutation"


@final
@dataclass(frozen=True, repr=False)
class CallableTest(PValue):
    """A test from outside tamis, given as a function that returns p-values.

    ``function(source, x, y, given)`` returns the p-value of X_x and X_y being independent given a
    set. ``x`` and ``y`` are positions in ``source.names``, and ``given`` is a sorted tuple of
    positions. Each pair is asked for at most once. The threshold is that of `PValue`.

    Promise: what the function promises, and Bonferroni's correction over the candidates.

    Does not hold: a function tests one column with one other, so the rule does not judge several
    at once (search="layer", look_ahead above 1).

    Parameters
    ----------
    alpha, whole_graph
        As in `PValue`.
    function : callable
        The test.

    Examples
    --------
    >>> import tamis
    >>> def equal(source, x, y, given):
    ...     return 0.0 if source.cmi([(x, given)])[0, y] > 0.5 else 1.0
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> rule = tamis.rules.CallableTest(0.05, function=equal)
    >>> tamis.TAM("node", boundary_rule=rule, masking_rule=rule).fit(rows).parents_["wet"]
    ['rain']
    """

    function: PairTest = field(kw_only=True)

    name = "callable"
    judges_groups = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function) or isinstance(self.function, type):
            raise SettingError(
                "CallableTest: function must be callable as function(source, x, y, given), not "
                f"{self.function!r}"
            )

    @property
    def test(self) -> str:  # type: ignore[override]
        """The name under which the source keeps the function's p-values."""
        return key_of(self.function)

    @property
    def knows_rows(self) -> bool:  # type: ignore[override]
        """Whether the function was made with the rows of one table, and says so."""
        return bool(getattr(self.function, "knows_rows", False))

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for one node; whether there are rows is the function's business."""
        return self._share(n_variables)

    def attach(self, source: Source) -> Source:
        """The source with this test."""
        return with_own_test(source, self.function)

    def recorded(self) -> dict[str, Plain]:
        """The function's qualified name, what it was given, and alpha."""
        own: Mapping[str, Plain] = {"alpha": self.alpha} | (
            {"whole_graph": True} if self.whole_graph else {}
        )
        fields = {**own, "rule": qualified_name(self.function), "unit": self.unit}
        return beside(parameters_of(self.function), fields)

    def __repr__(self) -> str:
        return f"CallableTest({qualified_name(self.function)}, alpha={self.alpha!r})"
