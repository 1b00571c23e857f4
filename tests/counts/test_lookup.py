"""The lookup brings every estimator to the kernel without changing it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from engines import judged
from tables import rows, table_of
from tamis.counting.lookup import Lookup
from tamis.counting.memory import MemoryCounts
from tamis.information.counted import CountedInformation
from tamis.information.estimators import (
    Grassberger,
    Jackknife,
    MillerMadow,
    Minimax,
    Plugin,
)
from tamis.information.interface import Context, Group

ESTIMATORS = [
    Plugin(),
    MillerMadow(),
    Jackknife(),
    Grassberger(),
    Minimax(),
    Minimax(support="observed"),
    Minimax(largest_support=10),
]


def counts_of(table: np.ndarray, columns: list[int]) -> np.ndarray:
    return np.unique(table[:, columns], axis=0, return_counts=True)[1]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.name)
@given(table=rows(columns=(3, 3), length=(20, 300)))
def test_the_kernel_agrees_with_the_estimators_definition(estimator, table):
    arities = [len(np.unique(column)) for column in table.T]
    if min(arities) < 2:
        return  # constant columns are left out of conditioning sets
    information = CountedInformation(table_of(table), estimator)

    def entropy(columns: list[int]) -> float:
        cells = float(np.prod([arities[k] for k in columns]))
        return estimator.entropy(counts_of(table, columns), cells)

    found = information.entropies([Context(0, ()), Context(0, (1,)), Context(2, (0, 1))])
    expected = [
        entropy([0]),
        entropy([0, 1]) - entropy([1]),
        entropy([0, 1, 2]) - entropy([0, 1]),
    ]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    gain = information.cmi([Context(0, (1,))])[0][2]
    expected_gain = entropy([0, 1]) + entropy([1, 2]) - entropy([1]) - entropy([0, 1, 2])
    assert gain == pytest.approx(expected_gain, abs=1e-10)


def test_more_sizes_of_the_support_than_first_planned_for():
    lookup = Lookup(Minimax().terms, 500, cap=int)
    chosen = [lookup.choice(float(cells)) for cells in range(2, 60)]
    assert chosen == list(range(58))
    terms, tail, supports, *_ = lookup.as_kernel_argument()
    assert supports.tolist() == list(range(2, 60))
    np.testing.assert_allclose(
        terms[tail + 200] / 2**48, Minimax().terms(np.array([200]), 500, 7)[0], atol=1e-13
    )


def test_an_estimate_below_nothing_is_clipped_where_the_estimator_says_so():
    table = table_of(np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 5))
    for clips, expected in ((True, 0.0), (False, -2.0)):
        lookup = Lookup(lambda counts, n, support: np.full(len(counts), -1.0), 20, clips=clips)
        found = judged(MemoryCounts(table), [(0, ())], [np.array([1])], lookup, tests=False)
        assert found.entropies[0] == expected


def test_several_variables_as_one_have_the_product_of_their_levels_as_support():
    rng = np.random.default_rng(2)
    table = rng.integers(0, 3, (60, 4))
    information = CountedInformation(table_of(table), Minimax())
    found = information.joint_tests([Group(0, (3,), (1, 2))]).cmi[0]

    def entropy(columns: list[int]) -> float:
        return Minimax().entropy(counts_of(table, columns), 3.0 ** len(columns))

    expected = entropy([0, 3]) + entropy([1, 2, 3]) - entropy([3]) - entropy([0, 1, 2, 3])
    assert found == pytest.approx(expected, abs=1e-10)
