"""The order of the rows changes nothing, to the last digit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.tables import read_table
from tamis.tables.table import Table, in_canonical_order


def rows_of(table: Table) -> list[tuple[float, ...]]:
    columns = [
        table.numbers(k) if table.is_continuous(k) else table.codes[k]
        for k in range(table.n_variables)
    ]
    return [tuple(float(v) for v in row) for row in zip(*columns, strict=True)]


def made(cells: list[tuple[int, int, int]]) -> Table:
    """Three columns with ties: continuous, of levels, continuous; named against their positions."""
    a, b, c = np.array(cells).T
    continuous = {0: a / 2, 2: c / 2}
    levels, codes = np.unique(b, return_inverse=True)
    zeros = np.zeros_like(codes)
    return Table(
        ("z", "m", "a"),
        ((), tuple(levels.tolist()), ()),
        np.array([zeros, codes, zeros]).astype(np.uint8),
        continuous,
    )


ties = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=30)


@given(cells=ties)
def test_rows_are_sorted_by_the_measured_columns_in_order_of_name_then_by_the_others(cells):
    table = made(cells)
    found = rows_of(in_canonical_order(table))
    assert found == sorted(rows_of(table), key=lambda row: (row[2], row[0], row[1]))


@given(cells=ties, seed=st.integers(0, 99))
def test_any_order_of_the_rows_becomes_the_same(cells, seed):
    shuffled = np.random.default_rng(seed).permutation(len(cells))
    table = made(cells)
    assert rows_of(in_canonical_order(table)) == rows_of(
        in_canonical_order(table.arrange(shuffled))
    )


def tied_table(n: int = 60, seed: int = 1) -> dict[str, np.ndarray]:
    """Rounded, and then standardised: all columns have the same entropy but for rounding."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    columns = np.array([x, x + rng.normal(size=n), rng.normal(size=n), x - rng.normal(size=n)])
    columns = columns.round(1)
    columns -= columns.mean(axis=1, keepdims=True)
    columns /= columns.std(axis=1, keepdims=True)
    return {name: column + 1000 for name, column in zip("bdac", columns, strict=True)}


QUICK = {"neighbours": {"k": 5, "shuffles": 8}, "mixed": {"k": 5, "shuffles": 8}}
CASES = [
    ("gaussian", "auto"),
    ("gaussian", "sequential"),
    ("gaussian", "node"),
    ("copula", "auto"),
    ("neighbours", "sequential"),
    ("mixed", "sequential"),
    ("lipschitz", "sequential"),
]


@pytest.mark.parametrize(("information", "search"), CASES)
def test_permuted_rows_give_the_same_result(information, search):
    table = tied_table()
    if information == "mixed":
        table["e"] = np.where(table["a"] > 1000, "high", "low")
    rng = np.random.default_rng(2)
    results = []
    for order in (np.arange(60), np.arange(60)[::-1], rng.permutation(60), rng.permutation(60)):
        model = tamis.TAM(search, information=information, source=QUICK.get(information))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tamis.TamisWarning)  # of the ties, which are the point
            results.append(model.fit({name: c[order] for name, c in table.items()}).result_)
    assert all(one == results[0] for one in results)
    assert results[0].edges


@pytest.mark.parametrize("seed", [0, 1])
def test_permuted_whole_numbers_give_the_same_result_by_counts_and_by_moments(seed):
    data = tamis.simulate.draw("er", "add", d=5, edges=6, n=200, seed=seed).data
    rng = np.random.default_rng(seed)
    results = []
    for order in (np.arange(200), rng.permutation(200), rng.permutation(200)):
        rows = {name: np.asarray(column)[order] for name, column in data.items()}
        results.append(tamis.TAM().fit(rows).result_)
    assert {run.information for run in results[0].ranking} == {"counts", "gaussian"}
    assert all(one == results[0] for one in results)


def test_sums_of_unsorted_rows_do_depend_on_their_order():
    """Otherwise the test above would show nothing."""
    from tamis.information.gaussian import GaussianInformation
    from tamis.information.interface import Context

    table, rng = tied_table(), np.random.default_rng(2)
    found = set()
    for _ in range(20):
        order = rng.permutation(60)
        rows = read_table({name: c[order] for name, c in table.items()}, continuous=True)
        found.add(float(GaussianInformation.from_table(rows).entropies([Context(0, (1, 2))])[0]))
    assert len(found) > 1


def test_no_row_is_lost_and_the_table_stays_as_it_was():
    table = made([(2, 1, 0), (1, 1, 1), (0, 2, 2), (0, 2, 2)])
    before = rows_of(table)
    assert sorted(rows_of(in_canonical_order(table))) == sorted(before)
    assert rows_of(table) == before
