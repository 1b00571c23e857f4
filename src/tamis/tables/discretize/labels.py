"""Edges that are easy to read, and the labels made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

OUTWARD = 0.01
"""An outer edge may lie beyond the last value by this share of the range."""
INNER = 0.5
"""A cut lies in the middle part, of this share, of the gap between its neighbours."""
_DIGITS = 40


def cut_between(below: float, above: float) -> float:
    """The number of fewest digits about the middle of a gap: above ``below``, at most ``above``."""
    margin = (1 - INNER) * (above / 2 - below / 2)
    low, high = max(below + margin, below), min(above - margin, above)
    # Two neighbouring floats have nothing between them: the upper one is the cut.
    return _simplest(low, high, ROUND_FLOOR) if low < high else above


def cut_near(ideal: float, leeway: float) -> float:
    """The number of fewest digits within ``leeway`` of an ideal cut."""
    low, high = ideal - leeway, ideal + leeway
    return _simplest(low, high, ROUND_FLOOR) if low < high else ideal


def outer_edges(lowest: float, highest: float) -> tuple[float, float]:
    """Edges of few digits, just outside the values."""
    reach = OUTWARD * (highest / 2 - lowest / 2) * 2
    low, high = lowest - reach, highest + reach
    if not (math.isfinite(low) and math.isfinite(high) and low < lowest and highest < high):
        # At the ends of what floats can hold, or too close together to be rounded.
        return lowest, highest
    return _simplest(low, lowest, ROUND_FLOOR), _simplest(highest, high, ROUND_CEILING)


def interval_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Labels such as "[0.1, 2.5)"; the last interval is closed."""
    texts = [_written(edge) for edge in edges]
    last = len(texts) - 2
    return tuple(f"[{texts[i]}, {texts[i + 1]}{']' if i == last else ')'}" for i in range(last + 1))


def _simplest(low: float, high: float, rounding: str) -> float:
    """The decimal of fewest digits in [low, high], nearest to one end; neither end is moved.

    Rounded down from ``high``, a number stays above ``low`` strictly; rounded up from ``low``,
    below ``high`` strictly.
    """
    with localcontext(Context(prec=_DIGITS)):
        down = rounding == ROUND_FLOOR
        start, limit = (Decimal(high), low) if down else (Decimal(low), high)
        if low <= 0 <= high and (low < 0 if down else high > 0):
            return 0.0
        exponent = max(Decimal(low).adjusted(), Decimal(high).adjusted()) + 1
        for place in range(exponent, exponent - 20, -1):
            step = Decimal(1).scaleb(place)
            found = float((start / step).to_integral_value(rounding=rounding) * step)
            if found > limit if down else found < limit:
                return found
    return float(start)


def _written(edge: float) -> str:
    """The shortest decimal that stands for the number; whole numbers without a point."""
    if edge == 0:
        return "0"
    text = repr(edge)
    return text[:-2] if text.endswith(".0") else text
