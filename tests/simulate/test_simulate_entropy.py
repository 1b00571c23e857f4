"""Random tables have the conditional entropy that was asked for, and every parent matters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simulated_fits import joint

from tamis.errors import SettingError
from tamis.simulate.graphs import er, tree
from tamis.simulate.models import tables
from tamis.simulate.models.networks import MOST_EVEN, with_entropy

GRAPH = er(7, edges=9, seed=8)


def row_entropies(network):
    return [stats.entropy(table, axis=-1).ravel() for table in network.tables]


@given(
    st.lists(st.integers(2, 5), min_size=7, max_size=7),
    st.floats(1e-6, MOST_EVEN),
    st.integers(0, 2**32),
)
def test_every_row_has_the_entropy_that_was_asked_for(arities, part, seed):
    wanted = part * math.log(min(arities))
    network = tables(GRAPH, entropy=wanted, arity=arities, seed=seed).network()
    assert [len(levels) for levels in network.levels] == arities
    for found in row_entropies(network):
        assert found == pytest.approx(wanted, abs=1e-9)


def test_the_conditional_entropy_of_every_node_is_the_same():
    network = tables(GRAPH, entropy=0.5, arity=2, seed=1).network()
    whole = joint(network)
    for k, given_ in enumerate(network.parents):
        others = tuple(j for j in range(7) if j not in (k, *given_))
        both = whole.sum(axis=others).ravel()
        above = whole.sum(axis=(*others, k)).ravel()
        assert stats.entropy(both) - stats.entropy(above) == pytest.approx(0.5, abs=1e-9)


def test_entropies_are_drawn_from_a_range_one_for_each_node():
    found = row_entropies(tables(tree(500, seed=1), entropy=(0.2, 0.6), seed=2).network())
    assert all(np.ptp(one) < 1e-9 for one in found)
    means = [one[0] for one in found]
    assert stats.kstest(means, stats.uniform(0.2, 0.4).cdf).pvalue > 0.01


@pytest.mark.parametrize("arity", [2, 3])
@pytest.mark.parametrize("entropy", [0.01, 0.4, 0.69])
def test_every_parent_decides_the_likeliest_level_somewhere(arity, entropy):
    for seed in range(20):
        network = tables(GRAPH, entropy=entropy, arity=arity, seed=seed).network()
        for table in network.tables:
            likeliest = table.argmax(axis=-1)
            for axis in range(likeliest.ndim):
                assert (np.diff(likeliest, axis=axis) != 0).any()


def test_a_row_keeps_its_likeliest_level_and_moves_no_further_than_it_must():
    rows = np.random.default_rng(1).dirichlet(np.ones(4), 200)
    solved = with_entropy(rows, np.full(200, 0.9))
    assert (solved.argmax(axis=1) == rows.argmax(axis=1)).all()
    np.testing.assert_allclose(stats.entropy(solved, axis=1), 0.9, atol=1e-12)
    np.testing.assert_allclose(with_entropy(solved, np.full(200, 0.9)), solved, atol=1e-9)


def test_levels_are_whole_numbers_from_0_on():
    data = tables(GRAPH, arity=[2, 3, 4, 5, 2, 3, 4], entropy=0.6, seed=1).sample(2000, seed=1)
    assert [set(column.tolist()) for column in data.values()] == [
        set(range(arity)) for arity in (2, 3, 4, 5, 2, 3, 4)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entropy": 0}, "entropy must be a number above 0, or two of them"),
        ({"entropy": math.log(2)}, "entropy must be below 0.693147, the entropy of 2 even levels"),
        ({"entropy": (0.2, 0.8)}, "entropy must be below 0.693147"),
        ({"entropy": "0.3"}, "entropy must be a number above 0, or two of them"),
        ({"arity": 1}, "arity must be a whole number from 2 on, not 1"),
        ({"arity": [2, 3]}, r"arity must be one number or one for each of 7 nodes, not \[2, 3\]"),
        ({"arity": [2] * 6 + [1]}, "every number in arity must be a whole number from 2 on"),
        ({"arity": "22"}, "arity must be a list of whole numbers from 2 on, not '22'"),
    ],
)
def test_what_no_table_can_have_is_refused(options, message):
    with pytest.raises(SettingError, match=message):
        tables(GRAPH, **options, seed=1)
