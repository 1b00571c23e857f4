"""The same rows counted in memory, in blocks of a packed file and by Dask: the same result."""

from __future__ import annotations

import dask
import dask.dataframe as dd
import pandas as pd

import tamis
from fuzz import frames
from fuzz.kind import Case, require
from tamis.tables.packed_file import pack


def engines(case: Case) -> None:
    """Learn a table in memory and elsewhere."""
    n, d = case.rng.choice((10, 40, 150)), case.rng.choice((2, 3, 4))
    made: dict[str, frames.Values] = {}
    for name in ("v1", "v2", "v3", "v4")[:d]:
        if made and case.chance(0.7):
            other = case.rng.choice(list(made.values()))
            made[name] = [one if case.chance(0.8) else case.rng.randrange(3) for one in other]
        else:
            made[name] = [case.rng.randrange(case.rng.choice((2, 3, 4))) for _ in range(n)]
    frame = pd.DataFrame({name: [f"l{one}" for one in values] for name, values in made.items()})
    search = case.rng.choice(frames.SEARCHES)
    case.tries(f"TAM({search!r}) of {frame.to_dict('list')!r}"[:3000])
    here = case.answer(lambda: tamis.TAM(search, n_jobs=1).fit(frame))
    if case.chance(0.5):
        path, target = case.folder / "rows.csv", case.folder / "rows.tamis"
        frame.to_csv(path, index=False)
        case.answer(lambda: pack(path, target, block_rows=64))
        there = case.answer(lambda: tamis.TAM(search, n_jobs=1).fit(target))
    else:
        parts = dd.from_pandas(frame, npartitions=case.rng.choice((1, 2, 5)), sort=False)
        with dask.config.set(scheduler="synchronous"):
            there = case.answer(lambda: tamis.TAM(search, n_jobs=1).fit(parts))
    require((here is None) == (there is None), f"refused in one place only: {case.refusals}")
    if here is not None and there is not None:
        require(here.result_.edges == there.result_.edges, "other edges where rows are elsewhere")
        require(here.result_.order == there.result_.order, "another order where rows are elsewhere")
