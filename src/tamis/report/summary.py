"""What was found, in plain words."""

from __future__ import annotations

from tamis.drawing.confidence import Confidence
from tamis.markup import Markup, tag
from tamis.report.tables import Cell, Row, table
from tamis.report.words import said
from tamis.result import LOOKS, Result
from tamis.result.model import Run

_TERMS = {
    "Uncertainty": "is conditional entropy, in nats (1 nat is 1.44 bits): how hard a column is to "
    "predict from those before it. A continuous column may have less than 0.",
    "A layer": "holds columns that depend on earlier layers and not on each other. Every arrow "
    "points to a later layer.",
    "The gain": "of an arrow is by how many nats its parent lowers the child's uncertainty, given "
    "the parents taken before it.",
    "The entropy gap": "of an arrow is by how many nats its parent is less uncertain than its "
    "child, given the parent's own parents.",
    "Equivalent graphs": "fit every table equally well: they join the same columns, and differ in "
    "directions that rows alone cannot tell.",
    "The entropy assumption": "is that what its parents leave open of a column is about as "
    "uncertain from column to column. Of equivalent graphs it prefers the most even one.",
    "The margin": "of a test is how far it was from going the other way: log units for p-values, "
    "nats for thresholds.",
}


def summary(result: Result, confidence: Confidence | None) -> Markup:
    """The section that is read first, and perhaps alone."""
    parts = ("found", "told", "directions", "weakest")
    paragraphs = [said(result, part, confidence=confidence) for part in parts]
    return tag(
        "section",
        tag("h2", "Summary"),
        *(tag("p", paragraph) for paragraph in paragraphs if paragraph),
        *(tag("p", tag("strong", "Note: "), note, class_="note") for note in result.warnings),
        _terms(result),
        id="summary",
    )


def _terms(result: Result) -> Markup:
    seen = {edge.warrant for edge in result.edges}
    directions = {
        f"A direction that is marked “{look.label}”": look.meaning
        for warrant, look in LOOKS.items()
        if warrant in seen
    }
    rows = [tag("li", tag("strong", term), f" {meaning}") for term, meaning in _TERMS.items()]
    rows += [tag("li", tag("strong", f"{term}:"), f" {one}") for term, one in directions.items()]
    title = "How the graph was found, and what the words mean"
    return tag("details", tag("summary", title), tag("p", said(result, "how")), tag("ul", *rows))


def ranking(result: Result) -> Markup:
    """What "auto" tried, and how close it was."""
    if not result.ranking:
        return Markup("")
    best = result.ranking[0]
    return tag(
        "section",
        tag("h2", "Searches tried"),
        table(
            "The answer first; scores are penalised log-likelihoods",
            ("search", "read as", "score", "arrows", "rests on"),
            [_run(run, best) for run in result.ranking],
        ),
        id="searches",
    )


def _run(run: Run, best: Run) -> Row:
    behind = best.score - run.score
    if run.chosen:
        how = "chosen"
    elif abs(behind) < 0.05:
        how = "fits alike"
    else:
        less = "nats behind" if behind > 0 else "nats ahead, but its noise is spread less evenly"
        how = f"{abs(behind):,.1f} {less}"
    return Row(
        [
            Cell(run.search),
            Cell(run.information),
            Cell(how, run.score),
            Cell(f"{run.n_edges:,}", run.n_edges),
            Cell(run.rests_on, words=True),
        ]
    )
