"""What was found, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.drawing.confidence import Confidence
from tamis.markup import Markup, join, tag
from tamis.report.tables import Cell, Row, table
from tamis.report.words import arrow, count, names, nats, rests_on, share
from tamis.result import WARRANTS, Result, rows_in_words
from tamis.result.model import Run

_HOW = {
    "sequential": "took the least uncertain column next, one at a time",
    "sieve": "found layers, masking by every less uncertain column",
    "node": "found layers, masking by the column just admitted",
    "layer": "found layers, masking by the whole layer so far",
    "reference": "went as the authors' program does",
    "refined": "took the class of graphs that fits best and the likeliest directions in it",
}
_TERMS = {
    "Uncertainty": "is conditional entropy, in nats (1 nat is 1.44 bits): how hard a column is to "
    "predict from those before it. A measured column may have less than 0.",
    "A layer": "holds columns that depend on earlier layers and not on each other. Every arrow "
    "points to a later layer.",
    "The gain": "of an arrow is by how many nats its parent lowers the child's uncertainty, given "
    "the parents taken before it.",
    "The entropy gap": "of an arrow is by how many nats its parent is less uncertain than its "
    "child, given the parent's own parents.",
    "An open direction": "is one for which too little speaks: equivalent graphs disagree and the "
    "noise entropies leave it less than 90% likely, or the likelihood hardly minds its turning. "
    "The two columns depend on each other; which comes first is open.",
    "The margin": "of a test is how far it was from going the other way: log units for p-values, "
    "nats for thresholds.",
}


def summary(result: Result, confidence: Confidence | None) -> Markup:
    """The section that is read first, and perhaps alone."""
    return tag(
        "section",
        tag("h2", "Summary"),
        *(tag("p", paragraph) for paragraph in _paragraphs(result, confidence)),
        *(tag("p", tag("strong", "Note: "), note, class_="note") for note in result.warnings),
        _terms(),
        id="summary",
    )


def _paragraphs(result: Result, confidence: Confidence | None) -> Iterator[Markup]:
    yield _found(result)
    yield _search(result)
    if result.edges:
        yield _strongest(result)
        yield _support(result)
    isolated = _isolated(result)
    if isolated:
        verb = "is" if len(isolated) == 1 else "are"
        yield join([names(isolated), f" {verb} joined to nothing."])
    if confidence is not None and result.edges:
        yield _sure(result, confidence)


def _found(result: Result) -> Markup:
    size = f"{rows_in_words(result)} of {count(len(result.names), 'column')}"
    if not result.edges:
        return join([f"In {size} no column was found to depend on another."])
    first = result.layers[0]
    comes = "comes" if len(first) == 1 else "come"
    return join(
        [
            f"In {size} tamis found {count(len(result.edges), 'arrow')} in ",
            f"{count(len(result.layers), 'layer')}. ",
            names(first),
            f" {comes} first; every arrow points from an earlier layer to a later one.",
        ]
    )


def _search(result: Result) -> Markup:
    how = _HOW.get(result.search, f"was {result.search}")
    chosen = next((run for run in result.ranking if run.chosen), None)
    if chosen is None:
        return join([f"The search ({result.search}) {how}."])
    return join(
        [
            f"Of the searches tried, the answer is that of {result.search}, which {how}. "
            if result.search != "refined"
            else f"The default {how}. ",
            f"It rests on {chosen.rests_on}.",
        ]
    )


def _strongest(result: Result) -> Markup:
    best = max(result.edges, key=lambda e: (e.gain, e.parent, e.child))
    closest = result.closest_directions(1)[0]
    return join(
        [
            "The strongest arrow is ",
            arrow(best),
            f", which lowers the uncertainty by {nats(best.gain)} nats. The least certain "
            "direction is ",
            arrow(closest),
            f": {rests_on(closest)}.",
        ]
    )


def _support(result: Result) -> Markup:
    """How many directions rest on what."""
    parts = []
    for warrant, words in WARRANTS.items():
        number = sum(edge.warrant == warrant for edge in result.edges)
        if number:
            parts.append(f"{number:,} {words}")
    total = count(len(result.edges), "direction")
    return join([f"Of {total}: {'; '.join(parts)}."])


def _isolated(result: Result) -> list[str]:
    joined = {name for edge in result.edges for name in (edge.parent, edge.child)}
    return [name for name in result.names if name not in joined] if joined else []


def _sure(result: Result, confidence: Confidence) -> Markup:
    found = confidence.edges
    least = min(
        result.edges,
        key=lambda e: (found.get((e.parent, e.child), 0.0), e.parent, e.child),
    )
    rate = found.get((least.parent, least.child), 0.0)
    often = sum(found.get((e.parent, e.child), 0.0) >= 0.9 for e in result.edges)
    return join(
        [
            f"From {count(confidence.n, 'resampled table')}, {often:,} of {len(result.edges):,} "
            "arrows came back at least 9 times in 10; least often ",
            arrow(least),
            f", in {share(rate)}.",
        ]
    )


def _terms() -> Markup:
    rows = [tag("li", tag("strong", term), f" {meaning}") for term, meaning in _TERMS.items()]
    return tag("details", tag("summary", "What the words mean"), tag("ul", *rows))


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
