"""The plan of a table: what each column is taken for, what is suspicious, and what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tamis.errors import FileFormatError, SettingError
from tamis.tables.columns import Column, too_many_levels
from tamis.tables.kinds import IGNORE, TYPES, Told, checked_type
from tamis.tables.refusals import ColumnRefused, listed, shown
from tamis.tables.relations import MOST_COLUMNS, relations_of
from tamis.tables.suspicions import TOPICS, Found, Suspicion, after_told, suspicions_of
from tamis.tables.table import Label

MOST_LABELS = 100
"""A plan holds the levels of a column only if they are no more than this."""

_LEVELLED = ("category", "ordinal")


@dataclass(frozen=True, repr=False)
class ColumnPlan:
    """One column of a plan.

    Attributes
    ----------
    name : str
        The name of the column.
    kind : {"category", "ordinal", "number", "ignore"}
        What the column is taken for, or "ignore" if it is left out.
    told : bool
        Whether a user has named the kind.
    order : tuple
        The levels from low to high, if a user has listed them.
    levels : tuple
        The levels; empty if there are more than 100, or if values have fractions.
    n_values : int
        The number of different values; 0 if there are none.
    low, high : float or None
        The range of a column of numbers.
    n_missing : int
        The number of rows in which the column is missing.
    kinds : tuple of str
        The kinds that the column can be given.
    suspicions : tuple of Suspicion
        What is suspicious about it, with what to do.
    whole : bool
        Whether its values are whole numbers that can be counted.

    Examples
    --------
    >>> import tamis
    >>> column = tamis.inspect({"smokes": ["yes", "no"] * 20, "grade": [1, 2, 3, 4] * 10})["grade"]
    >>> column.kind, column.n_values, column.kinds
    ('category', 4, ('category', 'ordinal', 'number'))
    """

    name: str
    kind: str
    told: bool
    order: tuple[Label, ...]
    levels: tuple[Label, ...]
    n_values: int
    low: float | None
    high: float | None
    n_missing: int
    kinds: tuple[str, ...]
    suspicions: tuple[Suspicion, ...]
    whole: bool

    def __repr__(self) -> str:
        name = repr(self.name) if len(self.name) <= 60 else f"{self.name[:60]!r}..."
        doubts = f", {len(self.suspicions)} suspicious" if self.suspicions else ""
        return f"<ColumnPlan {name}: {self.kind}, {self.n_values:,} values{doubts}>"

    @property
    def said(self) -> Told:
        """What ``TAM(types=...)`` takes for this column."""
        return list(self.order) or self.kind

    @property
    def is_grave(self) -> bool:
        """Whether a graph should not be built on this column as it is."""
        return not self.told and any(one.grave for one in self.suspicions)


@dataclass(eq=False)
class Plan:
    """What each column of a table is taken for, as `tamis.inspect` finds it.

    ``plan["grade"]`` is one column, a `ColumnPlan`. ``plan["grade"] = "ordinal"`` names its kind,
    and ``plan["size"] = ["small", "large"]`` its levels from low to high. ``tamis.TAM(types=plan)``
    learns by the plan. ``print(plan)`` shows a line for each column and everything suspicious.
    Columns that cannot be read are left out unless their kind is named. So are identifiers, dates
    and other columns on which no graph should be built.

    Attributes
    ----------
    columns : tuple of ColumnPlan
        The columns in the order of the table.
    n_rows : int
        The number of rows.
    missing : str
        What is to be done about missing values; see `tamis.TAM`.
    notes : tuple of str
        What else there is to know about the table.
    absent : mapping or None
        For each column with missing values, in which rows; None for a plan that was read from a
        file.
    complete : int or None
        The number of complete rows, in a plan that was read from a file.

    Examples
    --------
    >>> import tamis
    >>> plan = tamis.inspect({"id": range(1, 41), "smokes": ["yes", "no"] * 20,
    ...                       "grade": [1, 2, 3, 4] * 10})
    >>> [(column.name, column.kind) for column in plan]
    [('id', 'ignore'), ('smokes', 'category'), ('grade', 'category')]
    >>> plan["grade"] = "ordinal"
    >>> plan.types
    {'id': 'ignore', 'grade': 'ordinal'}
    """

    columns: tuple[ColumnPlan, ...]
    n_rows: int
    missing: str = "error"
    notes: tuple[str, ...] = ()
    absent: Mapping[str, NDArray[np.bool_]] | None = field(default=None, repr=False)
    complete: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, in the order of the table."""
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> dict[str, Told]:
        """What ``TAM(types=...)`` is told: kinds that were named, and columns left out."""
        return {
            column.name: column.said
            for column in self.columns
            if column.told or column.kind == IGNORE
        }

    @property
    def suspicions(self) -> tuple[tuple[str, Suspicion], ...]:
        """Everything suspicious, each with the name of its column, the gravest first."""
        pairs = [(column.name, one) for column in self.columns for one in column.suspicions]
        return tuple(sorted(pairs, key=lambda pair: not pair[1].grave))

    @property
    def rows(self) -> dict[str, int | None]:
        """How many rows each choice of ``missing`` leaves, by the columns that are not ignored;
        None where that is not known any more."""
        return {
            "drop": self.n_complete(),
            "level": self.n_rows,
            "pairwise": self.n_rows,
        }

    @property
    def both_ways(self) -> bool:
        """Whether the table is read as categories and as numbers: it has nothing but whole
        numbers, and no kind is named."""
        kept = [column for column in self.columns if column.kind != IGNORE]
        plain = all(one.whole and not one.told and not one.n_missing for one in kept)
        return plain and any(one.n_values > 2 for one in kept)

    def n_complete(self, *, without: Collection[str] = ()) -> int | None:
        """Count the rows in which no column is missing, leaving out ignored columns.

        Parameters
        ----------
        without : collection of str
            More columns to leave out.

        Returns
        -------
        int or None
            None for a plan that no longer knows which rows are missing.

        Examples
        --------
        >>> import tamis
        >>> plan = tamis.inspect({"a": [0, 1, None, 1] * 9, "b": [0, 0, 1, 1] * 9}, missing="drop")
        >>> plan.n_complete(), plan.n_complete(without=["a"])
        (27, 36)
        """
        kept = [one for one in self if one.kind != IGNORE and one.name not in without]
        lacking = [one.name for one in kept if one.n_missing]
        if not lacking:
            return self.n_rows
        if self.absent is None:
            return None if without else self.complete
        return self.n_rows - int(np.logical_or.reduce([self.absent[k] for k in lacking]).sum())

    def of_kind(self, kind: str) -> list[str]:
        """List the columns of one kind.

        Parameters
        ----------
        kind : {"category", "ordinal", "number", "ignore"}
            The kind.

        Returns
        -------
        list of str
            The names of the columns.

        Examples
        --------
        >>> import tamis
        >>> plan = tamis.inspect({"id": range(1, 41), "smokes": ["yes", "no"] * 20})
        >>> plan.of_kind("category")
        ['smokes']
        """
        return [column.name for column in self.columns if column.kind == kind]

    def set(self, types: Mapping[str, Told]) -> Self:
        """Name the kinds of several columns; if one is refused, nothing changes.

        Parameters
        ----------
        types : mapping
            The kinds by name, as in `tamis.TAM`.

        Returns
        -------
        Plan
            The plan itself.

        Examples
        --------
        >>> import tamis
        >>> plan = tamis.inspect({"smokes": ["yes", "no"] * 20, "grade": [1, 2, 3, 4] * 10})
        >>> plan.set({"grade": "ordinal"}).of_kind("ordinal")
        ['grade']
        """
        changed = {name: self._changed(name, told) for name, told in types.items()}
        self.columns = tuple(changed.get(column.name, column) for column in self.columns)
        # A plan from a file does not know which rows are missing where.
        self.complete = None
        return self

    def to_dict(self) -> dict[str, Any]:
        """Convert the plan to what JSON can hold.

        Returns
        -------
        dict
            What `from_dict` reads.

        Examples
        --------
        >>> import tamis
        >>> tamis.inspect({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10}).to_dict()["n_rows"]
        40
        """
        columns = [
            {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(column).items()}
            for column in self.columns
        ]
        return {
            "n_rows": self.n_rows,
            "missing": self.missing,
            "rows": self.rows,
            "notes": list(self.notes),
            "columns": columns,
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Self:
        """Read the plan that `to_dict` wrote.

        Parameters
        ----------
        written : mapping
            What `to_dict` returned.

        Returns
        -------
        Plan
            A plan that knows how many rows are complete, and no longer which.

        Raises
        ------
        FileFormatError
            If tamis has written no such plan.

        Examples
        --------
        >>> import tamis
        >>> plan = tamis.inspect({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10})
        >>> tamis.Plan.from_dict(plan.to_dict())
        <Plan: 40 rows, 2 columns>
        """
        try:
            columns = tuple(_column_from_dict(one) for one in written["columns"])
            return cls(
                columns,
                int(written["n_rows"]),
                str(written["missing"]),
                tuple(map(str, written["notes"])),
                complete=written["rows"]["drop"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"This is no plan that tamis has written: {error!r}") from error

    def __iter__(self) -> Iterator[ColumnPlan]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> ColumnPlan:
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            close = get_close_matches(str(name), self.names, n=1)
            more = f"did you mean {close[0]!r}?" if close else f"it has {listed(self.names)}"
            raise KeyError(f"the plan has no column {name!r}; {more}")
        return found

    def __setitem__(self, name: str, told: Told) -> None:
        self.set({name: told})

    def __repr__(self) -> str:
        return f"<Plan: {self.n_rows:,} rows, {len(self):,} columns>"

    def __str__(self) -> str:
        from tamis.tables.plan_text import plan_in_text

        return plan_in_text(self)

    def _repr_html_(self) -> str:
        from tamis.tables.plan_text import plan_in_html

        return plan_in_html(self)

    def _changed(self, name: str, told: object) -> ColumnPlan:
        column = self[name]
        wanted = checked_type(name, told)
        order = tuple(wanted) if isinstance(wanted, list) else ()
        kind = "ordinal" if isinstance(wanted, list) else wanted
        if kind not in (*column.kinds, IGNORE):
            can = " or ".join(map(repr, (*column.kinds, IGNORE)))
            why = next((f": it {one.what}" for one in column.suspicions if one.grave), "")
            raise SettingError(f"column {name!r} can be {can}, not {told!r}{why}")
        texts = list(map(str, order))
        lacking = [label for label in column.levels if order and str(label) not in texts]
        if lacking:
            raise SettingError(
                f"the order of column {name!r} lacks its level {listed(map(shown, lacking))}"
            )
        rest = after_told(column.suspicions, kind)
        return replace(column, kind=kind, told=True, order=order, suspicions=rest)


def plan_of(
    columns: Sequence[Found], types: Mapping[str, Told], missing: str, notes: Sequence[str] = ()
) -> Plan:
    """The plan of these columns, with what was told of them."""
    alone = {one.name: _alone(one, types.get(one.name)) for one in columns}
    sound = [
        one
        for one in columns
        if types.get(one.name) != IGNORE and not any(own.grave for own in alone[one.name])
    ]
    related = {
        name: one
        for name, one in relations_of(sound).items()
        if one.topic not in {own.topic for own in alone[name]}
    }
    n_rows = columns[0].n_rows if columns else 0
    return Plan(
        tuple(
            _column(
                one,
                types.get(one.name),
                (*alone[one.name], *([related[one.name]] if one.name in related else [])),
            )
            for one in columns
        ),
        n_rows,
        missing,
        (*notes, *_small(len(columns), n_rows), *_wide(len(sound))),
        {one.name: one.absent for one in columns if one.absent is not None},
    )


def _alone(found: Found, told: Told | None) -> tuple[Suspicion, ...]:
    suspicions = suspicions_of(found)
    if told is None or (isinstance(found.held, ColumnRefused) and told != IGNORE):
        return tuple(suspicions)
    return after_told(suspicions, told if isinstance(told, str) else "ordinal")


def _column(found: Found, told: Told | None, suspicions: tuple[Suspicion, ...]) -> ColumnPlan:
    held, numbers = found.held, found.numbers
    if told is not None:
        kind = "ordinal" if isinstance(told, list) else told
    elif isinstance(held, ColumnRefused) or any(one.grave for one in suspicions):
        kind = IGNORE
    else:
        kind = held.kind
    has_range = numbers is not None and len(numbers) > 0
    return ColumnPlan(
        found.name,
        kind,
        told is not None,
        tuple(told) if isinstance(told, list) else (),
        found.labels if len(found.labels) <= MOST_LABELS else (),
        found.n_values,
        float(numbers.min()) if numbers is not None and has_range else None,
        float(numbers.max()) if numbers is not None and has_range else None,
        found.n_missing,
        _possible(found),
        suspicions,
        isinstance(held, Column) and bool(held.levels) and type(held.levels[0]) is int,
    )


def _possible(found: Found) -> tuple[str, ...]:
    """The kinds that a table would take the column for."""
    fractions = found.numbers is not None and not found.labels
    levelled = (
        not too_many_levels(found.n_values, found.n_present)
        if fractions
        else isinstance(found.held_as("category"), Column)
    )
    return (*_LEVELLED,) * levelled + ("number",) * (found.numbers is not None)


def _small(n_columns: int, n_rows: int) -> Iterator[str]:
    if n_columns < 2:
        yield (
            "A table needs at least 2 columns, and this one has 1: if there are more, check how "
            "they are separated."
        )
    if n_rows < 2:
        yield f"A table needs at least 2 rows, and this one has {n_rows or 'none'}."


def _wide(n_columns: int) -> Iterator[str]:
    if n_columns > MOST_COLUMNS:
        yield (
            f"Columns that are functions of others were looked for among the first {MOST_COLUMNS}."
        )


def _column_from_dict(written: Mapping[str, Any]) -> ColumnPlan:
    given = {one.name: written[one.name] for one in fields(ColumnPlan)}
    given["suspicions"] = tuple(Suspicion(**one) for one in given["suspicions"])
    for name in ("order", "levels", "kinds"):
        given[name] = tuple(given[name])
    column = ColumnPlan(**given)
    if not isinstance(column.name, str):
        raise ValueError(f"a column is named {shown(column.name)}, which is no text")
    whole = isinstance(column.n_values, int) and isinstance(column.n_missing, int)
    if not whole or not all(isinstance(x, int | float | None) for x in (column.low, column.high)):
        raise ValueError(f"column {column.name!r} has something else where numbers belong")
    if column.kind not in TYPES or not set(column.kinds) <= set(TYPES):
        raise ValueError(f"column {column.name!r} is of no known kind")
    if not {one.topic for one in column.suspicions} <= set(TOPICS):
        raise ValueError(f"column {column.name!r} has a suspicion of no known topic")
    return column
