"""What a command cannot do it refuses in a sentence, before the work, and no file is touched."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from tamis.cli import app

EXAMPLE = "examples/sprinkler.csv"


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


def test_what_cannot_be_had_is_refused_before_the_search(tmp_path, monkeypatch):
    def searched(*_: object) -> None:
        raise AssertionError("the search began")

    monkeypatch.setattr("tamis.cli.learning.learn", searched)
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
