"""Counted in parts, a table gives every number that it gives in memory, to the last bit."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workers_here import in_parts

from engines import (
    WAYS,
    WHOLE_NUMBERS,
    assert_same_answers,
    assert_same_numbers,
    force,
    frame_of,
    wide_table,
)
from tables import rows, table_of
from tamis import TAM, load
from tamis.counting.dask.work import Question, count
from tamis.errors import DataError, SettingError
from tamis.information.counted import CountedInformation


@given(
    rows(length=(2, 200)),
    st.lists(st.integers(0, 200), max_size=6),
    st.sampled_from(["grassberger", "minimax"]),
)
def test_parts_of_any_size_answer_as_memory_does(table, cuts, estimator):
    table = table_of(table)
    parts = in_parts(table, [min(cut, table.n_rows) for cut in cuts])
    assert_same_answers(
        CountedInformation(table, estimator, n_jobs=1), CountedInformation(parts, estimator)
    )


@pytest.mark.parametrize("way", WAYS)
@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(table=rows(columns=(3, 4), length=(65, 200)))
def test_every_way_of_counting_parts_answers_as_memory_does(monkeypatch, way, table):
    force(monkeypatch, way)
    table = table_of(table)
    parts = in_parts(table, [1, 1, 65])
    assert_same_answers(CountedInformation(table, n_jobs=2), CountedInformation(parts))


@settings(max_examples=5)
@given(st.permutations(range(4)), st.sampled_from(["auto", "node"]))
def test_the_order_of_the_parts_changes_nothing(order, search):
    table = wide_table(7, 800)
    pieces = np.split(np.arange(800), [3, 300, 301])
    moved = table.arrange(np.concatenate([pieces[i] for i in order]))
    cuts = np.cumsum([len(pieces[i]) for i in order])[:-1].tolist()
    expected = TAM(search=search).fit(table).result_
    found = TAM(search=search).fit(in_parts(moved, cuts)).result_
    assert found.edges == expected.edges
    assert found.trace == expected.trace
    assert found.engine.name == "dask"
    assert found.engine.partitions == 4
    assert found.engine.rounds > 3
    assert found.engine.bytes_moved > 1000
    assert expected.engine is None


@pytest.mark.parametrize("rows", WHOLE_NUMBERS)
def test_whole_numbers_in_parts_are_read_as_numbers_too(rows):
    table = frame_of(WHOLE_NUMBERS[rows])
    expected = TAM().fit(table).result_
    found = [TAM().fit(in_parts(table, cuts)).result_ for cuts in ([3, 3, 200], [100])]
    assert_same_numbers(found[0], expected)
    assert found[1].edges == found[0].edges


def test_rows_that_are_not_the_same_any_more_are_refused():
    table = in_parts(wide_table(3), [])
    (held,) = table.workers._held
    with pytest.raises(DataError, match=r"rows of 'x\.csv' are not those they were"):
        count(Question((), (0, 1), 10**6), [held], [(b"another", "'x.csv'")])


@pytest.mark.parametrize("what", ["recovery_check", "bootstrap", "bif"])
def test_what_needs_the_rows_says_so(what, tmp_path):
    model = TAM().fit(in_parts(wide_table(4), [200]))
    wishes = {
        "bif": lambda: model.save(str(tmp_path / "m.bif")),
        "recovery_check": lambda: model.recovery_check(3),
        "bootstrap": lambda: model.bootstrap(3),
    }
    with pytest.raises(SettingError, match=r"the 2 parts on the cluster.*never held in memory"):
        wishes[what]()


def test_a_model_and_its_copy_are_saved_wherever_the_rows_are(tmp_path):
    model = TAM().fit(in_parts(wide_table(4), [200]))
    for i, one in enumerate((model, deepcopy(model))):
        path = tmp_path / f"{i}.json"
        one.save(str(path))
        assert load(path) == model.result_
        assert load(path).engine == model.result_.engine
    with pytest.raises(SettingError, match="never held in memory"):
        deepcopy(model).save(str(tmp_path / "m.bif"))
