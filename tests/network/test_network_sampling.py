"""Samples follow the tables, and the seed alone decides them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_networks import networks, published
from scipy import stats

from tamis.network import BayesianNetwork
from tamis.tables import read_table

pandas = pytest.importorskip("pandas")


def rearranged(network, order):
    """The same network with its variables listed otherwise, and parents backwards."""
    place = {k: i for i, k in enumerate(order)}
    tables = []
    for k in order:
        n_parents = len(network.parents[k])
        tables.append(network.tables[k].transpose(*reversed(range(n_parents)), n_parents))
    return BayesianNetwork(
        [network.names[k] for k in order],
        [network.levels[k] for k in order],
        [[place[p] for p in reversed(network.parents[k])] for k in order],
        tables,
    )


def p_value(observed, row):
    """Pearson's test of one row of counts; levels of probability 0 must not occur at all."""
    assert not observed[row == 0].any()
    possible = row > 0
    if possible.sum() < 2 or not observed.any():
        return 1.0
    return stats.chisquare(observed[possible], observed.sum() * row[possible]).pvalue


@pytest.mark.parametrize("name", ["alarm", "child", "insurance"])
def test_every_row_of_every_table_is_met_as_often_as_it_says(name):
    network = BayesianNetwork.read(published(name))
    codes = network.sample_codes(200_000, seed=20)
    p_values = []
    for k, table in enumerate(network.tables):
        family = (*network.parents[k], k)
        counts = np.zeros(table.shape, dtype=int)
        np.add.at(counts, tuple(codes[j] for j in family), 1)
        pairs = zip(
            counts.reshape(-1, table.shape[-1]), table.reshape(-1, table.shape[-1]), strict=True
        )
        # Where five are expected of every possible level, X2 is close to its law.
        p_values += [
            p_value(seen, row)
            for seen, row in pairs
            if seen.sum() * row[row > 0].min() >= 5 and row.max() < 1
        ]
    assert len(p_values) > 100
    # Under the tables the p-values are uniform, and the least of m is not far below 1 / m.
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    assert min(p_values) * len(p_values) > 0.001


def test_columns_without_common_ancestors_are_independent():
    network = BayesianNetwork(
        ["a", "b"], [[0, 1, 2], [0, 1]], [(), ()], [[0.2, 0.3, 0.5], [0.4, 0.6]]
    )
    counts = np.zeros((3, 2))
    np.add.at(counts, tuple(network.sample_codes(50_000, seed=4)), 1)
    assert stats.chi2_contingency(counts).pvalue > 0.01


@given(networks(), st.integers(0, 2**64), st.data())
def test_a_sample_does_not_depend_on_the_order_of_variables_or_parents(network, seed, data):
    order = data.draw(st.permutations(range(network.n_variables)))
    sample, other = network.sample(20, seed), rearranged(network, order).sample(20, seed)
    assert list(sample) == list(network.names)
    for name, column in sample.items():
        assert column.tolist() == other[name].tolist()


@given(networks(), st.integers(0, 2**64))
def test_an_impossible_level_is_never_drawn(network, seed):
    codes = network.sample_codes(50, seed)
    for k, table in enumerate(network.tables):
        assert (table[tuple(codes[j] for j in (*network.parents[k], k))] > 0).all()


def test_each_level_gets_its_share_of_the_unit_interval(monkeypatch):
    network = BayesianNetwork(["a"], [range(5)], [()], [[0.25, 0.0, 0.25, 0.25, 0.25]])
    uniform = np.array([0.0, 0.25 - 2.0**-53, 0.25, 0.5, 0.75, 1 - 2.0**-53])
    monkeypatch.setattr("tamis.network.sampling.uniforms", lambda *_: uniform)
    assert network.sample_codes(6, seed=0).tolist() == [[0, 0, 2, 3, 4, 4]]


def test_labels_come_in_arrays_that_tables_are_made_of():
    network = BayesianNetwork(
        ["text", "whole", "truth", "large"],
        [["yes", "a much longer label"], [-1, 7], [True, False], [-1, 2**63]],
        [()] * 4,
        [[0.5, 0.5]] * 4,
    )
    sample = network.sample(200, seed=5)
    assert [column.dtype for column in sample.values()] == [object, np.int64, np.bool_, object]
    codes = network.sample_codes(200, seed=5)
    for k, column in enumerate(sample.values()):
        assert column.tolist() == [network.levels[k][code] for code in codes[k]]
    table = read_table(sample)
    assert [set(labels) for labels in table.levels] == [set(labels) for labels in network.levels]
    assert (read_table(pandas.DataFrame(sample)).codes == table.codes).all()
    del sample["large"]  # which polars has no type for
    assert (read_table(pl.DataFrame(sample)).codes == table.codes[:3]).all()
