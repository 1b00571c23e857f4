"""From a Dask data frame, or from files that workers can reach, to a table on the cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tamis.counting.counts import in_runs
from tamis.counting.dask.work import FilePart, FramePart, Names, Part
from tamis.counting.dask.workers import ClusterTable, Workers, size_of
from tamis.counting.elsewhere import DEFAULT_MEMORY, Counted, MomentTable
from tamis.counting.opening import WITHOUT_ROWS, require_memory, table_of_moments
from tamis.errors import DataError, SettingError
from tamis.tables.columns import Column
from tamis.tables.first_pass import Progress, Seen, reading_of, wanted
from tamis.tables.kinds import Told, checked_types
from tamis.tables.moments import Moments
from tamis.tables.packed_file import nobody
from tamis.tables.paths import PARQUET_ENDINGS, ending_of, find_parts
from tamis.tables.streams import row_groups, stream_of

PART_CELLS = 2**26
"""Row groups of a file go to one part until it has this number of cells."""

NO_CLIENT = (
    "No client of Dask was open, so that threads of this process did the work: open one, "
    "`dask.distributed.Client(...)`, to use a cluster."
)

LOCAL = "local:"
LOOPBACK = "127.0.0.1"
ANY_PORT = f"{LOOPBACK}:0"
"""What is started here is seen from here only, and whatever else runs keeps its ports."""


@contextmanager
def opened_frame(
    frame: Any,  # noqa: ANN401 - of Dask
    information: str,
    types: Mapping[str, Told] | None,
) -> Iterator[object]:
    """A table that the workers count, or what Dask has computed of it where its rows are needed.
    What workers hold for it they hold no longer afterwards."""
    kinds = checked_types(types)
    workers, notes = _workers_of(frame, kinds)
    try:
        found = _opened(workers, nobody, information, kinds, notes)
        yield frame.compute() if found is None else found
    finally:
        workers.leave()


def _workers_of(
    frame: Any,  # noqa: ANN401 - of Dask
    types: Mapping[str, Told],
) -> tuple[Workers, tuple[str, ...]]:
    """Who works on a Dask data frame, and what there is to say about it."""
    names = _names_of(tuple(map(str, frame.columns)), types)
    partitions = frame.to_delayed()
    parts = [FramePart(i, len(partitions), one) for i, one in enumerate(partitions)]
    client = _current_client()
    if client is not None:
        return Workers(client, parts, names), ()
    return Workers(_own_client(), parts, names, owned=True), (NO_CLIENT,)


def _names_of(names: tuple[str, ...], types: Mapping[str, Told]) -> Names:
    return Names(names, wanted(names, types))


def open_files(
    source: str,
    client: Any,  # noqa: ANN401 - Dask has no types
    progress: Progress | None = None,
    *,
    information: str = "auto",
    types: Mapping[str, Told] | None = None,
) -> ClusterTable | MomentTable | str:
    """The table of a file, a folder or a pattern, which all workers must be able to read; the
    source as it came if its rows are to be read into memory."""
    # A worker has a directory of its own.
    paths = [os.path.abspath(path) for path in find_parts(source)]
    kinds = checked_types(types)
    names = _names_of(stream_of(paths[:1]).names, kinds)
    workers = Workers(client, _file_parts(paths, len(names.all)), names)
    return _opened(workers, progress or nobody, information, kinds) or source


@contextmanager
def connected(where: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or of ``local:N``, N processes on this machine."""
    require_dask()
    from distributed import Client, LocalCluster

    if not where.startswith(LOCAL):
        try:
            # The current client only once it is connected: one that is not would be in the way.
            client = Client(where, timeout=10, set_as_default=False)
        # What is wrong with an address shows in as many ways as there are protocols.
        except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
            raise SettingError(
                f"--dask {where!r}: no scheduler answers there ({error}). Give the address that "
                "`dask scheduler` printed, or local:N for N processes on this machine."
            ) from error
        with client, client.as_current():
            yield client
        return
    n = where.removeprefix(LOCAL)
    if not (n.isascii() and n.isdecimal()) or int(n) < 1:
        raise SettingError(f"--dask {where!r}: write local:N, such as local:4")
    with (
        LocalCluster(
            n_workers=int(n),
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=ANY_PORT,
            # What goes wrong is said once, by us.
            silence_logs=logging.CRITICAL,
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


def _current_client() -> Any:  # noqa: ANN401 - of Dask
    """The client the user has opened, or None."""
    require_dask()
    from distributed import get_client

    try:
        client = get_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise SettingError(
            "The current client of Dask is asynchronous, and learning waits for its answers: open "
            "another one, `Client(address)`, in the thread that learns"
        )
    if client.status != "running":
        raise SettingError(
            f"The current client of Dask is {client.status}: open another one, `Client(address)`"
        )
    _make_way()
    return client


def _make_way() -> None:
    """Within a task of Dask, leave the thread to those tasks that are now waited for."""
    from distributed import get_worker, secede

    try:
        get_worker()
    except ValueError:
        return
    secede()


def _own_client() -> Any:  # noqa: ANN401 - of Dask
    from distributed import Client

    return Client(processes=False, dashboard_address=ANY_PORT, set_as_default=False)


def _file_parts(paths: Sequence[str], n_columns: int) -> list[Part]:
    """A part for each file; large Parquet files are cut between row groups."""
    parts: list[Part] = []
    for path in paths:
        cuts: list[tuple[int, int]] = []
        if ending_of(path) in PARQUET_ENDINGS:
            cuts = list(in_runs(row_groups(path), PART_CELLS // n_columns))
        parts += [FilePart(path, cut) for cut in cuts] if len(cuts) > 1 else [FilePart(path)]
    return parts


def _opened(
    workers: Workers,
    progress: Progress,
    information: str,
    types: Mapping[str, Told],
    notes: tuple[str, ...] = (),
) -> ClusterTable | MomentTable | None:
    """What a table in memory would be taken for: levels to count, or numbers with moments; None
    if its rows are needed, and fit here."""
    if information not in WITHOUT_ROWS:
        raise SettingError(
            f"information={information!r} needs the rows in memory, and these stay on the cluster, "
            "for counts or moments: use information='counts' or 'gaussian', or a sample of the rows"
        )
    if not workers.n_parts:
        raise DataError("The data frame has no partitions. Give it some rows.")
    workers.require_tamis()
    names = workers.names.wanted
    seen = workers.look(progress, moments=information == "gaussian")
    columns = seen.settle(names, types, continuous=information != "counts")
    reading = reading_of(columns, types, information)
    if reading == "rows":
        require_memory(columns, seen.n_rows, DEFAULT_MEMORY)
        return None
    if reading == "moments":
        return _moments(workers, seen, columns, progress, notes)
    levels = [columns[name].levels for name in names]
    growing = [seen.column(name) for name in names]
    workers.hold(growing, tuple(map(len, levels)), seen.rows, progress)
    return ClusterTable(names, levels, workers, notes).as_told(types)


def _moments(
    workers: Workers,
    seen: Seen,
    columns: Mapping[str, Column],
    progress: Progress,
    notes: tuple[str, ...],
) -> MomentTable:
    counted = Counted("dask", workers.n_parts)
    if seen.moments is None:
        seen = workers.look(progress, moments=True)
    counted.note(workers.n_parts * size_of(seen))

    def again(chosen: tuple[str, ...], moments: Moments) -> tuple[int, float]:
        found = workers.products(chosen, moments)
        counted.note(workers.n_parts * size_of(moments))
        return found

    return table_of_moments(seen, columns, again=again, counted=counted, notes=notes)
