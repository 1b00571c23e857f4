"""What was found, in plain words, what was told beforehand, and what speaks for the graph beyond
the search itself: resamples, simulations, conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tamis.drawing.looks import Confidence
from tamis.markup import Markup, join, tag
from tamis.report.graph import sample
from tamis.report.words import Cell, Row, named, names, said, share, table
from tamis.result import LOOKS, Result
from tamis.result.model import Run
from tamis.tables.refusals import count

if TYPE_CHECKING:
    from tamis.identifiability import RecoveryCheck
    from tamis.identifiability.conditions import Condition
    from tamis.identifiability.report import Check

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


def knowledge_of(result: Result) -> Mapping[str, Any]:
    """The parts of the background knowledge that say something."""
    return {part: told for part, told in (result.settings.get("knowledge") or {}).items() if told}


def told_section(result: Result) -> Markup:
    """All that was told; nothing if nothing was."""
    knowledge = knowledge_of(result)
    if not knowledge:
        return Markup("")
    return tag(
        "section",
        tag("h2", "What was told"),
        tag("p", "The search kept to this, whatever the table says."),
        tag("dl", *_parts(knowledge)),
        tag("p", *_effect(result)),
        id="told-before",
    )


def _parts(knowledge: Mapping[str, Any]) -> Iterator[Markup]:
    if "required" in knowledge:
        yield _part("Arrows that must be there", _arrows(knowledge["required"]))
    if "forbidden" in knowledge:
        yield _part("Arrows that cannot be there", _arrows(knowledge["forbidden"]))
    if "tiers" in knowledge:
        tiers = tag("ol", *(tag("li", _all(tier)) for tier in knowledge["tiers"]))
        title = "Tiers, earliest first: no arrow points from a later tier to an earlier one"
        yield _part(title, tiers)
    if "sources" in knowledge:
        yield _part("Columns without parents", tag("p", _all(knowledge["sources"])))
    if "sinks" in knowledge:
        yield _part("Columns without children", tag("p", _all(knowledge["sinks"])))


def _part(title: str, content: Markup) -> Markup:
    return join([tag("dt", title), tag("dd", content)])


def _arrows(pairs: Sequence[Sequence[str]]) -> Markup:
    return tag("ul", *(tag("li", named(parent), " → ", named(child)) for parent, child in pairs))


def _all(listed: Sequence[str]) -> Markup:
    return names(listed, most=len(listed))


def _effect(result: Result) -> Iterator[str]:
    """How many arrows of the picture show it."""
    number = sum(edge.warrant == "given" for edge in result.edges)
    if not number:
        yield "No direction in the graph follows from it."
        return
    verb = "follows" if number == 1 else "follow"
    yield f"{count(number, 'direction')} in the graph {verb} from it: "
    yield sample("given")
    yield f" {LOOKS['given'].label}."


OTHERS = 15
"""Arrows that are not in the graph and came all the same: shown at most."""
RARE = 0.05
"""How often such an arrow must have come to be worth a line."""
VIOLATIONS = 3


def confidence_section(result: Result, confidence: Confidence | None) -> Markup:
    """What came back from resampled rows; nothing if there were none."""
    if confidence is None:
        return Markup("")
    learned = {(edge.parent, edge.child) for edge in result.edges}
    rows = sorted(
        ((confidence.edges.get(pair, 0.0), confidence.skeleton(*pair), *pair) for pair in learned),
        key=lambda row: (row[0], row[2], row[3]),
    )
    return tag(
        "section",
        tag("h2", "Confidence"),
        tag(
            "p",
            f"The rows were resampled {count(confidence.n, 'time')} and the "
            "graph was learned from each draw. Shares say how stable an arrow is in these data, "
            "not how likely it is to be true.",
        ),
        _shares("Arrows, least stable first", "resamples", rows),
        *_absent(confidence, learned),
        id="confidence",
    )


def _shares(caption: str, title: str, rows: list[tuple[float, float, str, str]]) -> Markup:
    return table(
        caption,
        ("parent", "child", title, "either way"),
        [
            Row(
                [
                    Cell(named(parent)),
                    Cell(named(child)),
                    Cell(share(directed), directed),
                    Cell(share(either), either),
                ]
            )
            for directed, either, parent, child in rows
        ],
    )


def _absent(confidence: Confidence, learned: set[tuple[str, str]]) -> Iterator[Markup]:
    others = sorted(
        (
            (value, confidence.skeleton(parent, child), parent, child)
            for (parent, child), value in confidence.edges.items()
            if (parent, child) not in learned and value >= RARE
        ),
        key=lambda row: (-row[0], row[2], row[3]),
    )
    if others:
        yield _shares(
            "Arrows that are not in the graph, most frequent first", "resamples", others[:OTHERS]
        )
        if len(others) > OTHERS:
            yield tag("p", f"and {len(others) - OTHERS:,} more in at least {RARE:.0%}.")


def recovery_section(recovery: RecoveryCheck | None) -> Markup:
    """What came back from the fitted model's own data, and the conditions on it."""
    if recovery is None:
        return Markup("")
    return tag(
        "section",
        tag("h2", "Plausibility and conditions"),
        tag(
            "p",
            "Plausibility, not proof: the tables of the graph were fitted, and "
            f"{count(recovery.n_simulations, 'table')} of {count(recovery.n_rows, 'row')} "
            "were drawn from the fitted network and learned again. The whole graph came back from "
            f"{share(recovery.recovered)} (95% interval {share(recovery.low)} to "
            f"{share(recovery.high)}); on average {recovery.distance:.2g} arrows differed.",
        ),
        _returned(recovery),
        *_conditions(recovery.check),
        id="conditions",
    )


def _returned(recovery: RecoveryCheck) -> Markup:
    rows = [
        Row(
            [
                Cell(named(parent)),
                Cell(named(child)),
                Cell(share(value), value),
                Cell(share(recovery.turned[parent, child]), recovery.turned[parent, child]),
            ]
        )
        for (parent, child), value in sorted(
            recovery.edges.items(), key=lambda item: (item[1], item[0])
        )
    ]
    if not rows:
        return Markup("")
    return table(
        "Arrows that came back from simulated tables, least often first",
        ("parent", "child", "as it is", "turned"),
        rows,
    )


def _conditions(check: Check | None) -> Iterator[Markup]:
    if check is None:
        return
    yield tag("h3", "Conditions of the fitted network")
    yield tag("p", check.answer)
    yield table(
        "The paper's conditions on the fitted network",
        ("condition", "verdict", "margin", "what it says"),
        [_condition(condition) for condition in check.conditions.values()],
    )


def _condition(condition: Condition) -> Row:
    margin = condition.margin
    said: list[str] = [condition.sentence]
    culprits = [tag("li", str(one)) for one in condition.violations[:VIOLATIONS]]
    rest = len(condition.violations) - len(culprits)
    if rest > 0:
        culprits.append(tag("li", f"and {rest:,} more"))
    if culprits:
        said.append(tag("ul", *culprits))
    return Row(
        [
            Cell(condition.title),
            Cell(tag("span", condition.word, class_=f"verdict {condition.word}")),
            Cell("" if margin is None else f"{margin:+.3g} {condition.unit}", margin),
            Cell(join(said), words=True),
        ]
    )
