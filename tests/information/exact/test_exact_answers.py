"""Exact inference against the whole joint table, and the conventions of the interface."""

import itertools
import math

import known
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import DataError
from tamis.information.exact import ExactInformation, JointInformation
from tamis.information.interface import Context, Group, Query

CLOSE = 1e-12
"""Both sources round; on so few cells neither by more than this."""

seeds = st.integers(0, 2**32 - 1)


def both(network):
    return ExactInformation(*network), JointInformation.from_network(*network)


def random_questions(seed, d, n=25):
    """Targets, what they are conditioned on and others; any of them may be among the others."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        inside = np.flatnonzero(rng.random(d) < rng.choice([0.2, 0.5, 0.8]))
        others = rng.choice(d, size=rng.integers(1, 4), replace=False)
        yield Group(int(rng.integers(d)), tuple(inside.tolist()), tuple(others.tolist()))


@given(seeds)
def test_entropies_are_those_of_the_joint_table(seed):
    comp, ref = both(known.random_network(seed))
    contexts = [Context(k, given) for k, given, _ in random_questions(seed, 7)]
    np.testing.assert_allclose(comp.entropies(contexts), ref.entropies(contexts), atol=CLOSE)


@given(seeds)
def test_gains_are_those_of_the_joint_table(seed):
    comp, ref = both(known.random_network(seed))
    contexts = [Context(k, given) for k, given, _ in random_questions(seed, 7, n=12)]
    found = comp.cmi(contexts)
    np.testing.assert_allclose(found, ref.cmi(contexts), atol=CLOSE)
    assert (found >= 0).all()
    for row, (target, inside) in zip(found, contexts, strict=True):
        assert not row[[target, *inside]].any()


@given(seeds)
def test_groups_have_the_evidence_of_the_joint_table(seed):
    comp, ref = both(known.random_network(seed))
    groups = list(random_questions(seed, 7))
    found, wanted = comp.joint_tests(groups), ref.joint_tests(groups)
    np.testing.assert_allclose(found.cmi, wanted.cmi, atol=CLOSE)
    assert (found.n_rows, found.log_p) == (math.inf, None)


@given(seeds)
def test_candidates_have_the_evidence_of_the_joint_table(seed):
    comp, ref = both(known.random_network(seed))
    queries = [Query(k, z, np.array(others)) for k, z, others in random_questions(seed, 7, n=9)]
    found, wanted = comp.tests(queries), ref.tests(queries)
    np.testing.assert_allclose(found.cmi, wanted.cmi, atol=CLOSE)


@given(seeds)
def test_tables_are_sums_of_the_joint_table_with_axes_as_asked_for(seed):
    network = known.random_network(seed, d=6)
    levels = [table.shape[-1] for table in network[2]]
    joint = np.ones(levels)
    for cell in np.ndindex(*levels):
        for k, (sources, table) in enumerate(zip(*network[1:], strict=True)):
            joint[cell] *= table[(*(cell[p] for p in sources), cell[k])]
    information = ExactInformation(*network)
    rng = np.random.default_rng(seed)
    for size in range(7):
        asked = rng.permutation(6)[:size].tolist()
        gone = tuple(k for k in range(6) if k not in asked)
        ref = joint.sum(axis=gone).transpose(np.argsort(np.argsort(asked)))
        comp = information.marginal(asked)
        assert comp.shape == ref.shape
        np.testing.assert_allclose(comp, ref, atol=1e-15)
        entropy = -sum(p * math.log(p) for p in ref.ravel() if p > 0)
        assert information.entropy_of(asked) == pytest.approx(entropy, abs=CLOSE)


@given(seeds)
def test_who_is_asked_about_whom_does_not_matter_to_the_last_bit(seed):
    network = known.random_network(seed)
    one, two = ExactInformation(*network), ExactInformation(*network)
    for k, other in itertools.combinations(range(7), 2):
        assert one.gain(k, [other], [3]) == two.gain(other, [k], [3])


def test_single_questions_and_batches_have_the_same_answers():
    information = ExactInformation(*known.random_network(3, arities=(2, 3)))
    for k, inside, others in random_questions(4, 7):
        assert (
            information.conditional_entropy(k, inside)
            == (information.entropies([Context(k, inside)])[0])
        )
        row = information.cmi([Context(k, inside)])[0]
        assert [information.gain(k, [other], inside) for other in range(7)] == row.tolist()
        group = information.joint_tests([Group(k, inside, others)])
        assert information.gain(k, others, inside) == group.cmi[0]


def test_a_target_that_is_given_has_no_entropy_and_nothing_to_gain():
    comp, ref = both(known.network([(), (0,), (1,)], [2, 3, 2]))
    context = Context(1, (0, 1))
    assert comp.entropies([context])[0] == ref.entropies([context])[0] == 0.0
    assert comp.gain(1, [2], (0, 1)) == 0.0
    assert comp.relevant(1, (0, 1)) == ()
    assert comp.conditional_entropy(2, (1, 1, 0)) == comp.conditional_entropy(2, (0, 1)) > 0


def test_a_function_of_its_parents_has_exactly_no_entropy_left():
    _, parents, tables = known.network([(), (), (0, 1), (2,)], [3, 2, 2, 2])
    tables[2] = np.eye(2)[np.array([[0, 1], [1, 0], [0, 0]])]
    information = ExactInformation(known.names(4), parents, tables)
    assert information.conditional_entropy(2, [0, 1]) == 0.0
    assert information.conditional_entropy(2, [0]) > 0.01


def test_parity_shows_only_to_both_parents_together():
    parity = np.eye(2)[np.array([[0, 1], [1, 0]])]
    tables = [[0.5, 0.5], [0.5, 0.5], parity]
    information = ExactInformation(known.names(3), [(), (), (0, 1)], tables)
    assert not information.separated(2, [0])
    assert information.gain(2, [0]) == 0.0
    assert information.gain(2, [0, 1]) == pytest.approx(math.log(2), abs=1e-15)
    assert information.gain(2, [0], [1]) == pytest.approx(math.log(2), abs=1e-15)


def test_variables_with_one_value_vary_with_nothing():
    """x1 has one level; x3 has two, of which one never occurs."""
    tables = [[0.3, 0.7], [[1.0], [1.0]], [[0.2, 0.8]], [[1.0, 0.0], [1.0, 0.0]]]
    network = known.names(4), [(), (0,), (1,), (2,)], tables
    comp, ref = both(network)
    assert [comp.varies(k) for k in range(4)] == [True, False, True, False]
    contexts = [Context(k, (j,)) for k in range(4) for j in range(4)]
    np.testing.assert_allclose(comp.entropies(contexts), ref.entropies(contexts), atol=1e-15)
    assert not comp.cmi(contexts).any()
    assert comp.separated(2, [0])
    assert comp.entropy_of([1]) == comp.entropy_of([3]) == comp.entropy_of([]) == 0.0
    assert comp.marginal([1, 0]).tolist() == [[0.3, 0.7]]
    assert comp.marginal([1]).tolist() == [1.0]
    assert comp.marginal([]).tolist() == 1.0


def test_nodes_without_edges_add_up():
    information = ExactInformation(*known.network([()] * 40, [3] * 40, seed=2))
    total = math.fsum(information.entropy_of([k]) for k in range(40))
    assert information.entropy_of(range(40)) == pytest.approx(total, abs=1e-13)
    assert information.conditional_entropy(7, [k for k in range(40) if k != 7]) == (
        information.entropy_of([7])
    )


HALF = [0.5, 0.5]
SQUARE = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("parents", "tables", "message"),
    [
        ([(1,), (0,)], [SQUARE, SQUARE], "cycle"),
        ([(), (2,)], [HALF, SQUARE], "parents of 'x1'"),
        ([(), (0,)], [HALF, HALF], "table of 'x1' has shape"),
        ([(), (0,)], [HALF, [[0.5, 0.5], [0.5, 0.4]]], "row of the table of 'x1'"),
        ([(), ()], [HALF, 1.0], "shape"),
        ([(), ()], [HALF], "2 names for 1"),
        ([()], [HALF, HALF], "1 parent sets for 2"),
        ([(), ()], [HALF, []], "'x1' has no levels"),
        ([(), (0,)], [[], np.zeros((0, 2))], "'x0' has no levels"),
    ],
)
def test_tables_that_are_no_network_are_refused(parents, tables, message):
    with pytest.raises(DataError, match=message):
        ExactInformation(["x0", "x1"], parents, tables)
