"""Numbers with heavy tails beside categories enter by their ranks.

Conditional Gaussians compare variances between cells, and how much a variance differs by chance
grows with the fourth moment: by (kurtosis - 1) / 2 times what a normal law has. Counts of events,
incomes or a column of mostly zeros would depend on everything. Their normal scores have the tails
that the tests expect, and the same order; mixtures of normal laws, whose tails are light, stay as
they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tamis.constants import constants
from tamis.information.interface import Floats
from tamis.tables.moments import LARGEST
from tamis.tables.refusals import listed, shown
from tamis.tables.table import Table


def heavy_columns(table: Table) -> list[int]:
    """The columns of numbers whose kurtosis is beyond what tests of variances bear."""
    return [
        k for k, kind in enumerate(table.kinds) if kind == "number" and _is_heavy(_seen(table, k))
    ]


def by_ranks(table: Table) -> Table:
    """The table with normal scores in place of numbers with heavy tails, in their own unit. Of
    columns with the same ranks one has scores: they would be copies of each other."""
    heavy = heavy_columns(table)
    if not heavy:
        return table
    from tamis.information.neighbours.columns import normal_scores  # takes a moment to load

    continuous, levels = dict(table.continuous), list(table.levels)
    taken: set[bytes] = set()
    for k in heavy:
        own = _seen(table, k)
        scores = normal_scores(own)
        if scores.tobytes() in taken:
            continue
        taken.add(scores.tobytes())
        found = np.full(table.n_rows, np.nan)
        found[table.present(k)] = own.mean() + scores * (own.std() / scores.std())
        continuous[k], levels[k] = found, ()
    return replace(table, continuous=continuous, levels=tuple(levels))


def ranks_note(table: Table) -> tuple[str, ...]:
    """What is to be said about columns that enter by their ranks."""
    heavy = [shown(table.names[k]) for k in heavy_columns(table)]
    if not heavy:
        return ()
    return (
        "Taken by rank, because their tails are too heavy for normal laws beside categories: "
        f"{listed(heavy)}.",
    )


def thin_note(table: Table, thin: int) -> tuple[str, ...]:
    """What is to be said about categories of which most rows are in levels of fewer rows than a
    comparison of numbers needs: no number can be seen to depend on them."""
    found = [
        shown(table.names[k])
        for k, kind in enumerate(table.kinds)
        if kind != "number" and _in_thin_levels(table, k, thin) > 0.5
    ]
    if not found:
        return ()
    return (
        f"Too few rows a level (fewer than {thin}) to compare numbers between most levels of "
        f"{listed(found)}: dependence on them is hardly seen. Merge levels, or take numbers for "
        "them.",
    )


def _in_thin_levels(table: Table, k: int, thin: int) -> float:
    """The share of rows in levels of fewer rows."""
    rows = np.bincount(table.codes[k][table.present(k)])
    return float(rows[rows < thin].sum() / max(rows.sum(), 1))


def _seen(table: Table, k: int) -> Floats:
    found: Floats = table.numbers(k)[table.present(k)]
    return found


def _is_heavy(numbers: Floats) -> bool:
    with np.errstate(over="ignore"):
        centred = numbers - numbers.mean()
    scale = np.abs(centred).max()
    if not 0 < scale < LARGEST:
        # Numbers whose squares no float holds are refused by name when their moments are taken.
        return False
    squares = (centred / scale) ** 2
    return bool(np.mean(squares**2) > constants.heavy_tails * np.mean(squares) ** 2)
