"""A graph as files hold it: names that UTF-8 can write, arrows and undirected edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tamis.errors import FileFormatError


def is_unicode(name: str) -> bool:
    """Whether a name is text that UTF-8 can hold; a lone surrogate is not."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def decoded(content: bytes) -> str:
    """The text of a file; ``FileFormatError`` if it is not UTF-8 or empty."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"it is not UTF-8, at byte {error.start}") from error
    if not text.strip():
        raise FileFormatError("it is empty")
    return text


Pair = tuple[str, str]


@dataclass(frozen=True)
class FileGraph:
    """The graph in a file.

    ``lines`` are undirected edges, each once with its ends in alphabetical order.
    ``names_all`` is False where the file lists edges alone, so that columns without edges are not
    in it.
    """

    names: tuple[str, ...]
    arrows: frozenset[Pair]
    lines: frozenset[Pair]
    names_all: bool = True


@dataclass
class GraphParts:
    """The parts of a graph as they are read."""

    names: dict[str, None] = field(default_factory=dict)
    arrows: set[Pair] = field(default_factory=set)
    lines: set[Pair] = field(default_factory=set)

    def add_nodes(self, names: Iterable[str]) -> None:
        """Nodes, in order; those that are there already stay where they are."""
        self.names.update(dict.fromkeys(names))

    def add_arrow(self, tail: str, head: str) -> None:
        """An arrow, and its ends if they are new."""
        self._require_ends(tail, head)
        self.arrows.add((tail, head))

    def add_line(self, one: str, other: str) -> None:
        """An undirected edge, and its ends if they are new."""
        self._require_ends(one, other)
        self.lines.add(in_order(one, other))

    def graph(self, *, names_all: bool = True) -> FileGraph:
        """The graph; an edge that is there in both directions is undirected."""
        both = {(a, b) for a, b in self.arrows if (b, a) in self.arrows}
        lines = self.lines | {in_order(a, b) for a, b in both}
        arrows = {(a, b) for a, b in self.arrows if in_order(a, b) not in lines}
        return FileGraph(tuple(self.names), frozenset(arrows), frozenset(lines), names_all)

    def _require_ends(self, one: str, other: str) -> None:
        self.add_nodes((one, other))
        if one == other:
            raise FileFormatError(f"it has an edge from {one!r} to itself")


def in_order(one: str, other: str) -> Pair:
    """The ends of an edge in alphabetical order."""
    return (one, other) if one <= other else (other, one)
