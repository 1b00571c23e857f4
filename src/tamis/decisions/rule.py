"""When information counts as dependence: rules turn tests into strengths and set a threshold.

The rules of this file weigh nats: Fixed, Rate and BIC. Those that weigh p-values are in
``p_values``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from tamis.decisions import checks
from tamis.errors import SettingError
from tamis.information.interface import Floats, Source, Tests
from tamis.plugins import Plain, beside, parameters_of, qualified_name

if TYPE_CHECKING:
    from tamis.counting.direct import Direct

UNITS = ("nats", "p", "nats over the penalty")
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
        checks.check_rule(cls)

    def bind(self, n_rows: float, n_variables: int) -> Rule:
        """The rule for data of this size; a rule that needs rows refuses to go without."""
        return self

    def attach(self, source: Source) -> Source:
        """The source that this rule is used on, if that can answer what the rule asks; a rule that
        brings a test of its own adds it."""
        return source

    def direct(self, source: Source) -> Direct | None:
        """What answers a compiled search one question at a time, in strengths of this rule; None
        where its questions come in batches."""
        return None

    @abstractmethod
    def strengths(self, tests: Tests) -> Floats:
        """How strongly each test speaks for dependence; larger is stronger, always finite."""

    def ceilings(self, tests: Tests) -> Floats:
        """What each strength is at most; quicker than the strengths where there are very many."""
        return self.strengths(tests)

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
        value = checks.threshold("Fixed", "threshold", self.threshold)
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
    study (docs/defaults.md); it makes the threshold 0.018 at d = 10, n = 1000. Bound to data of
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
        object.__setattr__(self, "c", checks.factor("Rate", "c", self.c))

    def threshold(self, n_rows: float, n_variables: int) -> float:
        """The theorem's omega = kappa, in nats; a single column counts as two (ln 1 = 0)."""
        d = max(n_variables, 2)
        log_d = math.log(d)
        bracket = (d / (n_rows * log_d)) ** 2 + log_d / math.sqrt(n_rows)
        return self.c * math.pow(d**3 * log_d * bracket, 0.25)

    def bind(self, n_rows: float, n_variables: int) -> Fixed:
        """The fixed threshold for data of this size."""
        checks.require_rows("Rate", n_rows)
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
        checks.require_rows("BIC", n_rows)
        return self

    def strengths(self, tests: Tests) -> Floats:
        """The log-likelihood that dependence gains, less its penalty."""
        return tests.penalised()

    def threshold_for(self, n_tests: NDArray[np.int64] | int) -> Floats:
        """ln(tests); no tests at all count as one."""
        return np.asarray(np.log(np.maximum(n_tests, 1)))
