"""The yardstick measures what a method finds, and compares two records table by table."""

from __future__ import annotations

import json

import networkx as nx
import pytest

from study import yardstick
from study.methods import Arrow, Learned


@pytest.fixture
def records(tmp_path):
    """Two records of two tables, the second better on one and without an answer on another."""
    common = {"true_edges": 10, "cpu": 1.0, "claimed": {"equivalence": [4, 3]}}
    first = [{"cell": "alarm 1000", "seed": s, "cpdag": 8} | common for s in (1000, 1001, 1002)]
    second = [first[0] | {"cpdag": 4, "cpu": 0.5}, first[1] | {"cpdag": 6, "cpu": 0.5}]
    second.append({"cell": "alarm 1000", "seed": 1002, "failed": "of itself"})
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, lines in zip(paths, (first, second), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return paths


def test_two_records_are_compared_table_by_table(records):
    text = list(yardstick.compare(*records))
    (cell,) = (line for line in text if line.startswith("alarm 1000"))
    assert " ".join(cell.split()[2:]) == "2 8.00 5.00 -3.00 ± 1.00 0.50 no answer: A 0, B 1"
    assert text[-1].startswith("B is better: -30.00 ± 10.00 wrong edges per 100 true ones")


def test_a_record_is_like_itself(records):
    assert "B is alike: +0.00" in list(yardstick.compare(records[0], records[0]))[-1]


def test_claims_are_counted_by_warrant_and_false_edges_are_wrong():
    true = nx.DiGraph([("a", "b"), ("c", "b")])
    found = Learned(
        nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]),
        (
            Arrow("a", "b", "equivalence", 0.99, None),
            Arrow("b", "c", "none", 0.6, None),
            Arrow("a", "c", "equivalence", 0.95, None),
        ),
    )
    counted = yardstick.claims(found, true)
    assert counted["claimed"] == {"equivalence": [2, 1]}
    assert counted["stated"] == [[0.99, 1], [0.6, 0]]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ([("a", "b")], "same"),
        ([("b", "a")], "turned"),
        ([("c", "b")], "absent"),
        ([("a", "b"), ("b", "a")], "open"),
    ],
)
def test_another_half_says_the_same_or_not(other, said):
    arrows = (Arrow("a", "b", "equivalence", 0.99, None),) if said == "same" else ()
    arrows = arrows or (Arrow(*other[0], "none", 0.6, None),)
    assert yardstick._said_of("a", "b", Learned(nx.DiGraph(other), arrows)) == said


def test_a_run_has_a_line_for_each_table_and_says_what_failed(tmp_path):
    method = tmp_path / "mine.py"
    method.write_text(
        "import numpy as np\n"
        "def learn(frame):\n"
        "    if len(frame) > 1000:\n"
        "        raise ValueError('too long')\n"
        "    return np.zeros((frame.shape[1], frame.shape[1]))\n"
    )
    chosen = [(cell, 1000) for cell in yardstick.cells() if cell.name in ("asia 1000", "asia 5000")]
    short, long = yardstick.run(f"{method}:learn", chosen, jobs=1)
    assert (short["cell"], short["edges"], short["cpdag"]) == ("asia 1000", 0, 8)
    assert long["failed"] == "ValueError: too long"


def test_quick_is_a_part_of_the_whole():
    cells = list(yardstick.cells())
    assert len({cell.name for cell in cells}) == len(cells)
    assert all(cell.quick <= cell.tables for cell in cells)
    assert sum(cell.tables for cell in cells) in range(250, 320)
    assert sum(cell.quick for cell in cells) in range(45, 60)
