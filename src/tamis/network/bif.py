"""The Interchange Format for Bayesian Networks (BIF 0.15), read and written.

``bif_syntax`` finds words and marks, blocks and rows; variables and tables are found here.
``render`` goes back.

Two rules of the format are narrower here. Text between blocks, which BIF allows as a kind of
comment, is refused, so that a misspelt keyword is noticed; remarks go behind ``//``. And of
``probability ( a b | c )``, in which BIF ignores the bar, only forms with one variable
before the bar are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamis.errors import SettingError
from tamis.network.bif_syntax import WORD, Block, Document, Refused, Row, Token, Variable
from tamis.network.parts import (
    MOST_CELLS,
    MOST_PARENTS,
    ROUNDING,
    Floats,
    Parts,
    arrows,
    fault_in,
    find_cycle,
    misses,
    rescaled,
    row_text,
)

if TYPE_CHECKING:
    from tamis.network.model import BayesianNetwork


def understood(document: Document) -> tuple[Parts, Rounded]:
    """The network that a document describes, and its row that was furthest from a sum of 1."""
    states = _variables(document.variables)
    found = _blocks(document.blocks, states)
    absent = next((name for name, _ in document.variables if name.text not in found), None)
    if absent is not None:
        raise Refused(f"the variable {absent} has no probability block", absent.offset)
    blocks = [found[name.text] for name, _ in document.variables]
    names, levels = tuple(states), tuple(map(tuple, states.values()))
    place = {name: k for k, name in enumerate(names)}
    parents = tuple(tuple(place[token.text] for token in block.parents) for block in blocks)
    cycle = find_cycle(names, parents)
    if cycle:
        where = blocks[place[cycle[0]]].child.offset
        raise Refused(f"the network has a cycle: {arrows(cycle)}", where)
    families = [_family(block, states) for block in blocks]
    _check_size(families, blocks)
    results = [table_of(block, family) for block, family in zip(blocks, families, strict=True)]
    worst = max(rounded for _, rounded in results)
    return Parts(names, levels, parents, tuple(table for table, _ in results)), worst


def _variables(variables: Sequence[Variable]) -> dict[str, list[str]]:
    """The states of every variable, by name."""
    if not variables:
        raise Refused("the file has no variables", 0)
    states: dict[str, list[str]] = {}
    for name, given in variables:
        if not name.text.strip():
            raise Refused("the name of a variable is empty", name.offset)
        if name.text in states:
            raise Refused(f"a second variable is called {name}", name.offset)
        if not given:
            raise Refused(f"the variable {name} has no states", name.offset)
        _check_distinct(given, f"{name} has the state")
        states[name.text] = [state.text for state in given]
    return states


def _blocks(blocks: Sequence[Block], states: dict[str, list[str]]) -> dict[str, Block]:
    """The probability blocks by child."""
    found: dict[str, Block] = {}
    for block in blocks:
        for token in (block.child, *block.parents):
            if token.text not in states:
                raise Refused(f"there is no variable {token}", token.offset)
        if block.child.text in found:
            raise Refused(f"a second probability block for {block.child}", block.child.offset)
        _check_distinct(block.parents, f"{block.child} has the parent")
        found[block.child.text] = block
    return found


def _check_distinct(tokens: Sequence[Token], what: str) -> None:
    seen: set[str] = set()
    for token in tokens:
        if token.text in seen:
            raise Refused(f"{what} {token} twice", token.offset)
        seen.add(token.text)


def _family(block: Block, states: dict[str, list[str]]) -> Family:
    child, parents = block.child.text, [token.text for token in block.parents]
    return Family(child, parents, [states[name] for name in parents], len(states[child]))


def _check_size(families: Sequence[Family], blocks: Sequence[Block]) -> None:
    """A few lines can announce a table that fills the memory, for default fills its rows."""
    total = 0
    for family, block in zip(families, blocks, strict=True):
        if len(family.parents) > MOST_PARENTS:
            raise Refused(
                f"{block.child} has {len(family.parents)} parents; at most {MOST_PARENTS} are read",
                block.child.offset,
            )
        total += family.n_cells
        if total > MOST_CELLS:
            raise Refused(
                f"the table of {block.child} would hold {family.n_cells} probabilities; all "
                f"tables together may hold {MOST_CELLS}",
                block.child.offset,
            )


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


_BARE = re.compile(WORD)
_IMPOSSIBLE = re.compile(r'["\n\r]')


def render(network: BayesianNetwork) -> str:
    """The whole file; ``SettingError`` if BIF cannot hold a name or a label."""
    names = [_written(name, f"the name {name!r}") for name in network.names]
    states = [
        [_written(str(label), f"the level {label!r} of {name!r}") for label in labels]
        for name, labels in zip(network.names, network.levels, strict=True)
    ]
    return "\n".join(_rendered(network, names, states)) + "\n"


def _rendered(network: BayesianNetwork, names: list[str], states: list[list[str]]) -> Iterator[str]:
    # One line a row and no blank before a closing brace at its start: pgmpy reads by lines.
    yield "network unknown {\n}"
    for name, labels in zip(names, states, strict=True):
        yield f"variable {name} {{"
        yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};"
        yield "}"
    for k, name in enumerate(names):
        given = network.parents[k]
        header = f"{name} | {', '.join(names[p] for p in given)}" if given else name
        yield f"probability ( {header} ) {{"
        rows = network.tables[k].reshape(-1, len(states[k])).tolist()
        for configuration, row in zip(product(*(states[p] for p in given)), rows, strict=True):
            head = f"({', '.join(configuration)})" if given else "table"
            yield f"  {head} {_joined(row)};"
        yield "}"


def _joined(row: Iterable[float]) -> str:
    return ", ".join(map(repr, row))


def _written(text: str, what: str) -> str:
    """A word as it is if it is plain, in quotes if BIF needs them."""
    if _IMPOSSIBLE.search(text):
        raise SettingError(
            f"BIF cannot hold {what}: it has a quotation mark or a line break. Rename it."
        )
    return text if _BARE.fullmatch(text) else f'"{text}"'
