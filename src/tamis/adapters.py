"""Tests of other libraries as decision rules.

``TAM(boundary_rule=adapters.from_causal_learn("kci", frame))`` judges by causal-learn's kernel
test, ``adapters.from_pgmpy("pillai_trace", frame)`` by pgmpy's test of mixed columns. The libraries
are imported when they are asked for, and only then need to be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.decisions.p_values import CallableTest
from tamis.errors import SettingError
from tamis.information.interface import Source
from tamis.plugins import answer_of, qualified_name
from tamis.tables.table import TableView

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
    """Make a rule that judges by a test of causal-learn.

    Parameters
    ----------
    test : str or object of causallearn.utils.cit
        The name of a test, such as "fisherz", "gsq", "chisq" or "kci", which is made with
        ``options``; or a test that was made from ``data`` already.
    data : pandas.DataFrame
        The table that is fitted: the test has its rows, and cannot judge others.
    alpha, whole_graph
        As in ``tamis.rules.PValue``.
    **options
        What the test takes besides the rows.

    Returns
    -------
    CallableTest
        For ``boundary_rule`` and ``masking_rule`` of `tamis.TAM`.

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
        make = _imported("causallearn.utils.cit", "causal-learn").CIT
        made = answer_of(f"causal-learn's {test}", lambda: make(data.to_numpy(), test, **options))
    else:
        made = test
    _require_options(made, options, _taken_by(made) if isinstance(test, str) else ())
    return CallableTest(alpha, whole_graph, function=_ByPosition(made, data, options))


def from_pgmpy(
    test: str | Callable[..., Any],
    data: pd.DataFrame,
    *,
    alpha: float = 0.05,
    whole_graph: bool = False,
    **options: Any,  # noqa: ANN401 - whatever the test takes
) -> CallableTest:
    """Make a rule that judges by a test of pgmpy.

    Parameters
    ----------
    test : str, object of pgmpy.ci_tests or function of pgmpy.estimators.CITests
        The name of a test, such as "chi_square", "g_sq", "pearsonr" or "pillai_trace", which is
        made with ``options``; a test that was made from ``data`` already; or a function, which is
        called with ``options``.
    data : pandas.DataFrame
        The table that is fitted: the test has its rows, and cannot judge others.
    alpha, whole_graph
        As in ``tamis.rules.PValue``.
    **options
        What the test takes besides the rows.

    Returns
    -------
    CallableTest
        For ``boundary_rule`` and ``masking_rule`` of `tamis.TAM`.

    Examples
    --------
    >>> import pandas as pd, tamis
    >>> frame = pd.DataFrame({"x": [0, 1] * 50, "y": [0, 0, 1, 1] * 25})
    >>> tamis.adapters.from_pgmpy("g_sq", frame)
    CallableTest(pgmpy.ci_tests.g_sq.GSq, alpha=0.05)
    """
    _require_frame(data)
    made: Any
    if isinstance(test, str):
        make = _imported("pgmpy.ci_tests", "pgmpy").get_ci_test
        made = answer_of(f"pgmpy's {test}", lambda: make(test, data))
        kind: Callable[..., Any] = type(made)
        _require_options(made, options, _named(kind))
        if options:
            made = answer_of(f"pgmpy's {test}", lambda: kind(data=data, **options))
    else:
        made = test
        _require_options(made, options, () if hasattr(made, "run_test") else _named(made))
    return CallableTest(alpha, whole_graph, function=_ByName(made, data, options))


def _require_frame(data: object) -> None:
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise SettingError(
            f"data must be the pandas.DataFrame that is fitted, not {type(data).__name__}"
        )


def _require_options(test: object, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse options that would be passed over in silence."""
    unknown = [name for name in options if name not in known]
    if unknown:
        listed = ", ".join(sorted(known)) or "none; they are given where the test is made"
        raise SettingError(
            f"{qualified_name(test)} has no option {unknown[0]!r}; of its options it names {listed}"
        )


def _taken_by(test: object) -> set[str]:
    """The options of a test of causal-learn, which hands them on to what it is made of."""
    parts = [*type(test).__mro__, *map(type, vars(test).values())]
    return {name for part in parts for name in _named(part.__init__)}  # type: ignore[misc]


def _named(function: Callable[..., Any]) -> set[str]:
    """The parameters that a function names, apart from the table and the columns."""
    try:
        known = signature(function).parameters.values()
    except ValueError:  # some functions written in C do not say
        return set()
    named = {one.name for one in known if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    return named - {"self", "X", "Y", "Z", "data", "boolean", "method_name"}


class _OfOneTable:
    """A test that holds the rows of one table; its options are public, and so recorded."""

    knows_rows = True

    def __init__(
        self, test: Callable[..., Any], data: pd.DataFrame, options: Mapping[str, Any]
    ) -> None:
        self.__wrapped__ = test
        self._data, self._options = data, options
        self._place = {str(name): place for place, name in enumerate(data.columns)}
        vars(self).update(options)
        held = getattr(test, "data", None)
        if isinstance(held, np.ndarray) and held.shape[1:] == (data.shape[1],):
            held = type(data)(held, columns=data.columns)  # causal-learn goes by position
        if isinstance(held, np.ndarray):
            raise SettingError(
                f"the test holds an array of shape {held.shape}, and data has shape {data.shape}: "
                "make the test of the table that is fitted"
            )
        if hasattr(held, "columns"):
            self._require_same("the test", held)

    def require_rows(self, table: TableView) -> None:
        """Refuse a table of other rows than those of the test."""
        self._require_same("the table", table.to_pandas())

    def _require_same(self, what: str, frame: pd.DataFrame) -> None:
        self._require_number(len(frame), what)
        for k, name in enumerate(frame.columns):
            place = self._place.get(str(name))
            if place is not None and not _alike(self._data.iloc[:, place], frame.iloc[:, k]):
                raise SettingError(
                    f"{what} and data, of which the test is made, differ in column {str(name)!r}: "
                    "make the test of the table that is fitted"
                )

    def _require_number(self, n_rows: float, what: str) -> None:
        if n_rows != len(self._data):
            raise SettingError(
                f"the test was made of {len(self._data):,} rows, and {what} has "
                f"{n_rows:,.0f}: make it of the table that is fitted"
            )

    def _places(self, source: Source, columns: Sequence[int]) -> list[int]:
        """The places of the columns of a source in the table of the test."""
        self._require_number(source.n_rows, "the table")
        return [self._place_of(source.names[k]) for k in columns]

    def _place_of(self, name: str) -> int:
        if name not in self._place:
            raise SettingError(
                f"column {name!r} is not among those that the test was made with: "
                f"{', '.join(map(repr, self._place))}"
            )
        return self._place[name]


class _ByPosition(_OfOneTable):
    """causal-learn's p = test(x, y, given), by the positions of its own columns."""

    def __init__(
        self, test: Callable[..., float], data: pd.DataFrame, options: Mapping[str, Any]
    ) -> None:
        super().__init__(test, data, options)
        self.method = getattr(test, "method", None)

    def __call__(self, source: Source, x: int, y: int, given: tuple[int, ...]) -> float:
        one, other, *rest = self._places(source, (x, y, *given))
        return float(self.__wrapped__(one, other, rest))


class _ByName(_OfOneTable):
    """pgmpy's statistic and p, in this order, by the names of the columns."""

    def __call__(self, source: Source, x: int, y: int, given: tuple[int, ...]) -> float:
        places = self._places(source, (x, y, *given))
        one, other, *rest = (self._data.columns[place] for place in places)
        test = self.__wrapped__
        if hasattr(test, "run_test"):
            return float(test.run_test(one, other, rest)[1])
        found = test(one, other, rest, data=self._data, boolean=False, **self._options)
        return float(found[1])


def _alike(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether two columns tell the same rows apart, and numbers in the same order; labels and units
    may differ, as tests have their own."""
    import pandas as pd

    if not np.array_equal(*(pd.factorize(c, use_na_sentinel=False)[0] for c in (one, other))):
        return False
    if not all(map(pd.api.types.is_numeric_dtype, (one, other))):
        return True
    return np.array_equal(one.rank(method="dense"), other.rank(method="dense"), equal_nan=True)


def _imported(module: str, package: str) -> Any:  # noqa: ANN401 - a library that may be absent
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise SettingError(f"this test needs {package}: pip install {package}") from error
