"""Files as tamis writes and reads them, small ones, made once and copied for every case."""

from __future__ import annotations

import json
import random
import shutil
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import tamis
from tamis.atomic import Journal
from tamis.studies import Plan, Row
from tamis.studies.rows import JOURNAL, STUDY
from tamis.tables.packed_file import pack

KNOWN = {
    "tiers": [["a"], ["b", "c"]],
    "forbidden": ["c -> b"],
    "required": [["a", "b"]],
    "sinks": ["c"],
}
YAML = "tiers:\n  - [a]\n  - [b, c]\nforbidden:\n  - c -> b\nsinks: [c]\n"
PLAN = Plan("small", ({"model": ["mod"], "graph": "tree"},), ("sequential",), (50,), (4,), 3)


def rows_of_levels(n: int = 60) -> dict[str, list[int]]:
    """Three columns, each depending on the one before."""
    chance = random.Random(3)
    a = [chance.randrange(2) for _ in range(n)]
    b = [one ^ (chance.random() < 0.2) for one in a]
    return {"a": a, "b": b, "c": [one + chance.randrange(2) for one in b]}


def rows_of_numbers(n: int = 50) -> dict[str, list[float]]:
    """Three columns of measurements."""
    chance = random.Random(4)
    a = [chance.gauss(0, 1) for _ in range(n)]
    b = [one + chance.gauss(0, 0.5) for one in a]
    return {"a": a, "b": b, "c": [chance.gauss(0, 1) - one for one in b]}


@cache
def levels() -> tamis.TAM:
    """A model of levels."""
    return tamis.TAM("node", n_jobs=1).fit(rows_of_levels())


@cache
def numbers() -> tamis.TAM:
    """A model of numbers, by the default search."""
    return tamis.TAM(n_jobs=1).fit(rows_of_numbers())


def make(folder: Path) -> None:
    """Fill a folder."""
    _tables(folder)
    levels().save(*(folder / f"run.{ending}" for ending in ("json", "dot", "graphml", "bif")))
    levels().save(folder / "edges.csv")
    numbers().save(folder / "numbers.json")
    (folder / "known.json").write_text(json.dumps(KNOWN))
    (folder / "known.yaml").write_text(YAML)
    _study(folder / "study")
    (folder / "plan.toml").write_text(
        '# A plan.\nmethods = ["sequential"]\nrows = [50]\nnodes = [4]\nreplications = 1\n'
        'seed = 1\n[[tables]]\nmodel = ["mod"]\ngraph = "tree"\n'
    )
    (folder / "page.md").write_text("# A page\n")
    (folder / "empty.csv").write_bytes(b"")
    (folder / "random.bin").write_bytes(random.Random(5).randbytes(300))


def _tables(folder: Path) -> None:
    of_levels = pa.table(rows_of_levels())
    pq.write_table(of_levels, folder / "table.parquet")
    _csv(folder / "table.csv", rows_of_levels())
    _csv(folder / "numbers.csv", rows_of_numbers())
    _csv(folder / "mixed.csv", {**rows_of_numbers(), "c": ["x", "y"] * 25})
    gaps = rows_of_levels(50)
    _csv(
        folder / "gaps.csv",
        {**gaps, "b": ["" if i % 7 == 0 else one for i, one in enumerate(gaps["b"])]},
    )
    pack(folder / "table.csv", folder / "table.tamis", block_rows=64)
    (folder / "parts").mkdir()
    for part in ("1", "2"):
        shutil.copy(folder / "table.csv", folder / "parts" / f"{part}.csv")


def _csv(
    path: Path, columns: dict[str, list[int]] | dict[str, list[float]] | dict[str, list[object]]
) -> None:
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n")


def _study(folder: Path) -> None:
    folder.mkdir()
    with Journal(
        folder / JOURNAL, STUDY, json.loads(json.dumps(PLAN.to_dict())), "a command"
    ) as journal:
        for replication in range(3):
            row = Row(
                model="mod", graph="tree", d=4, n=50, replication=replication, method="sequential",
                seed=1,
                status="ok", shd=replication, shd_strict=1, cpdag=1, skeleton_f1=0.5, edges_true=3,
                edges_learned=2, directions='{"none": [1, 2]}', seconds=0.1, cpu_seconds=0.1,
                time_limit=60.0, settings='{"p": 0.2}', tamis="0.2", numpy="2.0", library="tamis",
            )  # fmt: skip
            journal.add([vars(row)])
