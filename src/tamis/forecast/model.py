"""The forecast of a run, in numbers and in words, and the smallest gain that its rules usually see.

With n rows and a true gain of g nats the statistic of a test, G = 2 n times the plug-in gain,
follows about the non-central chi-squared law with non-centrality 2 n g (Wald, 1943). Pearson's X2,
which ``Permutation`` uses, has the same law to first order. For numbers F is non-central with
n (exp(2 g) - 1), because 1 - R^2 = exp(-2 g).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import betaincinv, chdtri, chndtr, ncfdtr

from tamis.decisions.p_values import ChiSquared, FTest, Permutation, PValue
from tamis.decisions.rule import BIC, Fixed, Rule
from tamis.tables.refusals import count

POWER = 0.8
"""A dependence is called visible if it is found in this share of tables."""
FILLED = 5
"""Rows a cell below which the laws used here are rough."""
LEAST_UNEXPLAINED = 1e-3
"""Where 1 - R^2 must be smaller than this to be noticed, rows are too few for numbers."""
COIN = math.log(2)
"""The most that one coin can say about another, in nats."""


@dataclass(frozen=True)
class Detectable:
    """The smallest gain that a test of two columns finds with chance ``POWER``."""

    levels: tuple[int, int] | None
    """Of the two columns; None for two columns of numbers."""
    df: int
    gain: float
    """In nats."""
    effect: float
    """Two even coins: by how much the chance of one differs between the sides of the other.
    Numbers: the correlation. nan for more levels."""
    n_rows: float

    @property
    def possible(self) -> bool:
        """Whether two columns can be as dependent as that at all."""
        return self.gain < (math.inf if self.levels is None else math.log(min(self.levels)))

    @property
    def is_filled(self) -> bool:
        """Whether the cells hold enough rows for the figure to be near."""
        return self.levels is None or self.n_rows >= FILLED * self.levels[0] * self.levels[1]


def alpha_of(rule: Rule, n_tests: int) -> float | None:
    """The alpha of one of ``n_tests`` tests by a bound rule; None for a rule without an alpha."""
    return rule.alpha / max(n_tests, 1) if isinstance(rule, PValue) else None


def detectable(
    rule: Rule, n_rows: float, n_tests: int, levels: tuple[int, int] | None
) -> Detectable | None:
    """The smallest gain seen as the best of ``n_tests`` candidates; None where nobody knows.

    Of shuffles among neighbours, smoothed densities and rules of the user's making the power is not
    known beforehand. ``rule`` is bound to the table's size.
    """
    df = 1 if levels is None else (levels[0] - 1) * (levels[1] - 1)
    if df < 1:
        return None
    if isinstance(rule, FTest):
        gain = _of_numbers(float(rule.threshold_for(n_tests)), n_rows) if levels is None else None
    else:
        critical = _critical(rule, n_rows, n_tests, df, biased=levels is None)
        gain = None if critical is None else noncentrality(critical, df) / (2 * n_rows)
    if gain is None:
        return None
    return Detectable(levels, df, gain, _effect(levels, gain), n_rows)


def noncentrality(critical: float, df: int) -> float:
    """How far from independence chi-squared must be to pass ``critical`` with chance ``POWER``."""
    return _solved(lambda nc: 1 - float(chndtr(critical, df, nc)), critical, df)


def _critical(rule: Rule, n_rows: float, n_tests: int, df: int, *, biased: bool) -> float | None:
    """What 2 n times the plug-in gain must exceed."""
    threshold = float(rule.threshold_for(n_tests))
    if isinstance(rule, Permutation | ChiSquared):
        return float(chdtri(df, math.exp(-threshold)))
    if isinstance(rule, BIC):
        return 2 * threshold + df * math.log(n_rows)
    if isinstance(rule, Fixed):
        # The estimators of counts take off the bias of a plug-in gain, which is df / (2 n).
        return 2 * n_rows * threshold + (0 if biased else df)
    return None


def _of_numbers(threshold: float, n_rows: float) -> float | None:
    """One candidate and nothing to condition on: 1 and n - 2 degrees of freedom."""
    residual = n_rows - 2
    if residual < 1:
        return None
    unexplained = float(betaincinv(residual / 2, 0.5, math.exp(-threshold)))
    if unexplained < LEAST_UNEXPLAINED:
        return math.inf
    critical = residual * (1 - unexplained) / unexplained
    nc = _solved(lambda nc: 1 - float(ncfdtr(1, residual, nc, critical)), critical, 1)
    return 0.5 * math.log1p(nc / n_rows)


def _solved(power: Callable[[float], float], critical: float, df: int) -> float:
    """The non-centrality at which a rising power is ``POWER``; 0 if it is that without any."""
    if critical <= 0 or power(0.0) >= POWER:
        return 0.0
    # The mean of the statistic is df + nc and its variance 2 df + 4 nc.
    high = critical + 4 * math.sqrt(2 * df + 4 * critical) + 16
    while power(high) < POWER:
        high *= 2
    return float(brentq(lambda nc: power(nc) - POWER, 0.0, high, xtol=1e-6))


def _effect(levels: tuple[int, int] | None, gain: float) -> float:
    if levels is None:
        return math.sqrt(-math.expm1(-2 * gain))
    return difference_of_coins(gain) if levels == (2, 2) else math.nan


def difference_of_coins(gain: float) -> float:
    """Two even coins with this gain in nats: P(heads | heads) - P(heads | tails)."""
    if gain >= COIN:
        return 1.0
    if gain <= 0.0:
        return 0.0

    def told(difference: float) -> float:
        return sum(p * math.log(2 * p) for s in (-1, 1) if (p := (1 + s * difference) / 2) > 0)

    return float(brentq(lambda difference: told(difference) - gain, 0.0, 1.0, xtol=1e-9))


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
        size = f"{count(self.n_rows, 'row')}, {count(self.n_columns, 'column')}"
        parts = []
        if self.n_continuous:
            parts.append(f"{self.n_continuous:,} continuous")
        if self.most_levels:
            few, most = self.fewest_levels, count(self.most_levels, "level")
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
