"""One question at a time: a compiled search is told what batches tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import table_of
from tamis.counting import direct
from tamis.counting.direct import FAMILY, GROUP, ROW, STRENGTH, Direct
from tamis.information.counted import CountedInformation
from tamis.information.interface import Context, Group, Query
from tamis.rules import BIC, ChiSquared, Permutation, PValue

RULE = Permutation(0.05)
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def source_of(seed: int, n: int, d: int, most_levels: int) -> CountedInformation:
    rng = np.random.default_rng(seed)
    arities = rng.integers(1, most_levels + 1, d)
    arities[0] = max(arities[0], 2)
    values = rng.integers(0, arities, (n, d))
    for k in range(1, d):
        copied = rng.random(n) < 0.5
        values[copied, k] = values[copied, k - 1] % arities[k]
    values[0, 0], values[1, 0] = 0, 1  # a table without planes is not asked so
    return CountedInformation(table_of(values), n_jobs=1)


class Asked:
    """The answers to questions about one table."""

    def __init__(self, source: CountedInformation, n_cells: int = 2**14) -> None:
        found = source.direct(None)
        assert found is not None
        found.price_up_to(n_cells)
        self.direct: Direct = found
        self.replies = np.zeros(4 * source.n_variables + 8)

    def __call__(self, what: int, context: Context, *more: int) -> np.ndarray | None:
        columns = np.array([*context.given, context.target, *more, 0], dtype=np.int64)
        n = len(context.given) + 1
        numbers = self.direct.numbers
        is_told = direct.answer(numbers, what, columns, 0, n, self.replies, 0)
        return self.replies.copy() if is_told else None


def some_context(rng: np.random.Generator, d: int) -> tuple[Context, list[int]]:
    """A context, and the columns that are not in it."""
    order = rng.permutation(d).tolist()
    n = int(rng.integers(0, min(4, d - 1)))
    return Context(order[0], tuple(sorted(order[1 : n + 1]))), order[n + 1 :]


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 400),
    d=st.integers(3, 7),
    most_levels=st.sampled_from([2, 4, 9]),
)
def test_single_answers_are_those_of_batches(seed, n, d, most_levels):
    source, rng = source_of(seed, n, d, most_levels), np.random.default_rng(seed)
    ask = Asked(source)
    for _ in range(4):
        context, others = some_context(rng, d)
        row, profiles = ask(ROW, context), source.profiles([context])
        assert np.array_equal(row[:d], profiles.cmi[0])
        assert row[d] == profiles.entropies[0]
        query = Query(*context, np.array(others[:1]))
        strength = RULE.strengths(source.tests([query]))[0]
        assert ask(STRENGTH, context, others[0])[0] == pytest.approx(strength, **CLOSE)
        if len(others) > 1:
            group = Group(*context, tuple(others[:2]))
            strength = RULE.strengths(source.joint_tests([group]))[0]
            assert ask(GROUP, context, 2, *others[:2])[0] == pytest.approx(strength, **CLOSE)
        tests, scores = source.families([context])
        told = ask(FAMILY, context)
        assert told[0] == scores[0]
        members = told[1 : 1 + 3 * len(context.given)].reshape(-1, 3)
        assert members[:, 0].tolist() == list(context.given)
        assert np.array_equal(members[:, 1], tests.cmi)
        if len(members):
            assert members[:, 2] == pytest.approx(RULE.strengths(tests), **CLOSE)


def test_a_family_whose_price_is_not_known_is_left_to_batches():
    source = source_of(1, 300, 6, 9)
    ask = Asked(source, n_cells=1)
    context = Context(0, (1, 2, 3, 4, 5))
    assert int(np.prod(source._counts.arities)) >= ask.direct.numbers[direct.N_REGRETS]
    assert ask(FAMILY, context) is None
    ask.direct.price_up_to(2**16)
    assert ask(FAMILY, context)[0] == source.families([context]).scores[0]


def test_larger_contexts_are_counted_from_lines_to_the_same_bits():
    ask, context = Asked(source_of(1, 300, 6, 9)), Context(0, (1, 2, 3))
    room = ask.direct._kept[-1]
    room[:] = 0
    from_lines = ask(ROW, context)
    assert room.any()
    ask.direct.numbers[direct.N_FIELDS] = 0
    room[:] = 0
    assert np.array_equal(ask(ROW, context), from_lines)
    assert not room.any()


def test_a_table_of_more_rows_than_a_field_counts_has_no_lines():
    codes, arities = np.zeros((1, direct.MOST_ROWS + 1), dtype=np.uint8), np.array([2])
    lines, fields = direct.lines_of(codes, arities, most_bytes=direct.LINE_BYTES)
    assert lines.size == 0
    assert fields.tolist() == [0, 2]
    lines, _ = direct.lines_of(codes[:, 1:], arities, most_bytes=direct.LINE_BYTES)
    assert lines.sum() == direct.MOST_ROWS


def test_rows_may_lie_in_memory_in_any_way():
    source = source_of(4, 300, 5, 4)
    turned = source_of(4, 300, 5, 4)
    turned._counts._codes = np.asfortranarray(turned._counts._codes)
    context = Context(0, (1, 2, 3))
    assert np.array_equal(Asked(turned)(ROW, context), Asked(source)(ROW, context))
    assert np.array_equal(Asked(turned)(FAMILY, context), Asked(source)(FAMILY, context))


def test_only_the_permutation_test_of_counts_in_memory_is_asked_so():
    source = source_of(2, 200, 4, 3)
    assert RULE.direct(source) is not None
    assert PValue(0.05).direct(source) is not None
    assert ChiSquared(0.05).direct(source) is None
    assert BIC().direct(source) is None

    class Doubled(PValue):
        def strengths(self, tests):
            return 2 * super().strengths(tests)

    assert Doubled(0.05).direct(source) is None
    observed = CountedInformation(table_of(np.eye(5, dtype=int)), "minimax", n_jobs=1)
    assert RULE.direct(observed) is None
