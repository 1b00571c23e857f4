"""Rows of discrete models follow their exact networks, which follow the paper's formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats
from simulated_fits import fits, mutual_information

from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.simulate.graphs import Graph, er, tree
from tamis.simulate.models import add, diamond, known, logistic, mod, tables

GRAPH = er(8, edges=11, seed=5)
N = 200_000


def combinations_of(network, k):
    """The values of the parents of a node with the row of its table."""
    levels = [network.levels[p] for p in network.parents[k]]
    for values in product(*levels):
        yield values, network.tables[k][values]


@pytest.mark.parametrize(
    "model",
    [
        mod(GRAPH, p=0.2, seed=1),
        mod(GRAPH, p=0.3, flip=True, seed=2),
        add(GRAPH, p=0.2, seed=1),
        add(GRAPH, p=0.3, flip=True, seed=2),
        logistic(GRAPH, seed=3),
        tables(GRAPH, entropy=0.4, arity=3, seed=4),
        diamond(paths=3, length=2),
    ],
    ids=["mod", "mod flipped", "add", "add flipped", "logistic", "tables", "diamond"],
)
def test_rows_follow_the_exact_network(model):
    assert fits(model.network(), model.sample(N, seed=7))


@pytest.mark.parametrize("make", [mod, add])
def test_rows_do_not_follow_a_network_that_is_slightly_off(make):
    assert not fits(make(GRAPH, p=0.205, seed=1).network(), make(GRAPH, seed=1).sample(N, seed=7))


def test_rows_do_not_follow_slightly_different_coefficients():
    model = logistic(GRAPH, seed=3)
    other = replace(model, alpha=tuple(alpha + 0.05 for alpha in model.alpha))
    assert not fits(other.network(), model.sample(N, seed=7))


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_mod_is_the_formula_of_the_paper(p):
    network = mod(GRAPH, p=p, seed=1).network()
    for k in range(8):
        for values, row in combinations_of(network, k):
            s = sum(values) % 2
            # 0**0 is 1 in Python, as in the paper.
            if_one, if_zero = (s**z * (1 - s) ** (1 - z) for z in (1, 0))
            assert row[1] == pytest.approx(p * if_one + (1 - p) * if_zero, abs=1e-15)


def test_a_source_of_mod_is_one_with_probability_1_minus_p():
    rows = mod(Graph(("a",), ((),)), p=0.2, seed=1).sample(N, seed=1)
    assert stats.binomtest(int(rows["a"].sum()), N, 0.8).pvalue > 0.01


def test_add_is_the_formula_of_the_paper():
    model = add(GRAPH, p=0.2, seed=1)
    network = model.network()
    for k in range(8):
        for values, row in combinations_of(network, k):
            expected = np.zeros(model.largest[k] + 1)
            expected[[sum(values), sum(values) + 1]] = 0.8, 0.2
            assert row.tolist() == pytest.approx(expected.tolist())


def test_the_coin_of_add_is_what_is_left_of_the_parents():
    model = add(GRAPH, seed=1)
    data = {name: column.astype(int) for name, column in model.sample(5000, seed=3).items()}
    for k, name in enumerate(GRAPH.names):
        coin = data[name] - sum(data[GRAPH.names[p]] for p in GRAPH.parents[k])
        assert set(coin.tolist()) == {0, 1}


@pytest.mark.parametrize("make", [mod, add])
def test_flipping_turns_about_half_of_the_coins(make):
    chances = make(tree(2000, seed=1), p=0.2, flip=True, seed=1).p
    assert set(chances) == {0.2, 0.8}
    assert stats.binomtest(chances.count(0.8), 2000).pvalue > 0.01
    assert set(make(tree(20, seed=1), p=0.2, seed=1).p) == {0.2}


def test_flipped_coins_are_as_uncertain():
    model = mod(GRAPH, p=0.2, flip=True, seed=1)
    rows = np.concatenate([table.reshape(-1, 2) for table in model.network().tables])
    assert stats.entropy(rows, axis=1) == pytest.approx(stats.entropy([0.2, 0.8]))


def test_logistic_is_the_formula_of_the_paper():
    model = logistic(GRAPH, coefficients=(1, 3), intercepts=(-0.5, 0.5), seed=6)
    network = model.network()
    for k in range(8):
        assert -0.5 <= model.alpha[k] <= 0.5
        assert all(1 <= abs(beta) <= 3 for beta in model.beta[k])
        for values, row in combinations_of(network, k):
            score = model.alpha[k] + sum(b * x for b, x in zip(model.beta[k], values, strict=True))
            assert row[1] == pytest.approx(1 / (1 + math.exp(-score)), rel=1e-14)
    assert {beta > 0 for betas in model.beta for beta in betas} == {True, False}


def test_the_diamond_is_the_one_that_comes_with_tamis():
    network, shipped = diamond().network(), BayesianNetwork.example("diamond")
    assert (network.names, network.parents) == (shipped.names, shipped.parents)
    for table, its in zip(network.tables, shipped.tables, strict=True):
        np.testing.assert_allclose(table, its, rtol=1e-14)


@pytest.mark.parametrize(("paths", "length"), [(2, 1), (3, 1), (5, 1), (2, 3), (3, 2)])
def test_the_paths_of_a_diamond_cancel(paths, length):
    network = diamond(paths=paths, length=length, spread=1.5, p=0.4).network()
    assert len(network.names) == paths * length + 2
    assert mutual_information(network, "Z", "Y") == pytest.approx(0, abs=1e-14)
    last = network.parents_of("Y")[0]
    assert mutual_information(network, last, "Y") > 1e-3
    assert mutual_information(network, "Z", network.names[1]) > 1e-3


def test_coefficients_that_add_up_to_zero_do_not_make_three_paths_cancel():
    model = diamond(paths=3)
    beta = (model.beta[0], (3.0,), (-6.0,), (3.0,), model.beta[4])
    network = replace(model, beta=beta).network()
    assert mutual_information(network, "Z", "Y") > 1e-3


def test_a_known_network_is_sampled_as_it_is():
    network = BayesianNetwork.example("orchard")
    model = known(network)
    assert model.network() is network
    assert model.graph.edges == tuple(
        (parent, name) for name in network.names for parent in network.parents_of(name)
    )
    codes = {
        name: [levels.index(label) for label in column]
        for (name, column), levels in zip(
            model.sample(50_000, seed=2).items(), network.levels, strict=True
        )
    }
    assert fits(network, codes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mod(GRAPH, p=0, seed=1), "p must be a number above 0 and below 1, not 0"),
        (lambda: add(GRAPH, p=1.0, seed=1), "p must be a number above 0 and below 1, not 1.0"),
        (lambda: mod(GRAPH, p="0.2", seed=1), "p must be a number above 0 and below 1, not '0.2'"),
        (lambda: mod(GRAPH, flip="yes", seed=1), "flip must be True or False, not 'yes'"),
        (
            lambda: logistic(GRAPH, coefficients=(2, 1), seed=1),
            r"coefficients must be a number above 0, or two of them .* not \(2, 1\)",
        ),
        (lambda: logistic(GRAPH, coefficients=0, seed=1), "coefficients must be a number above 0"),
        (lambda: logistic(GRAPH, intercepts=(1, 2, 3), seed=1), "intercepts must be a number, or"),
        (lambda: diamond(paths=1), "paths must be a whole number from 2 on, not 1"),
        (lambda: diamond(length=0), "length must be a whole number from 1 on, not 0"),
        (lambda: diamond(spread=0), "spread must be a number from 0.01 to 50, not 0"),
        (lambda: known(3), "network must be the path of a BIF file, the name of an example"),
        (lambda: mod(GRAPH, seed=1).sample(0, 1), "n must be a whole number from 1 on, not 0"),
        (
            lambda: mod(GRAPH, seed=1).sample(5, 1, replicate=-1),
            "replicate must be a whole number from 0 on, not -1",
        ),
    ],
)
def test_options_that_make_no_model_are_refused(make, message):
    with pytest.raises(SettingError, match=message):
        make()
