"""What workers do: look at the rows of a part, pack and hold them, count, add.

Everything they are given is a question or a path, and everything they give back but the rows they
hold is small, so that whatever is lost with a worker can be had again from the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.counting.passes import Pass, Sums, View
from tamis.errors import DataError
from tamis.tables.first_pass import Seen, look, products_in
from tamis.tables.growing import GrowingColumn
from tamis.tables.moments import Moments
from tamis.tables.packed_file import encoded, nobody
from tamis.tables.planes import Blocks
from tamis.tables.refusals import shown_path
from tamis.tables.streams import FrameStream, Stream, stream_of


@dataclass(frozen=True)
class FilePart:
    """A CSV or Parquet file, or some row groups of the latter."""

    path: str
    groups: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """What to call it."""
        if self.groups is None:
            return shown_path(self.path)
        first, after = self.groups
        return f"{shown_path(self.path)}, row groups {first} to {after - 1}"

    @property
    def content(self) -> FilePart:
        """What a worker is given to read: the path."""
        return self


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask data frame."""

    index: int
    count: int
    content: Any
    """The partition, delayed; a worker is given the frame itself."""

    @property
    def name(self) -> str:
        """What to call it."""
        return f"partition {self.index} of 0 to {self.count - 1}"


Part = FilePart | FramePart


@dataclass(frozen=True)
class Names:
    """The columns that every part has, and those of them that are wanted."""

    all: tuple[str, ...]
    wanted: tuple[str, ...]


def stream_in(content: Any, names: Names) -> Stream:  # noqa: ANN401 - a path or a frame
    """The rows of a part, where it is read."""
    if isinstance(content, FilePart):
        stream = stream_of([content.path], content.groups, names.all)
    else:
        stream = FrameStream(content, names.all)
    return stream.choose(names.wanted)


Narrow = tuple[NDArray[np.integer], ...]
"""Sums in the smallest type that holds them, to travel."""


@dataclass(frozen=True)
class Question:
    """Passes to be run on some columns of what is held."""

    passes: tuple[Pass, ...]
    positions: tuple[int, ...]
    working_bytes: int


@dataclass(frozen=True)
class Found:
    """What passes found, one after the other, and the bytes that came to be passed on for it."""

    sums: list[Narrow]
    moved: int


def look_at(content: Any, name: str, names: Names, moments: bool) -> Seen:  # noqa: ANN401 - path or frame
    """What the columns of a part are, and the moments of numbers if they are wanted."""
    found = look(stream_in(content, names), moments=moments)
    for column in found.columns:
        column.say_where(name)
    return found


def products(
    content: Any,  # noqa: ANN401 - path or frame
    names: Names,
    chosen: tuple[str, ...],
    moments: Moments,
) -> list[tuple[int, float]]:
    """What the shrinkage that the rows suggest needs of a part."""
    return [products_in(stream_in(content, names), chosen, moments)]


def hold(
    content: Any,  # noqa: ANN401 - path or frame
    names: Names,
    arities: tuple[int, ...],
    columns: Sequence[GrowingColumn],
    n_rows: int,
) -> Blocks:
    """The rows of a part as planes, whose columns have these levels."""
    if not n_rows:
        return Blocks.of(0, arities, [])
    stream = stream_in(content, names)
    return Blocks.of(n_rows, arities, encoded(stream, columns, n_rows, nobody))


def fingerprint(held: Blocks) -> list[bytes]:
    """By which rows that were read again are known to be the same."""
    return [held.fingerprint]


def merged(parts: Sequence[Seen]) -> Seen:
    """What is known of neighbouring parts together."""
    return reduce(Seen.merge, parts)


def joined(parts: Sequence[list[Any]]) -> list[Any]:
    """Lists of neighbouring parts as one."""
    return [one for part in parts for one in part]


def count(
    question: Question, parts: Sequence[Blocks], expected: Sequence[tuple[bytes, str]]
) -> Found:
    """Run passes over the rows of parts that are held here, which must be what they were."""

    def each() -> Iterator[list[Sums]]:
        for held, (known, name) in zip(parts, expected, strict=True):
            if held.fingerprint != known:
                raise DataError(
                    f"The rows of {name} are not those they were when the table was first read. "
                    "Learn again when nothing writes to it."
                )
            view = View(held, question.positions, question.working_bytes)
            yield [one.over(view) for one in question.passes]

    return _summed(question, each(), 0)


def add(question: Question, parts: Sequence[Found]) -> Found:
    """What was found over the rows of all these parts."""
    return _summed(question, map(sums_of, parts), sum(part.moved for part in parts))


def sums_of(found: Found) -> list[Sums]:
    """The sums as the passes gave them."""
    return [tuple(array.astype(np.int64) for array in sums) for sums in found.sums]


def _summed(question: Question, parts: Iterable[list[Sums]], moved: int) -> Found:
    def both(total: list[Sums], more: list[Sums]) -> list[Sums]:
        return [one.add(a, b) for one, a, b in zip(question.passes, total, more, strict=True)]

    narrow = [tuple(map(_narrow, one)) for one in reduce(both, parts)]
    return Found(narrow, moved + sum(array.nbytes for one in narrow for array in one))


def _narrow(sums: NDArray[np.int64]) -> NDArray[np.integer]:
    least, largest = int(sums.min(initial=0)), int(sums.max(initial=0))
    return sums if least < 0 else sums.astype(np.min_scalar_type(largest))
