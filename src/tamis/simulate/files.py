"""A simulated table as files: the rows, the true edges and, where it is small, the network."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from tamis.atomic import check_place, write_files
from tamis.errors import SettingError
from tamis.network import BayesianNetwork
from tamis.network.bif import render
from tamis.simulate.models.model import Column
from tamis.tables.text import MISSING_MARKERS

if TYPE_CHECKING:
    from tamis.simulate.drawing import Simulated

Path = str | os.PathLike[str]
Columns = Mapping[str, Column]

MOST_BIF_CELLS = 100_000
"""The most probabilities with which a network is written beside its rows: a file of 2 MB."""
_CHUNK = 4096
"""Rows turned into Python's numbers at a time."""


def write_simulated(simulated: Simulated, path: Path) -> tuple[str, ...]:
    """Render everything, then write everything; the paths that were written."""
    place = checked_path(path)
    table = _FORMATS[_ending(place)](simulated.data)
    contents = {place: table, graph_path(place): _edges(simulated.model.graph.edges)}
    beside, bif = network_path(place), _bif(simulated.network)
    if bif is not None and not _is_source(beside, simulated.settings.get("network")):
        check_place(beside)
        contents[beside] = bif
    write_files(contents)
    if bif is None and os.path.isfile(beside):
        # What an earlier draw left there is not the truth of these rows.
        os.unlink(beside)
    return tuple(contents)


def checked_path(path: Path) -> str:
    """The path of the rows; refused if it, or that of the edges, cannot be written."""
    place = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(place, str):
        raise SettingError(f"a path must be a string or a pathlib.Path, not {path!r}")
    if _ending(place) not in _FORMATS:
        raise SettingError(f"the ending of {place!r} must be one of {', '.join(_FORMATS)}")
    for each in (place, graph_path(place)):
        check_place(each)
    return place


def graph_path(place: str) -> str:
    """Where the true edges go."""
    return os.path.splitext(place)[0] + ".graph.csv"


def network_path(place: str) -> str:
    """Where the exact network goes."""
    return os.path.splitext(place)[0] + ".network.bif"


def _ending(place: str) -> str:
    return os.path.splitext(place)[1].lower()


def _is_source(beside: str, source: object) -> bool:
    """Whether the network was read from this very file, which is then not written anew."""
    both = isinstance(source, str) and os.path.exists(source) and os.path.exists(beside)
    return both and os.path.samefile(str(source), beside)


def _bif(network: BayesianNetwork | None) -> bytes | None:
    """The network as a file, unless it is large or has names that BIF cannot hold."""
    if network is None or sum(table.size for table in network.tables) > MOST_BIF_CELLS:
        return None
    try:
        return render(network).encode()
    except SettingError:
        return None


def _edges(edges: Iterable[tuple[str, str]]) -> bytes:
    return _csv([("parent", "child"), *edges])


def _csv_table(columns: Columns) -> bytes:
    """The rows; floats keep every digit, and integers stay integers."""
    _refuse_lost(columns)
    return _csv(chain([tuple(columns)], _rows(columns)))


def _csv(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _rows(columns: Columns) -> Iterator[tuple[object, ...]]:
    arrays = list(columns.values())
    for start in range(0, len(arrays[0]), _CHUNK):
        yield from zip(*(one[start : start + _CHUNK].tolist() for one in arrays), strict=True)


def _refuse_lost(columns: Columns) -> None:
    """Names and labels that would come back as others; those of networks can be any text."""
    for name, column in columns.items():
        labels = set(column.tolist()) if column.dtype == object else set()
        texts = {label for label in labels if isinstance(label, str)}
        for text in (name, *texts):
            if text != text.strip() or (text in MISSING_MARKERS and text in texts):
                raise SettingError(
                    f"CSV cannot hold {text!r} (column {name!r}): it would be read as another "
                    "text or as a missing value. Rename it, or write .parquet."
                )


def _parquet_table(columns: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pa.table(dict(columns))
    except (pa.ArrowException, OverflowError) as error:
        raise SettingError(f"Parquet cannot hold these columns ({error}). Write .csv.") from error
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


_PARQUET = (".parquet", ".pq")
_FORMATS: dict[str, Callable[[Columns], bytes]] = {
    ".csv": _csv_table,
    ".parquet": _parquet_table,
    ".pq": _parquet_table,
}
