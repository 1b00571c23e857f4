"""Studies: a plan becomes runs, each ends in one line of a CSV, and a summary is made of them."""

from __future__ import annotations

import csv
import sys

import networkx as nx
import pytest

from study import figures
from study.__main__ import main
from study.harness import PLANS, Study, load, scores
from study.methods import Arrow, Learned

METHODS = """
import os, time
import networkx as nx
from study.methods import CannotTake, NotInstalled

def empty(frame):
    graph = nx.DiGraph()
    graph.add_nodes_from(frame.columns)
    return graph

def slow(frame):
    time.sleep(60)

def ended(frame):
    os._exit(1)

def wrong(frame):
    raise KeyError("two\\nlines")

def choosy(frame):
    raise CannotTake("numbers only")

def absent(frame):
    raise NotInstalled("pip install it")
"""


@pytest.fixture
def plan(tmp_path):
    """Writes a plan whose methods are those above, and reads it."""
    (tmp_path / "own.py").write_text(METHODS)

    def write(*methods, replications=2):
        named = [f"{tmp_path / 'own.py'}:{name}" for name in methods]
        lines = [
            f"methods = {named}", "nodes = [3]", "rows = [20, 40]", "time_limit = 3",
            f"replications = {replications}", "[quick]", "rows = [20]",
            "[[tables]]", 'family = "mod"', 'graph = "tree"',
        ]  # fmt: skip
        (tmp_path / "own.toml").write_text("\n".join(lines))
        return load(str(tmp_path / "own.toml"))

    return write


def rows_of(path):
    with path.open() as file:
        return [row | {"method": row["method"].split(":")[1]} for row in csv.DictReader(file)]


def test_every_run_is_a_line_that_says_how_it_ended(plan, tmp_path):
    path = tmp_path / "runs.csv"
    Study(plan("empty", "ended", "wrong", "choosy", "absent", replications=1), path).run(2)
    ends = {row["method"]: row["status"] for row in rows_of(path)}
    assert ends == {
        "empty": "ok",
        "ended": "failed: its process ended",
        "wrong": "failed: KeyError: 'two\\nlines'",
        "choosy": "cannot take: numbers only",
        "absent": "not installed: pip install it",
    }
    found = {(row["rows"], row["shd"]) for row in rows_of(path) if row["method"] == "empty"}
    assert found == {("20", "2"), ("40", "2")}


def test_what_runs_out_of_time_is_ended_and_not_tried_on_larger_tables(plan, tmp_path):
    path = tmp_path / "runs.csv"
    Study(plan("slow", "empty"), path).run(1)
    ends = [row["status"] for row in rows_of(path) if row["method"] == "slow"]
    assert ends == ["timeout", *["timeout: as with 20 rows"] * 3]
    assert sum(row["status"] == "ok" for row in rows_of(path)) == 4


def test_a_study_goes_on_where_it_was_ended(plan, tmp_path):
    path, asked = tmp_path / "runs.csv", plan("empty", replications=1)
    Study(asked, path).run(1)
    whole = path.read_text()
    path.write_text(whole[: whole.rindex("empty") + 3])  # killed while it wrote a line
    Study(asked, path).run(1)
    assert [(row["rows"], row["shd"]) for row in rows_of(path)] == [("20", "2"), ("40", "2")]
    before = path.read_text()
    Study(asked, path).run(1)
    assert path.read_text() == before


def test_the_small_plan_is_a_part_of_the_large_one(plan, tmp_path):
    whole = plan("empty").tables
    small = load(str(tmp_path / "own.toml"), quick=True).tables
    assert len(whole) == 4
    assert len(small) == 2
    assert set(small) < set(whole)


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.toml")))
def test_plans_that_come_with_the_study_can_be_read(name):
    assert len(load(name, quick=True).tables) < len(load(name).tables)


def test_a_plan_that_cannot_be_run_is_refused_with_the_reason(plan, tmp_path):
    plan("empty")
    path = tmp_path / "own.toml"
    with pytest.raises(ValueError, match=r"no plan 'nowhere'.*paper"):
        load("nowhere")
    path.write_text('methods = ["best"]\nrows = [1]\n[[tables]]\nfamily = "mod"')
    with pytest.raises(ValueError, match=r"no method 'best'.*default"):
        load(str(path))
    path.write_text("rows = [1]")
    with pytest.raises(ValueError, match="needs methods and tables"):
        load(str(path))


def test_scores_of_a_collider_with_one_edge_turned_and_one_too_many():
    true = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d")])
    learned = nx.DiGraph([("a", "c"), ("c", "b"), ("c", "d"), ("a", "d")])
    warrants = {"a": "entropy", "c": "none"}
    arrows = [Arrow(one, to, warrants.get(one, "none"), 0.9, None) for one, to in learned.edges]
    assert scores(Learned(learned, tuple(arrows)), true) == {
        "shd": 2, "shd_strict": 2, "cpdag": 4, "skeleton_f1": 0.857143, "edges": 4,
        "claimed": 1, "right": 1,
    }  # fmt: skip


def test_a_study_is_run_summarised_and_drawn(plan, tmp_path, monkeypatch, capsys):
    plan("empty")
    own, out = tmp_path / "own.toml", tmp_path / "out"
    own.write_text("figure = true\n" + own.read_text())
    monkeypatch.setattr(sys, "argv", ["study", str(own), "--quick", "--out", str(out)])
    main()
    assert "| 3 | 20 | 2.0 ± 0.0 (" in capsys.readouterr().out
    assert (out / "own-quick.mod.png").stat().st_size > 1000


def test_the_loops_and_layers_of_figure_1_are_those_of_the_paper(tmp_path):
    assert list(figures.figure1(tmp_path / "figure1.png")) == [
        "X1 enters, masks X2, X3", "X4 enters, masks X5", "X6 enters",
        "layer 1: X1, X4, X6", "layer 2: X2, X5", "layer 3: X3",
    ]  # fmt: skip
