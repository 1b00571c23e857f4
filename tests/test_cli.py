"""The command `tamis`: what it shows, what it refuses and how it ends."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

import tamis
from drawing.drawn_results import chain
from tamis.cli import app
from tamis.cli import layout as waiting_module
from tamis.cli import learning as command
from tamis.cli.exit_codes import Terminated
from tamis.cli.layout import p_value, rule_in_words, waiting
from tamis.cli.summary import CALLS, EDGES, LAYERS, STRONGEST
from tamis.cli.texts import rule_from_text
from tamis.decisions.specification import RULES
from tamis.errors import SettingError
from tamis.formats.files import FORMATS
from tamis.information.estimators import ESTIMATORS
from tamis.parameters import BACKWARD, BOUNDARY, SEARCHES
from tamis.result import direction_in_words
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "sprinkler.csv"
COMMAND = [sys.executable, "-c", "from tamis.cli import main; main()"]
COLOURS = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "PY_COLORS")


TRUE_EDGES = {
    ("season", "sprinkler"), ("season", "rain"), ("sprinkler", "lawn"), ("rain", "lawn"),
    ("rain", "road"), ("lawn", "shoes"), ("road", "traffic"),
}  # fmt: skip
"""What the example was drawn from."""


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch):
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)


def run(*arguments, **environment):
    return CliRunner().invoke(app, [str(a) for a in arguments], env=environment)


def learn(*arguments, **environment):
    return run("learn", *arguments, **environment)


def in_a_process(*arguments, **options):
    environment = {k: v for k, v in os.environ.items() if k not in COLOURS}
    environment.update(options.pop("env", {}))
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
        **options,
    )


@pytest.fixture
def table(tmp_path):
    """Writes rows under a header and returns the path."""

    def write(header, *rows, name="table.csv", times=30):
        path = tmp_path / name
        lines = [header, *rows * times]
        path.write_bytes("\n".join(lines).encode() + b"\n")
        return path

    return write


# The example


@pytest.mark.parametrize("search", ["sequential", "node", "layer"])
def test_every_search_finds_the_true_edges_of_the_example(search, tmp_path):
    learn(EXAMPLE, "--search", search, "--quiet", "--out", tmp_path / "r.json")
    edges = tamis.load(tmp_path / "r.json").edges
    assert {(edge.parent, edge.child) for edge in edges} == TRUE_EDGES


# What is shown


def test_the_summary_says_what_was_read_run_and_found():
    shown = learn(EXAMPLE, "--details", COLUMNS="200")
    assert shown.exit_code == 0
    assert shown.stderr == ""
    assert shown.stdout.startswith(learn(EXAMPLE, COLUMNS="200").stdout.partition("--details")[0])
    for text in (
        "In sprinkler.csv (2,000 rows, 7 columns) tamis found 7 arrows.",
        "columns  2 to 4 levels",
        "auto (the class with the best score",
        "grassberger",
        "parents  score",
        "Searches tried",
        "rests on the likelihood",
        "4 layers",
        "2  sprinkler, rain",
        "7 arrows, strongest first",
        "gain (nats)",
        "Closest calls",
        "shoes is independent of",
        "Directions, how likely each is, the least likely first",
        "open: season → rain 0.",
        "--out run.json",
    ):
        assert text in shown.stdout


def test_the_answer_comes_first_and_statistics_only_when_asked_for():
    shown = learn(EXAMPLE, COLUMNS="80").stdout
    assert shown.startswith("In sprinkler.csv (2,000 rows, 7 columns) tamis found 7 arrows. ")
    for word in ("nats", "PPS", "refined", "alpha", "p-value", "Searches", "Closest"):
        assert word not in shown
    places = [shown.index(part) for part in ("7 directions", "Graph", "What is weakest")]
    assert places == sorted(places)
    refused = learn(EXAMPLE, "--quiet", "--details")
    assert refused.exit_code == 2
    assert "leave one out" in refused.stderr


def test_what_was_run_is_said_in_words():
    shown = learn(
        EXAMPLE, "--search", "layer", "--entropy", "plugin", "--boundary-rule", "chi-squared:0.01",
        "--masking-rule", "0.002", "--backward", "together", "--max-boundary", "3", "--details",
        COLUMNS="200",
    )  # fmt: skip
    assert "layer (layers; masked by the whole layer so far)" in shown.stdout
    assert "G-test at alpha 0.01; at most 3; superfluous ones removed together" in shown.stdout
    assert "gain above 0.002 nats" in shown.stdout


def test_explain_tells_the_story_of_a_column():
    shown = learn(EXAMPLE, "--explain", "lawn", "--explain", "rain", COLUMNS="200")
    assert "lawn: layer 3 of 4" in shown.stdout
    assert " - took rain (given nothing): gain" in shown.stdout
    assert "rain: layer 2 of 4" in shown.stdout
    for edge in tamis.TAM().fit(EXAMPLE).result_.edges:
        is_theirs = not {"lawn", "rain"}.isdisjoint((edge.parent, edge.child))
        assert (direction_in_words(edge) in shown.stdout) == is_theirs


def test_a_constant_column_is_a_note_and_an_isolated_column(table):
    path = table("x,y,same", "0,0,7", "1,1,7")
    with warnings.catch_warnings(record=True) as caught:
        shown = learn(path)
    assert "\nNotes\n - Constant columns say nothing about the others: 'same'" in shown.stdout
    assert "same has no arrow." in shown.stdout
    assert shown.stderr == ""
    assert caught == []


def test_a_table_without_any_dependence_has_no_edges(table):
    shown = learn(table("x,y", "0,0", "0,1", "1,0", "1,1"), "--details")
    assert "tamis found no arrows: no column was seen to" in shown.stdout
    assert "1 layer\n" in shown.stdout
    assert "Graph" not in shown.stdout


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_strange_names_are_shown_as_they_are_and_no_line_is_too_long(table, columns):
    header = r'[red]x[/red],:smile:,"two' + "\n" + 'lines",\x1b[31mred,<script>,' + "long" * 50
    path = table(header, "0,0,0,1,1,1", "1,1,1,0,0,0")
    shown = learn(path, COLUMNS=str(columns))
    assert shown.exit_code == 0
    assert "[red]x[/red]" in shown.stdout
    assert ":smile:" in shown.stdout
    assert r"two\nlines" in shown.stdout
    assert r"\x1b[31mred" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert max(map(cell_len, shown.stdout.split("\n"))) <= columns


def test_a_large_result_is_cut_short_and_says_so():
    """A chain has as many layers as columns and one edge fewer."""
    out = io.StringIO()
    screen = Console(file=out, width=80, markup=False)
    command.show_summary(screen, chain(60), [], details=True)
    text = out.getvalue()
    assert f"Strongest arrows, {STRONGEST} of 59 arrows" in text
    strongest = text.partition("Strongest arrows")[2].partition("\n\n")[0]
    assert len(re.findall(r"v\d\d →\s+v\d\d", strongest)) == STRONGEST
    assert f"... and {60 - LAYERS} more layers" in text
    assert f"... and {59 - EDGES} more arrows; all of them with --out edges.csv" in text
    assert len(re.findall(r"^ v\d\d +v\d\d ", text, re.MULTILINE)) == EDGES
    assert len(re.findall(r" - v\d\d (depends on|is independent of)", text)) == CALLS


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.0000"),
        (0.0123, "0.0123"),
        (0.0005, "5.0e-04"),
        (1e-300, "< 1e-299"),
        (0, "< 1e-299"),
    ],
)
def test_p_values_are_short(p, text):
    assert p_value(p) == text


def test_no_color_wins_over_colours_that_are_forced():
    assert "\x1b[1m" in learn(EXAMPLE, FORCE_COLOR="1").stdout
    assert "\x1b" not in learn(EXAMPLE, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_quiet_shows_nothing_and_writes(tmp_path):
    shown = learn(EXAMPLE, "--quiet", "--out", tmp_path / "r.dot", "--out", tmp_path / "r.csv")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "", "")
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 8
    assert (tmp_path / "r.dot").read_text().startswith("digraph")


def test_version_and_help():
    assert run("--version").stdout == f"tamis {tamis.__version__}\n"
    assert "learn" in run("--help").stdout
    shown = "".join(learn("--help").stdout.split())
    for known in (*SEARCHES, *ESTIMATORS, *RULES, *FORMATS, *BOUNDARY, *BACKWARD):
        assert known in shown


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from tamis.cli import app; app(['learn', '--help'], standalone_mode=False); "
        "print({'numpy', 'numba', 'scipy', 'networkx', 'sklearn'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "set()"


# Rules as text


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("0.005", Fixed(0.005), "gain above 0.005 nats"),
        ("fixed:0.005", Fixed(0.005), "gain above 0.005 nats"),
        ("permutation", Permutation(), "permutation test at alpha 0.05"),
        ("permutation:0.001", Permutation(0.001), "permutation test at alpha 0.001"),
        ("chi-squared:1e-2", ChiSquared(0.01), "G-test at alpha 0.01"),
        ("bic", BIC(), "BIC"),
        ("rate:0.002", Rate(0.002), "gain above the rate of Theorem tuning, c = 0.002"),
    ],
)
def test_rules_are_read_and_said(text, rule, words):
    from tamis.decisions.specification import rule_to_dict

    assert rule_from_text("--boundary-rule", text) == rule
    assert rule_in_words(rule_to_dict(rule)) == words


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("chisquared", "one of fixed, chi-squared, permutation, bic, rate"),
        ("", "a rule is a number of nats"),
        ("permutation:", "after the colon stands alpha, a number"),
        ("permutation:a", "after the colon stands alpha, a number"),
        ("permutation:2", "between 0 and 1"),
        ("bic:1", "bic has no parameter"),
        ("fixed", "cannot do without"),
        ("nan", "finite number of nats"),
        ("-1", "finite number of nats"),
    ],
)
def test_other_rules_are_refused(text, complaint):
    with pytest.raises(SettingError, match=complaint) as caught:
        rule_from_text("--masking-rule", text)
    assert f"--masking-rule {text!r}" in str(caught.value)


# What is refused


def refused(*arguments):
    shown = learn(*arguments)
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert "Traceback" not in shown.stderr
    return shown.stderr


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--search", "best"), "Error: --search must be one of"),
        (("--entropy", "magic"), "no entropy estimator 'magic'"),
        (("--boundary", "all"), "Error: --boundary must be one of"),
        (("--backward", "twice"), "Error: --backward must be one of"),
        (("--boundary-rule", "x:1"), "--boundary-rule 'x:1'"),
        (("--masking-rule", "permutation:7"), "--masking-rule 'permutation:7'"),
        (("--max-boundary", "-1"), "'--max-boundary'"),
        (("--max-boundary", "1", "--boundary", "none"), "--max-boundary limits PPS; --boundary"),
        (("--max-boundary", "many"), "--max-boundary"),
        (("--jobs", "0"), "'--jobs': 0 threads do no work"),
        (("--explain", "raim"), "--explain: there is no column 'raim'; did you mean 'rain'?"),
        (("--quiet", "--explain", "rain"), "leave one out"),
        (("--search", "reference", "--backward", "one"), "no backward phase"),
        (("--nonsense",), "--nonsense"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(options, complaint, tmp_path):
    assert complaint in refused(EXAMPLE, *options, "--out", tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("r.gif", "one of .json, .dot, .graphml, .csv"),
        ("nowhere/r.json", "there is no directory"),
        ("folder.csv", "it is a directory"),
    ],
)
def test_bad_outputs_are_refused_before_the_work(name, complaint, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "read_opened", None)
    (tmp_path / "folder.csv").mkdir()
    assert complaint in refused(EXAMPLE, "--out", tmp_path / "r.json", "--out", tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_a_name_that_the_output_cannot_hold_is_refused_before_the_search(
    table, tmp_path, monkeypatch
):
    monkeypatch.setattr(command, "learn", None)
    path = table("bell\a,y", "0,0", "1,1")
    assert r"GraphML cannot hold the column name 'bell\x07'" in refused(
        path, "--out", tmp_path / "r.graphml"
    )


def test_the_table_itself_is_never_overwritten(table, tmp_path):
    path = table("x,y", "0,0", "1,1")
    before = path.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for out in (path, link):
        assert "would overwrite the table itself" in refused(path, "--out", out)
    assert path.read_bytes() == before


@pytest.mark.parametrize("fails_at", [1, 2])
def test_outputs_of_one_command_are_written_together_or_not_at_all(monkeypatch, tmp_path, fails_at):
    old = tmp_path / "r.json"
    old.write_text("old")
    synced = []

    def full(descriptor):
        synced.append(descriptor)
        if len(synced) == fails_at:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    page = tmp_path / "r.html"
    told = refused(EXAMPLE, "--search", "sequential", "--out", old, "--report", page)
    assert f"r.{['json', 'html'][fails_at - 1]}': No space left on device" in told
    assert len(synced) == fails_at
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"r.json": "old"}


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (Terminated(), 143, "Terminated."),
        (MemoryError(), 2, "not enough memory"),
        (RuntimeError("can't start new thread"), 2, "use fewer --jobs"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "'x.csv': Permission denied"),
    ],
)
def test_what_goes_wrong_outside_ends_in_one_line(error, code, message, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(command, "learn", fail)
    shown = learn(EXAMPLE)
    assert shown.exit_code == code
    assert message in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_bugs_are_not_hidden(monkeypatch):
    monkeypatch.setattr(command, "learn", None)
    assert isinstance(learn(EXAMPLE).exception, TypeError)

    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(command, "learn", broken)
    assert str(learn(EXAMPLE).exception) == "a bug"


# What is shown while waiting


def test_compiling_is_announced_once_and_only_when_it_happens(tmp_path, capsys):
    source = tmp_path / "small_kernels.py"
    source.write_text(
        "from numba import njit\n"
        "@njit(cache=True)\ndef one(x):\n    return x + 1\n"
        "@njit(cache=True)\ndef two(x):\n    return x + 2\n"
    )

    def fresh():
        spec = importlib.util.spec_from_file_location("small_kernels", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    with waiting(quiet=False):
        kernels = fresh()
        assert kernels.one(1) + kernels.two(1) == 5
    assert capsys.readouterr().err == f"{waiting_module.COMPILING}\n"
    with waiting(quiet=False):
        fresh().one(1)
    assert capsys.readouterr().err == ""
    with waiting(quiet=True):
        assert kernels.one(1.5) == 2.5
    assert capsys.readouterr().err == ""


@pytest.fixture
def watched(monkeypatch):
    """A terminal at stderr."""
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, force_interactive=True, width=80)
    monkeypatch.setattr(waiting_module, "console", lambda *, stderr: terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    return screen


def test_long_work_shows_a_bar(watched, monkeypatch):
    monkeypatch.setattr(waiting_module, "PATIENCE", 0.0)
    with waiting(quiet=False) as wait:
        wait.progress(3, 12)
        while not watched.getvalue():  # the bar starts in a thread of its own
            time.sleep(0.001)
    assert "admitting nodes" in watched.getvalue()
    assert "3/12" in watched.getvalue()


def test_a_pipe_gets_no_bar(monkeypatch, capsys):
    monkeypatch.setattr(waiting_module, "PATIENCE", 0.0)
    with waiting(quiet=False) as wait:
        wait.progress(3, 12)
    assert capsys.readouterr().err == ""


# Real processes


@pytest.fixture(scope="module")
def warm():
    """Compiled kernels, so that nothing has to be said about compiling."""
    assert learn(EXAMPLE, "--quiet").exit_code == 0


def test_piped_output_is_plain_and_stderr_is_silent(warm):
    shown = in_a_process("learn", EXAMPLE)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\x1b" not in shown.stdout
    assert not any(line != line.rstrip() for line in shown.stdout.split("\n"))


def test_output_that_ascii_cannot_hold_is_escaped(warm):
    words = ("learn", EXAMPLE, "--details", "--search", "node")
    shown = in_a_process(*words, env={"PYTHONIOENCODING": "ascii"})
    assert (shown.returncode, shown.stderr) == (0, "")
    assert r"\u2265" in shown.stdout
    assert "The strongest arrow is road -> traffic." in " ".join(shown.stdout.split())
    assert r"\u2192" not in shown.stdout


def test_an_error_is_one_line_and_exit_code_2():
    shown = in_a_process("learn", "no such file.csv")
    assert shown.returncode == 2
    assert shown.stdout == ""
    assert shown.stderr == "Error: There is no file 'no such file.csv'. Check the path.\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of another kind")
def test_a_reader_who_leaves_is_no_error(warm):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        process = subprocess.run(
            [*COMMAND, "learn", str(EXAMPLE)],
            stdout=nobody,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert (process.returncode, process.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_closed_and_full_outputs_end_without_a_traceback(warm):
    line = f'"{sys.executable}" -c "from tamis.cli import main; main()" learn "{EXAMPLE}"'
    closed = subprocess.run(
        f"{line} >&-", shell=True, capture_output=True, timeout=120, check=False
    )
    assert (closed.returncode, closed.stderr) == (0, b"")
    if os.path.exists("/dev/full"):
        full = subprocess.run(
            f"{line} >/dev/full", shell=True, capture_output=True, timeout=120, check=False
        )
        assert (full.returncode, full.stderr) == (2, b"Error: No space left on device\n")


def test_the_package_can_be_run_as_a_module():
    shown = subprocess.run(
        [sys.executable, "-m", "tamis", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"tamis {tamis.__version__}\n"
