"""The compiled core counts as ten lines of numpy do, and finds what it is there to find."""

from __future__ import annotations

import numpy as np
import pytest

from tamis.core import _core


def columns(seed: int, n_rows: int, levels: list[int]) -> list[np.ndarray]:
    draws = np.random.default_rng(seed)
    return [
        draws.integers(0, n, n_rows).astype(np.uint8 if n <= 256 else np.uint16) for n in levels
    ]


def noise(table: list[np.ndarray], target: int, given: list[int]) -> float:
    """H(X_target | X_given) in nats, from the counts of joint states."""

    def entropy(members: list[int]) -> float:
        rows = np.array([table[k] for k in members] + [np.zeros(len(table[0]))])
        shares = np.unique(rows, axis=1, return_counts=True)[1] / rows.shape[1]
        return float(-(shares * np.log(shares)).sum())

    return entropy([*given, target]) - entropy(given)


TABLES = [
    (7, [2, 2, 2]),
    (64, [2, 3, 1, 4]),
    (65, [2, 3, 5, 2, 7]),
    (500, [2, 4, 2, 30, 3, 2]),
    (1000, [300, 2, 17, 2, 256, 257]),
]


@pytest.mark.parametrize(("n_rows", "levels"), TABLES)
def test_noise_entropies_are_those_of_the_counts(n_rows, levels):
    table = columns(n_rows, n_rows, levels)
    judge = _core.Table(table, levels)
    for target in range(len(levels)):
        others = [k for k in range(len(levels)) if k != target]
        for size in range(len(others) + 1):
            _, found = judge.family(target, others[:size])
            assert found == pytest.approx(noise(table, target, others[:size]), abs=1e-9)


@pytest.mark.parametrize(("n_rows", "levels"), TABLES)
def test_a_candidate_has_the_score_of_the_family_with_it(n_rows, levels):
    table = columns(n_rows, n_rows, levels)
    for weights in (None, np.arange(n_rows, dtype=np.int32) % 3):
        judge = _core.Table(table, levels, weights=weights, edge_price=0.5)
        for target in range(len(levels)):
            given = [k for k in range(len(levels)) if k != target][:2]
            for size in range(len(given) + 1):
                left = [k for k in range(len(levels)) if k not in (target, *given[:size])]
                alone = [judge.family(target, [*given[:size], k])[0] for k in left]
                together = judge.scores_with(target, given[:size], left)
                np.testing.assert_allclose(together, alone, rtol=0, atol=1e-9)


def test_the_search_finds_both_parents_of_a_common_child():
    one, other, odd = columns(1, 2000, [2, 2, 10])
    child = np.where(odd == 0, 1 - (one & other), one & other).astype(np.uint8)
    judge = _core.Table([one, child, other], [2, 2, 2], edge_price=np.log(3))
    order, parents, scores, *_ = _core.OrderSearch(judge, seed=1).best()
    assert parents == [[], [0, 2], []]
    assert order[-1] == 1
    assert scores == [judge.family(k, given)[0] for k, given in enumerate(parents)]


def test_looking_ahead_finds_an_exclusive_or_of_which_no_part_tells():
    one, other, third, odd = columns(2, 1000, [2, 2, 2, 20])
    child = ((one ^ other) ^ (odd == 0)).astype(np.uint8)
    judge = _core.Table([one, other, third, child], [2, 2, 2, 2], edge_price=np.log(4))
    found = judge.interactions()
    assert found[3] == [[0, 1]]
    assert found[2] == []
    _, parents, *_ = _core.OrderSearch(judge, interactions=found).best()
    assert sum(map(len, parents)) == 2
    assert {0, 1, 3} in [{k, *given} for k, given in enumerate(parents)]
