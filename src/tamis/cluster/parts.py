"""The parts of a table that workers read, each by itself: files, or partitions of a data frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
