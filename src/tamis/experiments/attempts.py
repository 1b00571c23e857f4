"""Runs, one after the other, on one table: each is announced, made, scored and described."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tamis import metrics
from tamis.experiments.cells import Cell, Draw
from tamis.experiments.datasets import Dataset
from tamis.experiments.methods import Found, described, find_method, library_of, version_of
from tamis.experiments.rows import FAILED, OK, Row


@dataclass(frozen=True)
class Report:
    """What is heard of a run: that it begins, with what is known then, or how it ended."""

    row: Row
    begins: bool = False


def blank(cell: Cell, time_limit: float | None, status: str, reason: str = "") -> Row:
    """A row with everything that is known without running anything."""
    draw = cell.draw
    return Row(
        model=draw.model,
        graph=draw.graph,
        d=draw.d,
        n=draw.n,
        replication=draw.replication,
        method=cell.method,
        seed=draw.seed,
        status=status,
        reason=reason,
        time_limit=time_limit,
        settings=draw.settings(),
        tamis=version_of("tamis"),
        numpy=version_of("numpy"),
        library=library_of(cell.method),
    )


def attempts(draw: Draw, methods: Sequence[str], time_limit: float | None) -> Iterator[Report]:
    """Draw the table, and run each method on it; nothing that goes wrong is raised."""
    blanks = [blank(Cell(draw, method), time_limit, FAILED) for method in methods]
    try:
        data = Dataset(draw)
    except Exception as error:
        why = f"the table could not be drawn: {described(error)}"
        yield from (Report(replace(row, reason=why)) for row in blanks)
        return
    edges = data.graph.number_of_edges()
    for row in blanks:
        yield from _attempt(replace(row, edges_true=edges), data)


def _attempt(row: Row, data: Dataset) -> Iterator[Report]:
    method = find_method(row.method)
    try:
        method.prepare()
        yield Report(row, begins=True)
        yield Report(_scored(row, method.learn(data), data))
    except Exception as error:
        yield Report(replace(row, reason=described(error)))


def _scored(row: Row, found: Found, data: Dataset) -> Row:
    seconds = round(found.seconds, 6)
    if found.graph is None:
        return replace(row, reason=" ".join(found.failure.split()), seconds=seconds)
    skeleton = metrics.skeleton_scores(found.graph, data.graph)
    return replace(
        row,
        status=OK,
        shd=metrics.shd(found.graph, data.graph),
        shd_strict=metrics.shd(found.graph, data.graph, undirected="strict"),
        skeleton_f1=round(skeleton.f1, 6),
        edges_learned=skeleton.learned,
        seconds=seconds,
    )
