"""The order of the tables, and what is given up, without running anything."""

from __future__ import annotations

from dataclasses import replace

from study_plans import small_plan

from tamis.studies.rows import TIMED_OUT
from tamis.studies.running import Schedule


def mod_plan(**options):
    return small_plan(["pc", "ges"], models=["mod"], sizes=(4, 5), **options)


def places(tables):
    return [(runs[0].d, runs[0].replication) for runs in tables]


def ended(runs, status="ok"):
    return [replace(run, status=run.status or status) for run in runs]


def skipped(runs):
    return {run.method: run.reason for run in runs if run.status == "skipped"}


def taken(schedule):
    """What can be begun while nothing ends."""
    return list(iter(schedule.next, []))


def played(plan, outcome, rows=()):
    """All tables in order, every run ending as ``outcome(method, d)`` says."""
    schedule, tables = Schedule(plan, rows), []
    while runs := schedule.next():
        tables.append(runs)
        for run in runs:
            (row,) = ended([run], outcome(run.method, run.d))
            schedule.hear(row)
    return tables


def test_the_replications_that_decide_come_first_small_d_before_large():
    tables = played(mod_plan(replications=4, patience=2), lambda method, d: "ok")
    assert places(tables) == [(4, 0), (4, 1), (5, 0), (5, 1), (4, 2), (5, 2), (4, 3), (5, 3)]
    assert all([run.method for run in runs] == ["pc", "ges"] for runs in tables)


def test_without_giving_up_the_replications_come_one_by_one_and_nothing_waits():
    schedule = Schedule(mod_plan(replications=2, patience=0), [])
    assert places(taken(schedule)) == [(4, 0), (5, 0), (4, 1), (5, 1)]


def test_a_table_waits_for_what_decides_about_it():
    schedule = Schedule(mod_plan(replications=3, patience=2), [])
    first = taken(schedule)
    assert places(first) == [(4, 0), (4, 1)]
    *most, last = [row for runs in first for row in ended(runs)]
    for row in most:
        schedule.hear(row)
    assert taken(schedule) == []
    schedule.hear(last)
    assert places(taken(schedule)) == [(5, 0), (5, 1), (4, 2)]


def test_a_method_is_given_up_when_all_deciding_replications_timed_out():
    tables = played(
        mod_plan(replications=3, patience=2),
        lambda method, d: TIMED_OUT if (method, d) == ("ges", 4) else "ok",
    )
    given_up = dict(zip(places(tables), map(skipped, tables), strict=True))
    reason = {"ges": "ges timed out on the first 2 replications with d 4, n 50"}
    assert given_up == {(4, 0): {}, (4, 1): {}, (5, 0): reason, (5, 1): reason,
                        (4, 2): reason, (5, 2): reason}  # fmt: skip


def test_a_method_is_given_up_on_more_rows_and_not_on_fewer():
    plan = small_plan(["pc"], models=["mod"], replications=1, patience=1, rows=(50, 60, 70))
    at_60 = next(runs for runs in plan.draws if runs[0].n == 60)
    tables = played(plan, lambda method, d: "ok", ended(at_60, TIMED_OUT))
    assert [(runs[0].n, bool(skipped(runs))) for runs in tables] == [(50, False), (70, True)]


def test_one_run_that_finishes_saves_a_method():
    plan = mod_plan(replications=3, patience=2)
    saved = ended(run for run in plan.draws[0] if run.method == "ges")
    tables = played(plan, lambda method, d: TIMED_OUT if method == "ges" else "ok", saved)
    assert [runs[0].replication for runs in tables if skipped(runs) and runs[0].d == 4] == []


def test_a_schedule_takes_up_what_is_on_record():
    plan = mod_plan(replications=2, patience=2)
    record = [row for runs in plan.draws for row in ended(runs, TIMED_OUT) if row.d == 4]
    schedule = Schedule(plan, record[:-1])
    ((run,),) = taken(schedule)
    assert (run.d, run.replication, run.method) == (4, 1, record[-1].method)
    schedule.put_back([run])
    assert places(taken(schedule)) == [(4, 1)]
    assert all(len(skipped(runs)) == len(runs) for runs in taken(Schedule(plan, record)))
