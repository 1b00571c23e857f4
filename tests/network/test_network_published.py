"""The 24 networks of the bnlearn repository, read as others read them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from made_networks import published, read_by_agrum, read_by_pgmpy

from tamis.network import BayesianNetwork

# Variables, edges and free probabilities, frozen.
SIZES = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin1": (186, 273, 15622),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}
SMALL = [name for name, (_, _, parameters) in SIZES.items() if parameters < 3000]
QUICK = ["asia", "cancer", "child", "earthquake", "insurance", "sachs", "survey"]


def assert_same(network, others, tolerance):
    """Levels and parents in the same order, and so cell by cell the same state."""
    assert set(others) == set(network.names)
    for k, name in enumerate(network.names):
        states, parents, table = others[name]
        assert network.levels[k] == tuple(states)
        assert network.parents_of(name) == parents
        scaled = table / table.sum(axis=-1, keepdims=True)
        assert network.tables[k].shape == scaled.shape
        assert np.abs(network.tables[k] - scaled).max() <= tolerance


# aGrUM keeps probabilities in single precision.
@pytest.mark.parametrize("name", SIZES)
def test_a_published_network_keeps_its_size_and_is_what_agrum_reads(name, tmp_path):
    network = BayesianNetwork.read(published(name))
    found = network.n_variables, network.graph.number_of_edges(), network.n_parameters
    assert found == SIZES[name]
    if name != "child":  # whose states, such as <5, aGrUM cannot read
        (tmp_path / "plain.bif").write_bytes(gzip.decompress(published(name).read_bytes()))
        assert_same(network, read_by_agrum(tmp_path / "plain.bif"), 2e-7)


# pgmpy needs a second or more for every other one.
@pytest.mark.parametrize("name", QUICK)
def test_a_small_published_network_is_what_pgmpy_reads(name):
    others = read_by_pgmpy(gzip.decompress(published(name).read_bytes()).decode())
    assert_same(BayesianNetwork.read(published(name)), others, 1e-15)


def test_published_rows_are_rescaled_without_a_word(recwarn):
    for name in SMALL:
        for table in BayesianNetwork.read(published(name)).tables:
            np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-15)
    assert not recwarn.list
