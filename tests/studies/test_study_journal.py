"""The journal and the tidy table: whole rows or none, and one process at a time."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_plans import row, rows

import tamis
from tamis import studies
from tamis.atomic import Journal, _line, read_journal
from tamis.studies.rows import JOURNAL, STUDY

ROWS = [*rows("pc", [3, 0, None], graph="er"), row("ges", None, status="failed", reason='a, "b"')]
ENTRIES = [vars(one) for one in ROWS]


@pytest.fixture
def filled(tmp_path):
    with Journal(tmp_path / JOURNAL, STUDY, {"a": [1]}, "by hand") as journal:
        for one in ENTRIES:
            journal.add([one])
    return tmp_path / JOURNAL


def taken_up(path, of=None):
    with Journal(path, STUDY, of or {"a": [1]}) as journal:
        return journal.entries


def test_entries_come_back_as_they_were_written(filled):
    assert taken_up(filled) == ENTRIES
    head, entries = read_journal(filled, STUDY)
    assert (head["of"], head["note"], entries) == ({"a": [1]}, "by hand", ENTRIES)
    assert set(studies.read(filled.parent)) == set(ROWS)


def test_wherever_a_file_is_torn_the_whole_entries_are_kept_and_it_goes_on(filled):
    content = filled.read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == 10]

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, len(content) - 1))
    def check(kept):
        filled.write_bytes(content[:kept])
        whole = max(sum(end <= kept for end in ends) - 1, 0)
        with Journal(filled, STUDY, {"a": [1]}, "by hand") as journal:
            assert journal.entries == ENTRIES[:whole]
            journal.add(ENTRIES[whole:])
        assert filled.read_bytes() == content

    check()


def test_a_last_line_of_rubbish_is_dropped_too(filled):
    with open(filled, "ab") as file:
        file.write(b"\0\0\0\0\n")
    assert taken_up(filled) == ENTRIES


def test_damage_and_doubled_rows_are_refused_with_their_line(filled):
    lines = filled.read_bytes().splitlines(keepends=True)
    filled.write_bytes(b"".join([*lines[:2], lines[2][:20] + b"\n", *lines[3:]]))
    with pytest.raises(tamis.FileFormatError, match="line 3 is not as it was written"):
        taken_up(filled)
    filled.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(tamis.FileFormatError, match="mod/er/10/1000/0/pc is there twice: remove"):
        studies.read(filled.parent)
    filled.write_bytes(lines[0] + _line({"model": "mod"}))
    with pytest.raises(tamis.FileFormatError, match="line 2 is no finished run"):
        studies.read(filled.parent)


def test_the_file_of_another_work_is_refused(filled, tmp_path):
    with pytest.raises(tamis.SettingError, match="belongs to a study of another table"):
        taken_up(filled, of={"a": [2]})
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(tamis.FileFormatError, match="is not a file of a study"):
        taken_up(other)
    assert other.read_text() == "mine"


def test_a_held_journal_is_refused_and_let_go_with_whoever_held_it(filled):
    with (
        Journal(filled, STUDY, {"a": [1]}),
        pytest.raises(tamis.SettingError, match="in use by another process: wait"),
    ):
        taken_up(filled)
    assert taken_up(filled) == ENTRIES


def test_the_tidy_table_is_sorted_and_holds_every_row(tmp_path):
    studies.write(reversed(ROWS), tmp_path)
    found = studies.read(tmp_path)
    assert found == tuple(sorted(ROWS, key=lambda one: one.place))
    assert studies.read(tmp_path / "results.csv") == found
    header = (tmp_path / "results.csv").read_text().splitlines()[0]
    assert header.startswith("model,graph,d,n,replication,method,seed,status,reason,shd,")


def test_methods_that_were_run_apart_are_put_together(tmp_path):
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    studies.write(ROWS[:2], tmp_path / "ours")
    studies.write(ROWS[2:], tmp_path / "theirs")
    together = studies.read(tmp_path / "ours", tmp_path / "theirs")
    assert together == tuple(sorted(ROWS, key=lambda one: one.place))
    with pytest.raises(tamis.FileFormatError, match="is there twice: leave a folder out"):
        studies.read(tmp_path / "ours", tmp_path / "ours")


def test_the_journal_of_a_study_under_way_is_read_before_an_old_table(filled):
    studies.write(ROWS[:1], filled.parent)
    assert len(studies.read(filled.parent)) == len(ROWS)


def test_what_is_no_table_of_results_is_refused_with_its_line(tmp_path):
    with pytest.raises(tamis.FileFormatError, match="give the folder of a study"):
        studies.read(tmp_path)
    studies.write(ROWS, tmp_path)
    path = tmp_path / "results.csv"
    text = path.read_text()
    path.write_text(text.replace(",10,", ",ten,", 1))
    with pytest.raises(tamis.FileFormatError, match="line 2 is no finished run"):
        studies.read(tmp_path)
    path.write_text(text.replace(",10,", ",,", 1))
    with pytest.raises(tamis.FileFormatError, match="line 2 is no finished run"):
        studies.read(tmp_path)
    packed = tmp_path / "results.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert len(studies.read(packed)) == len(ROWS)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(tamis.FileFormatError, match="cannot be read as results"):
        studies.read(packed)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(tamis.FileFormatError, match="line 1 must name model, graph"):
        studies.read(tmp_path)
