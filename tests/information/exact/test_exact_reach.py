"""Networks far beyond a joint table: what is refused, what it costs, and that it is right."""

import math

import known
import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from tamis.errors import DataError
from tamis.information.exact import ExactInformation
from tamis.information.inference import TooLarge
from tamis.information.interface import Context, Group

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("seed", range(30))
def test_the_forecast_is_the_largest_table_made(seed, made):
    network = known.random_network(seed, d=12, arities=(2, 3, 5))
    rng = np.random.default_rng(seed)
    for _ in range(10):
        k, other, *rest = rng.permutation(12).tolist()
        inside = tuple(sorted(rest[: rng.integers(0, 9)]))
        for question in (Context(k, inside), Group(k, inside, (other,))):
            information = ExactInformation(*network)
            made.clear()
            cells = information.forecast(question)
            assert made == []
            if isinstance(question, Context):
                information.entropies([question])
            else:
                information.joint_tests([question])
            assert max(made, default=0) == cells


def test_a_question_too_large_is_refused_before_anything_is_made(made):
    """Forty causes of one effect, all of them known but one: a table of all is needed."""
    parents = [(k - 40,) if k >= 40 else () for k in range(80)]
    parents.append(tuple(range(40, 43)))
    for k in range(43, 80, 2):
        parents.append((len(parents) - 1, k))
    network = known.network(parents, [2] * len(parents))
    information = ExactInformation(*network, memory_limit=2**20)
    last = len(parents) - 1
    causes = tuple(range(43, 80, 2))
    with pytest.raises(TooLarge) as caught:
        information.conditional_entropy(last, causes)
    assert made == []
    error = caught.value
    assert isinstance(error, DataError)
    assert error.cells == information.forecast(Context(last, causes)) == 2 ** (len(causes) + 1)
    assert error.bytes == 8 * error.cells
    assert error.what == tuple(f"x{k}" for k in (*causes, last))
    assert "'x43', 'x45'" in str(error)
    assert "and 12 more" in str(error)
    assert "8 MiB; 1 MiB are allowed" in str(error)
    assert "raise memory_limit" in str(error)
    patient = ExactInformation(*network, memory_limit=8 * error.cells)
    assert 0 < patient.conditional_entropy(last, causes) < math.log(2)
    with pytest.raises(TooLarge):
        ExactInformation(*network, memory_limit=8 * error.cells - 1).entropies(
            [Context(last, causes)]
        )


def test_a_row_with_one_gain_too_large_is_refused_as_a_whole(made):
    network = known.grid(6)
    roomy = ExactInformation(*network)
    sizes = [roomy.forecast(Group(0, (7,), (k,))) for k in range(1, 36) if k != 7]
    assert 0 < sizes[0] < max(sizes)
    with pytest.raises(TooLarge):
        ExactInformation(*network, memory_limit=8 * max(sizes) - 1).cmi([Context(0, (7,))])
    assert made == []
    assert ExactInformation(*network, memory_limit=8 * max(sizes)).cmi([Context(0, (7,))]).any()


def test_answers_are_remembered(made):
    information = ExactInformation(*known.grid(4))
    contexts = [Context(15, (0, 1)), Context(15, (1, 0))]
    first = information.cmi(contexts)
    assert made
    made.clear()
    assert information.cmi(contexts).tolist() == first.tolist()
    # What the graph makes irrelevant does not make a new question.
    assert information.separated(10, [2, 3], [6, 9])
    wanted = information.conditional_entropy(10, [6, 9])
    made.clear()
    assert information.conditional_entropy(10, [2, 3, 6, 9]) == wanted
    assert made == []


def test_a_chain_of_500_nodes_is_answered_with_little_work(made):
    names, parents, conditionals = known.chain(500)
    information = ExactInformation(names, parents, conditionals)
    distribution = conditionals[0]
    local = [-float(distribution @ np.log(distribution))]
    for table in conditionals[1:]:
        rows = -(table * np.log(table)).sum(axis=1)
        local.append(float(distribution @ rows))
        distribution = distribution @ table
    before = [Context(k, tuple(range(k))) for k in range(0, 500, 7)]
    np.testing.assert_allclose(information.entropies(before), local[::7], atol=1e-13)
    whole = information.entropy_of(range(200))
    assert whole == pytest.approx(math.fsum(local[:200]), abs=1e-12)
    assert information.gain(499, [0], [250]) == 0.0
    assert information.gain(250, [248, 252]) > information.gain(250, [248]) > 0
    np.testing.assert_allclose(information.marginal([499]), distribution, atol=1e-14)
    assert len(made) < 50_000
    assert sum(made) < 100_000


def test_the_whole_of_a_large_network_has_the_entropy_of_its_conditionals():
    """H(all) is the sum of H(k | parents); with all of them given no table is large."""
    names, parents, conditionals = known.grid(9, levels=3)
    information = ExactInformation(names, parents, conditionals, memory_limit=2**22)
    local = [information.conditional_entropy(k, parents[k]) for k in range(45)]
    assert information.entropy_of(range(45)) == pytest.approx(math.fsum(local), abs=1e-12)
    everyone = [k for k in range(81) if k != 40]
    blanket = information.relevant(40, everyone)
    assert blanket == (31, 32, 39, 41, 48, 49)
    assert information.conditional_entropy(40, everyone) == (
        information.conditional_entropy(40, blanket)
    )


@given(seeds)
def test_the_laws_of_entropy_hold_where_no_joint_table_could(seed):
    network = known.random_network(seed, d=30, arities=(2, 3))
    information = ExactInformation(*network, memory_limit=2**24)
    rng = np.random.default_rng(seed)
    a, b, c, *inside = rng.permutation(30)[:7].tolist()
    try:
        both = information.gain(a, [b, c], inside)
        one, two = information.gain(a, [b], inside), information.gain(a, [c], [b, *inside])
        given_all = information.conditional_entropy(a, [b, c, *inside])
        alone = information.conditional_entropy(a, inside)
        whole = information.entropy_of([a, *inside]) - information.entropy_of(inside)
    except TooLarge:
        reject()
    assert both == pytest.approx(one + two, abs=1e-12)
    assert both == pytest.approx(alone - given_all, abs=1e-12)
    assert whole == pytest.approx(alone, abs=1e-12)
