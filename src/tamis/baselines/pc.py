"""PC (Spirtes and Glymour 1991) and BOSS (Andrews et al., 2023) by causal-learn.

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

import random
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tamis.baselines.ges import DiscreteBIC
from tamis.baselines.interface import Learned
from tamis.errors import DataError
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


_BOSS = "causallearn.search.PermutationBased.BOSS"


@dataclass(frozen=True)
class BOSS:
    """Best order score search."""

    name: str = "boss"

    extra: ClassVar[str] = "baselines"
    modules: ClassVar[tuple[str, ...]] = (_BOSS,)
    packages: ClassVar[tuple[str, ...]] = ("causal-learn", "numpy")

    def learn(self, table: Table, seed: int | None) -> Learned:
        """The CPDAG that BOSS finds; it visits the columns in an order that ``seed`` draws."""
        require_prior(table)
        before = random.getstate()
        random.seed(0 if seed is None else seed)
        try:
            with grouping_quietly():
                found = import_module(_BOSS).boss(
                    rows_of(table), score_func="local_score_BDeu", verbose=False
                )
        finally:
            random.setstate(before)
        return from_endpoints(found.graph)


_TAIL, _ARROW = -1, 1


def rows_of(table: Table) -> NDArray[np.int64]:
    """The table as causal-learn wants it: a row a case."""
    return np.ascontiguousarray(table.codes.T, dtype=np.int64)


def from_endpoints(endpoints: NDArray[Any]) -> Learned:
    """``endpoints[j, i]`` is the mark at j of the edge between i and j: -1 tail, 1 arrowhead.

    So i → j has a tail at i, ``endpoints[i, j] == -1``, and an arrowhead at j. An edge with two
    arrowheads, which a DAG cannot have, becomes an undirected one.
    """
    head_at_column = endpoints.T == _ARROW
    undirected = (endpoints == _TAIL) & (endpoints.T == _TAIL)
    return Learned((head_at_column | undirected).astype(np.int8))


@contextmanager
def grouping_quietly() -> Iterator[None]:
    """Leave out what pandas 2 warns of for each set of one parent that BDeu counts.

    causal-learn asks for a group in the way of pandas 1 first, and in that of pandas 3 if it fails.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "When grouping with a length-1", FutureWarning)
        yield


def require_prior(table: Table) -> None:
    """Refuse what causal-learn's BDeu score has no prior for."""
    if table.n_variables < 3:
        raise DataError(
            "causal-learn's BDeu score is not defined for two columns: its prior expects one "
            "parent a column and leaves no probability for none. Use 'ges-bic'."
        )
