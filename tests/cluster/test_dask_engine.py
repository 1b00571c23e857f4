"""Dask's workers hold, count and lose the parts of a table, and nothing of it shows."""

from __future__ import annotations

import os
import signal
from copy import deepcopy
from itertools import pairwise
from time import perf_counter, sleep

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner
from workers_here import chain

from tamis import TAM, load
from tamis.cli import app
from tamis.counting.dask import workers as at_work
from tamis.counting.dask.opening import open_files
from tamis.errors import DataError, FileFormatError, SettingError

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

FEW = 400


def a_cluster(n: int, allowed_failures: int = 3, **more):
    settings = {
        "distributed.scheduler.allowed-failures": allowed_failures,
        "distributed.comm.timeouts.connect": "60s",
        "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 1,
    }
    with dask.config.set(settings):
        return distributed.LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            **more,
        )


def in_threads(n: int):
    """Workers in this process, for what does not depend on where they are: others take seconds
    to start."""
    return a_cluster(n, processes=False, protocol="tcp")


@pytest.fixture(scope="module")
def two_processes():
    with a_cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def client(two_processes):
    """Of two workers, also after a test that killed some."""
    two_processes.wait_for_workers(2, timeout=120)
    return two_processes


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(chain(FEW))


@pytest.fixture(scope="module")
def expected(frame):
    return {search: TAM(search=search).fit(frame).result_ for search in ("auto", "node")}


def uneven(frame, cuts):
    """A Dask frame cut before these rows."""
    edges = [0, *cuts, len(frame)]
    pieces = [frame.iloc[a:b] for a, b in pairwise(edges)]
    return dd.from_map(_piece, range(len(pieces)), args=(pieces,), meta=frame.iloc[:0])


def _piece(i, pieces):
    return pieces[i]


@pytest.mark.parametrize("search", ["auto", "node"])
def test_a_dask_frame_gives_what_the_frame_gives(client, frame, expected, search):
    found = TAM(search=search).fit(dd.from_pandas(frame, npartitions=5)).result_
    assert found == expected[search]
    assert (found.engine.name, found.engine.partitions) == ("dask", 5)


def test_uneven_and_empty_partitions_and_levels_in_one_of_them(client, frame):
    frame = frame.assign(e=frame["e"].where(np.arange(FEW) < FEW - 2, "rare"))
    pieces = uneven(frame, [0, 1, 1, 300, FEW - 2])
    assert pieces.npartitions == 6
    assert TAM(search="sequential").fit(pieces).result_ == (
        TAM(search="sequential").fit(frame).result_
    )


def test_four_workers_find_the_same(frame, expected):
    with in_threads(4) as cluster, distributed.Client(cluster) as client:
        assert len(client.scheduler_info(n_workers=-1)["workers"]) == 4
        assert TAM().fit(dd.from_pandas(frame, npartitions=7)).result_ == expected["auto"]


def test_workers_killed_within_rounds_change_nothing(
    client, tmp_path, frame, expected, monkeypatch
):
    for i, piece in enumerate(np.array_split(np.arange(FEW), 6)):
        frame.iloc[piece].to_parquet(tmp_path / f"{i}.parquet")
    table = open_files(str(tmp_path), client)
    killed = []
    wait = at_work.Workers._result

    def killing(self, *arguments):
        # The questions are on their way.
        if self._rounds in (2, 5) and len(killed) < 2:
            killed.append(kill_one(client))
        return wait(self, *arguments)

    monkeypatch.setattr(at_work.Workers, "_result", killing)
    found = TAM().fit(table).result_
    assert len(set(killed)) == 2
    assert found.edges == expected["auto"].edges
    assert found.trace == expected["auto"].trace


def kill_one(client) -> int:
    pid = min(client.run(os.getpid).values())
    os.kill(pid, signal.SIGKILL)
    return pid


def test_rows_that_differ_when_they_are_read_again_are_refused(tmp_path, frame):
    frame.to_parquet(tmp_path / "t.parquet")
    with a_cluster(1) as cluster, distributed.Client(cluster) as client:
        table = open_files(str(tmp_path / "t.parquet"), client)
        frame.iloc[::-1].to_parquet(tmp_path / "t.parquet")
        kill_one(client)
        with pytest.raises(DataError, match=r"t\.parquet' are not those they were"):
            TAM().fit(table)
        table = open_files(str(tmp_path / "t.parquet"), client)
        (tmp_path / "t.parquet").unlink()
        kill_one(client)
        with pytest.raises(FileFormatError, match=r"t\.parquet"):
            TAM().fit(table)


@pytest.mark.slow
def test_a_worker_that_dies_on_every_try_ends_in_an_error(frame):
    deadly = dd.from_map(_deadly, range(3), args=(frame,), meta=frame.iloc[:0])
    with (
        a_cluster(1, allowed_failures=1) as cluster,
        distributed.Client(cluster),
        pytest.raises(DataError, match=r"Workers died again and again .*partition 1 of 0 to 2"),
    ):
        TAM().fit(deadly)


def _deadly(i, frame):
    if i == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


def test_without_workers_nobody_waits_for_ever(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(at_work, "PATIENCE", 1.0)
    monkeypatch.setattr(at_work, "TICK", 0.1)
    frame.to_parquet(tmp_path / "t.parquet")
    with in_threads(1) as cluster, distributed.Client(cluster) as client:
        table = open_files(str(tmp_path), client)
        client.retire_workers()
        cluster.scale(0)
        with pytest.raises(DataError, match="No worker has been at work for 1 seconds"):
            TAM().fit(table)


def test_a_partition_that_cannot_be_read_is_named(client, frame):
    broken = dd.from_map(_broken, range(3), args=(frame,), meta=frame.iloc[:0])
    with pytest.raises(
        DataError, match=r"Partition 2 of 0 to 2 cannot be read: OSError: 'disk <gone>'"
    ):
        TAM().fit(broken)


def _broken(i, frame):
    if i == 2:
        raise OSError("disk <gone>")
    return frame


def test_files_are_read_by_the_workers_and_named(client, frame, tmp_path):
    halves = [frame.iloc[: FEW // 2], frame.iloc[FEW // 2 :]]
    for kind in ("csv", "parquet"):
        (tmp_path / kind).mkdir()
        for i, half in enumerate(halves):
            path = tmp_path / kind / f"{i}.{kind}"
            if kind == "csv":
                half.to_csv(path, index=False)
            else:
                half.to_parquet(path, row_group_size=50)
        table = open_files(str(tmp_path / kind), client)
        assert table.workers.n_parts == 2
        assert TAM(search="node").fit(table).result_ == TAM(search="node").fit(frame).result_
    content = bytearray(path.read_bytes())
    content[10:200] = b"?" * 190
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"1\.parquet.* is damaged"):
        open_files(str(tmp_path / "parquet"), client)


@pytest.mark.parametrize("measured", [False, True])
def test_without_a_client_threads_of_this_process_do_the_work(frame, monkeypatch, measured):
    def nobody():
        raise ValueError("no client")

    monkeypatch.setattr(distributed, "get_client", nobody)
    frame = numbers(300) if measured else frame
    before = clients_at_work()
    found = TAM(search="node").fit(dd.from_pandas(frame, npartitions=2)).result_
    assert found.parents == TAM(search="node").fit(frame).result_.parents
    assert "No client of Dask was open" in found.warnings[0]
    # What was started for it ended with it.
    assert clients_at_work() == before


def clients_at_work() -> int:
    return sum(client.status == "running" for client in distributed.Client._instances)


def test_nothing_is_held_when_learning_is_over(client, frame):
    model = TAM(search="node").fit(dd.from_pandas(frame, npartitions=3))
    token = model._learned_from[0].workers._token
    deadline = perf_counter() + 30
    while _kept(client, token) and perf_counter() < deadline:
        sleep(0.1)
    assert _kept(client, token) == []
    for one in (model, deepcopy(model)):
        with pytest.raises(SettingError, match="never held in memory"):
            one.recovery_check(2)
    assert deepcopy(model).result_ == model.result_


def _kept(client, token: str) -> list[str]:
    return [key for keys in client.has_what().values() for key in keys if token in str(key)]


def numbers(n: int, seed: int = 3) -> pd.DataFrame:
    """A linear Gaussian chain with a side arm."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = 0.9 * a + rng.normal(size=n)
    c = 0.8 * b + rng.normal(size=n)
    e = 0.7 * a + rng.normal(size=n)
    return pd.DataFrame({"c": c, "a": a, "e": e, "b": b, "whole": rng.integers(0, 40, n)})


@pytest.mark.parametrize("source", [None, {"shrinkage": "auto"}])
def test_moments_of_a_dask_frame_are_those_of_the_frame(client, source):
    frame = numbers(900)
    settings = {} if source is None else {"information": "gaussian", "source": source}
    expected = TAM(**settings).fit(frame).result_
    found = TAM(**settings).fit(uneven(frame, [0, 1, 500])).result_
    assert found.parents == expected.parents
    assert found.order == expected.order
    assert found.levels == expected.levels
    for name, entropy in expected.entropies.items():
        assert found.entropies[name] == pytest.approx(entropy, rel=1e-9)
    assert (found.engine.name, found.engine.partitions) == ("dask", 4)
    again = TAM(**settings).fit(uneven(frame, [0, 1, 500])).result_
    assert again == found


def test_numbers_beside_categories_are_brought_here_if_they_fit(client, monkeypatch, tmp_path):
    frame = numbers(200).assign(whole=[f"l{k % 3}" for k in range(200)])
    expected = TAM().fit(frame).result_
    assert expected.settings["information"] == "conditional-gaussian"
    assert TAM().fit(uneven(frame, [50])).result_ == expected
    frame.to_parquet(tmp_path / "t.parquet")
    assert TAM().fit(open_files(str(tmp_path), client)).result_ == expected
    monkeypatch.setattr("tamis.counting.opening.CELL_BYTES", 10**9)
    with pytest.raises(DataError, match=r"stand beside categories \('whole'\)"):
        TAM().fit(uneven(frame, [50]))
    types = {"whole": "ignore"}
    found = TAM(types=types).fit(uneven(frame, [50])).result_
    assert found.engine.name == "dask"
    assert found.parents == TAM(types=types).fit(frame).result_.parents


def test_the_command_learns_on_processes_of_this_machine(frame, expected, tmp_path, monkeypatch):
    for i, half in enumerate((frame.iloc[:100], frame.iloc[100:])):
        half.to_parquet(tmp_path / f"{i}.parquet")
    out = tmp_path / "r.json"
    run = CliRunner().invoke
    options = ["--dask", "local:1", "--details", "--out", str(out)]
    done = run(app, ["learn", str(tmp_path / "*.parquet"), *options])
    assert done.exit_code == 0, done.output
    assert "by Dask, 2 parts" in done.output
    assert load(out) == expected["auto"]
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda where, timeout: client(where, timeout=0.5))
    for options, said in (
        (["--dask", "local:none"], "write local:N"),
        (["--dask", "tcp://127.0.0.1:1"], "no scheduler answers there"),
        (["--dask", "local:1", "--memory", "1GB"], "leave one out"),
        (["--dask", "local:1", "--dry-run"], "leave one out"),
    ):
        refused = run(app, ["learn", str(tmp_path / "*.parquet"), *options])
        assert refused.exit_code == 2
        assert said in " ".join(refused.output.split())
