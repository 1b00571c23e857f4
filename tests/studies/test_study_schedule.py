"""The order of the tables, and what is given up, without running anything."""

from __future__ import annotations

from study_plans import small_plan

from tamis.studies.attempts import blank
from tamis.studies.rows import TIMED_OUT
from tamis.studies.schedule import Schedule


def mod_plan(**options):
    return small_plan(["pc", "ges"], models=["mod"], sizes=(4, 5), **options)


def places(tasks):
    return [(task.draw.d, task.draw.replication) for task in tasks]


def taken(schedule):
    """What can be begun while nothing ends."""
    tasks = []
    while (task := schedule.next()) is not None:
        tasks.append(task)
    return tasks


def played(plan, outcome, rows=()):
    """All tasks in order, every run ending as ``outcome(method, d)`` says."""
    schedule, tasks = Schedule(plan, rows), []
    while (task := schedule.next()) is not None:
        tasks.append(task)
        for method in task.methods:
            status = outcome(method, task.draw.d)
            schedule.hear(blank(task.draw, method, 1.0, status))
        schedule.finish(task.draw)
    return tasks


def test_the_replications_that_decide_come_first_small_d_before_large():
    tasks = played(mod_plan(replications=4, patience=2), lambda method, d: "ok")
    assert places(tasks) == [(4, 0), (4, 1), (5, 0), (5, 1), (4, 2), (5, 2), (4, 3), (5, 3)]
    assert all(task.methods == ["pc", "ges"] for task in tasks)


def test_without_giving_up_the_replications_come_one_by_one_and_nothing_waits():
    schedule = Schedule(mod_plan(replications=2, patience=0), [])
    assert places(taken(schedule)) == [(4, 0), (5, 0), (4, 1), (5, 1)]


def test_a_table_waits_for_what_decides_about_it():
    schedule = Schedule(mod_plan(replications=3, patience=2), [])
    first = taken(schedule)
    assert places(first) == [(4, 0), (4, 1)]
    schedule.finish(first[0].draw)
    assert taken(schedule) == []
    schedule.finish(first[1].draw)
    assert places(taken(schedule)) == [(5, 0), (5, 1), (4, 2)]


def test_a_method_is_given_up_when_all_deciding_replications_timed_out():
    tasks = played(
        mod_plan(replications=3, patience=2),
        lambda method, d: TIMED_OUT if (method, d) == ("ges", 4) else "ok",
    )
    given_up = {(task.draw.d, task.draw.replication): task.skipped for task in tasks}
    reason = {"ges": "ges timed out on the first 2 replications with d 4, n 50"}
    assert given_up == {(4, 0): {}, (4, 1): {}, (5, 0): reason, (5, 1): reason,
                        (4, 2): reason, (5, 2): reason}  # fmt: skip


def test_a_method_is_given_up_on_more_rows_and_not_on_fewer():
    plan = small_plan(["pc"], models=["mod"], replications=1, patience=1, rows=(50, 60, 70))
    tasks = played(plan, lambda method, d: "ok")
    at_60 = next(task.draw for task in tasks if task.draw.n == 60)
    tasks = played(plan, lambda method, d: "ok", [blank(at_60, "pc", 1.0, TIMED_OUT)])
    assert [(task.draw.n, bool(task.skipped)) for task in tasks] == [(50, False), (70, True)]


def test_one_run_that_finishes_saves_a_method():
    plan = mod_plan(replications=3, patience=2)
    saved = blank(plan.draws[0], "ges", 1.0, "ok")
    tasks = played(plan, lambda method, d: TIMED_OUT if method == "ges" else "ok", [saved])
    assert [task.draw.replication for task in tasks if task.skipped and task.draw.d == 4] == []


def test_a_schedule_takes_up_what_is_on_record():
    plan = mod_plan(replications=2, patience=2)
    record = [blank(d, m, 1.0, TIMED_OUT) for d in plan.draws for m in d.methods if d.d == 4]
    schedule = Schedule(plan, record[:-1])
    (task,) = taken(schedule)
    assert (task.draw.d, task.draw.replication, task.methods) == (4, 1, [record[-1].method])
    schedule.put_back(task.draw, task.methods)
    assert places(taken(schedule)) == [(4, 1)]
    assert all(not task.methods for task in taken(Schedule(plan, record)))
