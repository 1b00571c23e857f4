"""The default: the class that fits best, the likeliest DAG in it, what that rests on, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tamis
from study import families
from tamis.metrics import shd
from tamis.search.default import FIRST, ORDERS, RESTS_ON
from tamis.simulate import draw

pytestmark = pytest.mark.filterwarnings("ignore::tamis.TamisWarning")


def fit(data, **asked) -> tamis.TAM:
    return tamis.TAM(n_jobs=1, **asked).fit(data)


def coins(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (d, n))


def noisy(rng: np.random.Generator, x: np.ndarray, share: float = 0.1) -> np.ndarray:
    return x ^ (rng.random(len(x)) < share)


def alarm(n: int = 5000) -> pd.DataFrame:
    """Three coins and a rare alarm that needs two of them: the alarm is the least uncertain."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, n))
    rings = rng.random(n) < np.array([0.01, 0.02, 0.2, 0.5])[a + b + c]
    return pd.DataFrame({"rings": rings.astype(int), "a": a, "b": b, "c": c})


# --- what is found ---------------------------------------------------------------------------


@pytest.mark.parametrize("d", [10, 15, 20])
def test_sums_modulo_the_levels_are_found(d):
    for graph, edges in (("tree", {}), ("er", {"edges": d})):
        for seed in range(3):
            made = draw(graph, "mod", d=d, n=1000, seed=seed, p=0.2, **edges)
            assert shd(fit(made.data).graph_, made.graph) == 0


def test_sums_over_hubs_are_read_as_numbers_and_found():
    made = draw("sf", "add", d=20, n=1000, seed=5003, p=0.2, m=2)
    model = fit(made.data)
    assert shd(model.graph_, made.graph) == 0
    assert model.result_.settings["information"] == "gaussian"
    counted = [run for run in model.ranking_ if run.information == "counts"]
    assert [run.search for run in counted] == ["the same DAG"]
    assert "not searched" in counted[0].rests_on


def test_effects_that_cancel_between_measurements_of_one_scale_are_found():
    """App. C.7, where independence misleads and equal noise does not."""
    right = 0
    for seed in range(1000, 1020):
        made = families.draw("unfaithful", nodes=4, rows=1000, seed=seed)
        right += set(fit(made.frame).graph_.edges) == set(made.graph.edges)
    assert right >= 18


def test_a_common_child_is_told_by_the_class_and_a_chain_by_nothing():
    rng = np.random.default_rng(1)
    a, b = coins(3000, 2)
    child = fit({"a": a, "b": b, "c": noisy(rng, a & b)})
    assert set(child.graph_.edges) == {("a", "c"), ("b", "c")}
    assert set(child.cpdag_.edges) == set(child.graph_.edges)
    assert all(edge.direction_probability > 0.5 for edge in child.result_.edges)
    middle = noisy(rng, a)
    chain = fit({"a": a, "m": middle, "e": noisy(rng, middle)})
    assert {frozenset(edge) for edge in chain.graph_.edges} == {frozenset("am"), frozenset("me")}
    assert {edge.warrant for edge in chain.result_.edges} == {"none"}
    assert set(chain.cpdag_.edges) == {("a", "m"), ("m", "a"), ("m", "e"), ("e", "m")}


def test_the_likelihood_overrules_the_entropies_where_they_mislead():
    true = {(coin, "rings") for coin in "abc"}
    first, model = fit(alarm(), search="sequential"), fit(alarm())
    assert set(first.graph_.edges) != true == set(model.graph_.edges)
    assert [run.search for run in model.ranking_] == [ORDERS, FIRST]
    assert [run.chosen for run in model.ranking_] == [True, False]
    assert model.ranking_[0].rests_on == RESTS_ON[ORDERS]
    assert model.ranking_[1].n_edges == first.graph_.number_of_edges()
    assert model.result_.search == ORDERS
    for edge in model.result_.edges:
        assert edge.warrant == "equivalence"
        assert edge.direction_probability >= 0.9
        assert f"{edge.parent} -> rings: same in every equivalent graph" in model.explain("rings")


@pytest.mark.parametrize(("n", "warrant"), [(200, "none"), (20_000, "entropy")])
def test_noise_entropies_that_are_equal_support_a_direction_if_rows_are_many(n, warrant):
    """Condition C3: what is rare, and what turns its copy, are equally uncertain."""
    rng = np.random.default_rng(4)
    rare = rng.random(n) < 0.1
    (edge,) = fit({"x": noisy(rng, rare), "y": rare}).result_.edges
    assert (edge.parent, edge.child, edge.warrant) == ("y", "x", warrant)
    assert edge.direction_probability > 0.5


@pytest.mark.parametrize("value", [0, 1.5], ids=["levels", "numbers"])
def test_columns_that_never_vary_take_no_part(value):
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, 200) + value * rng.normal(size=200)
    y = x + value * rng.normal(size=200)
    still = np.full(200, value)
    assert {frozenset(edge) for edge in fit({"x": x, "s": still, "y": y}).graph_.edges} == {
        frozenset("xy")
    }
    assert not fit({"x": x, "s": still}).graph_.edges
    nothing = fit({"s": still, "t": still + 1}) if not value else fit({"s": still, "x": x})
    assert not nothing.graph_.edges
    assert len(nothing.ranking_) >= 1
    assert str(nothing.explain("s"))


def test_copies_hang_together_and_nothing_says_which_came_first():
    x = np.random.default_rng(0).integers(0, 3, 200)
    model = fit({"a": x, "b": x, "c": x, "d": coins(200, 1, seed=9)[0]})
    assert model.graph_.number_of_edges() == 2
    assert {edge.warrant for edge in model.result_.edges} == {"none"}
    assert "d" not in {k for edge in model.graph_.edges for k in edge}


# --- warrants and losses -------------------------------------------------------------------


def turnable(model: tamis.TAM) -> set[tuple[str, str]]:
    """The arrows that some equivalent graph turns."""
    return {edge for edge in model.graph_.edges if edge[::-1] in model.cpdag_.edges}


@pytest.mark.parametrize("search", ["auto", "sequential", "node"])
@pytest.mark.parametrize("model", ["tables", "logistic", "mod"])
def test_the_warrant_of_an_arrow_goes_with_its_class_and_its_probability(search, model):
    seen = set()
    for seed in range(4):
        made = draw("er", model, d=7, n=(200, 3000)[seed % 2], seed=seed, edges=7)
        found = fit(made.data, search=search)
        turned = turnable(found)
        for edge in found.result_.edges:
            can_turn = (edge.parent, edge.child) in turned
            sure = edge.direction_probability >= 0.9
            assert edge.warrant == (("entropy" if can_turn else "equivalence") if sure else "none")
            assert edge.is_claimed == sure
            if search != "auto" and not can_turn:
                assert edge.direction_probability == 1.0  # nobody has asked what it would cost
            seen.add(can_turn)
    assert seen == {False, True}


# --- what is asked of it -------------------------------------------------------------------


def test_a_larger_price_of_edges_leaves_fewer():
    made = draw("er", "tables", d=8, n=300, seed=2, edges=14)
    sizes = [fit(made.data, edge_price=price).graph_.size() for price in (0, 1, 4, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] > sizes[3] == 0
