"""Results as a notebook shows them: the answer and the graph, small.

Styles are attributes of the elements and colours hold on light and on dark paper: a notebook has
styles of its own, and what shows it elsewhere may have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import networkx as nx

from tamis.drawing.looks import THINNEST, WIDEST, opacity_of
from tamis.markup import Markup, join, tag
from tamis.report.graph import Arrow, arrows_of, sample, size_in_words, small_picture
from tamis.report.words import named, said, share
from tamis.result import LOOKS, Result
from tamis.tables.refusals import count

if TYPE_CHECKING:
    from tamis.drawing.looks import Confidence

QUIET = "opacity: 0.7; font-size: 0.9em;"
FRAME = (
    "overflow: auto; max-height: 26em; margin: 0.4em 0; padding: 0.2em; "
    "border: 1px solid rgba(128, 128, 128, 0.35); border-radius: 6px;"
)
SHARES = 12
"""Arrows that a table of shares lists."""
HALF = 0.5
"""The share of resamples from which on an arrow is drawn."""


def result_in_html(result: Result) -> str:
    """The answer in sentences, the graph, and what its lines mean."""
    paragraphs = [said(result, "found"), said(result, "told"), said(result, "directions")]
    parts: list[Markup] = [tag("p", one) for one in paragraphs if one]
    label = f"The learned graph: {size_in_words(result)}"
    parts.append(_framed(small_picture(result.layers, arrows_of(result, None), label)))
    if result.edges:
        parts.append(_legend(result))
    parts += [tag("p", tag("strong", "Note: "), note) for note in result.warnings]
    return tag("div", *parts, style="max-width: 70em;")


def confidence_in_html(confidence: Confidence, names: Sequence[str], graph: nx.DiGraph[str]) -> str:
    """The shares of the arrows: the graph of those that came in at least half of the resamples, and
    a table of all that came, up to a number. ``graph`` is the one that is drawn."""
    arrows = [
        Arrow(
            *pair,
            width=THINNEST + (WIDEST - THINNEST) * confidence.edges[pair],
            opacity=opacity_of(confidence.edges[pair]),
            says=f"in {share(confidence.edges[pair])} of resamples",
        )
        for pair in graph.edges
    ]
    layers = [sorted(layer, key=names.index) for layer in nx.topological_generations(graph)]
    label = f"The arrows of at least half of the resamples: {count(len(arrows), 'arrow')}"
    return tag(
        "div",
        tag(
            "p",
            f"The rows were resampled {count(confidence.n, 'time')} and the graph was learned from "
            "each draw. Shares say how stable an arrow is in these data, not how likely it is to "
            "be true.",
        ),
        tag("p", f"{label}; the fainter, the less often.", style=QUIET),
        _framed(small_picture(layers, arrows, label)),
        *_shares(confidence),
        style="max-width: 70em;",
    )


def _shares(confidence: Confidence) -> Iterator[Markup]:
    found = sorted(confidence.edges.items(), key=lambda item: (-item[1], item[0]))
    if not found:
        return
    rows = [
        tag(
            "tr",
            tag("td", named(parent), " → ", named(child), style="text-align: left;"),
            tag("td", share(value)),
            tag("td", share(confidence.skeleton(parent, child))),
        )
        for (parent, child), value in found[:SHARES]
    ]
    heads = [tag("th", "arrow", style="text-align: left;"), tag("th", "share")]
    heads.append(tag("th", "either way"))
    yield tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    if len(found) > SHARES:
        yield tag("p", f"and {count(len(found) - SHARES, 'more arrow')}.", style=QUIET)


def _framed(drawn: Markup) -> Markup:
    return tag("div", drawn, style=FRAME)


def _legend(result: Result) -> Markup:
    seen = [one for one in LOOKS if any(edge.warrant == one for edge in result.edges)]
    keys = [
        tag("span", sample(one), f" {LOOKS[one].label}", style="margin-right: 1.5em;")
        for one in seen
    ]
    return tag("p", join(keys), style=QUIET)
