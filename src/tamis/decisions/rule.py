"""When information counts as dependence: rules turn tests into strengths and set a threshold.

The rules of this file weigh nats: Fixed, Rate and BIC. Those that weigh p-values are in
``p_values``.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tamis.errors import SettingError
from tamis.information.interface import Floats, Source, Tests
from tamis.plugins import (
    Plain,
    beside,
    check_answers,
    is_number,
    number_of,
    numbers_of,
    parameters_of,
    qualified_name,
    refusal,
)

UNITS = ("nats", "p", "nats over the penalty", "nats of score")
"""What a strength is measured in, as a person reads it; all but "p" speak for dependence when
large."""


class Rule(ABC):
    """A decision rule: X_k depends on X_l when the strength of their test passes the threshold.

    One number, the strength, orders all tests of a run by how strongly they speak for
    dependence; the threshold rises with the number of candidates the best of which is judged, and
    never falls with it, so that a refusal stays a refusal when candidates are added.

    A rule of your own needs ``strengths`` and ``threshold_for``. Strengths in other units than nats
    also need ``unit`` and ``natural``. A result records the rule by the qualified name of its class
    and by its public attributes, which make a dataclass the natural form.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np, tamis
    >>> @dataclass(frozen=True)
    ... class Rising(tamis.rules.Rule):
    ...     least: float = 0.01
    ...     def strengths(self, tests):
    ...         return tests.cmi
    ...     def threshold_for(self, n_tests):
    ...         return self.least * np.sqrt(np.maximum(n_tests, 1))
    >>> bool(Rising().accepts(np.array([0.05]), 9)[0])
    True
    """

    name: str
    """What stands for a rule of tamis in a file and on the command line."""
    unit: str = "nats"
    """What a strength is measured in once turned into its ``natural`` form: "nats", "p", or "nats
    over the penalty"."""

    judges_groups: bool = True
    """Whether several variables can be tested as one."""
    knows_rows: bool = False
    """Whether the rule holds the rows of one table, so that it cannot judge resamples of them."""

    def __init_subclass__(cls) -> None:
        """Answers of rules from outside are checked, whoever asks."""
        super().__init_subclass__()
        check_rule(cls)

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for data of this size; a rule that needs rows refuses to go without."""
        return self

    def attach(self, source: Source) -> Source:
        """The source that this rule is used on, if that can answer what the rule asks; a rule that
        brings a test of its own adds it."""
        return source

    @abstractmethod
    def strengths(self, tests: Tests) -> Floats:
        """How strongly each test speaks for dependence; larger is stronger, always finite."""

    @abstractmethod
    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """The strength to clear when the test is the best of ``n_tests`` candidates."""

    @final
    def accepts(
        self, strengths: Floats, n_tests: NDArray[np.int64] | int, *, inclusive: bool = False
    ) -> NDArray[np.bool_]:
        """Which strengths count as dependence; ``inclusive`` lets the threshold itself count."""
        threshold = self.threshold_for(n_tests)
        return strengths >= threshold if inclusive else strengths > threshold

    def natural(self, strength: float) -> float:
        """The strength as a person reads it: information in nats or a p-value."""
        return strength

    def recorded(self) -> dict[str, Plain]:
        """What a result keeps of a rule from outside: its qualified name, parameters and unit."""
        told = {name: value for name, value in parameters_of(self).items() if name != "unit"}
        return beside(told, {"rule": qualified_name(self), "unit": self.unit})


SMALLEST = math.ulp(0.0)
"""The least number above 0."""


def checked_probability(rule: str, parameter: str, value: object) -> float:
    """The value, if it lies strictly between 0 and 1."""
    allowed = "a number between 0 and 1, ends excluded"
    return _number(rule, parameter, value, allowed, SMALLEST, math.nextafter(1.0, 0.0))


def checked_threshold(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and not negative."""
    return _number(rule, parameter, value, "a finite number of nats, 0 or more", 0.0)


def checked_factor(rule: str, parameter: str, value: object) -> float:
    """The value, if it is finite and above 0."""
    return _number(rule, parameter, value, "a finite number above 0", SMALLEST)


def require_rows(rule: str, n_rows: float) -> None:
    """Refuse to weigh evidence against a sampling noise that is not there."""
    if math.isinf(n_rows):
        raise SettingError(
            f"{rule} weighs a gain against sampling noise, and exact information has no "
            "sampling noise: use Fixed(...), for example Fixed(1e-9)"
        )
    if not n_rows >= 1:
        raise SettingError(f"{rule}: n_rows must be 1 or more, not {n_rows!r}")


def check_rule(rule: type) -> None:
    """Have the answers of a rule checked, if it is not of tamis."""
    check_answers(
        rule,
        {
            "strengths": _strengths,
            "threshold_for": _threshold,
            "natural": _natural,
        },
    )


def _number(
    rule: str,
    parameter: str,
    value: object,
    allowed: str,
    least: float,
    most: float = sys.float_info.max,
) -> float:
    if is_number(value, least, most):
        return float(value)
    raise SettingError(f"{rule}: {parameter} must be {allowed}, not {value!r}")


def _strengths(what: str, _: object, tests: Tests, found: object) -> Floats:
    """One finite number for each test."""
    return numbers_of(what, found, (len(tests),))


def _threshold(what: str, _: object, n_tests: object, found: object) -> Floats:
    """A finite number for each number of tests, which never falls as they grow."""
    wanted = np.asarray(n_tests)
    threshold = numbers_of(what, found)
    if threshold.shape not in ((), wanted.shape):
        raise refusal(f"{what} of {n_tests!r}", found, "it must be of that shape")
    threshold = np.broadcast_to(threshold, wanted.shape)
    if (np.diff(threshold.ravel()[np.argsort(wanted, axis=None, kind="stable")]) < 0).any():
        raise refusal(f"{what} of {n_tests!r}", found, "it must not fall as tests grow in number")
    return threshold


def _natural(what: str, rule: object, strength: object, found: object) -> float:
    """One number; a probability, if that is the unit."""
    if getattr(rule, "unit", None) == "p":
        wanted = 'it must be one number from 0 to 1, as the unit is "p"'
        return number_of(f"{what} of {strength!r}", found, wanted, 0.0, 1.0)
    return number_of(f"{what} of {strength!r}", found, "it must be one number")


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

    Parameters
    ----------
    threshold : float
        The threshold in nats.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> tamis.markov_boundary(rows, "wet", rule=tamis.rules.Fixed(0.04))
    ['rain']
    """

    threshold: float

    name = "fixed"
    unit = "nats"

    def __post_init__(self) -> None:
        value = checked_threshold("Fixed", "threshold", self.threshold)
        object.__setattr__(self, "threshold", value)

    def strengths(self, tests: Tests) -> Floats:
        """The cmi itself, by the estimator of the source."""
        return tests.cmi

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """The threshold, whatever the number of tests."""
        return np.full(np.shape(n_tests), self.threshold)


@final
@dataclass(frozen=True)
class Rate(Rule):
    """The threshold rate of the paper's theorem on tuning parameters.

    omega = kappa = c (d^3 ln d)^(1/4) [(d / (n ln d))^2 + ln d / sqrt(n)]^(1/4).

    Theorem thm:tuning as printed. The theorem fixes the rate and not the constant: ``c`` is
    ours. Of 0.001 to 0.02, 0.005 came closest to the truth over small cells of the paper's
    study (version 0.2); it makes the threshold 0.018 at d = 10, n = 1000. Bound to data of
    a given size the rule becomes a ``Fixed``.

    Departure noted: the proof sets the threshold to (d^3 M)^(1/4) delta_M^(1/2), where
    delta_M^2 = (2^M / (n M))^2 + M^2 / n, so with M = ln d its second term is (ln d)^2 / n
    where the statement prints ln d / sqrt(n). Only the proof's term gives the sample size the
    theorem asks for, n of order d^3 (ln d)^3 / Delta*^4. The printed one falls more slowly, like
    n^(-1/8) and not n^(-1/4), so from n = (ln d)^2 on fewer dependences are declared. The
    statement is what is implemented.

    Promise: for some constant, and n large enough against the gaps of a network that the searches
    return from exact information, the learned graph is the true one with probability tending to 1.

    Does not hold: nothing is said about any given n. As with ``Fixed``, the false-positive
    rate depends on n and on the number of cells.

    Parameters
    ----------
    c : float
        The constant.

    Examples
    --------
    >>> import tamis
    >>> round(tamis.rules.Rate().threshold(n_rows=1000, n_variables=10), 3)
    0.018
    """

    c: float = 0.005

    name = "rate"
    unit = "nats"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_factor("Rate", "c", self.c))

    def threshold(self, n_rows: float, n_variables: int) -> float:
        """The theorem's omega = kappa, in nats; a single column counts as two (ln 1 = 0)."""
        d = max(n_variables, 2)
        log_d = math.log(d)
        bracket = (d / (n_rows * log_d)) ** 2 + log_d / math.sqrt(n_rows)
        return self.c * math.pow(d**3 * log_d * bracket, 0.25)

    def bind(self, n_rows: float, n_variables: int) -> Fixed:
        """The fixed threshold for data of this size."""
        require_rows("Rate", n_rows)
        return Fixed(self.threshold(n_rows, n_variables))

    def strengths(self, tests: Tests) -> Floats:
        """The cmi itself, by the estimator of the source."""
        return tests.cmi

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """Refused: without the size of the data there is no threshold."""
        raise SettingError(
            "Rate sets its threshold by the size of the data: "
            "call bind(n_rows, n_variables) and use the rule it returns"
        )


@final
@dataclass(frozen=True)
class BIC(Rule):
    """Dependence is a gain in log-likelihood above df ln(n) / 2, and above ln(tests) more.

    The strength n I_plugin - df ln(n) / 2 is, for large n, the log Bayes factor of dependence
    against independence (Schwarz, 1978): at 0 they are equally likely, at 3 dependence is
    twenty times as likely. The threshold ln(tests) is the prior of the extended criterion, which
    gives each candidate an equal share (Chen and Chen, 2008, gamma = 1); with one test it is
    the plain BIC.

    Promise: consistency. As n grows over fixed columns, false dependences and missed ones both
    vanish, without an alpha to choose.

    Does not hold: no false-positive rate is promised at any n. The penalty grows with the
    degrees of freedom, so with many levels or a large boundary it starves: real dependence
    goes unseen until n is large.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 20, "coin": [0, 1] * 40}
    >>> tamis.markov_boundary(rows, "wet", rule=tamis.rules.BIC())
    ['rain']
    """

    name = "bic"
    unit = "nats over the penalty"

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """This rule, if there are rows to count."""
        require_rows("BIC", n_rows)
        return self

    def strengths(self, tests: Tests) -> Floats:
        """The log-likelihood that dependence gains, less its penalty."""
        return tests.penalised()

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """ln(tests); no tests at all count as one."""
        return np.asarray(np.log(np.maximum(n_tests, 1)))


@final
@dataclass(frozen=True)
class Score(Rule):
    """A parent is taken if it raises the score of its child's family: the rule of search="auto" and
    "sequential", which ask for scores and for no tests.

    The score is a log-likelihood less the price of the table or of the parameters that a family
    needs, and less ``edge_price`` times the logarithm of the number of columns for each parent.

    Promise: consistency, and the same total for equivalent graphs.

    Does not hold: no false-positive rate is promised; it cannot take the place of a test.

    Examples
    --------
    >>> import tamis
    >>> tamis.rules.Score()
    Score()
    """

    name = "score"
    unit = "nats of score"

    def strengths(self, tests: Tests) -> Floats:
        """Scores are of families, and say nothing of tests."""
        raise SettingError("Score goes with search='auto' and 'sequential': give another rule")

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """0: the price is in the score."""
        return np.zeros(np.shape(n_tests))
