"""The journal and the tidy table: whole rows or none, and one process at a time."""

from __future__ import annotations

import os

import pytest
from experiment_plans import row, rows

import tamis
from tamis.experiments import results
from tamis.experiments.journal import NAME, Journal, read_journal
from tamis.experiments.lock import locked

ROWS = [*rows("pc", [3, 0, None], graph="er"), row("ges", None, status="failed", reason='a, "b"')]


@pytest.fixture
def filled(tmp_path):
    with Journal(tmp_path) as journal:
        for one in ROWS:
            journal.append(one)
    return tmp_path


def test_rows_come_back_as_they_were_written(filled):
    with Journal(filled) as journal:
        assert journal.rows == ROWS
    assert read_journal(filled) == ROWS


def test_wherever_a_line_is_torn_the_whole_rows_are_kept_and_the_file_goes_on(filled):
    path = filled / NAME
    content = path.read_bytes()
    last = content.splitlines(keepends=True)[-1]
    for kept in [*range(0, len(last), 61), len(last) - 2, len(last) - 1]:
        path.write_bytes(content[: len(content) - len(last) + kept])
        assert read_journal(filled) == ROWS[:-1]
        with Journal(filled) as journal:
            assert journal.rows == ROWS[:-1]
            journal.append(ROWS[-1])
        assert path.read_bytes() == content


def test_a_last_line_of_rubbish_is_dropped_too(filled):
    with open(filled / NAME, "ab") as file:
        file.write(b"\0\0\0\0\n")
    with Journal(filled) as journal:
        assert journal.rows == ROWS


def test_damage_in_the_middle_and_doubled_rows_are_refused_with_their_line(filled):
    path = filled / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:20] + b"\n", *lines[2:]]))
    with pytest.raises(tamis.FileFormatError, match="line 2 is no finished run"):
        Journal(filled)
    path.write_bytes(b"".join([*lines, lines[1]]))
    with pytest.raises(tamis.FileFormatError, match=r"line 5 repeats the run .* of line 2"):
        Journal(filled)


def test_the_tidy_table_is_sorted_and_holds_every_row(tmp_path):
    results.write(reversed(ROWS), tmp_path)
    found = results.read(tmp_path)
    assert found == tuple(sorted(ROWS, key=lambda one: one.place))
    assert results.read(tmp_path / "results.csv") == found
    header = (tmp_path / "results.csv").read_text().splitlines()[0]
    assert header.startswith("model,graph,d,n,replication,method,seed,status,reason,shd,")


def test_methods_that_were_run_apart_are_put_together(tmp_path):
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    results.write(ROWS[:2], tmp_path / "ours")
    results.write(ROWS[2:], tmp_path / "theirs")
    together = results.read(tmp_path / "ours", tmp_path / "theirs")
    assert together == tuple(sorted(ROWS, key=lambda one: one.place))
    with pytest.raises(tamis.FileFormatError, match="is there 2 times: leave a folder out"):
        results.read(tmp_path / "ours", tmp_path / "ours")


def test_the_journal_of_a_study_under_way_is_read_before_an_old_table(filled):
    results.write(ROWS[:1], filled)
    assert len(results.read(filled)) == len(ROWS)


def test_what_is_no_table_of_results_is_refused_with_its_line(tmp_path):
    with pytest.raises(tamis.FileFormatError, match="give the folder of an experiment"):
        results.read(tmp_path)
    results.write(ROWS, tmp_path)
    path = tmp_path / "results.csv"
    text = path.read_text()
    path.write_text(text.replace(",10,", ",ten,", 1))
    with pytest.raises(tamis.FileFormatError, match="line 2 is no row of results"):
        results.read(tmp_path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(tamis.FileFormatError, match="line 1 must be model,graph"):
        results.read(tmp_path)


def test_a_held_folder_is_refused_and_a_lock_that_was_left_is_taken_over(tmp_path):
    with (
        locked(tmp_path),
        pytest.raises(tamis.SettingError, match=f"in use by process {os.getpid()}: wait"),
        locked(tmp_path),
    ):
        pass
    (tmp_path / ".lock").write_text("999999999 of a process long gone")
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())
