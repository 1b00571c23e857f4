"""The pieces the adapters are made of, against independent computations."""

from __future__ import annotations

import csv
import io
import tempfile

import networkx as nx
import numpy as np
import pytest
from baseline_samples import CHAIN, N_ROWS, additive

from tamis.baselines import available, run
from tamis.baselines.agrum import _csv
from tamis.baselines.linear import _order
from tamis.baselines.pc import from_endpoints
from tamis.metrics import shd
from tamis.tables import read_table


def test_the_marks_of_causal_learn_are_read_the_right_way_round():
    # 0 → 1, 1 - 2, 2 ↔ 3: the mark at j of the edge between i and j stands at [j, i].
    marks = np.zeros((4, 4), dtype=int)
    marks[0, 1], marks[1, 0] = -1, 1
    marks[1, 2], marks[2, 1] = -1, -1
    marks[2, 3], marks[3, 2] = 1, 1
    found = {(i, j) for i, j in np.argwhere(from_endpoints(marks).adjacency).tolist()}
    assert found == {(0, 1), (1, 2), (2, 1), (2, 3), (3, 2)}


@pytest.mark.parametrize("n_levels", [2, 26, 27, 700])
def test_the_file_for_pyagrum_holds_the_codes(n_levels):
    codes = np.tile(np.arange(n_levels), 4)
    table = read_table({"a": codes, "b": codes % 2})
    header, *rows = csv.reader(io.StringIO(_csv(table).decode("ascii")))
    assert header == ["c0", "c1"]
    for column, written in zip(table.codes, zip(*rows, strict=True), strict=True):
        pairs = set(zip(column.tolist(), written, strict=True))
        assert len(pairs) == len(set(column.tolist())) == len(set(written))


def test_pyagrum_leaves_no_files(tmp_path, monkeypatch):
    if not available()["miic"]:
        pytest.skip("pyagrum is not installed")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run("miic", CHAIN.sample(200, seed=1)).failure is None
    assert list(tmp_path.iterdir()) == []


def test_the_order_of_least_conditional_variance():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(6, 6)) @ rng.normal(size=(6, 80))
    covariance = np.cov(values, bias=True)
    ref, rest = [], list(range(6))
    while rest:
        design = np.column_stack([np.ones(80), *values[ref]])
        left = [
            (values[k] - design @ np.linalg.lstsq(design, values[k], rcond=None)[0]).var()
            for k in rest
        ]
        ref.append(rest.pop(int(np.argmin(left))))
    assert _order(covariance) == ref


@pytest.mark.parametrize("seed", range(3))
def test_equal_variances_find_the_additive_model(seed):
    rng = np.random.default_rng(seed)
    tree = nx.DiGraph((f"v{rng.integers(k)}", f"v{k}") for k in range(1, 30))
    tree.add_edge("v0", "v29")
    found = run("equal-variance", additive(tree, 2000, seed=seed))
    assert shd(found, tree, undirected="strict") == 0


def test_equal_variances_go_by_the_numbers_and_not_by_the_codes():
    tree = nx.DiGraph([("u", "v"), ("v", "w")])
    data = {name: 9 + values for name, values in additive(tree, N_ROWS, seed=1).items()}
    # As text "10" comes before "9".
    texts = {name: values.astype(str) for name, values in data.items()}
    assert set(run("equal-variance", texts).graph.edges) == set(tree.edges)


def test_equal_variances_refuse_what_is_no_number():
    found = run("equal-variance", {"a": ["x", "y", "x", "y"], "b": [0, 0, 1, 1]})
    assert found.graph is None
    assert "DataError: Column 'a' holds 'x', which is no number" in found.failure
    narrow = np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    assert "needs more than 5 rows, but there are 3" in run("equal-variance", narrow).failure


def test_equal_variances_survive_a_copied_column():
    rng = np.random.default_rng(9)
    values = rng.integers(0, 2, 100)
    found = run("equal-variance", {"a": values, "b": values, "c": rng.integers(0, 2, 100)})
    assert found.failure is None
    assert nx.is_directed_acyclic_graph(found.graph)
