"""The forecast of a run: plain numbers, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tamis.forecast.power import POWER, Detectable

SHOWN = 3
"""Parts of the memory that are named."""


@dataclass(frozen=True, repr=False)
class Forecast:
    """What learning from a table will take, and what it can see. Print it."""

    n_rows: int
    n_columns: int
    n_continuous: int
    fewest_levels: int
    most_levels: int
    """Of the columns that hold levels; 0 if none does."""
    pair_cells: int
    """Cells of the largest table of two columns."""
    boundary: float
    """How many columns the probed paths condition on, on average."""
    boundary_cells: float
    """Cells of the table of a node, such a boundary and a candidate, of columns with the median
    number of levels; 0 for numbers."""

    information: tuple[str, ...]
    """The readings that are tried, in the order of the settings."""
    search: str
    look_ahead: int
    """The largest sets of candidates that are tried together; 1 is none."""
    why: Mapping[str, str]
    """What made the choice of each of the three."""

    memory: Mapping[str, int]
    """Bytes by what they are for, beyond what Python and its libraries take."""
    n_contexts: float
    """Rows of gains that will be asked for."""
    seconds: float | None
    """The time from the table to the result; None where it cannot be told."""
    seconds_a_context: tuple[float, ...]
    """At depths 0, 1, 2, ... as far as was probed, on the reading that is searched longest."""
    probe_seconds: float
    """What this forecast took."""

    alpha: float | None
    """The alpha of a test of one candidate, shared among nodes and candidates; None for a rule
    without an alpha."""
    detectable: tuple[Detectable, ...]
    """The smallest gains usually seen; empty where the law of the test is not known."""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        time = "time not known" if self.seconds is None else f"about {self.seconds:.2g} s"
        return (
            f"<Forecast for {self.n_rows:,} rows of {self.n_columns:,} columns: "
            f"{self.bytes / 1e6:,.1f} MB, {time}>"
        )

    @property
    def bytes(self) -> int:
        """The memory of the run, all parts together."""
        return sum(self.memory.values())

    def lines(self) -> list[tuple[str, str]]:
        """A title and a sentence for each part."""
        found = [
            ("table", self._table()),
            ("cells", self._cells()),
            ("information", f"{' and '.join(self.information)}: {self.why['information']}"),
            ("search", f"{self.search}: {self.why['search']}"),
            ("looking ahead", self.why["look_ahead"]),
            ("memory", self._memory()),
            ("time", self._time()),
            ("visible", self._visible()),
        ]
        return [*found, *(("note", note) for note in self.notes)]

    def __str__(self) -> str:
        lines = self.lines()
        width = max(len(title) for title, _ in lines)
        return "\n".join(f"{title:{width}}  {text}" for title, text in lines)

    def _table(self) -> str:
        size = f"{_count(self.n_rows, 'row')}, {_count(self.n_columns, 'column')}"
        parts = []
        if self.n_continuous:
            parts.append(f"{self.n_continuous:,} continuous")
        if self.most_levels:
            few, most = self.fewest_levels, _count(self.most_levels, "level")
            parts.append(most if few == self.most_levels else f"{few} to {most}")
        return f"{size}: {' and '.join(parts)}"

    def _cells(self) -> str:
        if not self.most_levels:
            return "none: numbers are not counted"
        text = f"{self.pair_cells:,} in the largest table of two columns"
        if not self.boundary_cells:
            return text
        rows = self.n_rows / self.boundary_cells
        share = f"{rows:,.0f} rows" if rows >= 10 else f"{rows:.2g} rows"
        return (
            f"{text}; about {self.boundary_cells:,.0f} in one of a node, {self.boundary:.1f} "
            f"columns that it depends on and a candidate, {share} a cell"
        )

    def _memory(self) -> str:
        largest = sorted(self.memory.items(), key=lambda part: (-part[1], part[0]))[:SHOWN]
        named = ", ".join(f"{name} {size_in_words(size)}" for name, size in largest if size)
        return f"about {size_in_words(self.bytes)} beside Python itself: {named}"

    def _time(self) -> str:
        if self.seconds is None:
            return "not known: without boundaries ever more columns are conditioned on"
        return (
            f"{time_in_words(self.seconds)}, an order of magnitude and no more; "
            f"about {self.n_contexts:,.0f} contexts of "
            + ", ".join(f"{1000 * cost:.2g}" for cost in self.seconds_a_context[:3])
            + " ms at depths 0, 1, 2; probed in "
            + f"{self.probe_seconds:.1f} s"
        )

    def _visible(self) -> str:
        if not self.detectable:
            return "not known beforehand: the law of these gains is not known"
        sentences = [_sentence(one) for one in self.detectable]
        alpha = "" if self.alpha is None else f"; a candidate is tested at alpha {self.alpha:.1g}"
        return (
            "; ".join(sentences)
            + f" (found in {POWER:.0%} of tables, nothing to condition on{alpha})"
        )


def _sentence(one: Detectable) -> str:
    """What a person can make of a number of nats."""
    kind = (
        "numbers"
        if one.levels is None
        else f"columns of {one.levels[0]} and {one.levels[1]} levels"
    )
    if not one.possible:
        return f"between {kind} nothing can be seen: it would take {one.gain:.2g} nats"
    text = f"between {kind} a dependence weaker than {one.gain:.2g} nats will usually not be seen"
    if one.levels is None:
        text += f", a correlation of {one.effect:.2f}"
    elif not math.isnan(one.effect):
        text += f", for two coins a difference of {_points(100 * one.effect)}"
    return text if one.is_filled else f"{text}, roughly, the cells being thin"


def _points(points: float) -> str:
    shown = f"{points:.0f}" if points >= 2 else f"{points:.1g}"
    return f"{shown} percentage point{'' if shown == '1' else 's'}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def size_in_words(size: float) -> str:
    """Bytes as kB, MB or GB."""
    for unit, bytes_ in (("GB", 1e9), ("MB", 1e6)):
        if size >= bytes_:
            return (
                f"{size / bytes_:.2g} {unit}"
                if size < 10 * bytes_
                else f"{size / bytes_:,.0f} {unit}"
            )
    return f"{max(size / 1e3, 1):.0f} kB"


MAGNITUDES = (
    (1.0, "about a second or less"),
    (10.0, "seconds"),
    (60.0, "tens of seconds"),
    (600.0, "minutes"),
    (3600.0, "tens of minutes"),
    (36000.0, "hours"),
)
"""Up to how many seconds what is said."""


def time_in_words(seconds: float) -> str:
    """As a person would say how long to wait."""
    return next((words for most, words in MAGNITUDES if seconds < most), "half a day or more")
