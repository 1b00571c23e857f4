"""The empirical answers: what comes back from tables drawn from a network."""

from __future__ import annotations

import json

import numpy as np
import pytest
from known_networks import random_network, two_arrows
from scipy.stats import binomtest

import tamis
from tamis.identifiability import simulate
from tamis.identifiability.recovery import relearn, sampled_table, wilson
from tamis.metrics import edge_distance
from tamis.settings import Settings


def test_recovery_grows_with_the_rows_where_the_network_is_identified():
    network = tamis.BayesianNetwork.example("orchard")
    found = simulate(network, Settings(), rows=(50, 20_000), repeats=8, seed=3)
    few, many = found.points
    assert few.recovered == 0.0
    assert many.recovered >= 0.75
    assert many.distance < few.distance
    assert (few.rows, few.tables) == (50, 8)


def test_where_uncertainty_shrinks_along_an_arrow_no_number_of_rows_helps():
    network = tamis.BayesianNetwork.example("night_shift")
    (point,) = simulate(network, Settings(), rows=(30_000,), repeats=4, seed=3).points
    assert point.recovered == 0.0
    assert point.skeleton == 0.0
    assert point.distance > 0


def test_the_same_seed_draws_the_same_tables_and_another_seed_others():
    network = random_network(1, 5)[0]
    first, again, other = (
        simulate(network, Settings(), rows=(80,), repeats=6, seed=seed) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_a_point_is_the_mean_over_its_tables():
    network = random_network(1, 5)[0]
    true = set(network.graph.edges)
    (point,) = simulate(network, Settings(), rows=(80,), repeats=6, seed=7).points
    from tamis.identifiability.recovery import seed_of

    distances = [
        edge_distance(relearn(sampled_table(network, 80, seed_of(7, 80, repeat)), Settings()), true)
        for repeat in range(6)
    ]
    assert point.distance == np.mean(distances)
    assert point.recovered == distances.count(0) / 6
    assert point.low <= point.recovered <= point.high


@pytest.mark.parametrize(("successes", "trials"), [(0, 20), (20, 20), (7, 20), (1, 1)])
def test_the_interval_is_wilsons(successes, trials):
    expected = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_levels_that_do_not_occur_in_a_sample_are_left_out_of_its_table():
    rare = tamis.BayesianNetwork(
        ("a", "b"),
        (("never", "often", "rare"), ("x", "y")),
        ((), ()),
        (np.array([0.0, 1.0 - 1e-12, 1e-12]), np.array([0.5, 0.5])),
    )
    table = sampled_table(rare, 50, seed=1)
    assert table.levels == (("often",), ("x", "y"))
    assert table.codes.max() == 1


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_simulation_can_be_drawn(tmp_path, ending):
    found = simulate(two_arrows(), Settings(), rows=(50, 500), repeats=2)
    path = tmp_path / f"plot.{ending}"
    found.save_plot(str(path))
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(start)
    with pytest.raises(tamis.SettingError, match=r"\.png"):
        found.save_plot(str(tmp_path / "plot.gif"))


@pytest.mark.parametrize(
    ("learned", "true", "distance"),
    [
        ([], [], 0),
        ([("a", "b")], [("a", "b")], 0),
        ([("b", "a")], [("a", "b")], 1),
        ([("a", "b"), ("b", "c")], [("a", "b"), ("c", "b"), ("a", "c")], 2),
    ],
)
def test_the_distance_counts_added_missing_and_turned_edges_once(learned, true, distance):
    assert edge_distance(learned, true) == distance


# --- recovery checks ----------------------------------------------------------------------


def learned_model(rows: int = 4000) -> tamis.TAM:
    return tamis.TAM().fit(tamis.BayesianNetwork.example("orchard").sample(rows, seed=5))


def test_a_model_with_enough_rows_comes_back_from_its_own_data():
    model = learned_model(20_000)
    found = model.recovery_check(n_simulations=10, seed=2)
    assert found.recovered >= 0.6
    assert found.low <= found.recovered <= found.high
    assert set(found.edges) == set(model.graph_.edges)
    assert all(share >= 0.6 for share in found.edges.values())
    assert found.n_rows == 20_000
    assert found.check.identified


def test_shares_add_up_over_the_two_directions_of_an_edge():
    found = learned_model(150).recovery_check(n_simulations=12, conditions=False)
    assert found.check is None
    for edge, share in found.edges.items():
        assert 0.0 <= share + found.turned[edge] <= 1.0
    learned = set(found.edges) | {(k, p) for p, k in found.edges}
    assert not learned & set(found.others)


def test_the_fitted_network_has_the_graph_and_the_names_of_the_model():
    model = learned_model()
    network = model.recovery_check(n_simulations=1, conditions=False).network
    assert set(network.graph.edges) == set(model.graph_.edges)
    assert network.names == tuple(model.feature_names_in_)


def test_recovery_checks_repeat_with_their_seed():
    model = learned_model(200)
    first, again = (
        model.recovery_check(n_simulations=5, seed=9, conditions=False) for _ in range(2)
    )
    assert (first.recovered, first.edges, first.others) == (
        again.recovered,
        again.edges,
        again.others,
    )


# --- recovery checks of numbers --------------------------------------------------------------


def linear(n: int = 400, seed: int = 1) -> dict[str, np.ndarray]:
    """x → z ← y, whose directions all equivalent graphs share."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    return {"x": x, "y": y, "z": x + y + rng.normal(0, 0.7, n)}


def test_a_model_of_numbers_comes_back_from_its_own_data():
    model = tamis.TAM().fit(linear())
    assert set(model.graph_.edges) == {("x", "z"), ("y", "z")}
    found = model.recovery_check(8, seed=3)
    assert found.recovered >= 0.75
    assert found.check is None
    assert found.network.kind == "linear Gaussian"
    assert "drawn from a linear Gaussian network" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["check"] is None
    again = model.recovery_check(8, seed=3)
    assert (again.edges, again.turned, again.others) == (found.edges, found.turned, found.others)


def test_weak_arrows_between_numbers_do_not_come_back():
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    rows = {"x": x, "y": 0.25 * x + rng.normal(size=60)}
    model = tamis.TAM(knowledge={"required": [["x", "y"]]}).fit(rows)
    free = tamis.TAM().fit(rows)
    from tamis.identifiability.recovery import recovery_check

    table, _ = model._learned_from
    found = recovery_check(table, model.result_, free._learned_from[1], n_simulations=12)
    assert found.recovered < 0.7


def test_a_model_of_numbers_beside_levels_comes_back():
    rng = np.random.default_rng(4)
    n = 600
    g = rng.choice(["u", "v"], n)
    x = rng.normal(size=n)
    rows = {"g": g, "x": x, "y": np.where(g == "u", 2.0, -1.0) + x + rng.normal(0, 0.6, n)}
    model = tamis.TAM().fit(rows)
    found = model.recovery_check(6, seed=1)
    assert found.network.kind == "conditional Gaussian"
    joined = {edge: share + found.turned[edge] for edge, share in found.edges.items()}
    assert all(share >= 0.8 for share in joined.values())
    assert {frozenset(edge) for edge in joined} == {frozenset("gy"), frozenset("xy")}


def test_drawn_tables_keep_the_kinds_and_drop_the_levels_that_do_not_occur():
    rows = {"g": ["lo", "mid", "hi"] * 20, "x": np.linspace(0, 1, 60), "n": [1, 2, 3] * 20}
    types = {"g": ["lo", "mid", "hi"]}
    model = tamis.TAM("sequential", types=types).fit(rows)
    table, _ = model._learned_from
    kinds = dict(zip(table.names, table.kinds, strict=True))
    drawn = sampled_table(model.network_, 2, 1, kinds=kinds, told=frozenset({"g"}))
    assert drawn.kinds == ("ordinal", "number", "category")
    assert drawn.told == {0}
    assert drawn.is_continuous(1)
    assert len(drawn.levels[0]) <= 2
    assert drawn.n_rows == 2
