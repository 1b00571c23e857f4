"""Studies: plans in files, run on many tables by many methods, with tables and figures.

    from tamis import studies

    plan = studies.load("paper", quick=True)  # or the path of a file that ends in .toml
    rows = studies.run(plan, "study", jobs=2)
    studies.write_figures(rows, "study"), studies.summarise(rows, plan)

A plan is data; a run can be killed at any moment and goes on when it is called again; the rows
hold everything that figures and tables show.
"""

from __future__ import annotations

from tamis.studies.figures import write_figures
from tamis.studies.plans import Plan, load, shipped
from tamis.studies.report import summarise
from tamis.studies.rows import Row, read, write
from tamis.studies.running import read_plan, run

__all__ = [
    "Plan",
    "Row",
    "load",
    "read",
    "read_plan",
    "run",
    "shipped",
    "summarise",
    "write",
    "write_figures",
]
