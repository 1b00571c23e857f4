"""Small plans, and rows made by hand."""

from __future__ import annotations

from tamis.studies import Plan, Row

HERE = "study_methods"
EMPTY, STEADY, BURNER = f"{HERE}:Empty", f"{HERE}:Steady", f"{HERE}:Burner"
RAISER, QUITTER, ABSENT = f"{HERE}:Raiser", f"{HERE}:Quitter", f"{HERE}:Absent"


def small_plan(methods, *, models=("mod", "add"), sizes=(4,), rows=(50,), replications=3, **more):
    given = {"time_limit": 30.0, "patience": 3, **more}
    block = {"model": list(models), "graph": "tree"}
    return Plan("small", (block,), tuple(methods), rows, sizes, replications, **given)


def row(method, shd, *, model="mod", graph="tree", d=10, n=1000, replication=0, **more):
    status = more.pop("status", "ok" if shd is not None else "timed out")
    given = {
        "seed": 1,
        "cpu_seconds": 0.5 if status == "ok" else 60.0,
        "time_limit": 60.0,
        "settings": '{"graph": "tree", "d": 10, "p": 0.2, "seed": 1}',
        "tamis": "1.2",
        "numpy": "2.0",
        **more,
    }
    return Row(
        model=model, graph=graph, d=d, n=n, replication=replication, method=method,
        status=status, shd=shd, shd_strict=shd, cpdag=shd, **given,
    )  # fmt: skip


def rows(method, distances, **more):
    """One row a replication; None is one that timed out."""
    return [row(method, one, replication=place, **more) for place, one in enumerate(distances)]
