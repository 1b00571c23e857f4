"""The fitted network reaches pgmpy, and BIF readers, with names, labels and probabilities."""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hostile_tables import learned, outside, tables
from hypothesis import assume, given
from typer.testing import CliRunner

import tamis
from tamis import handover
from tamis.cli import app
from tamis.errors import SettingError
from tamis.network import BayesianNetwork, GaussianNetwork
from tamis.tables import Table, read_table

EXAMPLE = Path(__file__).parents[2] / "examples" / "sprinkler.csv"
ROWS = {"a": ["x", "y", "y", "y"] * 10, "b": [0, 1, 1, 0] * 10}


@pytest.fixture(scope="module")
def example(sprinkler):
    return sprinkler.result_


@pytest.fixture(scope="module")
def small():
    """a → b or b → a, from 40 rows."""
    result = tamis.TAM("sequential", n_jobs=1).fit(ROWS).result_
    assert len(result.edges) == 1
    return result


def of(network, name):
    return network.tables[network.names.index(name)]


# Fitting


def test_the_tables_are_counted_with_a_prior_spread_over_the_cells(small):
    root, child = small.order
    sizes = {"a": [10, 30], "b": [20, 20]}
    together = np.array([[10, 0], [10, 20]])  # a by b
    if root == "b":
        together = together.T
    for prior in (0.0, 1.0, 8.0):
        network = handover.fitted_network(small, ROWS, equivalent_sample_size=prior)
        expected = (np.array(sizes[root]) + prior / 2) / (40 + prior)
        np.testing.assert_allclose(of(network, root), expected, rtol=1e-15)
        cells = together + prior / 4
        expected = cells / cells.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(of(network, child), expected, rtol=1e-15)
    assert handover.fitted_network(small, ROWS) == handover.fitted_network(
        small, ROWS, equivalent_sample_size=1.0
    )


def test_other_orders_of_columns_and_other_columns_change_nothing(example):
    table = read_table(EXAMPLE)
    shuffled = table.select(list(reversed(range(table.n_variables))))
    wider = Table(
        (*shuffled.names, "more"),
        (*shuffled.levels, shuffled.levels[0]),
        np.vstack([shuffled.codes, shuffled.codes[:1]]),
    )
    network = handover.fitted_network(example, table)
    assert network.names == example.names
    assert handover.fitted_network(example, shuffled) == network
    assert handover.fitted_network(example, wider) == network
    assert handover.fitted_network(example, EXAMPLE) == network


def test_tables_of_numbers_are_refused_by_name_with_the_cure(tmp_path):
    rows = {f"x{k}": [(i * (k + 3) % 41) / 7 for i in range(41)] for k in range(7)}
    result = tamis.TAM(n_jobs=1).fit(rows).result_
    named = r"'x0', 'x1', 'x2', 'x3', 'x4' and 2 more\. Use model.network_, with coefficients"
    for hand_over in (
        lambda: handover.to_pyagrum(result, rows),
        lambda: handover.save(result, rows, tmp_path / "good.json", tmp_path / "x.bif"),
        lambda: handover.check_outputs([tmp_path / "x.bif"], read_table(rows, continuous=True)),
    ):
        with pytest.raises(SettingError, match=named):
            hand_over()
    assert not list(tmp_path.iterdir())
    handover.save(result, rows, tmp_path / "x.json")
    assert (tmp_path / "x.json").exists()


# pgmpy


def to_pgmpy(result, data):
    outside("pgmpy.models")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = handover.to_pgmpy(result, data)
        assert model.check_model()
    return model


@given(tables())
def test_a_model_of_pgmpy_has_the_users_names_and_labels(table):
    result = learned(table)
    model = to_pgmpy(result, table)
    assert set(model.nodes) == set(table.names)
    assert set(model.edges) == {(edge.parent, edge.child) for edge in result.edges}
    for name, labels in zip(table.names, table.levels, strict=True):
        states = model.get_cpds(name).state_names[name]
        assert [(type(one), one) for one in states] == [(type(one), one) for one in labels]
    assert BayesianNetwork.from_pgmpy(model).in_order(table.names) == handover.fitted_network(
        result, table
    )


def marginal(network, name):
    """The distribution of one variable by summing over all configurations."""
    found = np.zeros(len(network.levels[network.names.index(name)]))
    for codes in product(*(range(len(labels)) for labels in network.levels)):
        found[codes[network.names.index(name)]] += np.prod(
            [
                network.tables[k][(*(codes[p] for p in network.parents[k]), codes[k])]
                for k in range(network.n_variables)
            ]
        )
    return found


def test_pgmpy_infers_what_the_tables_say(example):
    network = handover.fitted_network(example, EXAMPLE)
    model = to_pgmpy(example, EXAMPLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inference = outside("pgmpy.inference").VariableElimination(model)
        answer = inference.query(["shoes"], show_progress=False)
    labels = network.levels[network.names.index("shoes")]
    got = [answer.get_value(shoes=label) for label in labels]
    np.testing.assert_allclose(got, marginal(network, "shoes"), rtol=1e-9)


def test_without_pgmpy_the_error_says_how_to_get_it(small, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="pgmpy")

    monkeypatch.setattr("tamis.network.conversions.import_module", absent)
    with pytest.raises(SettingError, match="not installed: pip install pgmpy"):
        handover.to_pgmpy(small, ROWS)


# pgmpy and networkx, of numbers


def lines():
    """Numbers x → y → z and a column of levels."""
    rng = np.random.default_rng(1)
    x = rng.normal(0, 2, 300)
    y = x + rng.normal(0, 1, 300)
    return {"x": x, "y y": y, 'z"': 2 - y + rng.normal(0, 1.5, 300)}


def test_a_model_of_numbers_is_linear_gaussian_in_pgmpy_too():
    rows = lines()
    model = tamis.TAM("sequential", n_jobs=1).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = outside("pgmpy.models")
        theirs = model.to_pgmpy()
        assert isinstance(theirs, models.LinearGaussianBayesianNetwork)
        assert theirs.check_model()
        assert set(theirs.nodes) == set(rows)
        assert set(theirs.edges) == set(model.graph_.edges)
        drawn = theirs.simulate(2000, seed=1)
    again = GaussianNetwork.fit(model.graph_, drawn)
    for edge in model.network_.edges:
        back = next(e for e in again.edges if (e.parent, e.child) == (edge.parent, edge.child))
        assert back.coefficients[0].value == pytest.approx(edge.coefficients[0].value, abs=0.15)


def test_networkx_carries_gains_and_coefficients_together():
    rows = lines()
    model = tamis.TAM("sequential", n_jobs=1).fit(rows)
    assert model.graph_.edges
    bare, graph = model.to_networkx(), model.to_networkx(fitted=True)
    for edge in model.network_.edges:
        carried = graph.edges[edge.parent, edge.child]
        assert carried["coefficient"] == edge.coefficients[0].value
        assert carried["gain"] == bare.edges[edge.parent, edge.child]["gain"]
        assert "coefficient" not in bare.edges[edge.parent, edge.child]
    other = tamis.TAM("sequential", n_jobs=1, knowledge={"forbidden": list(model.graph_.edges)})
    with pytest.raises(SettingError, match="that the result lacks"):
        handover.to_networkx(other.fit(rows).result_, model.network_)


# pyAgrum


@given(table=tables())
def test_a_round_trip_through_pyagrum_keeps_names_texts_of_labels_and_probabilities(table):
    result = learned(table)
    outside("pyagrum")
    assume(not any("\0" in str(one) for own in (table.names, *table.levels) for one in own))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = handover.to_pyagrum(result, table)
        back = BayesianNetwork.from_pyagrum(model).in_order(table.names)
    network = handover.fitted_network(result, table)
    assert set(back.graph.edges) == set(network.graph.edges)
    for k, name in enumerate(table.names):
        assert back.levels[k] == tuple(map(str, network.levels[k]))
        axes = [*network.parents_of(name), name]
        order = [axes.index(one) for one in (*back.parents_of(name), name)]
        np.testing.assert_array_equal(back.tables[k], network.tables[k].transpose(order))


# BIF


def texts_of(table):
    return [*table.names, *(str(label) for labels in table.levels for label in labels)]


@given(table=tables())
def test_bif_holds_everything_or_says_what_it_cannot_hold(table, tmp_path_factory):
    result = learned(table)
    path = tmp_path_factory.mktemp("bif") / "x.bif"
    bad = [text for text in texts_of(table) if set(text) & set('"\n\r')]
    if bad:
        for refuse in (
            lambda: handover.save(result, table, path),
            lambda: handover.check_outputs([path], table),
        ):
            with pytest.raises(SettingError, match="BIF cannot hold") as caught:
                refuse()
            assert any(repr(text) in str(caught.value) for text in bad)
        assert not path.exists()
        return
    handover.check_outputs([path], table)
    handover.save(result, table, path)
    back, fitted = BayesianNetwork.read(path), handover.fitted_network(result, table)
    assert back.names == table.names
    assert back.levels == tuple(tuple(map(str, labels)) for labels in table.levels)
    assert back.parents == fitted.parents
    assert [one.tolist() for one in back.tables] == [one.tolist() for one in fitted.tables]


def test_pgmpy_reads_the_example_from_bif(example, tmp_path):
    handover.save(example, EXAMPLE, tmp_path / "x.bif")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = outside("pgmpy.readwrite").BIFReader(str(tmp_path / "x.bif")).get_model()
    network = handover.fitted_network(example, EXAMPLE)
    back = BayesianNetwork.from_pgmpy(model).in_order(network.names)
    assert set(back.graph.edges) == set(network.graph.edges)
    assert back.log_likelihood(EXAMPLE) == pytest.approx(network.log_likelihood(EXAMPLE), rel=1e-12)


# Files


def test_whole_numbers_beside_categories_are_refused_as_tables_before_learning(
    tmp_path, monkeypatch
):
    """By kind they are numbers, though each value could be a level; unless all is counted."""
    rows = "vote,age\n" + "".join(f"{'yes' if i % 3 else 'no'},{20 + i % 50}\n" for i in range(300))
    (tmp_path / "rows.csv").write_text(rows)
    words = ["learn", str(tmp_path / "rows.csv"), "--quiet", "--out", str(tmp_path / "net.bif")]
    done = CliRunner().invoke(app, [*words, "--information", "counts"])
    assert done.exit_code == 0
    assert (tmp_path / "net.bif").exists()

    def not_yet(*_: object) -> None:
        raise AssertionError("it learned first")

    monkeypatch.setattr("tamis.cli.learning.learn", not_yet)
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert "numbers have none: 'age'" in refused.stderr
