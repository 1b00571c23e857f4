"""PC (Spirtes and Glymour 1991) by causal-learn, with a discrete BIC test or G².

The paper ran Tetrad's PC with its discrete BIC test, "independent if the BIC falls when the
variable is added as a parent", and otherwise default settings, which it does not print. The test
``"bic"`` is that test. What differs:

- the penalty is that of BIC; Tetrad's default penalty discount has been 2, which gives sparser
  graphs (``PC(penalty=2.0)``), and Tetrad adds a prior on the number of parents;
- causal-learn looks for the skeleton in the order-independent ("stable") way, and keeps all
  separating sets of the size that first separates; Tetrad's default keeps the first set and
  removes the edge at once;
- colliders that contradict each other: those found first are kept, where Tetrad's default let
  the later ones overwrite them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from tamis.baselines.causal_learn import from_endpoints, rows_of
from tamis.baselines.graph_scores import DiscreteBIC
from tamis.baselines.interface import Learned
from tamis.tables import Table

_PC = "causallearn.search.ConstraintBased.PC"
_TESTS = "causallearn.utils.cit"
_BIC_TEST = "tamis-discrete-bic"
_KEEP_FIRST_COLLIDERS = 2


@dataclass(frozen=True)
class PC:
    """``test`` is "bic", "gsq" or "chisq", or of linear Gaussian columns "fisherz"; a test whose
    value is above ``alpha`` finds independence.

    The value of "bic" is the probability of independence by BIC at even odds, so that 0.5 is
    where the score is the same with and without the edge. ``penalty`` is for "bic" only.
    """

    name: str = "pc"
    test: str = "bic"
    alpha: float = 0.5
    penalty: float = 1.0

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_PC, _TESTS)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy")

    @property
    def takes_numbers(self) -> bool:
        """Whether continuous columns can be learned from."""
        return self.test == "fisherz"

    @property
    def needs_numbers(self) -> bool:
        """Whether labels cannot be learned from."""
        return self.test == "fisherz"

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that PC finds; nothing is random."""
        options: dict[str, Any] = {}
        if self.test == "bic":
            _register_bic_test()
            options["score"] = DiscreteBIC(table, self.penalty)
        numbers = [table.numbers(k) for k in range(table.n_variables) if self.takes_numbers]
        found = import_module(_PC).pc(
            np.column_stack(numbers) if numbers else rows_of(table),
            alpha=self.alpha,
            indep_test=_BIC_TEST if self.test == "bic" else self.test,
            uc_priority=_KEEP_FIRST_COLLIDERS,
            show_progress=False,
            **options,
        )
        return from_endpoints(found.G.graph)


def _register_bic_test() -> None:
    tests: Any = import_module(_TESTS)

    class BICTest(tests.CIT_Base):  # type: ignore[misc]  # causal-learn has no types
        """The probability of independence by BIC, in the place of a p-value."""

        def __init__(self, data: Any, score: DiscreteBIC) -> None:  # noqa: ANN401 - as above
            super().__init__(data)
            self.method = _BIC_TEST
            self.score = score

        def __call__(self, X: int, Y: int, condition_set: Iterable[int] | None = None) -> float:
            given = () if condition_set is None else condition_set
            return float(expit(-self.score.gain(int(X), int(Y), given)))

    tests.register_ci_test(_BIC_TEST, BICTest)
