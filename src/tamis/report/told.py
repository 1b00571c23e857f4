"""What was told beforehand, in words: the background knowledge that the search kept to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tamis.markup import Markup, join, tag
from tamis.report.graph import sample
from tamis.report.words import count, named, names
from tamis.result import LOOKS, Result


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
