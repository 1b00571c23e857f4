"""A search does the same on exact inference as on the whole joint table."""

import known
import numpy as np
import pytest

from tamis.information.exact import ExactInformation, JointInformation
from tamis.rules import Fixed
from tamis.search.layered import run
from tamis.settings import Settings

TINY = 1e-9
"""Exact gains are 0 or above; anything above this is dependence."""


def learned(information, search, boundary):
    backward = "none" if boundary == "pps" else "together"
    how = Settings(search, Fixed(TINY), Fixed(TINY), boundary=boundary, backward=backward)
    outcome = run(information, how)
    return outcome.layers, {k: b.members for k, b in outcome.boundaries.items()}, outcome


@pytest.mark.parametrize("boundary", ["pps", "none"])
@pytest.mark.parametrize("search", ["node", "layer", "sequential"])
def test_layers_boundaries_and_reasons_are_the_same(search, boundary):
    edges = 0
    for seed in range(8):
        network = known.random_network(seed, d=6, arities=(2, 3), zeros=(0.0,))
        layers, members, outcome = learned(ExactInformation(*network), search, boundary)
        same = learned(JointInformation.from_network(*network), search, boundary)
        assert (layers, members) == same[:2]
        assert [a.node for a in outcome.rounds.admissions] == [
            a.node for a in same[2].rounds.admissions
        ]
        rounds = outcome.rounds.uncertainties, same[2].rounds.uncertainties
        for comp, ref in zip(*rounds, strict=True):
            np.testing.assert_allclose(comp, ref, atol=1e-6)
        edges += sum(map(len, members.values()))
    assert edges > 8


def test_a_chain_beyond_any_joint_table_is_learned():
    """Copies with noise: H(X_k | X_{k-1}) is the same for all, so the order can be found."""
    noisy = [[0.9, 0.1], [0.1, 0.9]]
    tables = [[0.9, 0.1], *([noisy] * 24)]
    parents = [(k - 1,) if k else () for k in range(25)]
    information = ExactInformation([f"x{k:02d}" for k in range(25)], parents, tables)
    _, members, _ = learned(information, "sequential", "pps")
    assert [tuple(members[k]) for k in range(25)] == parents
