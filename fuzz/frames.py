"""Tables of every kind of container and column, and what must hold of what is learned from them."""

from __future__ import annotations

import datetime
import decimal
import math
import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import tamis
from fuzz import odd
from fuzz.kind import Case, require

ROWS = (0, 1, 2, 3, 5, 8, 20, 20, 30, 40, 40, 50, 60, 60, 80)
SEARCHES = ("auto", "auto", "sequential", "node", "layer", "sieve", "reference")
INFORMATION = (
    *("auto", "counts", "gaussian", "copula", "conditional-gaussian") * 4, "neighbours", "mixed",
    "lipschitz",
)  # fmt: skip
MISSING = ("error", "error", "drop", "level", "pairwise", "drop-anyway")

Values = list[Any]


def levels(rng: Random, n: int) -> Values:
    """Few values, of one type or of several."""
    pool: Sequence[Any] = rng.choice(
        ([0, 1], [0, 1, 2], ["x", "y"], [True, False], ["0", "1", "2"], odd.CELLS, odd.NAMES, [0],
        [1, 1.0, True],
         [0, "0"], ["a", None], [1, None, 2], [b"x", b"y"], [datetime.date(2020, 1, 1),
         datetime.date(2021, 1, 1)],
         [(1, 2), (3,)], [decimal.Decimal("0.1"), decimal.Decimal("NaN")], [2**70, 1], [0,
         math.nan], ["", " "],
         [-(2**63), 2**63 - 1], [np.float32(0.1), np.float64(0.1)], [pd.NA, 1], [pd.NaT, 0], [{},
         []])
    )  # fmt: skip
    return [rng.choice(pool) for _ in range(n)]


def numbers(rng: Random, n: int) -> Values:
    """Measured values, of every size."""
    scale = rng.choice((1, 1, 1, 1e-300, 1e-160, 1e-20, 1e8, 1e16, 1e150, 1e200, 1e308))
    centre = rng.choice((0, 0, 0, 1, 1e6, 1e13, 1e300))
    found: Values = [centre + scale * rng.gauss(0, 1) for _ in range(n)]
    if rng.random() < 0.2:
        for at in range(n):
            if rng.random() < 0.1:
                found[at] = rng.choice((math.nan, math.inf, -math.inf, None, -0.0, 5e-324, 1e308))
    return found


def wholes(rng: Random, n: int) -> Values:
    """Whole numbers with many values."""
    most = rng.choice((5, 30, 1000, 2**31, 2**53 + 9, 2**63 - 1))
    return [rng.randrange(-most if rng.random() < 0.5 else 0, most) for _ in range(n)]


def identifiers(rng: Random, n: int) -> Values:
    """A value of its own for every row."""
    make: Callable[[int], Any] = rng.choice(
        (str, int, lambda i: f"2024-01-{i % 28 + 1:02}", lambda i: datetime.datetime(2020, 1,
        1 + i % 28),
         lambda i: f"{i}%", lambda i: chr(300 + i))
    )  # fmt: skip
    return [make(i) for i in range(n)]


def columns(rng: Random) -> dict[str, Values]:
    """A table by its columns; some depend on others, are copies of them, or do not vary."""
    n, d = rng.choice(ROWS), rng.choice((0, 1, 2, 2, 2, 3, 3, 3, 4, 5))
    pool = rng.choice((("a", "b", "c", "d", "e"), ("a", "b", "c", "d", "e"), odd.NAMES))
    made: dict[str, Values] = {}
    plain = rng.random() < 0.6
    for name in rng.sample(pool, d):
        before = list(made.values())
        if before and rng.random() < 0.4:
            made[name] = _depending(rng, rng.choice(before))
        else:
            kinds = (_plain,) if plain else (levels, levels, numbers, wholes, identifiers, _plain)
            made[name] = rng.choice(kinds)(rng, n)
    if made and rng.random() < 0.03:
        made[rng.choice(list(made))].append(1)
    return made


def _plain(rng: Random, n: int) -> Values:
    if rng.random() < 0.6:
        return [rng.randrange(rng.choice((2, 3))) for _ in range(n)]
    return [rng.gauss(0, 1) for _ in range(n)]


def _depending(rng: Random, values: Values) -> Values:
    """A copy, a noisy copy, a sum with noise, or a constant."""
    act = rng.randrange(5)
    if act == 0:
        return list(values)
    if act == 1 and values:
        return [rng.choice(values) if rng.random() < 0.2 else one for one in values]
    if act == 2 and all(type(one) in (int, float) for one in values):
        return [one * 2.0 + rng.gauss(0, 0.3) for one in values]
    if act == 3 and values:
        return [values[0]] * len(values)
    return rng.sample(values, len(values))


def contained(rng: Random, made: dict[str, Values]) -> tuple[str, object]:
    """The table in a container, as far as the container takes it, and the container's name."""
    makers = [_mapping, _mapping, _pandas, _pandas, _odd_pandas, _polars, _arrow, _array, _records]
    maker = rng.choice(makers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return maker.__name__[1:], maker(rng, made)
        except KeyboardInterrupt:
            raise
        except BaseException:  # what a container does not take is not tamis's to judge
            return "mapping", made


def _mapping(rng: Random, made: dict[str, Values]) -> object:
    if rng.random() < 0.3:
        return {name: np.array(values) for name, values in made.items()}
    return made


def _pandas(rng: Random, made: dict[str, Values]) -> object:
    frame = pd.DataFrame(made)
    return frame.convert_dtypes() if rng.random() < 0.3 else frame


def _odd_pandas(rng: Random, made: dict[str, Values]) -> object:
    """With types, names or rows that are not the usual ones."""
    frame = pd.DataFrame(made)
    act = rng.randrange(8)
    if act == 0:
        return frame.astype("category")
    if act == 1:
        return frame.astype("string")
    if act == 2:
        return frame.set_axis(range(frame.shape[1]), axis=1)
    if act == 3:
        return pd.concat([frame, frame], axis=1)
    if act == 4:
        return frame.set_axis(pd.MultiIndex.from_arrays([frame.columns, frame.columns]), axis=1)
    if act == 5:
        return frame.astype(
            rng.choice(
                ("float16", "int8", "uint64", "complex128", "Int8", "Float32", "bool", "object")
            )
        )
    if act == 6:
        return frame.apply(lambda one: pd.arrays.SparseArray(one))
    return frame.set_axis([0] * len(frame))


def _polars(rng: Random, made: dict[str, Values]) -> object:
    frame = pl.DataFrame(made, strict=rng.random() < 0.5)
    act = rng.randrange(8)
    if act == 0:
        kind = rng.choice(
            (
                pl.Int128,
                pl.Float32,
                pl.Categorical,
                pl.String,
                pl.Boolean,
                pl.UInt8,
                pl.Binary,
                pl.Date,
            )
        )
        return frame.with_columns(pl.all().cast(kind, strict=False))
    if act == 1:
        return frame.lazy()
    if act == 2:
        return frame.with_columns(pl.all().cast(pl.Decimal(20, 3), strict=False))
    if act == 3:
        return frame.select(pl.all().implode())
    return frame


def _arrow(rng: Random, made: dict[str, Values]) -> object:
    table = pa.table(made)
    act = rng.randrange(5)
    if act == 0:
        return pa.table(
            [column.dictionary_encode() for column in table.columns], names=table.column_names
        )
    if act == 1:
        return pa.concat_tables([table.slice(0, 1), table.slice(1)])
    if act == 2 and table.num_columns:
        return table.append_column(table.column_names[0], table.column(0))
    return table


def _array(rng: Random, made: dict[str, Values]) -> object:
    array = np.array(list(made.values())).T
    act = rng.randrange(8)
    if act == 0:
        return array.astype(
            rng.choice(
                ("float16", "int8", "uint64", "complex128", "object", "U3", "bool", "longdouble")
            )
        )
    if act == 1:
        return np.ma.masked_array(array, rng.random() < 0.5)
    if act == 2:
        return array[..., None]
    if act == 3:
        return array.tolist()
    return array


def _records(rng: Random, made: dict[str, Values]) -> object:
    rows = [dict(zip(made, cells, strict=False)) for cells in zip(*made.values(), strict=False)]
    return rows if rng.random() < 0.7 else iter(rows)


def settings(rng: Random) -> dict[str, Any]:
    """Settings of a fit that could be right."""
    found: dict[str, Any] = {"search": rng.choice(SEARCHES), "n_jobs": rng.choice((1, 1, 1, 2))}
    if rng.random() < 0.4:
        found["information"] = rng.choice(INFORMATION)
    if rng.random() < 0.5:
        found["missing"] = rng.choice(MISSING)
    if rng.random() < 0.1:
        found["units"] = "same"
    if rng.random() < 0.1:
        found["refine"] = False
    return found


def weights(rng: Random, n: int) -> object:
    """A weight for each row, right or odd; mostly none."""
    if rng.random() < 0.85:
        return None
    act = rng.randrange(6)
    if act == 0:
        return [rng.randrange(4) for _ in range(n)]
    if act == 1:
        return np.array([rng.random() for _ in range(n)])
    if act == 2:
        return pl.Series([1] * n).cast(rng.choice((pl.Int128, pl.Decimal(10, 2), pl.String)))
    if act == 3:
        return [
            rng.choice((1, 0, -1, math.nan, math.inf, 1e308, 5e-324, None, "1")) for _ in range(n)
        ]
    if act == 4:
        return rng.choice(odd.NAMES)
    return odd.value(rng)


def _shown(table: object) -> str:
    """A table as its library shows it, if that succeeds: polars panics over dates far away."""
    try:
        return repr(table)
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return f"a {type(table).__name__} that cannot be shown"


def frame(case: Case) -> None:
    """Inspect a table, learn from it, and have the answer come back from a file."""
    rng = case.rng
    made = columns(rng)
    name, table = contained(rng, made)
    given, weighted = settings(rng), weights(rng, len(next(iter(made.values()), [])))
    with warnings.catch_warnings(action="ignore"):
        case.tries(f"{name}: {_shown(table)} of {made!r}"[:3000])
    case.tries(f"TAM({given}), sample_weight={weighted!r}"[:500])
    if case.chance(0.3):
        plan = case.answer(lambda: tamis.inspect(table))
        if plan is not None:
            str(plan)
    model = case.answer(lambda: tamis.TAM(**given).fit(table, sample_weight=weighted))
    if model is None:
        return
    kept(case, model.result_)
    if case.chance(0.3):
        follow_up(case, model, table)


def kept(case: Case, result: tamis.Result) -> None:
    """A saved result comes back as it was."""
    path = case.folder / "kept.json"
    if case.answer(lambda: tamis.save(result, path) or True) and path.exists():
        require(tamis.load(path) == result, "what was saved came back as another result")


def follow_up(case: Case, model: tamis.TAM, table: object) -> None:
    """What people ask of a model next."""
    calls: list[Callable[[], object]] = [
        lambda: str(model.result_.answer()),
        lambda: [str(model.explain(name)) for name in model.result_.names],
        lambda: model.network_,
        lambda: model.score(table),
        lambda: model.report(case.folder / "page.html"),
        lambda: model.save(case.folder / "x.dot", case.folder / "x.graphml", case.folder / "x.csv"),
        lambda: model.save(case.folder / "x.bif"),
        lambda: model.bootstrap(2),
        lambda: model.recovery_check(1),
        lambda: model.to_networkx(fitted=True),
        lambda: model.result_.with_edges(
            table, turn=[(one.parent, one.child) for one in model.result_.edges[:1]]
        ),
        lambda: model.forecast(table),
        lambda: tamis.discretize(table),
    ]
    at = case.rng.randrange(len(calls))
    case.tries(f"follow-up {at}")
    case.answer(calls[at])
