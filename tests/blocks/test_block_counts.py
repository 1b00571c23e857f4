"""Counted in blocks, a table gives every number that it gives in memory, to the last bit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packed_tables import decoded, packed

from engines import WAYS, assert_same_answers, force, wide_table
from tables import rows, table_of
from tamis.counting import counts, looking, passes, row_tables
from tamis.errors import SettingError
from tamis.information.counted import CountedInformation
from tamis.information.estimators import Minimax
from tamis.information.interface import Context, Group

ESTIMATORS = ["grassberger", "plugin", "miller-madow", "jackknife", "minimax"]


@given(rows(length=(2, 200)), st.sampled_from([64, 128, 256]), st.sampled_from(ESTIMATORS))
def test_blocks_of_any_size_answer_as_memory_does(table, block_rows, estimator):
    table = table_of(table)
    with packed(table, block_rows) as blocks:
        np.testing.assert_array_equal(decoded(blocks), table.codes)
        assert_same_answers(
            CountedInformation(table, estimator, n_jobs=1),
            CountedInformation(blocks, estimator, n_jobs=1),
        )


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(table=rows(columns=(3, 4), length=(65, 200)))
def test_every_way_of_counting_blocks_answers_as_memory_does(monkeypatch, way, table):
    force(monkeypatch, way)
    table = table_of(table)
    with packed(table) as blocks:
        assert_same_answers(
            CountedInformation(table, n_jobs=2), CountedInformation(blocks, n_jobs=2)
        )


@pytest.mark.parametrize("way", ["planes", "rows kept sparse"])
def test_columns_without_planes_and_levels_of_one_block_only(monkeypatch, way):
    force(monkeypatch, way)
    table = wide_table(1)
    with packed(table) as blocks:
        assert blocks.file.layout.n_blocks == 8
        assert blocks.planed.tolist() == [True, True, False, True, True]
        assert_same_answers(CountedInformation(table), CountedInformation(blocks))


def test_one_block_in_memory_at_a_time(monkeypatch):
    groups = passes.View.groups
    monkeypatch.setattr(passes.View, "groups", lambda self, most_rows=1: groups(self, 1))
    table = wide_table(6)
    with packed(table) as blocks:
        left = []
        leave = blocks.file._leave
        monkeypatch.setattr(blocks.file, "_leave", lambda *g: left.append(g) or leave(*g))
        assert_same_answers(CountedInformation(table), CountedInformation(blocks))
        assert left[:8] == [(block, block + 1) for block in range(8)]


def test_columns_in_another_order_than_in_the_file():
    table, order = wide_table(2), [3, 0, 4, 1, 2]
    with packed(table) as blocks:
        assert_same_answers(
            CountedInformation(table.select(order)), CountedInformation(blocks.select(order))
        )


def test_counts_beyond_the_heads_of_the_lookup_and_an_observed_support():
    table = table_of(np.random.default_rng(4).integers(0, 3, (2000, 3)))
    for estimator in (*ESTIMATORS, Minimax(support="observed")):
        with packed(table, 512) as blocks:
            assert_same_answers(
                CountedInformation(table, estimator), CountedInformation(blocks, estimator)
            )


def test_sets_beyond_the_memory_limit_are_screened_in_place_of_counted(monkeypatch):
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2, (3000, 8))
    bits[:, 7] = (bits[:, :3].sum(axis=1) + (rng.random(3000) < 0.1)) % 2
    with packed(table_of(bits)) as blocks:
        assert CountedInformation(blocks).affordable_look_ahead() == 6
        monkeypatch.setattr(looking, "bytes_of_sets", lambda n, k: 0 if k < 3 else 2**60)
        information = CountedInformation(blocks)
        assert information.affordable_look_ahead() == 2
        assert information.interactions(3)[7][0].members == (0, 1, 2)


def test_tables_beyond_the_memory_limit_are_refused(monkeypatch):
    monkeypatch.setattr(counts, "CROSSOVER", 0)
    monkeypatch.setattr(counts, "DENSE_CELLS", 0)
    monkeypatch.setattr(row_tables.RowTables, "_most_bytes", 16)
    with packed(wide_table(3)) as blocks:
        information = CountedInformation(blocks)
        with pytest.raises(SettingError, match="memory has room for"):
            information.profiles([Context(0, (1, 3))])


def test_joint_tests_share_their_rounds(monkeypatch):
    table = table_of(np.random.default_rng(5).integers(0, 3, (300, 6)))
    groups = [Group(0, (), pair) for pair in combinations(range(1, 6), 2)]
    with packed(table) as blocks:
        information = CountedInformation(blocks)
        blocks.counted.begin()
        found = information.joint_tests(groups)
        assert blocks.counted.rounds == 2
    np.testing.assert_array_equal(found.cmi, CountedInformation(table).joint_tests(groups).cmi)
