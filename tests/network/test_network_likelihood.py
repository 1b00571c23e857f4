"""The log-likelihood is the sum of the logarithms, row by row."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_networks import networks, outside

from tamis.errors import DataError
from tamis.network import BayesianNetwork
from tamis.tables import Table

pandas = pytest.importorskip("pandas")

CHAIN = BayesianNetwork(
    ["a", "b"],
    [["0", "1"], ["x", "y", "z"]],
    [(), (0,)],
    [[0.25, 0.75], [[1, 0, 0], [0, 0.5, 0.5]]],
)


def by_rows(network, codes):
    total = 0.0
    for row in codes.T:
        for k, table in enumerate(network.tables):
            p = table[tuple(row[j] for j in (*network.parents[k], k))]
            total += math.log(p) if p else -math.inf
    return total


@given(networks(), st.integers(0, 2**32))
def test_it_is_the_sum_over_rows_and_tables(network, seed):
    codes = network.sample_codes(30, seed)
    table = Table(network.names, network.levels, codes)
    assert network.log_likelihood(table) == pytest.approx(by_rows(network, codes), rel=1e-12)
    penalty = 0.5 * network.n_parameters * math.log(30)
    assert network.bic(table) == pytest.approx(by_rows(network, codes) - penalty, rel=1e-12)


def test_agrum_finds_the_same(tmp_path):
    orchard = BayesianNetwork.example("orchard")
    frame = pandas.DataFrame(orchard.sample(1000, seed=2))
    orchard.write(tmp_path / "orchard.bif")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gum = outside("pyagrum")
        model = gum.loadBN(str(tmp_path / "orchard.bif"))
        theirs = 0.0
        for _, row in frame.iterrows():
            instance = gum.Instantiation()
            for name in model.names():
                instance.add(model.variable(name))
            instance.fromdict(row.to_dict())
            theirs += math.log(model.jointProbability(instance))
    assert orchard.log_likelihood(frame) == pytest.approx(theirs, rel=1e-6)


def test_the_order_of_rows_columns_and_parents_changes_no_bit():
    orchard = BayesianNetwork.example("orchard")
    frame = pandas.DataFrame(orchard.sample(999, seed=2))
    other = frame.sample(frac=1, random_state=1)[list(reversed(frame.columns))]
    assert orchard.log_likelihood(frame) == orchard.log_likelihood(other)


def test_an_impossible_row_makes_it_minus_infinity():
    possible = {"a": ["0", "1", "1"] * 2, "b": ["x", "y", "z"] * 2}
    impossible = {"a": ["0", "1", "1"] * 2, "b": ["x", "y", "z", "y", "y", "z"]}
    assert CHAIN.log_likelihood(possible) == pytest.approx(2 * math.log(0.25 * 0.375**2))
    assert CHAIN.log_likelihood(impossible) == -math.inf
    assert CHAIN.bic(impossible) == -math.inf


def test_labels_are_matched_by_their_text_and_other_columns_ignored():
    text = {"a": ["0", "1", "1", "0"], "b": ["x", "y", "y", "x"]}
    numbers = {"extra": [1, 1, 2, 2], "b": text["b"], "a": [0, 1, 1, 0]}
    assert CHAIN.log_likelihood(numbers) == CHAIN.log_likelihood(text)


def test_levels_that_do_not_occur_do_not_shift_the_others():
    data = {"a": ["1", "1"], "b": ["z", "z"]}
    assert CHAIN.log_likelihood(data) == pytest.approx(2 * math.log(0.375))


def test_a_label_that_is_no_level_is_named():
    with pytest.raises(DataError, match=r"Column 'b' holds 'w'.*Its levels are 'x', 'y', 'z'"):
        CHAIN.log_likelihood({"a": ["0", "1"], "b": ["x", "w"]})
    wide = BayesianNetwork(["a", "b"], [range(20), ["x"]], [(), ()], [[0.05] * 20, [1]])
    with pytest.raises(DataError, match=r"holds 77, .* 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"):
        wide.log_likelihood({"a": [77, 1], "b": ["x", "x"]})


def test_no_network_fits_a_sample_better_than_the_one_fitted_to_it():
    orchard = BayesianNetwork.example("orchard")
    sample = orchard.sample(2000, seed=6)
    fitted = BayesianNetwork.fit(orchard.graph, sample)
    smoothed = BayesianNetwork.fit(orchard.graph, sample, prior=1)
    empty = BayesianNetwork.fit({name: [] for name in orchard.names}, sample)
    best = fitted.log_likelihood(sample)
    assert best > orchard.log_likelihood(sample) > empty.log_likelihood(sample)
    assert best > smoothed.log_likelihood(sample)
    # The penalty is what the full graph, which fits better still, cannot afford.
    order = [orchard.names[k] for k in orchard.order]
    full = BayesianNetwork.fit({name: order[:i] for i, name in enumerate(order)}, sample)
    assert full.log_likelihood(sample) > best
    assert fitted.bic(sample) > max(full.bic(sample), empty.bic(sample))
    assert np.isfinite(full.bic(sample))
