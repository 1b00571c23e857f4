"""Exact information against sums over all cells, the laws of entropy and the paper's numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.information.exact import JointInformation
from tamis.information.interface import Context, Group, Query


def random_network(seed, d=4, edge=0.6):
    """Parents among earlier variables of a shuffled order, so that positions say nothing."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(d).tolist()
    arities = rng.integers(1, 4, d).tolist()
    parents = [()] * d
    for i, k in enumerate(order):
        chosen = [p for p in order[:i] if rng.random() < edge]
        parents[k] = tuple(chosen)
    tables = [
        rng.dirichlet(np.full(arities[k], 0.7), size=[arities[p] for p in parents[k]])
        for k in range(d)
    ]
    return parents, tables, arities


def probability(cell, parents, tables):
    return math.prod(
        float(tables[k][(*(cell[p] for p in parents[k]), cell[k])]) for k in range(len(cell))
    )


def naive_entropy(variables, parents, tables, arities):
    """H of a set of variables: a sum over cells of sums over cells."""
    marginal = {}
    for cell in itertools.product(*map(range, arities)):
        key = tuple(cell[k] for k in sorted(variables))
        marginal[key] = marginal.get(key, 0.0) + probability(cell, parents, tables)
    return -sum(p * math.log(p) for p in marginal.values() if p > 0)


def names(d):
    return [f"x{k}" for k in range(d)]


def subsets(d, target):
    others = [k for k in range(d) if k != target]
    return [s for r in range(d) for s in itertools.combinations(others, r)]


networks = st.integers(0, 2**32 - 1)


@given(networks)
def test_entropies_are_sums_over_all_cells(seed):
    parents, tables, arities = random_network(seed)
    information = JointInformation.from_network(names(4), parents, tables)
    contexts = [Context(k, s) for k in range(4) for s in subsets(4, k)]
    ref = [
        naive_entropy({k, *s}, parents, tables, arities)
        - naive_entropy(s, parents, tables, arities)
        for k, s in contexts
    ]
    np.testing.assert_allclose(information.entropies(contexts), ref, atol=1e-12)


@given(networks)
def test_gains_are_sums_over_all_cells_and_zero_for_the_target_and_the_given(seed):
    parents, tables, arities = random_network(seed)
    information = JointInformation.from_network(names(4), parents, tables)
    contexts = [Context(k, s) for k in range(4) for s in subsets(4, k)]
    comp = information.cmi(contexts)
    assert comp.shape == (len(contexts), 4)

    def entropy(variables):
        return naive_entropy(variables, parents, tables, arities)

    for row, (k, s) in zip(comp, contexts, strict=True):
        for other in range(4):
            if other == k or other in s:
                assert row[other] == 0.0
            else:
                ref = entropy({k, *s}) + entropy({other, *s})
                ref -= entropy({k, other, *s}) + entropy(s)
                assert row[other] == pytest.approx(ref, abs=2e-12)


@given(networks)
def test_the_laws_of_entropy_hold(seed):
    parents, tables, _ = random_network(seed, d=5)
    information = JointInformation.from_network(names(5), parents, tables)
    chain = [Context(k, tuple(range(k))) for k in range(5)]
    back = [Context(k, tuple(range(k + 1, 5))) for k in range(5)]
    assert information.entropies(chain).sum() == pytest.approx(
        information.entropies(back).sum(), abs=1e-12
    )
    one, two = information.cmi([Context(0, (2,)), Context(1, (2,))])
    assert one[1] == two[0]
    assert (one >= 0).all()
    h, given_one = information.entropies([Context(0, (2,)), Context(0, (1, 2))])
    assert h - given_one == pytest.approx(one[1], abs=2e-12)
    joint, first, second = information.joint_tests(
        [Group(0, (2,), (1, 3)), Group(0, (2,), (1,)), Group(0, (1, 2), (3,))]
    ).cmi
    assert joint == pytest.approx(first + second, abs=3e-12)


def test_tests_know_the_information_and_nothing_of_a_sample():
    rng = np.random.default_rng(5)
    joint = rng.dirichlet(np.ones(2 * 3 * 4 * 5)).reshape(2, 3, 4, 5)
    information = JointInformation(names(4), joint)
    found = information.tests([Query(1, (3,), np.array([2, 0])), Query(0, (2, 3), np.array([1]))])
    rows = information.cmi([Context(1, (3,)), Context(0, (2, 3))])
    assert found.cmi.tolist() == [rows[0, 2], rows[0, 0], rows[1, 1]]
    assert found.log_p is None
    assert information.test_names == ()
    assert information.n_rows == found.n_rows == math.inf
    assert information.n_variables == 4
    assert len(found) == 3


def test_groups_are_judged_as_one_variable():
    rng = np.random.default_rng(6)
    joint = rng.dirichlet(np.ones(2 * 3 * 4 * 2)).reshape(2, 3, 4, 2)
    merged = JointInformation(["x0", "x12", "x3"], joint.reshape(2, 12, 2))
    comp = JointInformation(names(4), joint).joint_tests(
        [Group(0, (), (1, 2)), Group(0, (3,), (1, 2)), Group(0, (3,), (1, 2, 3))]
    )
    ref = merged.tests([Query(0, (), np.array([1])), Query(0, (2,), np.array([1, 1]))])
    np.testing.assert_allclose(comp.cmi, ref.cmi, atol=1e-14)


def test_the_order_of_variables_and_levels_does_not_matter():
    rng = np.random.default_rng(8)
    joint = rng.dirichlet(np.full(24, 0.5)).reshape(2, 3, 4)
    plain = JointInformation(["a", "b", "c"], joint)
    turned = JointInformation(["c", "a", "b"], joint[:, ::-1].transpose(2, 0, 1))
    ref = plain.entropies([Context(0, (1,)), Context(2, (0, 1)), Context(1, ())])
    comp = turned.entropies([Context(1, (2,)), Context(0, (1, 2)), Context(2, ())])
    np.testing.assert_allclose(comp, ref, atol=1e-14)


def test_many_cells_keep_their_precision():
    rng = np.random.default_rng(2)
    sides = [rng.dirichlet([1.0, 1.0]) for _ in range(16)]
    information = JointInformation.from_network(names(16), [()] * 16, sides)
    ref = -sum(float(p @ np.log(p)) for p in sides)
    comp = information.entropies([Context(0, tuple(range(1, 16))), Context(15, ())])
    assert comp[0] == pytest.approx(-float(sides[0] @ np.log(sides[0])), abs=1e-12)
    chain = information.entropies([Context(k, tuple(range(k))) for k in range(16)])
    assert chain.sum() == pytest.approx(ref, abs=1e-12)
    assert not information.cmi([Context(3, (5, 9))]).any()


# Example eg:uneq of the paper, with beta_0 = log(0.1 / 0.9) and epsilon = 0.01.


def bernoulli_shift(size, start, p):
    """The distribution over ``size`` levels of start + Ber(p)."""
    row = np.zeros(size)
    row[start] = 1 - p
    row[start + 1] += p
    return row


def example(x4):
    # Levels: X1 in {0, 1}, X2 in {-1, 0, 1}, X3 in {0, 1, 2}.
    x2 = np.array([bernoulli_shift(3, 1, 0.1), bernoulli_shift(3, 0, 0.1)])
    x3 = np.array([bernoulli_shift(3, 0, 0.2), bernoulli_shift(3, 1, 0.2)])
    parents = [(), (0,), (0,), (1, 2)]
    tables = [[0.8, 0.2], x2, x3, x4]
    return JointInformation.from_network(["X1", "X2", "X3", "X4"], parents, tables)


def model_1():
    def sigma(x3):
        return 1 / (1 + math.exp(-(0.01 * x3 + math.log(0.1 / 0.9))))

    # X4 in {-1, 0, 1, 2}; X2 = -1 is level 0.
    return example(
        np.array([[bernoulli_shift(4, x2, sigma(x3)) for x3 in range(3)] for x2 in range(3)])
    )


def model_2():
    # X4 = X2 + X3 + Z4, whose level 0 is -1.
    return example(np.array([[bernoulli_shift(6, a + b, 0.1) for b in range(3)] for a in range(3)]))


def cut(value, digits):
    """The paper prints its entropies cut off, not rounded: H(X3) = 0.77899 stands as 0.778."""
    return math.floor(value * 10**digits) / 10**digits


def test_the_first_three_variables_have_the_entropies_of_the_paper():
    contexts = [Context(0, ()), Context(1, ()), Context(2, ()), Context(1, (0,)), Context(2, (0,))]
    comp = model_1().entropies(contexts)
    assert [cut(h, 3) for h in comp] == [0.500, 0.733, 0.778, 0.325, 0.500]
    assert comp[2] == pytest.approx(-sum(p * math.log(p) for p in (0.64, 0.32, 0.04)), abs=1e-14)


def test_model_1_has_the_entropies_of_the_paper():
    h, given_1, given_12, third = model_1().entropies(
        [Context(3, ()), Context(3, (0,)), Context(3, (0, 1)), Context(2, (0, 1))]
    )
    assert cut(h, 2) == 0.87
    assert cut(given_1, 3) == 0.525
    assert cut(given_12, 3) == 0.325
    assert given_12 < third < given_1


def test_in_model_2_the_paths_cancel_exactly():
    found = model_2().cmi([Context(0, ()), Context(0, (1,))])
    assert found[0, 3] == 0.0
    assert found[1, 3] > 0.01


# Refusals
