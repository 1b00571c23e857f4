"""From a Dask data frame, or from files that workers can reach, to a table on the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from typing import Any

from tamis.blocks.moment_table import MomentTable, table_of
from tamis.blocks.numbers import Numbers
from tamis.blocks.opening import NEED_ROWS, open_blocks
from tamis.blocks.packed import Counted
from tamis.blocks.packing import nobody, open_stream, require_rows, settled
from tamis.blocks.parquet_stream import row_groups
from tamis.blocks.parts import TEXT_ENDINGS, ending_of, find_parts
from tamis.blocks.streams import GrowingLevels
from tamis.cluster.crew import Crew, Progress, size_of
from tamis.cluster.parts import FilePart, FramePart, Part
from tamis.cluster.table import ClusterTable
from tamis.cluster.work import Seen
from tamis.data.assemble import check_names
from tamis.errors import DataError, SettingError

PART_CELLS = 2**26
"""Row groups of a file go to one part until it has so many cells."""

LOCAL = "local:"
LOOPBACK = "127.0.0.1"
ANY_PORT = f"{LOOPBACK}:0"
"""What is started here is seen from here only, and whatever else runs keeps its ports."""


def open_table(
    data: object,
    *,
    memory: int | str | None = None,
    missing: str = "error",
    information: str = "auto",
    progress: Progress | None = None,
) -> object:
    """A table that is counted where its rows are, on a cluster or in blocks; ``data`` as it came
    where it is to be read into memory."""
    if not is_dask_frame(data):
        return open_blocks(
            data, memory=memory, missing=missing, information=information, progress=progress
        )
    if memory is not None:
        raise SettingError(
            "memory limits the counting of files in this process, and the rows of a Dask data "
            "frame are counted by its workers: set their memory where they are started"
        )
    require_complete_parts(missing)
    return open_frame(data, progress, information=information)


def require_complete_parts(missing: str) -> None:
    """Refuse what needs to know where values are missing."""
    if missing != "error":
        raise SettingError(
            f"missing={missing!r} is for tables in memory; on a cluster every cell needs a value: "
            "drop or fill in missing values before"
        )


def is_dask_frame(data: object) -> bool:
    """Whether this is a data frame of Dask."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] in ("dask", "dask_expr")


def open_frame(
    frame: Any,  # noqa: ANN401 - Dask has no types
    progress: Progress | None = None,
    *,
    information: str = "auto",
) -> ClusterTable | MomentTable:
    """The table of a Dask data frame, on the current client or on threads of this process."""
    names = check_names(frame.columns)
    partitions = frame.to_delayed()
    parts = [FramePart(i, len(partitions), one) for i, one in enumerate(partitions)]
    client, note = _current_client()
    crew = Crew(client, parts, names)
    return _opened(crew, names, progress or nobody, information, (note,) if note else ())


def open_files(
    source: str,
    client: Any,  # noqa: ANN401 - Dask has no types
    progress: Progress | None = None,
    *,
    information: str = "auto",
) -> ClusterTable | MomentTable:
    """The table of a file, a folder or a pattern, which all workers must be able to read."""
    paths = find_parts(source)
    names = open_stream(paths[0]).names
    crew = Crew(client, _file_parts(paths, len(names)), names)
    return _opened(crew, names, progress or nobody, information)


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or of ``local:N``, N processes on this machine."""
    require_dask()
    from distributed import Client, LocalCluster

    if not where.startswith(LOCAL):
        try:
            client = Client(where, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            raise SettingError(
                f"--dask {where!r}: no scheduler answers there ({error}). Give the address that "
                "`dask scheduler` printed, or local:N for N processes on this machine."
            ) from error
        with client:
            yield client
        return
    n = where.removeprefix(LOCAL)
    if not n.isdecimal() or int(n) < 1:
        raise SettingError(f"--dask {where!r}: write local:N, such as local:4")
    with (
        LocalCluster(
            n_workers=int(n), threads_per_worker=1, host=LOOPBACK, dashboard_address=ANY_PORT
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def require_dask() -> None:
    """Say how to install it where it is missing."""
    try:
        import dask.dataframe  # noqa: F401 - only whether they are there
        import distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise SettingError(
            "Counting on a cluster needs Dask, which is not installed. "
            "Install it with: pip install 'tamis[dask]'"
        ) from error


def _current_client() -> tuple[Any, str]:
    """The client the user has opened; without one, threads of this process do the work."""
    require_dask()
    from distributed import Client, get_client

    try:
        return get_client(), ""
    except ValueError:
        client = Client(processes=False, dashboard_address=ANY_PORT, set_as_default=False)
        return client, (
            "No client of Dask was open, so that threads of this process did the work: open one, "
            "`dask.distributed.Client(...)`, to use a cluster."
        )


def _file_parts(paths: Sequence[str], n_columns: int) -> list[Part]:
    """A part for each file; large Parquet files are cut between row groups."""
    parts: list[Part] = []
    for path in paths:
        if ending_of(path) in TEXT_ENDINGS:
            parts.append(FilePart(path))
            continue
        cuts = _cuts(row_groups(path), n_columns)
        whole = len(cuts) == 2
        parts += [FilePart(path, None if whole else cut) for cut in pairwise(cuts)]
    return parts


def _cuts(rows: Sequence[int], n_columns: int) -> list[int]:
    cuts, held = [0], 0
    for group, n in enumerate(rows):
        if held and (held + n) * n_columns > PART_CELLS:
            cuts.append(group)
            held = 0
        held += n
    return [*cuts, max(len(rows), 1)]


def _opened(
    crew: Crew,
    names: tuple[str, ...],
    progress: Progress,
    information: str,
    notes: tuple[str, ...] = (),
) -> ClusterTable | MomentTable:
    """What a table in memory would be taken for: levels to count, or numbers with moments."""
    if information in NEED_ROWS:
        raise SettingError(
            f"information={information!r} needs the rows in memory, and these stay on the cluster, "
            "for counts or moments: use information='counts' or 'gaussian', or a sample of the rows"
        )
    if not crew.n_parts:
        raise DataError("The data frame has no partitions. Give it some rows.")
    if information != "gaussian":
        try:
            return _levels(crew, names, progress, notes)
        except DataError as error:
            if information == "counts":
                raise
            why = error
        found = _moments(crew, names, progress, information)
        if found is None:
            raise why
        return found
    found = _moments(crew, names, progress, information)
    if found is None:
        raise RuntimeError("moments were asked for, and there are none")
    return found


def _levels(
    crew: Crew, names: tuple[str, ...], progress: Progress, notes: tuple[str, ...]
) -> ClusterTable:
    seen = crew.look(progress)
    n_rows = sum(one.n_rows for one in seen)
    require_rows(names, n_rows)
    columns = _merged(seen)
    levels = settled(names, columns, n_rows)
    crew.hold(columns, tuple(map(len, levels)), [one.n_rows for one in seen], progress)
    return ClusterTable(names, levels, crew, notes=notes)


def _moments(
    crew: Crew, names: tuple[str, ...], progress: Progress, information: str
) -> MomentTable | None:
    """Parts are looked at wherever they are, and merged in their order."""
    seen = crew.look_at_numbers(progress)
    counted = Counted("dask", crew.n_parts)
    counted.note(sum(map(size_of, seen)))
    return table_of(
        reduce(Numbers.merge, seen),
        names,
        information=information,
        again=crew.products,
        counted=counted,
    )


def _merged(seen: Sequence[Seen]) -> list[GrowingLevels]:
    """The levels of all parts, in the order of the parts."""
    columns = seen[0].columns
    for one in seen[1:]:
        for column, other in zip(columns, one.columns, strict=True):
            column.merge(other)
    return columns
