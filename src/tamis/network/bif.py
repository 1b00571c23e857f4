"""The Interchange Format for Bayesian Networks (BIF 0.15), read with line numbers, written whole.
Small networks come with tamis; the first line of each file says what it shows.

``bif_syntax`` finds words and marks, blocks and rows; variables and tables are found here.
``render`` goes back.

Two rules of the format are narrower here. Text between blocks, which BIF allows as a kind of
comment, is refused, so that a misspelt keyword is noticed; remarks go behind ``//``. And of
``probability ( a b | c )``, in which BIF ignores the bar, only forms with one variable
before the bar are read.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files as package_files
from itertools import product
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from tamis.atomic import check_place, write_files
from tamis.errors import FileFormatError, SettingError, TamisWarning
from tamis.network.bif_syntax import (
    WORD,
    Block,
    Document,
    Refused,
    Row,
    Token,
    Variable,
    line_of,
    parse,
)
from tamis.network.parts import (
    MOST_CELLS,
    MOST_PARENTS,
    ROUNDING,
    TOLERANCE,
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


ENDINGS = (".bif", ".bif.gz")
MOST_BYTES = 2**26
"""The most text that is read, after decompression; the largest published file has 5.5 MB."""

_GZIP = b"\x1f\x8b"


def read_parts(path: str | os.PathLike[str]) -> Parts:
    """The parts of the network in a file, or ``FileFormatError``."""
    place = _text(path)
    if not place.lower().endswith(ENDINGS):
        raise FileFormatError(
            f"The ending of {place!r} is not one of {', '.join(ENDINGS)}: those are read."
        )
    return parse_bif(_content(place), repr(place))


def parse_bif(content: bytes, called: str) -> Parts:
    """The parts of the network in the bytes of a BIF file; ``called`` is for the complaint."""
    text = _decoded(content, called)
    try:
        parts, worst = understood(parse(text))
    except Refused as error:
        line = line_of(text, error.offset)
        raise FileFormatError(f"{called}, line {line}: {error}.") from None
    if worst.miss > TOLERANCE:
        _warn_rounded(worst, line_of(text, worst.offset), called)
    return parts


def write_network(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network by the file's ending; everything is checked before."""
    place = _text(path)
    if not place.lower().endswith(ENDINGS):
        raise SettingError(f"the ending of {place!r} must be one of {', '.join(ENDINGS)}")
    check_place(place)
    content = render(network).encode()
    if place.lower().endswith(".gz"):
        # Without a time stamp, so that the same network gives the same file.
        content = gzip.compress(content, mtime=0)
    write_files({place: content})


def _text(path: object) -> str:
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str) or "\0" in path:
        raise SettingError(f"a path must be a string or a pathlib.Path, not {path!r}")
    return path


def _content(place: str) -> bytes:
    try:
        with open(place, "rb") as file:
            return _unpacked(file, place) if place.lower().endswith(".gz") else _read(file, place)
    except FileNotFoundError as error:
        raise FileFormatError(f"There is no file {place!r}. Check the path.") from error
    except (OSError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise FileFormatError(f"The file {place!r} cannot be read: {why}.") from error


def _unpacked(file: BinaryIO, place: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            return _read(unpacked, place)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(
            f"The file {place!r} is damaged or not compressed by gzip ({error})."
        ) from error


def _read(file: BinaryIO | gzip.GzipFile, place: str) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise FileFormatError(f"The file {place!r} holds more than {MOST_BYTES} bytes.")
    return content


def _decoded(content: bytes, called: str) -> str:
    if content.startswith(_GZIP):
        raise FileFormatError(f"{called} is compressed. Let its name end in .bif.gz.")
    if not content.strip():
        raise FileFormatError(f"{called} is empty.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{called}, line {line}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _warn_rounded(worst: Rounded, line: int, called: str) -> None:
    warnings.warn(
        TamisWarning(
            f"{called}: not all probabilities sum to 1; those of {worst.about} (line {line}) miss "
            f"it by {worst.miss:.3g}. Rows were divided by their sums."
        ),
        # The caller of BayesianNetwork.read.
        stacklevel=5,
    )


NAMES = ("orchard", "night_shift", "m1", "m2", "diamond")

_SHIPPED = package_files("tamis.network") / "shipped"


def example_parts(name: str) -> Parts:
    """The parts of a network by its name."""
    if name not in NAMES:
        raise SettingError(f"there is no example {name!r}; there are {', '.join(NAMES)}")
    return parse_bif(_shipped(name), f"the example {name!r}")


def descriptions() -> dict[str, str]:
    """What each example shows, in a sentence."""
    return {name: _shipped(name).decode().split("\n", 1)[0].lstrip("/ ") for name in NAMES}


def _shipped(name: str) -> bytes:
    return (_SHIPPED / f"{name}.bif").read_bytes()


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
