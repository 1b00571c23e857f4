"""What the direction of an arrow can rest on, its warrant, and how each warrant looks everywhere.

Sketch, plot, page, notebook and files take names, signs and lines from here. The four kinds of
lines differ in black and white too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """How a warrant is named and drawn.

    Parameters
    ----------
    label : str
        Short words for legends and tables. They are true of every search, with knowledge or
        without.
    meaning : str
        The same as a sentence.
    symbol : str
        An arrow from parent to child, for text.
    back : str
        The same arrow from child to parent, as the sketch has it.
    ascii_back : str
        That arrow where a terminal has only ASCII.
    dash : tuple of float
        Lengths of dashes and gaps for a line of width 1, as an SVG dash array or as matplotlib's
        ``(0, dash)``; empty for a solid line.
    weight : float
        What the width of a line is multiplied by.
    """

    label: str
    meaning: str
    symbol: str
    back: str
    ascii_back: str
    dash: tuple[float, ...]
    weight: float


LOOKS: dict[str, Look] = {
    "given": Look(
        label="follows from knowledge",
        meaning="This follows from what was told, alone or together with the arrows found.",
        symbol="⇒",
        back="⇐",
        ascii_back="<=",
        dash=(8.0, 2.5, 1.5, 2.5),
        weight=1.0,
    ),
    "equivalence": Look(
        label="same in every equivalent graph",
        meaning="Every graph that is equivalent to this one has this direction.",
        symbol="→",
        back="←",
        ascii_back="<-",
        dash=(),
        weight=1.0,
    ),
    "entropy": Look(
        label="by the entropy assumption",
        meaning="Equivalent graphs disagree. If the columns' noise is about equally uncertain, "
        "this direction is at least 90% likely.",
        symbol="↠",
        back="↞",
        ascii_back="<<",
        dash=(6.0, 3.0),
        weight=1.0,
    ),
    "none": Look(
        label="open",
        meaning="Too little speaks for this direction: read the arrow as a line.",
        symbol="⇢",
        back="⇠",
        ascii_back="<~",
        dash=(1.2, 2.6),
        weight=0.85,
    ),
}
"""The warrants, those that claim most first."""
