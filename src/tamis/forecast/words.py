"""Why a run will do what it will do, in words."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.settings import Settings
from tamis.tables.table import AnyTable

ASKED = "as asked for"


def reasons(
    table: AnyTable, asked: Settings, readings: Sequence[Settings], n_searched: int, look_ahead: int
) -> dict[str, str]:
    """What made the choice of information, search and look-ahead; ``n_searched`` of the readings
    will be searched."""
    return {
        "information": _information(table, asked, readings, n_searched),
        "search": _search(asked, readings[0]),
        "look_ahead": _look_ahead(asked, readings[0], look_ahead),
    }


def _information(
    table: AnyTable, asked: Settings, readings: Sequence[Settings], n_searched: int
) -> str:
    if asked.information != "auto":
        return ASKED
    if len(readings) > 1:
        both = "whole numbers are read as levels and as numbers; what explains them better is kept"
        behind = "; levels look far behind, and will probably not be searched"
        return both if n_searched > 1 else both + behind
    n_numbers = table.kinds.count("number")
    if readings[0].information == "counts" or not n_numbers:
        return "every column holds levels"
    if readings[0].information == "gaussian":
        return "every column holds numbers"
    verb = "column holds" if n_numbers == 1 else "columns hold"
    return f"{n_numbers:,} {verb} numbers, and others levels"


def _search(asked: Settings, settings: Settings) -> str:
    if asked.asked["search"] != "auto":
        return ASKED
    if settings.search != "auto":
        return "in place of auto, which compares graphs by a likelihood; here there is none"
    return "sequential, sieve and node are run, and the likeliest graph is refined"


def _look_ahead(asked: Settings, settings: Settings, look_ahead: int) -> str:
    if look_ahead == 1:
        if asked.leaves_open("look_ahead") and settings.search == "auto":
            return (
                "single candidates only: sets of them would not fit the budget, or are not counted"
            )
        return "single candidates only, " + (
            "the default of this search" if asked.leaves_open("look_ahead") else ASKED
        )
    sets = f"up to {look_ahead} candidates together where no single one passes"
    if not asked.leaves_open("look_ahead"):
        return f"{sets}, {ASKED}"
    return f"{sets}, as far as the budget allows; more where sets of {look_ahead} are found"
