"""The rows of one probability block become a table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.network.bif.scanner import Refused
from tamis.network.bif.syntax import Block, Row
from tamis.network.parts import Floats, row_text
from tamis.network.tables import ROUNDING, fault_in, misses, rescaled

_NUMERAL = re.compile(r"[0-9eE.+\-]+")


class Rounded(NamedTuple):
    """A row that missed a sum of 1 before it was rescaled: by how much, which, where."""

    miss: float
    about: str
    offset: int


class Family(NamedTuple):
    """A variable, its parents in the order of the file, and the states of the parents."""

    child: str
    parents: list[str]
    states: list[list[str]]
    n_states: int

    @property
    def n_rows(self) -> int:
        """The number of configurations of the parents."""
        return math.prod(map(len, self.states))

    @property
    def n_cells(self) -> int:
        """The number of probabilities."""
        return self.n_rows * self.n_states

    def row_text(self, row: int) -> str:
        """A row in words."""
        return row_text(self.child, self.parents, self.states, row)


def table_of(block: Block, family: Family) -> tuple[Floats, Rounded]:
    """The table with the child's axis last, and its row that was furthest from a sum of 1."""
    offsets: dict[int, int] = {}
    whole = block.whole.get("table")
    if whole is not None:
        rows = _whole_table(block, whole, family)
    else:
        offsets = _offsets(block.rows, family)
        rows = _listed_rows(block, offsets, family)
    # A row that is not listed comes from the table or the default.
    elsewhere = next((row.offset for row in block.whole.values()), block.child.offset)
    fault = fault_in(rows, ROUNDING)
    if fault is not None:
        row, what = fault
        about = family.row_text(row)
        raise Refused(f"the probabilities of {about} {what}", offsets.get(row, elsewhere))
    off = misses(rows)
    row = int(off.argmax())
    furthest = Rounded(float(off[row]), family.row_text(row), offsets.get(row, elsewhere))
    shape = (*map(len, family.states), family.n_states)
    return rescaled(rows).reshape(shape), furthest


def _whole_table(block: Block, table: Row, family: Family) -> Floats:
    """``table`` lists the child's first state for all rows, then the second, and so on."""
    others = [row for row in (*block.rows, *block.whole.values()) if row is not table]
    if others:
        raise Refused(f"the block of {block.child} has a table and further rows", others[0].offset)
    if len(table.numbers) != family.n_cells:
        raise Refused(
            f"the table of {block.child} has {len(table.numbers)} probabilities, but needs "
            f"{family.n_cells}",
            table.offset,
        )
    return np.ascontiguousarray(_floats([table]).reshape(family.n_states, -1).T)


def _listed_rows(block: Block, offsets: dict[int, int], family: Family) -> Floats:
    default = block.whole.get("default")
    for row in (*block.rows, *block.whole.values()):
        if len(row.numbers) != family.n_states:
            raise Refused(
                f"this row has {len(row.numbers)} probabilities, but {block.child} has "
                f"{family.n_states} states",
                row.offset,
            )
    if default is None and len(offsets) < family.n_rows:
        absent = next(index for index in range(family.n_rows) if index not in offsets)
        raise Refused(f"there is no row for {family.row_text(absent)}", block.child.offset)
    rows = np.empty((family.n_rows, family.n_states))
    if default is not None:
        rows[:] = _floats([default])
    if offsets:
        rows[list(offsets)] = _floats(block.rows).reshape(-1, family.n_states)
    return rows


def _offsets(rows: Sequence[Row], family: Family) -> dict[int, int]:
    """Where each configuration stands in the file; none may stand there twice."""
    offsets: dict[int, int] = {}
    for row in rows:
        index = _configuration(row, family)
        if index in offsets:
            raise Refused(f"a second row for {family.row_text(index)}", row.offset)
        offsets[index] = row.offset
    return offsets


def _configuration(row: Row, family: Family) -> int:
    """The configuration a row is about, the last parent changing fastest."""
    if len(row.states) != len(family.states):
        raise Refused(
            f"this row names {len(row.states)} states, but the number of parents of "
            f"{family.child!r} is {len(family.states)}",
            row.offset,
        )
    index = 0
    for name, state, states in zip(family.parents, row.states, family.states, strict=True):
        if state not in states:
            raise Refused(f"{name!r} has no state {state!r}", row.offset)
        index = index * len(states) + states.index(state)
    return index


def _floats(rows: Sequence[Row]) -> Floats:
    numbers = [number for row in rows for number in row.numbers]
    if all(map(_NUMERAL.fullmatch, numbers)):
        try:
            return np.array(list(map(float, numbers)))
        except ValueError:
            pass
    row, number = next(
        (row, number) for row in rows for number in row.numbers if not _is_number(number)
    )
    raise Refused(f"expected a probability, but found {number!r}", row.offset)


def _is_number(word: str) -> bool:
    # float would take 'nan', '1_000' and the digits of other scripts as well.
    if not _NUMERAL.fullmatch(word):
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True
