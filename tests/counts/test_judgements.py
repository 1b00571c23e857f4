"""Every way of counting gives the counts of the definition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import entr

import naive
from engines import judged
from tables import rows, table_of
from tamis.counting import counts, memory, sharing
from tamis.counting.lookup import Lookup
from tamis.counting.memory import MemoryCounts

ENGINES = {
    "planes": {},
    "planes without the pair table": {"PAIR_TABLE_BYTES": 0},
    "rows": {"CROSSOVER": 0, "JOINT_CROSSOVER": 0},
    "rows kept sparse": {"CROSSOVER": 0, "JOINT_CROSSOVER": 0, "DENSE_CELLS": 0, "EMPTY": 0},
    "planes and rows mixed": {"CROSSOVER": 6, "JOINT_CROSSOVER": 12},
    "planes in threads": {"THREAD_WORDS": 0},
    "rows in threads": {"THREAD_WORDS": 0, "CROSSOVER": 0, "JOINT_CROSSOVER": 0},
}


MODULES = {
    "THREAD_WORDS": sharing,
    "JOINT_CROSSOVER": memory,
    "EMPTY": memory,
}


@contextmanager
def counting_by(engine: str) -> Iterator[None]:
    """Force one way of counting."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in ENGINES[engine].items():
            module = MODULES.get(constant, counts)
            patch.setattr(module, constant, value)
        yield


def plugin_lookup(n: int) -> Lookup:
    return Lookup(lambda counts, n_rows, support: entr(counts / n_rows), n)


def contexts_of(d: int) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (k, given)
        for k in range(d)
        for size in range(min(d, 4))
        for given in combinations([v for v in range(d) if v != k], size)
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_candidate_that_is_part_of_its_context_gains_nothing_and_has_no_test(engine):
    table = table_of(np.random.default_rng(3).integers(0, 3, (60, 4)))
    everyone = np.arange(4)
    with counting_by(engine):
        counts = MemoryCounts(table, n_jobs=2)
        for candidates in (None, [everyone, everyone]):
            found = judged(counts, [(0, (2,)), (3, ())], candidates, plugin_lookup(60), tests=True)
            assert found.gains.reshape(2, 4)[[0, 0, 1], [0, 2, 3]].tolist() == [0.0, 0.0, 0.0]
            assert not found.stats.reshape(2, 4, -1)[[0, 0, 1], [0, 2, 3]].any()
            assert (found.gains.reshape(2, 4)[[0, 0, 1, 1, 1], [1, 3, 0, 1, 2]] > 0).all()


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=8)
@given(table=rows())
def test_gains_entropies_and_tests_are_those_of_the_definition(engine, table):
    n, d = table.shape
    contexts = contexts_of(d)
    candidates = [np.array([v for v in range(d) if v != k and v not in s]) for k, s in contexts]
    keep = [i for i, c in enumerate(candidates) if len(c)]
    contexts, candidates = [contexts[i] for i in keep], [candidates[i] for i in keep]
    with counting_by(engine):
        counts = MemoryCounts(table_of(table), n_jobs=3)
        found = judged(counts, contexts, candidates, plugin_lookup(n), tests=True)
    H, I = naive.from_rows(table.tolist())  # noqa: E741
    at = 0
    for i, (k, s) in enumerate(contexts):
        assert found.entropies[i] == pytest.approx(H(k, s), abs=1e-12)
        for candidate in candidates[i].tolist():
            assert found.gains[at] == pytest.approx(I(k, (candidate,), s), abs=1e-12)
            expected = naive.strata_evidence(table.tolist(), k, candidate, s)
            assert found.stats[at].tolist() == pytest.approx(list(expected.values()), abs=1e-9)
            at += 1


@pytest.mark.parametrize("engine", ENGINES)
@given(table=rows(columns=(4, 5)))
def test_several_variables_can_stand_as_one_candidate(engine, table):
    with counting_by(engine):
        counts = MemoryCounts(table_of(table), n_jobs=1)
        found = batch = counts.shapes.joint_batch([(0, (1,))], [(2, 3)], plugin_lookup(len(table)))
        found = counts.judge(batch, tests=True)
    _, I = naive.from_rows(table.tolist())  # noqa: E741
    assert found.gains[0] == pytest.approx(I(0, (2, 3), (1,)), abs=1e-12)
    expected = naive.strata_evidence(table.tolist(), 0, (2, 3), (1,))
    assert found.stats[0].tolist() == pytest.approx(list(expected.values()), abs=1e-9)


@given(table=rows(columns=(3, 4), length=(60, 300)))
def test_all_ways_of_counting_agree_to_the_last_bit(table):
    d = table.shape[1]
    contexts = contexts_of(d)
    candidates = [np.arange(d)] * len(contexts)
    answers = []
    for engine in ENGINES:
        with counting_by(engine):
            counts = MemoryCounts(table_of(table), n_jobs=2)
            lookup = plugin_lookup(len(table))
            answers.append(judged(counts, contexts, candidates, lookup, tests=True))
    for answer in answers[1:]:
        for found, expected in zip(answer, answers[0], strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("tests", [True, False])
@given(table=rows(columns=(4, 6), length=(20, 300), levels=6))
def test_small_and_large_contexts_of_a_batch_do_not_meet(tests, table):
    d = table.shape[1]
    rng = np.random.default_rng(len(table))
    contexts = [contexts_of(d)[i] for i in rng.permutation(len(contexts_of(d)))]
    candidates = [rng.permutation(d)[: rng.integers(0, d + 1)] for _ in contexts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "CROSSOVER", 24)
        patch.setattr(sharing, "THREAD_WORDS", 0)
        engine, lookup = MemoryCounts(table_of(table), n_jobs=2), plugin_lookup(len(table))
        found = judged(engine, contexts, candidates, lookup, tests=tests)
        alone = [
            judged(engine, [one], [some], lookup, tests=tests)
            for one, some in zip(contexts, candidates, strict=True)
        ]
    for i, together in enumerate(found):
        np.testing.assert_array_equal(together, np.concatenate([one[i] for one in alone]))


def test_a_column_of_many_levels_is_counted_beside_one_of_few():
    rng = np.random.default_rng(5)
    wide = rng.integers(0, 150, 2000)
    table = np.stack([wide, wide % 2, rng.integers(0, 2, 2000)], axis=1)
    counts = MemoryCounts(table_of(table))
    found = judged(counts, [(1, ()), (0, (2,))], [np.array([0, 2]), np.array([1])],
                         plugin_lookup(2000), tests=True)  # fmt: skip
    H, I = naive.from_rows(table.tolist())  # noqa: E741
    assert found.gains[0] == pytest.approx(H(1, ()), abs=1e-12)
    assert found.gains[2] == pytest.approx(I(0, (1,), (2,)), abs=1e-12)
    expected = naive.strata_evidence(table.tolist(), 0, 1, (2,))
    assert found.stats[2].tolist() == pytest.approx(list(expected.values()), abs=1e-6)


def test_relabelled_levels_tie_exactly():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, 500)
    y = (x + (rng.random(500) < 0.3)) % 3
    table = np.stack([x, y, 2 - y, (y + 1) % 3], axis=1)
    found = judged(
        MemoryCounts(table_of(table)),
        [(0, ())],
        [np.array([1, 2, 3])],
        plugin_lookup(500),
        tests=False,
    )
    assert found.gains[0] == found.gains[1] == found.gains[2]


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=10)
@given(table=rows(columns=(2, 6), length=(1, 60), levels=6))
def test_gains_are_the_same_whether_or_not_tests_are_wanted(engine, table):
    contexts = contexts_of(table.shape[1])
    lookup = plugin_lookup(len(table))
    expected = judged(MemoryCounts(table_of(table)), contexts, None, lookup, tests=True)
    with counting_by(engine):
        found = judged(MemoryCounts(table_of(table), n_jobs=2), contexts, None, lookup, tests=False)
    np.testing.assert_array_equal(found.gains, expected.gains)
    np.testing.assert_array_equal(found.entropies, expected.entropies)


@pytest.mark.parametrize("engine", ["rows", "rows kept sparse"])
@pytest.mark.parametrize("silent", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("levels", [3, 9, 30])
def test_strata_in_which_the_target_does_not_vary_say_nothing(engine, silent, levels):
    """Few or many rows are in such strata, and tables have few or many more cells than rows."""
    rng = np.random.default_rng(levels)
    stratum = rng.integers(0, 12, 300)
    target = np.where(stratum < 12 * silent, 0, rng.integers(0, 3, 300))
    others = rng.integers(0, levels, (300, 4))
    table = np.column_stack([target, stratum, others])
    with counting_by(engine):
        found = judged(
            MemoryCounts(table_of(table)),
            [(0, (1,)), (0, (1, 2))],
            None,
            plugin_lookup(300),
            tests=False,
        )
    _, I = naive.from_rows(table.tolist())  # noqa: E741
    expected = [[I(0, (k,), s) if k and k not in s else 0.0 for k in range(6)]
                for s in ((1,), (1, 2))]  # fmt: skip
    np.testing.assert_allclose(
        found.gains.reshape(2, 6)[:, 1:], np.array(expected)[:, 1:], atol=1e-12
    )
