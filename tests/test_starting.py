"""What a first answer costs: what is imported, what is compiled, and where that is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tamis.cli import app
from tamis.cli.layout import COMPILING, NOT_KEPT, waiting
from tamis.counting import compiled as compiling

EXAMPLE = str(Path(__file__).parent.parent / "examples" / "sprinkler.csv")
HEAVY = {"dask", "matplotlib", "networkx", "numba", "pandas", "sklearn", "scipy.stats"}


def modules_after(code: str) -> set[str]:
    """What a new process has imported after this code."""
    script = f"import sys\n{code}\nprint(*sorted(sys.modules), file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(ended.stderr.splitlines()[-1].split())


def test_learning_from_a_small_file_imports_nothing_heavy():
    code = (
        "from tamis.cli import app\n"
        f"app(['learn', {EXAMPLE!r}, '--jobs', '1'], standalone_mode=False)"
    )
    assert not {*HEAVY, "narwhals", "pyarrow.parquet", "tamis.tables.plan"} & modules_after(code)


def test_a_small_frame_needs_neither_dask_nor_compiled_loops():
    code = "import tamis\ntamis.TAM(n_jobs=1).fit({'a': [0, 1] * 9, 'b': [1, 0, 1] * 6})"
    loaded = modules_after(code)
    assert not {name for name in loaded if "dask" in name}
    assert not {"networkx", "numba"} & loaded


def test_importing_tamis_imports_next_to_nothing():
    loaded = modules_after("import tamis")
    assert not {*HEAVY, "numpy", "pyarrow"} & loaded


def test_the_estimator_is_one_of_scikit_learn():
    from sklearn.base import BaseEstimator, clone

    import tamis

    assert isinstance(clone(tamis.TAM(alpha=0.1)), BaseEstimator)


LOOPS = {
    "below.py": "from tamis.counting.compiled import inner\n"
    "@inner\ndef step(x):\n    return x + {}\n",
    "above.py": "from tamis.counting.compiled import compiled\nfrom below import step\n"
    "@compiled\ndef run(x):\n    return step(x)\n",
}


def test_a_loop_that_calls_a_changed_one_is_compiled_again(tmp_path):
    """Though numba looks at the file of the caller alone, which stays as it was."""
    (tmp_path / "above.py").write_text(LOOPS["above.py"])

    def answer(added: int) -> str:
        (tmp_path / "below.py").write_text(LOOPS["below.py"].format(added))
        code = (
            "import tamis.counting.compiled as c\n"
            f"c.LOOP_FILES = (*c.LOOP_FILES, {str(tmp_path / 'below.py')!r})\n"
            "import above\nprint(above.run(1))"
        )
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
            "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert answer(1) == "2\n"
    assert answer(2) == "3\n"
    assert answer(2) == "3\n"


def test_where_loops_cannot_be_kept_the_cure_is_named_once(monkeypatch, capsys):
    def nowhere(loop, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available for file")
        return really(loop, **options)

    really = compiling._njit
    monkeypatch.setattr(compiling, "_njit", nowhere)
    monkeypatch.setattr(compiling, "_places", [])
    one, two = compiling.compiled(lambda x: x + 1), compiling.compiled(lambda x: x + 2)
    with waiting(quiet=False):
        assert one(1) + two(1) == 5
    assert compiling.place_of_code() is None
    said = " ".join(capsys.readouterr().err.split())
    assert said == NOT_KEPT
    assert COMPILING not in said


def test_other_faults_of_a_loop_are_not_hidden(monkeypatch):
    def broken(loop, **_):
        raise RuntimeError("something else")

    monkeypatch.setattr(compiling, "_njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        compiling.compiled(lambda x: x)(1)


@pytest.mark.slow
def test_warming_up_says_what_it_does_and_where_it_is_kept():
    shown = CliRunner().invoke(app, ["warm-up"]).output
    assert shown.startswith("columns of several levels: ")
    assert "packed files and clusters: " in shown
    assert "The compiled loops are kept below " in shown
    assert CliRunner().invoke(app, ["warm-up", "--quiet"]).output == ""


AFTER_WARMING_UP = """
import warnings
from importlib import import_module
import numpy as np
import tamis
from tamis.counting import compiled
from tamis.cli.preparing import warm_up

def versions():
    names = [file[:-3].replace("/", ".") for file in compiled.LOOP_FILES]
    loops = {id(one): one for name in names for one in vars(import_module("tamis." + name)).values()
             if isinstance(one, compiled.LazyLoop) and one._make is compiled._kept}
    return {one.__qualname__: one.n_versions for one in loops.values()}

warnings.simplefilter("ignore")
warm_up(quiet=True)
before = versions()
print(*(name for name, n in before.items() if not n), "not called")
random = np.random.default_rng(3)
codes = random.integers(3, size=(8, 700))
for k in range(1, 8):
    codes[k] = np.where(random.random(700) < 0.6, codes[k - 1], codes[k])
labels = {f"c{k}": np.array([f"v{one}" for one in own]) for k, own in enumerate(codes)}
numbers = {f"x{k}": own for k, own in enumerate(random.normal(size=(5, 700)).cumsum(axis=0))}
both = {**numbers, **{name: labels[name] for name in ("c0", "c1")}}
ids = np.array([f"v{i % 290}" for i in range(700)])

def holed(table):
    return {name: np.where(random.random(700) < 0.1, None, own) for name, own in table.items()}

for settings, table in [
    ({}, labels), ({}, {**labels, "id": ids}), ({}, {k: v == "v1" for k, v in labels.items()}),
    ({"search": "layer"}, labels), ({"search": "reference"}, labels),
    ({"missing": "pairwise"}, holed(labels)), ({"missing": "pairwise"}, holed(numbers)),
    ({"missing": "pairwise"}, holed(both)), ({}, numbers), ({}, both),
    ({"information": "neighbours"}, numbers), ({"information": "mixed"}, both),
    ({"information": "lipschitz"}, numbers), ({"information": "copula"}, numbers),
]:
    tamis.TAM(n_jobs=1, **settings).fit(table)
tamis.TAM(n_jobs=1).fit(labels, sample_weight=random.random(700) + 0.5)
print(*(name for name, n in versions().items() if n > before[name]), "compiled later")
"""


@pytest.mark.slow
def test_warming_up_compiles_everything_that_fits_need():
    """By the versions of loops in the process: what has been kept is loaded, not compiled."""
    ended = subprocess.run(
        [sys.executable, "-c", AFTER_WARMING_UP], capture_output=True, text=True, check=True
    )
    # Few tables ask for sets with many cells, and the loop that counts them waits for one.
    assert ended.stdout.replace("count_sets ", "") == "not called\ncompiled later\n"


IN_TWO_THREADS = """
from contextlib import contextmanager
from threading import Event, Thread
from tamis.counting import compiled as compiling

@compiling.compiled
def called(x):
    return x + 1

@compiling.compiled
def calling(x):
    return called(x) * 2

turn, first, second = compiling._turn, Event(), Event()

@contextmanager
def slowly(folder, name):
    with turn(folder, name):
        if name == "called":
            first.set()
            second.wait(1)
        else:
            second.set()
        yield

compiling._turn = slowly
waiting = Thread(target=called, args=(1,), daemon=True)
waiting.start()
first.wait()
Thread(target=calling, args=(1,), daemon=True).start()
waiting.join(30)
print(waiting.is_alive(), calling(1) if not waiting.is_alive() else None)
"""


def test_threads_that_compile_loops_at_the_same_time_do_not_wait_for_each_other(tmp_path):
    (tmp_path / "threads.py").write_text(IN_TWO_THREADS, encoding="utf-8")
    own = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "loops")}
    words = [sys.executable, str(tmp_path / "threads.py")]
    done = subprocess.run(words, capture_output=True, text=True, env=own, check=True)
    assert done.stdout == "False 4\n"
