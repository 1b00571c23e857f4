"""The paper's simulation study: plan, run, tidy table, figures, report.

    from tamis.experiments import plans, results, run, summarise, write_figures

    plan = plans.paper(full=False)
    run(plan, "study", jobs=2)
    rows = results.read("study")
    write_figures(rows, "study"), summarise(rows, plan)

A plan is data; a run can be killed at any moment and goes on when it is called again; the rows
hold everything that figures and tables show.
"""

from __future__ import annotations

from tamis.experiments import plans, results
from tamis.experiments.figures import write_figures
from tamis.experiments.plans import Plan
from tamis.experiments.report import summarise
from tamis.experiments.rows import Row
from tamis.experiments.running import run

__all__ = ["Plan", "Row", "plans", "results", "run", "summarise", "write_figures"]
