"""GES on tamis's counts against causal-learn, the package ges, and all DAGs; and its scores."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from baseline_samples import COLLIDER, N_ROWS
from hypothesis import given, settings
from hypothesis import strategies as st
from outside_ges import (
    NaiveBIC,
    RandomScore,
    all_dags,
    by_causal_learn,
    by_ges,
    discrete_codes,
    gaussian_rows,
    member_of,
)

import tamis
from tamis import BayesianNetwork
from tamis.baselines import run
from tamis.baselines.ges import GES, BDeu, DiscreteBIC, GaussianBIC, greedy_equivalence_search
from tamis.baselines.pc import grouping_quietly
from tamis.metrics import to_cpdag
from tamis.tables import read_table

SEEDS = range(50)


def table_of(codes):
    return read_table({f"v{k}": column for k, column in enumerate(codes)})


def a_dag(rng, d):
    return np.triu(rng.random((d, d)) < 0.5, 1).astype(np.int8)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_bic_it_finds_what_the_package_ges_finds(seed):
    pytest.importorskip("ges")
    codes = discrete_codes(seed)
    score = DiscreteBIC(table_of(codes))
    ref, total = by_ges(NaiveBIC(codes))
    comp = greedy_equivalence_search(score)
    np.testing.assert_array_equal(comp, ref)
    assert score.of_dag(member_of(comp)) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_bdeu_it_finds_what_causal_learn_finds(seed):
    pytest.importorskip("causallearn")
    codes = discrete_codes(1000 + seed)
    ref = by_causal_learn(codes.T.copy(), "local_score_BDeu")
    np.testing.assert_array_equal(greedy_equivalence_search(BDeu(table_of(codes))), ref)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_gaussian_bic_it_finds_what_both_find(seed):
    scores = pytest.importorskip("ges.scores")
    pytest.importorskip("causallearn")
    rows = gaussian_rows(seed)
    score = GaussianBIC(rows)
    ref, total = by_ges(scores.GaussObsL0Pen(rows))
    comp = greedy_equivalence_search(score)
    np.testing.assert_array_equal(comp, ref)
    np.testing.assert_array_equal(comp, by_causal_learn(rows, "local_score_BIC"))
    assert score.of_dag(member_of(comp)) == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("model", ["mod", "add"])
@pytest.mark.parametrize(("graph", "options"), [("er", {"edges": 20}), ("sf", {"m": 2})])
def test_with_more_columns_and_denser_graphs_it_still_agrees(graph, options, model):
    pytest.importorskip("ges")
    data = dict(tamis.simulate.draw(graph, model, n=500, d=11, p=0.2, seed=7, **options).data)
    table = read_table(data)
    ref, _ = by_ges(NaiveBIC(table.codes.astype(np.int64)))
    np.testing.assert_array_equal(greedy_equivalence_search(DiscreteBIC(table)), ref)


@pytest.mark.parametrize("seed", range(30))
def test_with_a_score_of_no_sense_and_a_dense_graph_it_agrees_too(seed):
    pytest.importorskip("ges")
    score = RandomScore(6, seed)
    ref, total = by_ges(score)
    comp = greedy_equivalence_search(score)
    np.testing.assert_array_equal(comp, ref)
    assert score.of_dag(member_of(comp)) == pytest.approx(total)


@pytest.mark.parametrize("seed", range(8))
def test_it_never_scores_above_the_best_of_all_dags(seed):
    pytest.importorskip("ges")
    codes = discrete_codes(2000 + seed, d=4)
    naive = NaiveBIC(codes)
    found = member_of(greedy_equivalence_search(DiscreteBIC(table_of(codes))))
    assert naive.full_score(np.zeros((4, 4))) <= naive.full_score(found)
    assert naive.full_score(found) <= max(map(naive.full_score, all_dags(4))) + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_with_many_rows_of_a_faithful_network_it_finds_the_true_class_and_the_best_dag(seed):
    rng = np.random.default_rng(3000 + seed)
    dag = np.triu(rng.random((4, 4)) < 0.6, 1).astype(np.int8)
    weights = dag * rng.uniform(0.7, 1.4, (4, 4)) * rng.choice([-1, 1], (4, 4))
    codes = np.zeros((4, 50_000), dtype=np.int64)
    for k in range(4):
        chance = 1 / (1 + np.exp(-(weights[:, k] @ (2 * codes - 1) + 0.3)))
        codes[k] = rng.random(codes.shape[1]) < chance
    found = greedy_equivalence_search(DiscreteBIC(table_of(codes)))
    np.testing.assert_array_equal(found, to_cpdag(dag))
    best = max(all_dags(4), key=NaiveBIC(codes).full_score)
    np.testing.assert_array_equal(found, to_cpdag(best))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=6, max_size=40),
    copied=st.integers(0, 4),
)
def test_tables_with_ties_and_copies_end_in_a_cpdag_where_no_edge_of_a_member_should_go(
    rows, copied
):
    codes = np.array([[0] * 5, [1] * 5, *rows]).T
    table = table_of([*codes, codes[copied]])
    for score in (DiscreteBIC(table), BDeu(table), GaussianBIC(table.codes.T.astype(float))):
        cpdag = greedy_equivalence_search(score)
        graph = nx.from_numpy_array(cpdag & ~cpdag.T, create_using=nx.DiGraph)
        assert nx.is_directed_acyclic_graph(graph)
        member = member_of(cpdag)
        np.testing.assert_array_equal(to_cpdag(member), cpdag)
        for x, y in np.argwhere(member).tolist():
            others = [p for p in np.flatnonzero(member[:, y]).tolist() if p != x]
            assert score.gain(x, y, others) >= -1e-5


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_an_edge_gains_the_same_whichever_way_it_points(seed):
    codes = discrete_codes(seed, n_rows=100)
    x, y, *given_columns = np.random.default_rng(seed).permutation(len(codes)).tolist()
    table = table_of(codes)
    for score in (DiscreteBIC(table), BDeu(table), GaussianBIC(codes.T.astype(float))):
        assert score.gain(x, y, given_columns) == score.gain(y, x, given_columns[::-1])


def test_the_discrete_score_of_a_dag_is_its_bic():
    data = COLLIDER.sample(N_ROWS, seed=4)
    adjacency = nx.to_numpy_array(COLLIDER.graph, dtype=np.int8)
    ref = BayesianNetwork.fit(COLLIDER.graph, data).bic(data)
    assert DiscreteBIC(read_table(data)).of_dag(adjacency) == pytest.approx(ref, rel=1e-12)


def test_a_gain_is_information_less_the_penalty_of_its_degrees_of_freedom():
    codes = np.random.default_rng(5).integers(0, [[3], [2], [4], [2]], (4, 500))
    score = DiscreteBIC(table_of(codes), penalty=1.5)

    def entropy(*columns):
        _, counts = np.unique(codes[list(columns)], axis=1, return_counts=True)
        return -(counts / 500 * np.log(counts / 500)).sum()

    information = entropy(0, 2, 3) + entropy(1, 2, 3) - entropy(0, 1, 2, 3) - entropy(2, 3)
    ref = 500 * information - 1.5 / 2 * (2 * 1 * 8) * np.log(500)
    assert score.gain(0, 1, [2, 3]) == pytest.approx(ref)


def test_many_parents_are_counted_by_the_configurations_that_occur():
    codes = np.random.default_rng(6).integers(0, 10, (21, 60))
    table = table_of(codes)
    adjacency = np.zeros((21, 21), dtype=np.int8)
    adjacency[1:, 0] = 1
    gained = DiscreteBIC(table).of_dag(adjacency) - DiscreteBIC(table).of_dag(0 * adjacency)
    # All rows differ, so the likelihood of the child is 1 and its penalty is all there is.
    first, *others = table.arities.astype(float).tolist()
    alone = NaiveBIC(codes[:1]).local_score(0, ())
    ref = -0.5 * np.prod(others) * (first - 1) * np.log(60) - alone
    assert gained == pytest.approx(ref)


@pytest.mark.parametrize("seed", range(5))
def test_bdeu_is_causal_learns_up_to_a_constant(seed):
    local = pytest.importorskip("causallearn.score.LocalScoreFunction").local_score_BDeu
    codes = discrete_codes(seed)
    rng = np.random.default_rng(seed)
    dags = [a_dag(rng, len(codes)) for _ in range(2)]
    with grouping_quietly():
        one, other = (
            sum(local(codes.T, k, np.flatnonzero(dag[:, k]).tolist()) for k in range(len(codes)))
            for dag in dags
        )
    comp = BDeu(table_of(codes))
    assert comp.of_dag(dags[0]) - comp.of_dag(dags[1]) == pytest.approx(one - other, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_gaussian_bic_is_that_of_the_package_ges(seed):
    scores = pytest.importorskip("ges.scores")
    rows = 3 + gaussian_rows(seed) * np.arange(1, 1 + gaussian_rows(seed).shape[1])
    dag = a_dag(np.random.default_rng(seed), rows.shape[1])
    ref = scores.GaussObsL0Pen(rows).full_score(dag)
    assert GaussianBIC(rows).of_dag(dag) == pytest.approx(ref, rel=1e-9)


def test_a_score_that_is_not_known_is_refused():
    with pytest.raises(tamis.SettingError, match="'bic', 'bdeu' or 'gaussian', not 'aic'"):
        GES(score="aic").learn(table_of(discrete_codes(1)), None)


def test_the_gaussian_score_refuses_labels():
    found = run(GES(score="gaussian"), {"a": ["x", "y", "x", "y"], "b": [0, 0, 1, 1]})
    assert "Column 'a' holds labels such as 'x'" in found.failure
