"""All methods on one table: what each found, or the sentence that says why it found nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from odd_baselines import Odd, Quitter, Raiser, Sleeper
from typer.testing import CliRunner

import tamis
from tamis.baselines.comparing import METHODS, cannot_take, find_method, part_of, read
from tamis.baselines.running import BASELINES, read_request, write_request
from tamis.cli import app
from tamis.counting.compiled import uncompiled
from tamis.errors import SettingError


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    a = rng.integers(0, 2, 400)
    b = a ^ (rng.random(400) < 0.15)
    return pd.DataFrame({"a": a, "b": b, "c": b ^ (rng.random(400) < 0.15)})


def labelled(values):
    return np.where(values > 0, "yes", "no")


def test_tamis_is_compared_by_what_its_model_learns(frame):
    found = tamis.compare(frame, methods=["tamis", "sequential"], limit=60)
    for name, search in (("tamis", "auto"), ("sequential", "sequential")):
        expected = tamis.TAM(search).fit(frame).graph_
        assert found.entry(name).arrows == set(expected.edges)
        assert found.entry(name).seconds > 0
    assert found.table == "400 rows, 3 columns"


def test_baselines_are_compared_by_what_they_learn(frame):
    found = tamis.compare(frame, methods=["hill-climbing", "equal-variance"], truth={
        "a": [], "b": ["a"], "c": ["b"],
    })  # fmt: skip
    for name in ("hill-climbing", "equal-variance"):
        graph = tamis.baselines.run(name, frame).graph
        entry = found.entry(name)
        both = entry.arrows | entry.undirected | {(b, a) for a, b in entry.undirected}
        assert both == set(graph.edges)
        distance = tamis.metrics.shd(graph, found.truth.matrix(("a", "b", "c")))
        assert found.to_truth[name].shd == distance


def test_missing_values_go_to_the_methods_that_take_them():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": labelled(a), "b": labelled(a ^ (rng.random(300) < 0.1))})
    frame.loc[:9, "b"] = None
    found = tamis.compare(frame, methods=["tamis", "tabu"], missing="pairwise")
    assert found.entry("tamis").n_edges == 1
    assert found.entry("tabu").problem == (
        "takes no missing values, and column 'b' has some: use missing='drop'"
    )
    with pytest.warns(tamis.TamisWarning, match="left out 10 of 300 rows"):
        dropped = tamis.compare(frame, methods=["tabu"], missing="drop")
    assert dropped.entry("tabu").n_edges == 1


def test_numbers_and_labels_go_to_the_methods_that_take_them():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    mixed = read(pd.DataFrame({"x": x, "g": labelled(x)}), None, "error")
    numbers = read(pd.DataFrame({"x": x, "y": x + rng.normal(size=200)}), None, "error")
    assert "takes levels only, and column 'x' holds numbers" in cannot_take(
        find_method("pc"), mixed
    )
    for name in ("flop", "equal-variance"):
        assert cannot_take(find_method(name), mixed) == (
            "takes numbers only, and column 'g' holds labels such as 'no'"
        )
        assert cannot_take(find_method(name), numbers) is None
    assert cannot_take(find_method("tamis"), mixed) is None


def test_a_table_comes_to_the_other_process_as_it_was(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "x": rng.normal(size=50), "g": labelled(rng.normal(size=50)), "k": rng.integers(0, 3, 50),
    })  # fmt: skip
    frame.loc[:4, "x"] = np.nan
    frame.loc[5:6, "g"] = None
    table = read(frame, {"k": "ordinal"}, "pairwise")
    write_request(tmp_path, find_method("tamis", "pairwise"), table, 3)
    method, again, seed = read_request(tmp_path)
    assert (method, seed) == (find_method("tamis", "pairwise"), 3)
    for name in ("names", "levels", "kinds", "told"):
        assert getattr(again, name) == getattr(table, name)
    assert np.array_equal(again.codes, table.codes)
    for name in ("continuous", "missing"):
        mine, theirs = getattr(table, name), getattr(again, name)
        assert mine.keys() == theirs.keys()
        assert all(np.array_equal(mine[k], theirs[k], equal_nan=True) for k in mine)


def test_a_part_of_a_table_has_all_kinds_of_its_columns():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"g{k}": labelled(rng.normal(size=900)) for k in range(40)})
    frame = frame.assign(x=rng.normal(size=900), o=rng.choice(["s", "m"], 900))
    table = read(frame, {"o": ["s", "m"]}, "error")
    part = part_of(table)
    assert set(part.kinds) == set(table.kinds) == {"category", "number", "ordinal"}
    assert part.n_rows == 800
    assert part.n_variables <= 24


def test_what_prepares_tamis_leaves_its_ways_and_says_nothing(frame):
    before = uncompiled.spent
    method = find_method("sequential")
    method.prepare(read(frame, None, "error"))
    with pytest.warns(tamis.TamisWarning, match="Constant columns"):
        constant = read(pd.DataFrame({"a": [1] * 9, "b": [1] * 9}), None, "error")
    method.prepare(constant)
    assert uncompiled.spent == before


def test_methods_that_fail_or_run_out_of_time_are_rows_that_say_so(frame, tmp_path):
    methods = [Raiser(), Quitter(), Sleeper(diary=str(tmp_path / "diary")), Odd()]
    named = [type(one)(**{**vars(one), "name": type(one).__name__}) for one in methods]
    found = tamis.compare(frame, methods=named, limit=1.5)
    problems = [entry.problem for entry in found.entries]
    assert problems[0].startswith("failed: ArithmeticError: ('a', 'b', 'c')")
    assert "ended with exit code 3" in problems[1]
    assert problems[2] == "stopped after 1.5 seconds, its limit"
    assert problems[3] is None
    assert found.entry("Odd").n_edges == 0
    assert len(found.rows()) == 4


def test_a_missing_library_is_a_row_that_names_the_extra(frame, monkeypatch):
    monkeypatch.setattr("tamis.baselines.running.find_spec", lambda name: None)
    found = tamis.compare(frame, methods=["tabu", "equal-variance"])
    assert found.entry("tabu").problem == (
        "needs pyagrum, which is not installed: pip install 'tamis[baselines]'"
    )
    assert found.entry("equal-variance").has_graph


def test_without_names_all_methods_are_run(frame, monkeypatch):
    monkeypatch.setattr(
        "tamis.baselines.comparing.entry_of",
        lambda method, table, limit: tamis.comparison.Compared(method.name, problem=f"{limit}"),
    )
    heard = []
    found = tamis.compare(frame, progress=lambda *told: heard.append(told))
    assert [entry.name for entry in found.entries] == list(METHODS)
    assert set(METHODS) == {"tamis", "sequential", *BASELINES}
    assert {entry.problem for entry in found.entries} == {"60.0"}
    assert heard == [(name, k, len(METHODS)) for k, name in enumerate(METHODS)]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"methods": ["nope"]}, "there is no method 'nope'; there are tamis, sequential, pc"),
        ({"methods": []}, "name at least one method"),
        ({"limit": 0}, "limit must be a number of seconds above 0"),
        ({"missing": "huh"}, "missing must be one of"),
        ({"progress": 3}, "progress"),
    ],
)
def test_what_cannot_be_run_is_refused(frame, options, why):
    with pytest.raises(SettingError, match=why):
        tamis.compare(frame, **{"methods": ["sequential"], **options})


def test_graphs_and_tables_are_told_apart(frame):
    model = tamis.TAM("sequential").fit(frame)
    assert tamis.compare(model, truth=model).to_truth["TAM"].shd == 0
    with pytest.raises(SettingError, match="nothing to be compared with"):
        tamis.compare(model.result_)
    with pytest.raises(SettingError, match="needs a table, or graphs"):
        tamis.compare()
    with pytest.raises(SettingError, match="types is for methods that learn from one table"):
        tamis.compare(model, model, types={"a": "category"})


def test_the_help_names_every_method():
    shown = CliRunner().invoke(app, ["compare", "--help"], env={"COLUMNS": "100"}).stdout
    unbroken = re.sub(r"-\n\s+", "-", shown)
    words = set(re.findall(r"[\w-]+", unbroken))
    assert set(METHODS) <= words


def test_methods_without_a_graph_are_not_counted_as_compared_and_share_their_reason(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    x = np.random.default_rng(2).normal(size=200)
    pd.DataFrame({"x": x, "g": labelled(x)}).to_csv("t.csv", index=False)
    done = CliRunner().invoke(app, ["compare", "t.csv", "--methods", "sequential,tabu,boss"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("t.csv: 200 rows, 2 columns; 1 of 3 methods compared\n")
    why = "takes levels only, and column 'x' holds numbers: cut them with tamis.discretize"
    assert f"- tabu, boss: each {why}" in " ".join(done.stdout.split())


def test_the_command_compares_methods_with_the_truth_in_80_columns(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    frame.assign(free="z").to_csv("t.csv", index=False)
    (tmp_path / "truth.csv").write_text("parent,child\na,b\nb,c\n")
    arguments = ["t.csv", "--drop", "free", "--methods", "tabu,flop,sequential,pc"]
    arguments += ["--truth", "truth.csv", "--out", "c.json", "--plot", "c.svg"]
    done = CliRunner().invoke(app, ["compare", *arguments])
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[0].startswith("t.csv: 400 rows, 3 columns; 4 methods compared with the truth,")
    assert max(map(len, lines)) <= 80
    assert {
        "Methods, nearest to the truth first",
        "Distances to each other, SHD between CPDAGs",
    } <= {*lines}
    assert (tmp_path / "c.svg").exists()
