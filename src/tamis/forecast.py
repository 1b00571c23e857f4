"""Before a run: the memory that it takes, and the weakest dependence that it is likely to see.

With n rows and g nats of true mutual information a test's statistic, twice what the likelihood
rises by, has about the noncentral chi-squared law with noncentrality 2 n g (Wald, 1943).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import chndtrinc, entr
from scipy.stats import chi2

from tamis.constants import constants
from tamis.counting.elsewhere import in_blocks, of_moments
from tamis.decisions.p_values import ChiSquared, FTest, Permutation
from tamis.decisions.rule import Score
from tamis.errors import SettingError
from tamis.information.regret import log_regret
from tamis.opening import readings
from tamis.settings import Settings
from tamis.tables.moments import BLOCK_CELLS
from tamis.tables.refusals import count
from tamis.tables.sources import effective_rows
from tamis.tables.table import AnyTable

POWER = 0.9
"""A dependence is called visible if it is found in this share of tables."""
ANY_RUN, A_ROW, A_CODE, A_NUMBER = 2_000_000, 50, 4, 32
A_PAIR, A_MIXED_CELL = {True: 300, False: 60}, {True: 1400, False: 100}
"""Bytes, fitted to the peaks of runs: any run, a row and a cell of levels, a cell while rows are
lines too, one of numbers; a pair of columns and a mixed cell, with "auto" and without."""


@dataclass(frozen=True)
class Weakest:
    """The weakest dependence that is likely to be seen, in nats, between two columns of so many
    levels; None for two of numbers."""

    levels: tuple[int, int] | None
    gain: float

    def __str__(self) -> str:
        if self.levels is None:
            correlation = math.sqrt(-math.expm1(-2 * self.gain))
            return f"two numbers: {self.gain:.2g} nats, a correlation of {correlation:.2f}"
        text = f"{self.levels[0]} and {self.levels[1]} levels: {self.gain:.2g} nats"
        if self.gain >= math.log(min(self.levels)):
            return f"{text}, more than two such columns can have"
        if self.levels != (2, 2):
            return text
        left = math.log(2) - self.gain  # of two groups of one size, whose shares are even about 1/2
        share = brentq(lambda p: entr(p) + entr(1 - p) - left, 0.0, 0.5)
        return f"{text}, as shares of {share:.0%} and {1 - share:.0%}"


@dataclass(frozen=True)
class Forecast:
    """What a run would take and could see; of tests at this alpha each, of a score at none."""

    n_rows: int
    n_columns: int
    bytes: int
    alpha: float | None
    weakest: tuple[Weakest, ...]

    def lines(self) -> list[tuple[str, str]]:
        """A title and a sentence for each part."""
        table = f"{count(self.n_rows, 'row')}, {count(self.n_columns, 'column')}"
        size = f"about {self.bytes / 1e6:,.0f} MB beside Python and the data, by order of magnitude"
        each = "; ".join(map(str, self.weakest)) or "not known beforehand"
        test = f", at alpha {self.alpha:.1g}" if self.alpha else ""
        often = f" (found in {POWER:.0%} of tables{test})" if self.weakest else ""
        return [("table", table), ("memory", size), ("weakest", each + often)]

    def __str__(self) -> str:
        return "\n".join(f"{title:8} {text}" for title, text in self.lines())


def forecast(table: AnyTable, asked: Settings) -> Forecast:
    """Say what learning from this table would take and could see; nothing is learned."""
    if asked.own_information is not None:
        raise SettingError(f"What information={asked.read_as} takes is not known: try some rows")
    asked.knowledge.constraints(table.names)  # what a run would refuse
    kinds = [asked.on(kind) for kind in readings(table, asked)]
    size = ANY_RUN + sum(memory(table, one) for one in kinds)
    return Forecast(table.n_rows, table.n_variables, size, *weakest(table, kinds[0]))


def memory(table: AnyTable, settings: Settings) -> int:
    """The bytes for one reading of a table: the table, and what a search keeps."""
    n, d, auto = table.n_rows, table.n_variables, settings.search == "auto"
    kept = d * d * A_PAIR[auto]
    if in_blocks(table):
        return kept + table.working_bytes
    if of_moments(table):
        return kept + 40 * min(n * d, BLOCK_CELLS)
    if settings.information != "counts":
        is_mixed = settings.information == "conditional-gaussian"
        return kept + n * d * (A_MIXED_CELL[auto] if is_mixed else A_NUMBER)
    return kept + n * A_ROW + n * d * A_CODE


def weakest(table: AnyTable, settings: Settings) -> tuple[float | None, tuple[Weakest, ...]]:
    """The alpha of a test, and the least that is seen of two columns, given nothing else."""
    n = table.n_rows if table.weights is None else effective_rows(table.weights)
    if table.missing:  # of the two columns with the most gaps
        gaps = sorted(table.missing.values(), key=lambda absent: -int(absent.sum()))[:2]
        n -= int(np.logical_or.reduce(gaps).sum())
    rule = settings.boundary_rule.bind(max(n, 1.0), table.n_variables)
    if n < 1 or not isinstance(rule, Permutation | ChiSquared | FTest | Score):
        return None, ()
    alpha = None if isinstance(rule, Score) else rule.alpha / max(table.n_variables - 1, 1)

    def seen(*levels: int) -> float:
        df = math.prod(a - 1 for a in levels)
        if alpha is not None:
            return visible(n, alpha, df)
        edge = settings.edge_price * math.log(max(table.n_variables, 1))
        return passing(n, 2 * (price(n, levels, settings.information) + edge), df)

    sizes = sorted(table.arities[table.arities > 1].tolist())
    ends = sorted({(two[0], two[1]) for two in (sizes[:2], sizes[-2:]) if len(two) == 2})
    found = [Weakest((a, b), seen(a, b)) for a, b in ends]
    if settings.information != "counts" and table.kinds.count("number") > 1:
        found.append(Weakest(None, seen()))
    return alpha if found else None, tuple(found)


def price(n_rows: float, levels: tuple[int, ...], information: object) -> float:
    """What a parent costs in the score, in nats: of a column of so many levels for another, or
    one number for another."""
    half = math.log(n_rows) / 2
    if not levels:
        mixed = information == "conditional-gaussian"
        return half * (constants.mixed_price if mixed else constants.moment_price)
    if information != "counts":
        return half * math.prod(a - 1 for a in levels)
    n = round(n_rows)
    return log_regret(math.prod(levels), n) - sum(log_regret(a, n) for a in levels)


def visible(n_rows: float, alpha: float, df: int) -> float:
    """The mutual information that a test at this level finds in a share ``POWER`` of tables."""
    return passing(n_rows, float(chi2.isf(alpha, df)), df)


def passing(n_rows: float, least: float, df: int) -> float:
    """The mutual information with which a statistic passes ``least`` in such a share."""
    return float(chndtrinc(least, df, 1 - POWER)) / (2 * n_rows)
