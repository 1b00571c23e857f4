"""Whatever the table, the names and the knowledge: an answer or a sentence, never a traceback."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tamis.cli import app

EXAMPLE = "examples/sprinkler.csv"

odd_names = st.one_of(
    st.sampled_from(
        ["a", "b", "<script>alert(1)</script>", "a -> b", "", " ", "0", "$x_1$", "名前"]
    ),
    st.text(max_size=6),
)
odd_cells = st.one_of(
    st.sampled_from(
        ["0", "1", "yes", "no", "", "NA", "1.5", "-3", "1e400", "<b>", "'", '"', "nan"]
    ),
    st.text(max_size=4),
)
odd_knowledge = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), odd_names),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(odd_names, inner, max_size=3)
    ),
    max_leaves=8,
)


def ran(*words: str) -> str:
    """Run the command; it ends well, or with code 2 and a sentence."""
    done = CliRunner().invoke(app, ["learn", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 2)
    assert "Traceback" not in done.output
    if done.exit_code == 2:
        assert done.output.strip()
    return done.output


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    names=st.lists(odd_names, min_size=1, max_size=4),
    rows=st.integers(0, 30),
    data=st.data(),
    missing=st.sampled_from(["error", "drop", "level", "pairwise"]),
)
def test_odd_tables(tmp_path_factory, names, rows, data, missing):
    folder = tmp_path_factory.mktemp("odd")
    path = folder / "table.csv"
    few = data.draw(st.lists(odd_cells, min_size=1, max_size=4))
    cells = st.lists(st.sampled_from(few), min_size=len(names), max_size=len(names))
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(data.draw(st.lists(cells, min_size=rows, max_size=rows)))
    out = ["--out", str(folder / "run.json"), "--report", str(folder / "run.html")]
    ran(str(path), "--missing", missing, *out)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    known=st.one_of(
        odd_knowledge,
        st.dictionaries(
            st.sampled_from(["required", "forbidden", "tiers", "sources", "sinks"]),
            st.one_of(
                odd_knowledge,
                st.lists(
                    st.lists(st.sampled_from(["rain", "road", "lawn"]), max_size=3), max_size=3
                ),
                st.lists(
                    st.sampled_from(["rain", "road", "lawn -> road", "road->rain"]), max_size=3
                ),
            ),
            max_size=3,
        ),
    )
)
def test_odd_knowledge(tmp_path_factory, known):
    path = tmp_path_factory.mktemp("odd") / "known.json"
    path.write_text(json.dumps(known), encoding="utf-8")
    ran(EXAMPLE, "--knowledge", str(path), "--quiet")


@pytest.mark.parametrize(
    "words",
    [
        ["--bootstrap", "0"],
        ["--bootstrap", "-5"],
        ["--bootstrap", "3", "--seed", "-1"],
        ["--recovery", "0"],
        ["--report", "absent/place.html"],
        ["--report", EXAMPLE],
        ["--knowledge", "absent.json"],
        ["--tier", '"', "--tier", "b"],
        ["--require", "-> rain"],
        ["--forbid", "rain -> rain"],
        ["--missing", "perhaps"],
        ["--weights", "absent"],
    ],
)
def test_odd_options_are_refused_in_a_sentence(words):
    before = Path(EXAMPLE).read_bytes()
    done = CliRunner().invoke(app, ["learn", EXAMPLE, *words])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    assert Path(EXAMPLE).read_bytes() == before


def test_confidence_and_recovery_are_shown_and_written(tmp_path):
    page = tmp_path / "report.html"
    shown = ran(
        EXAMPLE, "--bootstrap", "12", "--recovery", "3", "--seed", "4", "--report", str(page)
    )
    assert "either way" in shown
    assert "Tables drawn from the model" in shown
    text = page.read_text(encoding="utf-8")
    assert "The rows were resampled 12 times" in text
    again = tmp_path / "again.html"
    ran(EXAMPLE, "--bootstrap", "12", "--recovery", "3", "--seed", "4", "--report", str(again))
    assert again.read_bytes() == page.read_bytes()


def test_no_file_that_is_read_is_overwritten(tmp_path):
    text = Path(EXAMPLE).read_text().splitlines(keepends=True)
    parts = tmp_path / "parts"
    parts.mkdir()
    for i, lines in enumerate((text[1:1000], text[1000:])):
        (parts / f"{i}.csv").write_text("".join([text[0], *lines]))
    known = tmp_path / "known.json"
    known.write_text('{"sources": ["season"]}')
    for source in (str(parts), str(parts / "*.csv")):
        assert "would overwrite the table" in ran(source, "--out", str(parts / "1.csv"))
    assert "would overwrite the knowledge" in ran(
        EXAMPLE, "--knowledge", str(known), "--out", str(known)
    )
    assert known.read_text() == '{"sources": ["season"]}'
    assert (parts / "1.csv").read_text() == "".join([text[0], *text[1000:]])


def test_the_recovery_check_is_for_numbers_too(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=80)
    rows = tmp_path / "rows.csv"
    pairs = zip(x, x + rng.normal(0, 0.3, 80), strict=True)
    rows.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    said = ran(str(rows), "--recovery", "2")
    assert "The whole graph came back from" in " ".join(said.split())
    assert "drawn from a linear Gaussian network" in " ".join(said.split())


def test_what_cannot_be_had_is_refused_before_the_search(tmp_path, monkeypatch):
    def searched(*_: object) -> None:
        raise AssertionError("the search began")

    monkeypatch.setattr("tamis.terminal.learning.learn", searched)
    measured = tmp_path / "measured.csv"
    measured.write_text("a,b\n" + "".join(f"{i / 7},{i % 5 / 3}\n" for i in range(40)))
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("a,b\n" + "".join(f"{i % 2},{'' if i == 3 else i % 3}\n" for i in range(40)))
    bif = str(tmp_path / "x.bif")
    assert "numbers have none: 'a', 'b'" in ran(str(measured), "--out", bif)
    assert "numbers have none: 'a', 'b'" in ran(str(measured), "--out", bif, "--dry-run")
    assert "missing values" in ran(str(gaps), "--missing", "pairwise", "--recovery", "2")
    for option in ("--bootstrap", "--recovery"):
        assert "in blocks" in ran(EXAMPLE, "--memory", "1GB", option, "2")
    assert "no column 'snow'" in ran(EXAMPLE, "--dry-run", "--require", "snow -> rain")
