"""What a table is taken for, and the source of information that the settings ask of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.choices import SourceOfTable, named
from tamis.counting.elsewhere import (
    BlockTable,
    LongTable,
    in_blocks,
    is_elsewhere,
    is_long,
    of_moments,
)
from tamis.decisions.rule import Rate
from tamis.errors import DataError, PluginError, SettingError
from tamis.information.catalogue import open_source
from tamis.information.counted import open_counts
from tamis.information.gaussian import open_moments
from tamis.information.interface import Source
from tamis.information.lattice import open_whole_numbers
from tamis.information.outside import checked
from tamis.information.ranked import RankedInformation, by_ranks, has_ranks
from tamis.parameters import KINDS, KindName
from tamis.plugins import answer_of, qualified_name, refusal
from tamis.settings import Settings
from tamis.tables import Table, read_table
from tamis.tables.table import AnyTable, TableView, in_canonical_order, in_memory, with_rows

EXACT_FLOATS = 2**50
"""Whole numbers up to here, and their differences, are exact as floats."""


def read_opened(given: object, settings: Settings, weights: object = None) -> AnyTable:
    """What was opened, as a table: where it is to be counted, or read into memory."""
    if not is_elsewhere(given):
        return read_table(
            given,
            continuous=settings.read_as != "counts",
            missing=settings.missing,
            weights=weights,
            types=settings.types,
            stacklevel=4,
        )
    if weights is not None:
        raise DataError(
            "Weights belong to rows while they are read into memory, and these are read in blocks: "
            "pass the rows themselves, with their weights, or repeat rows."
        )
    return given


def in_search_order(table: AnyTable, settings: Settings) -> AnyTable:
    """The columns by name: positions break ties, and so the order of the user's columns plays no
    part. The authors' program breaks ties by column, so its twin keeps them as they are."""
    positions = list(range(table.n_variables))
    return table.select(
        positions if settings.is_reference else sorted(positions, key=table.names.__getitem__)
    )


def readings(table: AnyTable, asked: Settings) -> list[KindName]:
    """What the table can be taken for: levels to count, numbers with moments, or both.

    Categories are counted. Numbers have moments, which are quick and well calibrated; beside
    categories, which have none, they have them in every cell of the categories. A table of nothing
    but whole numbers is both, and "auto" compares, unless the user has named a kind; two levels
    are the same to a count as to a moment.
    """
    given = next((one for one in KINDS if one == asked.information), None)
    if given is not None:
        return [given]
    if table.told or table.missing or not _is_whole(table):
        # Where values are missing, the likelihoods of two readings would not be of the same rows.
        return [by_kinds(table)]
    if table.weights is not None:
        return ["counts"]
    # What is asked for in terms of counts is asked of counts.
    of_counts = ("entropy", "boundary_rule", "masking_rule", "look_ahead")
    if asked.search != "auto" or not asked.leaves_open(*of_counts):
        return ["counts"]
    return ["counts", "gaussian"] if _is_lattice(table) else ["counts"]


def by_kinds(table: AnyTable) -> KindName:
    """What the kinds of the columns ask for."""
    if "number" not in table.kinds:
        return "counts"
    # Rows that are elsewhere have no cells: whole numbers among them have moments like the rest.
    apart = set(table.kinds) != {"number"} and table.rows != "moments"
    return "conditional-gaussian" if apart else "gaussian"


def _is_whole(table: AnyTable) -> bool:
    """Whether every column holds whole numbers, and has them as levels."""
    return all(labels and all(type(label) is int for label in labels) for labels in table.levels)


def _is_lattice(table: AnyTable) -> bool:
    if int(table.arities.max()) <= 2:
        return False
    largest = max(abs(label) for labels in table.levels for label in labels)  # type: ignore[arg-type]
    return largest <= EXACT_FLOATS and table.n_rows > table.n_variables + 2


def open_information(table: AnyTable, settings: Settings) -> Source:
    """The source that the settings ask of a table."""
    if settings.own_information is not None:
        return open_outside(settings.own_information, table)
    kind, entropy, n_jobs = named(settings.information), settings.entropy, settings.n_jobs
    if in_blocks(table):
        if entropy is not None:
            return open_counts(table, entropy, n_jobs)
        if kind == "gaussian" and _is_whole(table):
            return open_whole_numbers(table, _numbers_of(table, settings), settings.source)
        raise SettingError(
            f"information={kind!r} needs the rows in memory, and a table in blocks is counted "
            "only, or read as whole numbers with information='gaussian': use information='counts', "
            "or read the table itself"
        )
    if of_moments(table):
        return open_moments(table, kind, settings.source)
    return _of_rows(with_rows(table), kind, settings)


def _numbers_of(table: BlockTable, settings: Settings) -> list[NDArray[np.int64]]:
    """The numbers that levels stand for, in steps of their own unless their units are to count."""
    from tamis.information.lattice import from_least, steps

    number = steps if settings.units == "unknown" else from_least
    return [np.array(number(levels), dtype=np.int64) for levels in table.levels]


def _of_rows(table: Table, kind: str, settings: Settings) -> Source:
    """The source of a table in memory."""
    entropy, n_jobs = settings.entropy, settings.n_jobs
    if table.missing:
        _require_for_missing(settings)
    if entropy is not None:
        counts = open_counts(LongTable(table) if is_long(table) else table, entropy, n_jobs)
        # Ranks are of complete rows of equal weight; others have their levels counted.
        whole = not table.missing and table.weights is None
        return RankedInformation(counts, table) if whole and has_ranks(table) else counts
    # Counts add up the same in any order of the rows; sums of numbers do so only to rounding.
    ordered = in_canonical_order(table)
    if goes_by_ranks(settings):
        ordered = by_ranks(ordered)
    plain = not ordered.missing and ordered.weights is None
    if plain and kind == "gaussian" and settings.units == "unknown" and _is_whole(table):
        from tamis.information.lattice import in_steps

        ordered = in_steps(ordered)
    return open_source(kind, ordered, settings.source, n_jobs)


def goes_by_ranks(settings: Settings) -> bool:
    """Whether numbers with heavy tails enter by their ranks: not if their units are to count."""
    return settings.information == "conditional-gaussian" and settings.units == "unknown"


def _require_for_missing(settings: Settings) -> None:
    """Refuse what does not go with rows that differ from test to test."""
    if any(isinstance(rule, Rate) for rule in settings.rules):
        raise SettingError(
            "Rate sets one threshold by the number of rows, and with missing='pairwise' that "
            "differs from test to test: use Permutation, ChiSquared, BIC or Fixed"
        )


def open_outside(own: Source | SourceOfTable, table: AnyTable | None) -> Source:
    """The source from outside, or what the function makes of the table; its answers are checked."""
    if not isinstance(own, Source):
        return _made_of(own, table)
    source = checked(own)
    if table is not None:
        _require_names(source, table)
    return source


def _require_names(source: Source, table: AnyTable) -> None:
    """Refuse a table that is about other variables than the source."""
    differing = sorted({*source.names} ^ {*table.names})
    if differing:
        raise DataError(
            f"Column {differing[0]!r} is in only one of the table and {source.title}, which has "
            f"{', '.join(map(repr, source.names))}: pass a table with the same columns, or none."
        )


def _made_of(function: SourceOfTable, table: AnyTable | None) -> Source:
    """What the function makes of the table."""
    name = f"information={qualified_name(function)}"
    if table is None:
        raise SettingError(f"{name} makes a source of a table: pass the table to fit")
    if not in_memory(table):
        raise SettingError(
            f"{name} needs the rows in memory, and these are read in blocks: read the table itself"
        )
    view = TableView(table.select(sorted(range(len(table.names)), key=table.names.__getitem__)))
    made: object = answer_of(name, lambda: function(view))
    if not isinstance(made, Source):
        raise refusal(name, made, "it must return a tamis.Source")
    source = checked(made)
    if source.names != view.names:
        raise PluginError(
            f"{name} returned {qualified_name(made)} with the names {source.names!r}; it must "
            f"have those of the table, in their order: {view.names!r}"
        )
    source.most_rows = min(source.n_rows, view.n_rows)
    return source
