"""Where the paper proves a search right, it returns the true DAG from exact information."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from tamis.information.exact import JointInformation
from tamis.rules import Fixed
from tamis.search import paper
from tamis.search.layered import run
from tamis.settings import Settings

TINY = 1e-9
"""Exact gains are 0 or above; anything above this is dependence."""


def learn_exactly(joint: np.ndarray, search: str, boundary: str = "pps", backward: str = "none"):
    information = JointInformation([f"x{k}" for k in range(joint.ndim)], joint)
    settings_ = Settings(search, Fixed(TINY), Fixed(TINY), boundary=boundary, backward=backward)
    outcome = run(information, settings_)
    parents = {k: tuple(sorted(b.members)) for k, b in outcome.boundaries.items()}
    return parents, [sorted(layer) for layer in outcome.layers]


networks = st.builds(
    lambda seed, d, arity, density, noise: naive.random_network(
        np.random.default_rng(seed), d, arity, density, max_parents=2, noise=noise
    ),
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(3, 5),
    arity=st.integers(2, 3),
    density=st.sampled_from([0.3, 0.6]),
    noise=st.sampled_from([None, 0.1, 0.2]),
)

PROVEN = {
    ("node", "pps"): lambda c: c.main and c.pps,
    ("layer", "pps"): lambda c: c.general and c.pps,
    ("reference", "pps"): lambda c: c.general and c.pps,
    ("sequential", "pps"): lambda c: c.greedy and c.pps_everywhere,
    ("node", "none"): lambda c: c.main and c.backward,
    ("layer", "none"): lambda c: c.general and c.backward,
    ("sequential", "none"): lambda c: c.greedy and c.backward,
}


@pytest.mark.parametrize(("search", "boundary"), PROVEN, ids="-".join)
@given(network=networks)
def test_the_true_dag_is_returned_wherever_the_conditions_hold(search, boundary, network):
    parents, _, joint = network
    conditions = naive.check_conditions(joint, parents, TINY)
    assume(conditions.positive and conditions.minimal)
    assume(PROVEN[search, boundary](conditions))
    backward = "none" if boundary == "pps" else "together"
    found, layers = learn_exactly(joint, search, boundary, backward)
    assert found == parents
    if search in ("node", "layer", "reference"):
        assert layers == naive.true_layers(parents)


@given(network=networks)
def test_equal_entropy_lets_every_ordering_succeed(network):
    parents, _, joint = network
    conditions = naive.check_conditions(joint, parents, TINY)
    assume(conditions.minimal and conditions.equal and conditions.greedy)
    assume(conditions.pps_everywhere)
    for search in ("layer", "sequential"):
        if search == "sequential" or conditions.general:
            assert learn_exactly(joint, search)[0] == parents


@pytest.mark.parametrize("search", ["node", "layer", "sequential", "reference"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 3, 1)])
def test_a_markov_chain_of_equal_noise(search, order):
    parents = {k: (order[i - 1],) if i else () for i, k in enumerate(order)}
    joint = binary_network(parents, flip=0.2)
    found, layers = learn_exactly(joint, search)
    assert found == parents
    assert layers == [[k] for k in order]


@pytest.mark.parametrize("search", ["node", "layer", "sequential", "reference"])
@pytest.mark.parametrize("seed", range(10))
def test_random_polytrees_of_additive_noise(search, seed):
    rng = np.random.default_rng(seed)
    d = 6
    parents: dict[int, tuple[int, ...]] = dict.fromkeys(range(d), ())
    for k in range(1, d):
        other = int(rng.integers(k))
        child, parent = (k, other) if rng.random() < 0.5 else (other, k)
        parents[child] = tuple(sorted((*parents[child], parent)))
    joint = additive_network(parents, p=0.2)
    assert learn_exactly(joint, search)[0] == parents


def binary_network(parents: naive.Parents, flip: float) -> np.ndarray:
    """Each node copies its parent, and is flipped with probability ``flip``; sources are rare."""
    tables = {}
    for k, pa in parents.items():
        tables[k] = np.array([[1 - flip, flip], [flip, 1 - flip]]) if pa else [1 - flip, flip]
    return naive.joint_of([2] * len(parents), parents, {k: np.array(t) for k, t in tables.items()})


def additive_network(parents: naive.Parents, p: float) -> np.ndarray:
    """The paper's ADD model: X_k = sum of parents + Ber(p)."""
    order = [k for layer in naive.true_layers(parents) for k in layer]
    arity: dict[int, int] = {}
    for k in order:
        arity[k] = 2 + sum(arity[q] - 1 for q in parents[k])
    tables = {}
    for k in parents:
        table = np.zeros((*(arity[q] for q in parents[k]), arity[k]))
        for x in np.ndindex(*table.shape[:-1]):
            table[(*x, sum(x))] = 1 - p
            table[(*x, sum(x) + 1)] = p
        tables[k] = table
    return naive.joint_of([arity[k] for k in sorted(arity)], parents, tables)


def example_model(which: str) -> np.ndarray:
    """Example eg:uneq: X1 -> X2, X1 -> X3, {X2, X3} -> X4; levels start at the smallest value."""
    joint = np.zeros((2, 3, 3, 4))
    for z1 in (0, 1):
        for z2 in (0, 1):
            for z3 in (0, 1):
                for z4 in (0, 1):
                    x1, x2, x3 = z1, -z1 + z2, z1 + z3
                    if which == "M1":
                        rate = 1 / (1 + math.exp(-(0.01 * x3 + math.log(0.1 / 0.9))))
                        x4 = x2 + z4
                        index = (x1, x2 + 1, x3, x4 + 1)
                    else:
                        rate = 0.1
                        x4 = x2 + x3 + z4
                        index = (x1, x2 + 1, x3, x4)
                    weight = (0.2 if z1 else 0.8) * (0.1 if z2 else 0.9) * (0.2 if z3 else 0.8)
                    joint[index] += weight * (rate if z4 else 1 - rate)
    return joint


DIAMOND = {0: (), 1: (0,), 2: (0,), 3: (1, 2)}


@pytest.mark.parametrize("search", ["node", "layer", "reference"])
def test_example_m1_is_found_by_masking(search):
    found, layers = learn_exactly(example_model("M1"), search, backward="none")
    assert layers == [[0], [1, 2], [3]]
    assert found == DIAMOND


def test_example_m1_is_beyond_the_sequential_ordering():
    assert learn_exactly(example_model("M1"), "sequential")[0] != DIAMOND


@pytest.mark.parametrize("search", ["node", "layer", "reference"])
def test_example_m2_is_beyond_masking(search):
    found, layers = learn_exactly(example_model("M2"), search)
    assert layers[0] == [0, 3]
    assert found != DIAMOND


def test_example_m2_is_found_by_the_sequential_ordering():
    assert learn_exactly(example_model("M2"), "sequential", backward="one")[0] == DIAMOND


def test_two_coins_that_only_speak_together_are_found_by_the_general_version():
    """U2 without C2: x2 holds the coins' noisy parity and a fair bit of its own."""
    joint = np.zeros((2, 2, 4))
    for a, b, flip, bit in np.ndindex(2, 2, 2, 2):
        joint[a, b, 2 * (a ^ b ^ flip) + bit] += 0.25 * (0.1 if flip else 0.9) * 0.5
    found, layers = learn_exactly(joint, "layer", boundary="none", backward="together")
    assert layers == [[0, 1], [2]]
    assert found == {0: (), 1: (), 2: (0, 1)}
    assert learn_exactly(joint, "node", boundary="none", backward="together")[1] == [[0, 1, 2]]


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def logistic_diamond(n_paths: int) -> tuple[naive.Parents, np.ndarray]:
    """App. C.4: Z -> X_i -> Y with sum of beta_i zero, so that Z and Y are independent.

    Two paths: beta_1 + alpha_1 = alpha_2 and beta_2 + alpha_2 = alpha_1.
    """
    alphas = [-1.0, 1.0] * (n_paths // 2)
    betas = [2.0, -2.0] * (n_paths // 2)
    z, y = 0, n_paths + 1
    parents: naive.Parents = {z: (), y: tuple(range(1, n_paths + 1))}
    tables = {z: np.array([0.7, 0.3])}
    for i, (a, b) in enumerate(zip(alphas, betas, strict=True), start=1):
        parents[i] = (z,)
        tables[i] = np.array([[1 - sigma(a), sigma(a)], [1 - sigma(a + b), sigma(a + b)]])
    outcome = np.zeros((2,) * n_paths + (2,))
    for x in np.ndindex(*(2,) * n_paths):
        p = sigma(1.5 * sum(x) - 0.75 * n_paths)
        outcome[x] = [1 - p, p]
    tables[y] = outcome
    order = sorted(parents)
    joint = naive.joint_of([2] * len(order), parents, tables)
    return {k: parents[k] for k in order}, joint


@pytest.mark.parametrize("n_paths", [2, 4])
def test_the_logistic_diamond_cancels_its_paths_and_pps_still_finds_the_boundary(n_paths):
    parents, joint = logistic_diamond(n_paths)
    y = n_paths + 1
    information = JointInformation([f"v{k}" for k in parents], joint)
    _, I = naive.from_joint(joint)  # noqa: E741
    assert I(0, (y,), ()) < 1e-12
    assert paper.pps(information, y, set(range(y)), TINY)[1] == set(parents[y])
    assert naive.pps_condition(I, y, tuple(range(y)), TINY)
