"""Write examples/sprinkler.csv: a garden and a road in dry and rainy seasons, our own tables.

The true edges:

    season → sprinkler        season → rain
    sprinkler → lawn          rain → lawn
    rain → road               lawn → shoes
    road → traffic

Each column is drawn given its parents, and further along the arrows more is left to chance.
In nats, the entropy of a column given its parents and its entropy alone are

    season 0.42               sprinkler 0.50, 0.63      rain 0.53, 0.64
    lawn 0.73, 1.06           road 0.81, 1.04
    shoes 1.11, 1.36          traffic 1.11, 1.36

so that at every stage a column whose parents are known is less uncertain, by 0.2 nats, than
any whose parents are not: the order can be learned. Every edge carries 0.089 nats or more.

    python scripts/make_example.py [FILE]
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROWS = 2000
SEED = 20211206
FILE = Path(__file__).resolve().parent.parent / "examples" / "sprinkler.csv"


@dataclass(frozen=True)
class Column:
    """Its levels, its parents, and the chances of its levels whatever its parents are."""

    levels: tuple[str, ...]
    parents: tuple[str, ...]
    chances: dict[tuple[str, ...], tuple[float, ...]]


COLUMNS: dict[str, Column] = {
    "season": Column(("dry", "rainy"), (), {(): (0.85, 0.15)}),
    "sprinkler": Column(
        ("off", "on"),
        ("season",),
        {("dry",): (0.22, 0.78), ("rainy",): (0.88, 0.12)},
    ),
    "rain": Column(
        ("no", "yes"),
        ("season",),
        {("dry",): (0.76, 0.24), ("rainy",): (0.14, 0.86)},
    ),
    "lawn": Column(
        ("dry", "damp", "soaked"),
        ("sprinkler", "rain"),
        {
            ("off", "no"): (0.74, 0.20, 0.06),
            ("off", "yes"): (0.06, 0.22, 0.72),
            ("on", "no"): (0.18, 0.72, 0.10),
            ("on", "yes"): (0.05, 0.13, 0.82),
        },
    ),
    "road": Column(
        ("dry", "wet", "flooded"),
        ("rain",),
        {("no",): (0.70, 0.22, 0.08), ("yes",): (0.08, 0.30, 0.62)},
    ),
    "shoes": Column(
        ("clean", "damp", "muddy", "ruined"),
        ("lawn",),
        {
            ("dry",): (0.62, 0.18, 0.11, 0.09),
            ("damp",): (0.10, 0.60, 0.18, 0.12),
            ("soaked",): (0.08, 0.10, 0.34, 0.48),
        },
    ),
    "traffic": Column(
        ("free", "slow", "dense", "stopped"),
        ("road",),
        {
            ("dry",): (0.60, 0.20, 0.12, 0.08),
            ("wet",): (0.10, 0.58, 0.20, 0.12),
            ("flooded",): (0.06, 0.12, 0.32, 0.50),
        },
    ),
}
"""In the order of the arrows."""

WRITTEN = ("traffic", "shoes", "lawn", "rain", "road", "season", "sprinkler")
"""The order in the file, which gives nothing away."""

EDGES = frozenset((parent, name) for name, column in COLUMNS.items() for parent in column.parents)


def draw(rows: int, seed: int) -> list[dict[str, str]]:
    """Rows of the story; Python promises the same ones for a seed in every version."""
    chance = random.Random(seed)
    return [_row(chance) for _ in range(rows)]


def write(file: Path) -> None:
    """Write the example to a file."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, WRITTEN, lineterminator="\n")
        writer.writeheader()
        writer.writerows(draw(ROWS, SEED))


def _row(chance: random.Random) -> dict[str, str]:
    row: dict[str, str] = {}
    for name, column in COLUMNS.items():
        chances = column.chances[tuple(row[parent] for parent in column.parents)]
        row[name] = _pick(chance.random(), column.levels, chances)
    return row


def _pick(u: float, levels: Sequence[str], chances: Sequence[float]) -> str:
    for level, share in zip(levels, chances, strict=True):
        if u < share:
            return level
        u -= share
    return levels[-1]


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
