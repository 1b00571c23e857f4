"""Tests of other libraries as decision rules.

``TAM(boundary_rule=adapters.from_causal_learn("kci", frame))`` judges by causal-learn's kernel
test, ``adapters.from_pgmpy("pillai_trace", frame)`` by pgmpy's test of mixed columns. The libraries
are imported when they are asked for, and only then need to be installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tamis.decisions.p_values import CallableTest
from tamis.errors import SettingError
from tamis.information.interface import Source

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_causal_learn", "from_pgmpy"]


def from_causal_learn(
    test: str | Callable[..., float],
    data: pd.DataFrame,
    *,
    alpha: float = 0.05,
    whole_graph: bool = False,
    **options: Any,  # noqa: ANN401 - whatever the test takes
) -> CallableTest:
    """A rule that judges by a test of causal-learn.

    Parameters
    ----------
    test : str or object of causallearn.utils.cit
        The name of a test, such as "fisherz", "gsq", "chisq" or "kci", which is made with
        ``options``; or a test that was made of ``data`` already.
    data : pandas.DataFrame
        The table that is fitted: the test has its rows, and cannot judge others.
    alpha, whole_graph
        As in ``tamis.rules.PValue``.

    Returns
    -------
    CallableTest

    Examples
    --------
    >>> import numpy as np, pandas as pd, tamis
    >>> x, y = np.random.default_rng(1).normal(size=(2, 100))
    >>> frame = pd.DataFrame({"x": x, "y": x + y})
    >>> rule = tamis.adapters.from_causal_learn("fisherz", frame, alpha=0.01)
    >>> rule
    CallableTest(causallearn.utils.cit.FisherZ, alpha=0.01)
    """
    _require_frame(data)
    made: Callable[..., float]
    if isinstance(test, str):
        made = _imported("causallearn.utils.cit", "causal-learn").CIT(
            data.to_numpy(), test, **options
        )
    else:
        made = test
    return CallableTest(alpha, whole_graph, function=_ByPosition(made, data))


def from_pgmpy(
    test: str | Callable[..., Any],
    data: pd.DataFrame,
    *,
    alpha: float = 0.05,
    whole_graph: bool = False,
    **options: Any,  # noqa: ANN401 - whatever the test takes
) -> CallableTest:
    """A rule that judges by a test of pgmpy.

    Parameters
    ----------
    test : str, object of pgmpy.ci_tests or function of pgmpy.estimators.CITests
        The name of a test, such as "chi_square", "g_sq", "pearsonr" or "pillai_trace"; a test that
        was made of ``data`` already; or a function, which is called with ``options``.
    data : pandas.DataFrame
        The table that is fitted: the test has its rows, and cannot judge others.
    alpha, whole_graph
        As in ``tamis.rules.PValue``.

    Returns
    -------
    CallableTest

    Examples
    --------
    >>> import pandas as pd, tamis
    >>> frame = pd.DataFrame({"x": [0, 1] * 50, "y": [0, 0, 1, 1] * 25})
    >>> tamis.adapters.from_pgmpy("g_sq", frame)
    CallableTest(pgmpy.ci_tests.g_sq.GSq, alpha=0.05)
    """
    _require_frame(data)
    made: Callable[..., Any]
    if isinstance(test, str):
        made = _imported("pgmpy.ci_tests", "pgmpy").get_ci_test(test, data)
    else:
        made = test
    return CallableTest(alpha, whole_graph, function=_ByName(made, data, options))


def _require_frame(data: object) -> None:
    if not hasattr(data, "columns") or not hasattr(data, "to_numpy"):
        raise SettingError(
            f"data must be the pandas.DataFrame that is fitted, not {type(data).__name__}"
        )


class _OfOneTable:
    """A test that holds the rows of one table."""

    knows_rows = True

    def __init__(self, test: Callable[..., Any], data: pd.DataFrame) -> None:
        self.__wrapped__ = test
        self._n_rows = len(data)

    def _require_same_rows(self, source: Source) -> None:
        if source.n_rows != self._n_rows:
            raise SettingError(
                f"the test was made of {self._n_rows:,} rows, and the table has "
                f"{source.n_rows:,.0f}: make it of the table that is fitted"
            )


class _ByPosition(_OfOneTable):
    """causal-learn's p = test(x, y, given), by the positions of its own columns."""

    def __init__(self, test: Callable[..., float], data: pd.DataFrame) -> None:
        super().__init__(test, data)
        self.method = getattr(test, "method", None)
        self._place = {str(name): place for place, name in enumerate(data.columns)}

    def __call__(self, source: Source, x: int, y: int, given: tuple[int, ...]) -> float:
        self._require_same_rows(source)
        one, other, *rest = (_place(self._place, source.names[k]) for k in (x, y, *given))
        return float(self.__wrapped__(one, other, rest))


class _ByName(_OfOneTable):
    """pgmpy's statistic and p, in this order, by the names of the columns."""

    def __init__(
        self, test: Callable[..., Any], data: pd.DataFrame, options: dict[str, Any]
    ) -> None:
        super().__init__(test, data)
        self._data, self._options = data, options
        self._names = {str(name): name for name in data.columns}

    def __call__(self, source: Source, x: int, y: int, given: tuple[int, ...]) -> float:
        self._require_same_rows(source)
        one, other, *rest = (_place(self._names, source.names[k]) for k in (x, y, *given))
        test = self.__wrapped__
        if hasattr(test, "run_test"):
            return float(test.run_test(one, other, rest)[1])
        found = test(one, other, rest, data=self._data, boolean=False, **self._options)
        return float(found[1])


def _place(places: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - a position or a name
    if name not in places:
        raise SettingError(
            f"column {name!r} is not among those that the test was made with: "
            f"{', '.join(map(repr, places))}"
        )
    return places[name]


def _imported(module: str, package: str) -> Any:  # noqa: ANN401 - a library that may be absent
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise SettingError(f"this test needs {package}: pip install {package}") from error
