"""Numbers and names as a report writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tamis.drawing.labels import name_in_full
from tamis.markup import Markup, join, tag
from tamis.result import Edge, Result, answer, rests_on
from tamis.result.facts import Shares

__all__ = [
    "MANY", "arrow", "count", "named", "names", "nats", "p_value", "rests_on", "said", "share",
]  # fmt: skip

MANY = 12
"""Names in a sentence before it is said how many more there are."""


def count(number: int, thing: str) -> str:
    """A number of things, in the plural unless there is one."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def nats(value: float) -> str:
    """An amount of information, without its unit."""
    return f"{value:.4f}" if math.isfinite(value) else "not known"


def share(value: float) -> str:
    """A share of repetitions; only all of them are 100%, and only none is 0%."""
    if 0.995 <= value < 1:
        return "> 99%"
    return "< 1%" if 0 < value < 0.005 else f"{value:.0%}"


def p_value(p: float) -> str:
    """A p-value as short as it is true; the smallest are cut off where the rules cut them."""
    if math.isnan(p):
        return "no test"
    if p < 1e-299:
        return "< 1e-299"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"


def named(name: str) -> Markup:
    """A column's name, set apart from the sentence around it, whichever way it is written."""
    return tag("bdi", name_in_full(name), class_="name")


def names(listed: Sequence[str], most: int = MANY) -> Markup:
    """Names side by side: a, b and c."""
    shown = [named(name) for name in listed[:most]]
    if len(listed) > most:
        return join([*_separated(shown), f" and {len(listed) - most:,} more"])
    if len(shown) < 2:
        return join(shown or ["nothing"])
    return join([*_separated(shown[:-1]), " and ", shown[-1]])


def arrow(edge: Edge) -> Markup:
    """parent → child."""
    return join([named(edge.parent), " → ", named(edge.child)])


def said(result: Result, *parts: str, confidence: Shares | None = None) -> Markup:
    """The sentences of some parts of the answer, one after the other."""
    sentences = [
        join([one if isinstance(one, str) else names(one.listed) for one in sentence.pieces])
        for sentence in answer(result, *parts, confidence=confidence)
    ]
    return Markup(" ".join(sentences))


def _separated(parts: Sequence[str]) -> list[str]:
    return [piece for part in parts for piece in (", ", part)][1:]
