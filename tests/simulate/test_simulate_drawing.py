"""The front door: one seed decides everything, and the settings give it again."""

from __future__ import annotations

import hashlib
import json

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.simulate import MODELS, Graph, draw

WAYS = {
    "tree mod": {"graph": "tree", "model": "mod", "d": 12, "flip": True},
    "er add": {"graph": "er", "model": "add", "d": 10, "edges": 12, "p": 0.3},
    "sf tables": {"graph": "sf", "model": "tables", "d": 10, "m": 2, "arity": 3},
    "chain logistic": {"graph": "chain", "model": "logistic", "d": 8},
    "layered gaussian": {"graph": "layered", "model": "gaussian", "widths": (2, 3)},
    "forest nonlinear": {"graph": "polyforest", "model": "nonlinear", "d": 9, "components": 3},
    "diamond": {"model": "diamond", "paths": 3},
    "unfaithful": {"model": "unfaithful"},
    "example": {"network": "orchard"},
    "network": {"network": BayesianNetwork(["a", "b"], [[0, 1]] * 2, [(), (0,)], [
        [0.4, 0.6], [[0.1, 0.9], [0.8, 0.2]],
    ])},
    "own graph": {"graph": nx.DiGraph([("x", "y"), ("z", "y")]), "model": "mod"},
}  # fmt: skip


def checksum(simulated):
    digest = hashlib.sha256(repr(sorted(simulated.graph.edges)).encode())
    for name, column in simulated.data.items():
        digest.update(name.encode())
        values = column.astype(str) if column.dtype == object else column
        digest.update(values.tobytes())
    return digest.hexdigest()[:12]


@pytest.mark.parametrize("way", WAYS)
def test_the_settings_survive_json_and_draw_the_same_again(way):
    simulated = draw(**WAYS[way], n=50, seed=3, replicate=2)
    again = draw(**json.loads(json.dumps(simulated.settings)))
    assert checksum(again) == checksum(simulated)
    assert again.settings == simulated.settings
    assert again.network == simulated.network


@pytest.mark.parametrize("way", WAYS)
def test_a_longer_sample_begins_like_a_shorter_one(way):
    short, long = draw(**WAYS[way], n=40, seed=3), draw(**WAYS[way], n=300, seed=3)
    for name, column in short.data.items():
        assert column.tolist() == long.data[name][:40].tolist()


@pytest.mark.parametrize("way", WAYS)
def test_replicates_differ_in_nothing_but_noise(way):
    one, other = draw(**WAYS[way], n=60, seed=3), draw(**WAYS[way], n=60, seed=3, replicate=1)
    assert one.model == other.model
    assert checksum(one) != checksum(other)


def test_the_graph_depends_on_the_seed_alone_and_not_on_the_model():
    graphs = {
        tuple(sorted(draw("er", model, d=15, edges=20, n=10, seed=4).graph.edges))
        for model in MODELS
    }
    assert len(graphs) == 1
    other = draw("er", "mod", d=15, edges=20, n=10, seed=5).graph
    assert tuple(sorted(other.edges)) not in graphs


def test_unjoined_columns_are_independent():
    data = draw("er", "mod", d=6, edges=0, p=0.4, n=20_000, seed=1).data
    columns = list(data.values())
    p_values = [
        stats.chi2_contingency(np.histogram2d(columns[i], columns[j], bins=2)[0]).pvalue
        for i in range(6)
        for j in range(i)
    ]
    assert min(p_values) * len(p_values) > 0.01


def test_what_is_drawn_is_known():
    simulated = draw("tree", "mod", d=10, n=25, seed=1)
    assert list(simulated.data) == [f"v{k:02d}" for k in range(1, 11)]
    assert {len(column) for column in simulated.data.values()} == {25}
    assert isinstance(simulated.network, BayesianNetwork)
    assert set(simulated.network.graph.edges) == set(simulated.graph.edges)
    assert nx.is_frozen(simulated.graph)
    assert repr(simulated) == "<Simulated: 25 rows of <Graph: 10 nodes, 9 edges>>"
    assert simulated.settings == {
        "graph": "tree", "d": 10, "directions": "coins", "model": "mod", "p": 0.2, "flip": False,
        "n": 25, "seed": 1, "replicate": 0,
    }  # fmt: skip


def test_a_network_is_read_from_its_file(tmp_path):
    BayesianNetwork.example("m1").write(tmp_path / "m1.bif")
    simulated = draw(network=tmp_path / "m1.bif", n=20, seed=1)
    assert simulated.settings["network"] == str(tmp_path / "m1.bif")
    by_name = draw(network="m1", n=20, seed=1)
    assert checksum(simulated) == checksum(by_name)


def test_a_graph_value_and_numpy_numbers_are_taken():
    graph = Graph(("a", "b"), ((), (0,)))
    simulated = draw(graph, "add", n=np.int64(5), seed=np.uint8(1), p=np.float64(0.25))
    assert simulated.settings["p"] == 0.25
    assert json.dumps(simulated.settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "mod", "d": 5}, "graph must be given: one of tree, er, sf, chain, layered"),
        ({"graph": "tree", "d": 5}, "model must be given: one of mod, add, tables, logistic"),
        (
            {"graph": "tre", "model": "mod"},
            "graph must be one of .* not 'tre'; did you mean 'tree'",
        ),
        ({"graph": "tree", "model": "mode", "d": 5}, "not 'mode'; did you mean 'mod'"),
        ({"graph": 7, "model": "mod"}, "graph must be one of .*, or a networkx.DiGraph, not 7"),
        ({"graph": "tree", "model": "mod"}, "d must be given for tree"),
        ({"graph": "er", "model": "mod", "d": 5}, "edges must be given for er"),
        (
            {"graph": "tree", "model": "mod", "d": 5, "edges": 4},
            r"there is no option 'edges' here \(tree has d, directions; mod has p, flip\)",
        ),
        (
            {"graph": "tree", "model": "tables", "d": 5, "entropi": 0.2},
            "there is no option 'entropi' here; did you mean 'entropy'",
        ),
        ({"graph": "layered", "model": "mod", "widths": [2], "d": 2}, "no option 'd' here"),
        (
            {"graph": nx.DiGraph([("a", "b")]), "model": "mod", "d": 2},
            r"there is no option 'd' here \(mod has p, flip\)",
        ),
        (
            {"graph": "tree", "model": "unfaithful"},
            "graph must be left out: unfaithful has its own",
        ),
        ({"model": "unfaithful", "p": 0.2}, r"there is no option 'p' here \(unfaithful has none\)"),
        (
            {"network": "m1", "model": "mod", "d": 5},
            "a network is graph and model at once: leave out model, d",
        ),
        ({"network": "m1", "n": 0}, "n must be a whole number from 1 on, not 0"),
        ({"network": "m1", "seed": -1}, "seed must be a whole number from 0 on"),
        ({"network": "m1", "replicate": 0.5}, "replicate must be a whole number from 0 on"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        draw(**{"n": 10, "seed": 1, **options})
