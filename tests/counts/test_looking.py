"""Sets too large to count on all rows: screened on a sample, and how far it pays to look."""

from __future__ import annotations

import math
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.packed_tables import packed
from tables import rows, table_of
from tamis.constants import constants
from tamis.counting.interactions import (
    Screen,
    interacting_columns,
    interacting_planes,
)
from tamis.counting.memory import MemoryCounts
from tamis.counting.row_sample import (
    SAMPLED_ROWS,
    PatternRows,
    PlaneKeys,
    PlaneSums,
    copies,
    sampled,
)
from tamis.information.counted import CountedInformation
from tamis.tables.planes import build_planes, plane_ones


def words_of(bits: np.ndarray) -> np.ndarray:
    """Rows of bits, a column each, as planes."""
    n, d = bits.shape
    octets = np.zeros((d, -(-n // 64) * 8), dtype=np.uint8)
    packed_bits = np.packbits(bits.T.astype(np.uint8), axis=1, bitorder="little")
    octets[:, : packed_bits.shape[1]] = packed_bits
    return octets.view(np.uint64)


def bits_of(words: np.ndarray, n: int) -> np.ndarray:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n].T


def parity_table(n: int, d: int, sizes: dict[int, tuple[int, ...]], seed: int) -> np.ndarray:
    """Fair coins, some of which are parities of others with one row in five turned."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, d))
    for k, members in sizes.items():
        bits[:, k] = (bits[:, list(members)].sum(axis=1) + (rng.random(n) < 0.2)) % 2
    return bits


def strength(bits: np.ndarray, t: int, others: tuple[int, ...]) -> float:
    parity = bits[:, list(others)].sum(axis=1) % 2
    if len(set(parity)) == 1 or len(set(bits[:, t])) == 1:
        return 0.0
    return abs(float(np.corrcoef(bits[:, t], parity)[0, 1]))


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("parts", [1, 3])
def test_what_stands_out_is_found_and_judged_as_defined(size, parts):
    """Against all sets one by one, with the definition of ``interactions``."""
    n, d = 1000, 9
    members = tuple(range(size - 1))
    bits = parity_table(n, d, {8: members, 7: (5, 6)}, seed=size)
    screen = Screen(words_of(bits), n, np.arange(d), n)
    cuts = np.linspace(0, d - size + 1, parts + 1).astype(int)
    listed = [screen.look(size, int(start), int(stop)) for start, stop in pairwise(cuts)]
    threshold = math.sqrt(2 * math.log(math.comb(d, size) * size / constants.false_sets) / n)
    found = {(t, others) for part in listed for t, others, _ in part}
    # Each member depends on the parity of the others, not only the one that was made of them.
    whole = (*members, 8)
    assert found >= {(t, tuple(k for k in whole if k != t)) for t in whole}
    for t, others, z in chain.from_iterable(listed):
        assert z == pytest.approx(strength(bits, t, others) * math.sqrt(n))
        assert z > threshold * math.sqrt(n)
        parts_of = [p for k in range(1, size - 1) for p in combinations(others, k)]
        assert all(strength(bits, t, part) < strength(bits, t, others) for part in parts_of)


def test_independent_columns_pass_no_screen():
    rng = np.random.default_rng(3)
    bits = (rng.random((2000, 20)) < rng.uniform(0.05, 0.95, 20)).astype(int)
    screen = Screen(words_of(bits), 2000, np.arange(20), 2000)
    assert not any(screen.look(size, 0, 20 - size + 1) for size in (3, 4, 5))


def test_planes_of_one_column_are_not_taken_together():
    bits = parity_table(1000, 5, {4: (0, 1)}, seed=1)
    screen = Screen(words_of(bits), 1000, np.array([0, 1, 1, 2, 2]), 1000)
    assert {(t, others) for t, others, _ in screen.look(3, 0, 3)} == {
        (0, (1, 2)),
        (1, (0, 2)),
        (2, (0, 1)),
    }


# Samples of rows


def sample_of_bits(bits: np.ndarray) -> tuple[np.ndarray, int]:
    """A sample of rows whose columns have two levels."""
    words, n = words_of(bits), len(bits)
    columns = np.arange(bits.shape[1])
    return sampled(columns, plane_ones(words), n, lambda one: one.of_block(words, n))


def sample_of(table: np.ndarray) -> list[tuple[tuple[int, ...], ...]]:
    """The sampled rows in order; of each column which rows are alike, whatever their level."""
    looking = MemoryCounts(table_of(table)).looking
    column, (sample, n) = looking._column, looking._rows
    planes = bits_of(sample, n).T
    alone = np.bincount(column)[column] == 1  # the other level has no plane
    return [
        tuple((plane ^ (plane[0] if only else 0)).tolist())
        for plane, only in zip(planes, alone, strict=True)
    ]


@given(table=rows(columns=(3, 6), length=(5, 80), levels=4), data=st.data())
def test_a_sample_depends_neither_on_the_order_of_rows_nor_on_the_names_of_levels(table, data):
    order = data.draw(st.permutations(range(len(table))))
    turned = table[order].copy()
    for k in range(table.shape[1]):
        levels = np.unique(table[:, k])
        names = np.array(data.draw(st.permutations(levels.tolist())))
        turned[:, k] = names[np.searchsorted(levels, turned[:, k])]
    own = table_of(table)
    all_planes, column = build_planes(own.codes, own.arities), interacting_columns(own.arities)
    words = interacting_planes(all_planes.words, all_planes.first, own.arities, len(table))
    planes = column, plane_ones(words), len(table)
    keys = PlaneKeys(*planes)
    if keys.are_open:
        (sums,) = PlaneSums(keys).of_block(words, len(table))
        keys = PlaneKeys(*planes, sums.view(np.uint64))
    if keys.are_open:
        return  # two levels of a column that nothing tells apart
    assert sample_of(table) == sample_of(turned)


def test_a_sample_is_rows_of_the_table_and_all_where_they_are_few():
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2, (100, 70))
    words, n = sample_of_bits(bits)
    assert n == 100
    assert sorted(map(tuple, bits_of(words, n))) == sorted(map(tuple, bits))
    many = rng.integers(0, 2, (3 * SAMPLED_ROWS, 20))
    words, n = sample_of_bits(many)
    assert n == pytest.approx(SAMPLED_ROWS, rel=0.1)
    np.testing.assert_allclose(bits_of(words, n).mean(axis=0), 0.5, atol=0.05)
    assert {*map(tuple, bits_of(words, n))} <= {*map(tuple, many)}


def test_frequent_rows_are_sampled_as_often_as_they_occur():
    """Rare ones among 40 columns: most rows are alike, and the first 128 must show that too."""
    rng = np.random.default_rng(3)
    bits = (rng.random((20_000, 40)) < np.where(np.arange(40) < 6, 0.5, 0.01)).astype(int)
    words, n = sample_of_bits(bits)
    found = bits_of(words, n)
    np.testing.assert_allclose(found.mean(axis=0), bits.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(found[:128].mean(axis=0), bits.mean(axis=0), atol=0.16)
    assert len({*map(tuple, found[:128])}) > 50


def test_a_parity_among_rare_columns_is_found(monkeypatch):
    counted_up_to(monkeypatch, 2)
    rng = np.random.default_rng(4)
    bits = (rng.random((20_000, 40)) < np.where(np.arange(40) < 5, 0.5, 0.005)).astype(int)
    bits[:, 4] = (bits[:, :4].sum(axis=1) + (rng.random(20_000) < 0.1)) % 2
    found = MemoryCounts(table_of(bits)).looking.interactions(4)
    assert found[4][0].members == (0, 1, 2, 3)
    assert sum(map(len, found)) < 20


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_few_rows_are_all_there_however_often_they_occur(rows_of_patterns):
    keys, counts = np.unique(np.array(rows_of_patterns, dtype=np.uint64), return_counts=True)
    found = keys[copies(keys, counts)]
    assert sorted(found.tolist()) == sorted(rows_of_patterns)


def test_patterns_are_the_planes_of_rows_and_how_many_have_them():
    bits = np.random.default_rng(2).integers(0, 2, (200, 5))
    words = words_of(bits)
    keys = PlaneKeys(np.arange(5), plane_ones(words), 200)
    found, counts, planes = PatternRows(keys).of_block(words, 200)
    rows_found = np.unpackbits(planes.view(np.uint8), axis=1, bitorder="little")[:, :5]
    ref = np.unique(bits, axis=0, return_counts=True)
    assert len(set(found.tolist())) == len(found)
    assert dict(zip(map(tuple, rows_found), counts, strict=True)) == dict(
        zip(map(tuple, ref[0]), ref[1], strict=True)
    )


# How far to look


def counted_up_to(monkeypatch, most: int) -> None:
    """As if the budget for counting ended there."""
    monkeypatch.setattr("tamis.counting.looking.affordable", lambda *_: most)


def test_it_is_looked_farther_while_larger_sets_are_found(monkeypatch):
    counted_up_to(monkeypatch, 2)
    monkeypatch.setattr(constants, "always_screened", 1)
    none = parity_table(1000, 12, {}, 1)
    two = parity_table(1000, 12, {11: (0, 1)}, 2)
    chain = parity_table(1000, 12, {11: (0, 1), 10: (2, 3, 4), 9: (5, 6, 7, 8)}, 3)
    found = [MemoryCounts(table_of(one)).looking.worthwhile() for one in (none, two, chain)]
    assert found == [2, 3, 5]


@pytest.mark.parametrize(("n_columns", "members"), [(60, (0, 1, 2)), (40, (3, 4, 5, 6))])
def test_more_rows_never_find_less(n_columns, members):
    """All sets of this size are counted in the short table, and are too many in the long one."""
    for n_rows in (1000, 4000, 20_000, 100_000):
        bits = parity_table(n_rows, n_columns, {n_columns - 1: members}, n_rows)
        counts = MemoryCounts(table_of(bits))
        assert counts.looking.worthwhile() >= len(members)
        found = counts.looking.interactions(len(members))
        assert found[n_columns - 1][0].members == members


def test_sets_counted_on_a_sample_are_as_strong_as_on_all_rows():
    bits = parity_table(9000, 12, {11: (0, 1, 2)}, 4)
    looking = MemoryCounts(table_of(bits)).looking
    ((target, members, z), *_) = sorted(
        looking._counted_on(*looking._rows, 4), key=lambda one: -one[2]
    )
    own = strength(bits, target, members) * math.sqrt(9000)
    assert {target, *members} == {0, 1, 2, 11}
    assert z == pytest.approx(own, rel=0.1)


def test_the_parents_of_large_parities_are_screened_where_they_cannot_be_counted(monkeypatch):
    counted_up_to(monkeypatch, 2)
    bits = parity_table(1000, 12, {11: (0, 1), 10: (2, 3, 4), 9: (5, 6, 7, 8)}, 3)
    found = MemoryCounts(table_of(bits)).looking.interactions(4)
    assert [found[k][0].members for k in (11, 10, 9)] == [(0, 1), (2, 3, 4), (5, 6, 7, 8)]


def test_threads_and_blocks_screen_alike(monkeypatch):
    counted_up_to(monkeypatch, 2)
    bits = parity_table(9000, 30, {29: (0, 1, 2), 28: (3, 4), 27: (5, 6, 7, 8)}, 4)
    bits[:, 10] = np.random.default_rng(5).integers(0, 3, 9000)
    table = table_of(bits)
    one, two = (CountedInformation(table, n_jobs=n_jobs) for n_jobs in (1, 2))
    with packed(table) as in_blocks:
        blocks = CountedInformation(in_blocks)
        assert blocks.worthwhile_look_ahead() == one.worthwhile_look_ahead() == 5
        assert one.interactions(4) == two.interactions(4) == blocks.interactions(4)
    assert one.interactions(4)[27][0].members == (5, 6, 7, 8)


def test_sets_that_stand_out_by_a_strong_pair_do_not_hide_others():
    """Rare columns beside a pair that depends on itself: thousands of sets stand out before it."""
    rng = np.random.default_rng(0)
    bits = (rng.random((8000, 50)) < np.where(np.arange(50) < 44, 0.02, 0.5)).astype(int)
    parity = bits[:, 45:49].sum(axis=1) % 2
    bits[:, 49] = np.where(rng.random(8000) < 0.5, bits[:, 44], parity)
    found = MemoryCounts(table_of(bits)).looking.interactions(4)
    assert (45, 46, 47, 48) in {one.members for one in found[49]}
