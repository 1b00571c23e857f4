"""A source that remembers answers as the source itself does, and asks it once."""

from __future__ import annotations

import numpy as np
import pytest

from tables import table_of
from tamis.information import wrappers as module
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context, Group, Query
from tamis.information.wrappers import RememberedInformation


@pytest.fixture
def source() -> CountedInformation:
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 3, (3, 400))
    return CountedInformation(table_of(np.column_stack([a, b, c, (a + b) % 3, np.zeros_like(a)])))


CONTEXTS = [Context(0, ()), Context(3, (0,)), Context(3, (0, 1)), Context(2, (3,))]


@pytest.mark.parametrize("room", [2**28, 0], ids=["with room", "without"])
def test_answers_are_those_of_the_source(source, room, monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", room)
    keeping = RememberedInformation(source)
    for asked in (CONTEXTS[:2], CONTEXTS, CONTEXTS[::-1], CONTEXTS[1:3]):
        ours, theirs = keeping.profiles(asked), source.profiles(asked)
        np.testing.assert_array_equal(ours.entropies, theirs.entropies)
        np.testing.assert_array_equal(ours.cmi, theirs.cmi)
        np.testing.assert_array_equal(ours.stats, theirs.stats)
        np.testing.assert_array_equal(keeping.entropies(asked), source.entropies(asked))
        np.testing.assert_array_equal(
            keeping.penalised_likelihoods(asked), source.penalised_likelihoods(asked)
        )
    known = [Query(*one, np.array([1, 2])) for one in CONTEXTS if not {1, 2} & {*one[1], one[0]}]
    fresh = [Query(1, (0,), np.array([2, 3])), Query(2, (0, 3), np.array([1]))]
    assert known
    for queries in (known, fresh, [fresh[0], *known, fresh[1]], [*known, *fresh], []):
        ours, theirs = keeping.tests(queries), source.tests(queries)
        for field in ("cmi", "pearson", "null_mean", "null_variance", "df", "plugin"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    groups = [Group(3, (), (0, 1)), Group(3, (2,), (0, 1))]
    more = [Group(2, (), (0, 3)), groups[1], groups[0], groups[1]]
    for asked in (groups, groups, more, more[:1]):
        ours, theirs = keeping.joint_tests(asked), source.joint_tests(asked)
        for field in ("cmi", "pearson", "null_mean", "null_variance", "df", "plugin"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
        assert ours.n_rows == theirs.n_rows
    assert keeping.interactions(2) == source.interactions(2)
    assert [keeping.varies(k) for k in range(5)] == [True] * 4 + [False]


def test_each_context_is_asked_for_once(source, monkeypatch):
    keeping = RememberedInformation(source)
    asked: list[Context] = []
    plain = source.profiles

    def counted(contexts):
        asked.extend(contexts)
        return plain(contexts)

    monkeypatch.setattr(source, "profiles", counted)
    for _ in range(3):
        keeping.profiles(CONTEXTS)
        keeping.cmi(CONTEXTS[:1])
    assert asked == CONTEXTS


def test_of_wide_tables_the_largest_cmi_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 2**15)
    monkeypatch.setattr(module, "LEADING", 5)
    monkeypatch.setattr(module, "WIDE", 100)
    table = np.random.default_rng(1).integers(0, 2, (50, 200))
    source = CountedInformation(table_of(table))
    keeping = RememberedInformation(source)
    contexts = [Context(k, (k + 1,)) for k in range(40)]
    whole = keeping.leading(contexts)
    assert whole.whole is None
    monkeypatch.setattr(source, "profiles", None)
    found = keeping.leading(contexts)
    assert found.whole is not None
    assert not found.whole.any()
    np.testing.assert_array_equal(found.entropies, whole.entropies)
    for (target, given), row, cmi in zip(contexts, found.cmi, whole.cmi, strict=True):
        listed = np.flatnonzero(row > -np.inf)
        np.testing.assert_array_equal(row[listed], cmi[listed])
        assert cmi[row == -np.inf].max() < row[listed].min()
        assert 5 <= len(set(listed.tolist()) - {target, *given}) < 50
