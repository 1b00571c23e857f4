"""One finished run: one row of the tidy table, one line of the journal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tamis.experiments.cells import key_of

OK, TIMED_OUT, FAILED, SKIPPED = "ok", "timed out", "failed", "skipped"
STATUSES = (OK, TIMED_OUT, FAILED, SKIPPED)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was run and what came of it; scores are None unless ``status`` is "ok".

    ``settings`` is JSON: ``tamis.simulate.draw(**json.loads(settings))`` is the table. ``reason``
    says why a run failed or was skipped. ``shd`` counts undirected edges favourably, as the paper
    does, ``shd_strict`` does not. ``seconds`` is the time of learning with one thread; a run that
    timed out has its limit there. ``library`` is what the method comes from, with versions.
    """

    model: str
    graph: str
    d: int
    n: int
    replication: int
    method: str
    seed: int
    status: str
    reason: str = ""
    shd: int | None = None
    shd_strict: int | None = None
    skeleton_f1: float | None = None
    edges_true: int | None = None
    edges_learned: int | None = None
    seconds: float | None = None
    time_limit: float | None = None
    settings: str = ""
    tamis: str = ""
    numpy: str = ""
    library: str = ""

    @property
    def key(self) -> str:
        """The name of the run, as in ``Cell.key``."""
        return key_of(self.model, self.graph, self.d, self.n, self.replication, self.method)

    @property
    def place(self) -> tuple[str, str, int, int, int, str]:
        """What rows are sorted by."""
        return self.model, self.graph, self.d, self.n, self.replication, self.method

    def to_json(self) -> str:
        """One line of text."""
        return json.dumps(vars(self), ensure_ascii=True)

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Row:
        """The row that JSON holds; ``TypeError`` or ``ValueError`` if it is none."""
        row = cls(**written)
        if row.status not in STATUSES:
            raise ValueError(f"there is no status {row.status!r}")
        return row


COLUMNS = tuple(one.name for one in fields(Row))

_PARSE: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "int | None": lambda text: int(text) if text else None,
    "float | None": lambda text: float(text) if text else None,
}
_PARSERS = {one.name: _PARSE[str(one.type)] for one in fields(Row)}


def to_csv(rows: Iterable[Row]) -> bytes:
    """The tidy table, sorted; empty cells stand for what there is not."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda one: one.place):
        values = (getattr(row, name) for name in COLUMNS)
        writer.writerow("" if value is None else value for value in values)
    return text.getvalue().encode()


def from_csv(text: str) -> list[Row]:
    """The rows of a tidy table; ``ValueError`` says in which line something else is."""
    reader = csv.reader(io.StringIO(text, newline=""))
    header = next(reader, [])
    if tuple(header) != COLUMNS:
        raise ValueError(f"line 1 must be {','.join(COLUMNS)}")
    return [_parsed(reader.line_num, cells) for cells in reader if cells]


def _parsed(line: int, cells: list[str]) -> Row:
    try:
        pairs = zip(COLUMNS, cells, strict=True)
        return Row.from_dict({name: _PARSERS[name](cell) for name, cell in pairs})
    except (TypeError, ValueError) as error:
        raise ValueError(f"line {line} is no row of results: {error}") from None
