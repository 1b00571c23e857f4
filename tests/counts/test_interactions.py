"""Parities of sets of columns: against counting rows, and against what was put in."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import rows, table_of
from tamis.constants import constants
from tamis.counting import sharing
from tamis.counting.interactions import (
    Parities,
    strongest_sets,
)
from tamis.counting.memory import MemoryCounts
from tamis.tables.planes import build_planes, plane_ones


def parities_of(values: np.ndarray, largest: int, parts: int = 1) -> Parities:
    table = table_of(values)
    planes = build_planes(table.codes, table.arities)
    column = np.repeat(np.arange(table.n_variables), np.diff(planes.first))
    found = Parities(column, table.n_rows, largest, plane_ones(planes.words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "THREAD_WORDS", 0)
        return found.count(lambda one: one.of_block(planes.words, table.n_rows, parts))


@given(table=rows(columns=(3, 6), length=(5, 150), levels=3), parts=st.integers(1, 3))
def test_odd_rows_are_those_counted_one_by_one(table, parts):
    made = table_of(table)
    owned = [(k, codes == level)
             for k, (codes, r) in enumerate(zip(made.codes, made.arities, strict=True))
             for level in range(r - 1)]  # fmt: skip
    owned.sort(key=lambda one: abs(len(one[1]) - 2 * int(one[1].sum())))
    column, planes = [k for k, _ in owned], [plane for _, plane in owned]
    shown = [can_show([one.mean() for one in planes[:k]]) for k in range(len(planes) + 1)]
    found = parities_of(table, 3, parts)
    for size in range(1, 5):
        sets = sorted(combinations(range(len(planes)), size), key=lambda one: one[::-1])
        start, stop = found._offsets[size : size + 2]
        for one, odd in zip(sets, found.odd[start:stop].tolist(), strict=True):
            own = [planes[k] for k in one]
            if len({column[k] for k in one[1:]}) < size - 1:
                continue  # planes of the same column
            if size <= 3 or can_show([plane.mean() for plane in own]) >= found._least(size):
                assert odd == np.logical_xor.reduce(own).sum()
    assert shown == sorted(shown, reverse=True)


def can_show(shares: list[float]) -> float:
    """What a set of planes with these shares of ones can show if none of its parts does."""
    _, *others = sorted(abs(1 - 2 * share) for share in shares) or [0.0]
    return math.prod([1 - others[0] ** 2, *(1 - one for one in others[1:])]) if others else 1.0


@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=6))
def test_a_parity_that_shows_in_no_part_of_a_set_is_as_strong_as_its_cells_allow(shares):
    """The law of independent planes, and a parity on top until some cell has no rows left."""
    cells = np.ones(1)
    signs = np.ones(1)
    for share in shares:
        cells = np.concatenate([cells * (1 - share), cells * share])
        signs = np.concatenate([signs, -signs])
    most = max(cells[signs < 0].min(), cells[signs > 0].min())
    assert len(cells) * most <= can_show(shares) + 1e-12


def naive_interactions(bits: np.ndarray, largest: int) -> list[set[tuple[int, ...]]]:
    """The definition, for columns of two levels: correlations with parities of the others."""
    d, n = bits.shape

    def strength(t: int, others: tuple[int, ...]) -> float:
        parity = np.logical_xor.reduce(bits[list(others)])
        if len(set(parity)) == 1 or len(set(bits[t])) == 1:
            return 0.0
        return abs(float(np.corrcoef(bits[t], parity)[0, 1]))

    found: list[set[tuple[int, ...]]] = [set() for _ in range(d)]
    least = min(constants.least_shown, math.sqrt(2 * math.log(math.comb(d, 4) * 4 / 0.01) / n))
    for size in range(3, largest + 2):
        threshold = math.sqrt(2 * math.log(math.comb(d, size) * size / 0.01))
        for members in combinations(range(d), size):
            for t in members:
                rest = tuple(k for k in members if k != t)
                whole = strength(t, rest)
                if size > 3 and can_show([bits[k].mean() for k in members]) < least:
                    continue
                parts = [part for k in range(1, size - 1) for part in combinations(rest, k)]
                if whole * math.sqrt(n) > threshold and all(strength(t, p) < whole for p in parts):
                    found[t].add(rest)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_listed_sets_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = 400
    bits = rng.random((7, n)) < rng.uniform(0.2, 0.8, (7, 1))
    bits[4] = bits[0] ^ bits[1] ^ (rng.random(n) < 0.15)
    bits[5] = bits[2] ^ (rng.random(n) < 0.2)
    bits[6] = bits[3] ^ bits[4] ^ bits[5] ^ (rng.random(n) < 0.1)
    parities = parities_of(bits.T.astype(int), 4).found()
    sets = [{members for t, members, _ in parities if t == k} for k in range(7)]
    assert sets == naive_interactions(bits, 4)
    found = strongest_sets(parities, 7)
    assert [len(one) for one in found] == [min(len(one), constants.sets_listed) for one in sets]
    assert any(found)
    for listed in found:
        assert list(listed) == sorted(listed, key=lambda one: -one.strength)


def test_the_parents_of_a_parity_are_its_strongest_interaction():
    rng = np.random.default_rng(1)
    coins = rng.integers(0, 2, (5, 3000))
    parity = (coins[:4].sum(axis=0) + (rng.random(3000) < 0.2)) % 2
    found = MemoryCounts(table_of(np.vstack([coins, parity]).T)).looking.interactions(4)
    assert found[5][0].members == (0, 1, 2, 3)
    assert found[4] == ()  # the coin nobody listens to


@pytest.mark.parametrize("r", [2, 3, 4])
def test_levels_added_modulo_their_number_are_seen(r):
    rng = np.random.default_rng(2)
    a, b, c = rng.integers(0, r, (3, 3000))
    total = np.where(rng.random(3000) < 0.7, (a + b) % r, rng.integers(0, r, 3000))
    found = MemoryCounts(table_of(np.column_stack([a, b, c, total]))).looking.interactions(2)
    assert found[3][0].members == (0, 1)
    assert found[2] == ()


def test_a_pure_interaction_of_rare_events_is_seen():
    """t is more frequent when a and b agree in being rare or not, and neither tells alone."""
    rng = np.random.default_rng(5)
    n, p = 20_000, 0.2
    a, b = rng.random((2, n)) < p
    lift = np.where(a & b, 1 / p**2, 0) - np.where(a ^ b, 1 / (p * (1 - p)), 0)
    lift = lift + np.where(~a & ~b, 1 / (1 - p) ** 2, 0)
    t = rng.random(n) < 0.2 + 0.006 * lift
    found = MemoryCounts(table_of(np.column_stack([a, b, t]).astype(int))).looking.interactions(2)
    assert [one.members for one in found[2]] == [(0, 1)]


def test_independent_columns_have_no_interactions():
    rng = np.random.default_rng(3)
    bits = (rng.random((2000, 14)) < rng.uniform(0.03, 0.97, 14)).astype(int)
    assert not any(MemoryCounts(table_of(bits)).looking.interactions(4))


def test_threads_change_nothing():
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 2, (20_000, 30))
    bits[:, 3] = (bits[:, 7] + bits[:, 11] + (rng.random(20_000) < 0.2)) % 2
    one, two = (MemoryCounts(table_of(bits), n_jobs).looking.interactions(3) for n_jobs in (1, 2))
    assert one == two
    assert one[3][0].members == (7, 11)
