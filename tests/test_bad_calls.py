"""What a caller or a command cannot mean is refused in a sentence that names it and the cure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tamis
from tamis.cli import app
from tamis.errors import DataError, SettingError


def numbers() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    return {"x": x, "y": x + rng.normal(size=60)}


@pytest.fixture(scope="module")
def model() -> tamis.TAM:
    return tamis.TAM("sequential", n_jobs=1).fit({"a": [0, 1] * 30, "b": [0, 1] * 30})


@pytest.fixture
def result(model) -> tamis.Result:
    return model.result_


# Confidence, paths and columns of a result


def test_the_confidence_of_another_table_is_drawn_nowhere(result, tmp_path):
    other = tamis.TAM("sequential", n_jobs=1).fit(numbers()).bootstrap(2)
    page = tmp_path / "page.html"
    for show in (result.plot, lambda **given: result.report(page, **given)):
        with pytest.raises(SettingError, match=r"not of this result: their columns differ"):
            show(confidence=other)
        with pytest.raises(SettingError, match=r"what bootstrap\(\) returns, not a value of .*int"):
            show(confidence=3)
    assert not page.exists()


@pytest.mark.parametrize("path", [None, 3, b"page.html", "page.pdf"])
def test_a_report_goes_to_a_path_that_ends_in_html(result, path):
    with pytest.raises(SettingError, match=r"must end in \.html or \.htm, not"):
        result.report(path)


@pytest.mark.parametrize("name", [["a"], {"a": 1}, None, 0, "c"])
def test_what_is_no_name_is_no_column(result, name):
    with pytest.raises(SettingError, match=r"there is no column .*; the columns are 'a', 'b'"):
        result.explain(name)


# Comparisons


@pytest.mark.parametrize(
    ("methods", "said"),
    [("tamis", r"a list of names, such as \['tamis'\]"), ([3], "there is no method 3; there are")],
)
def test_methods_are_a_list_of_names(methods, said):
    with pytest.raises(SettingError, match=said):
        tamis.compare({"a": [0, 1] * 30, "b": [0, 1] * 30}, methods=methods)


def test_a_graph_without_columns_is_said_to_have_none():
    with pytest.raises(SettingError, match=r"'dict' has none; 'dict \(2\)' has a, b"):
        tamis.compare({}, {"a": [], "b": ["a"]})


@pytest.mark.parametrize("option", [["--drop", "a"], ["--only", "a"], ["--type", "a=number"]])
def test_kinds_of_columns_are_not_asked_of_graphs(result, tmp_path, option):
    runs = [str(tmp_path / "1.json"), str(tmp_path / "2.json")]
    result.save(*runs)
    for things in (runs, runs[:1]):
        done = CliRunner().invoke(app, ["compare", *things, *option])
        said = " ".join(done.output.split())
        assert done.exit_code == 2
        assert f"Error: {option[0]} is for methods that learn from one table" in said
    assert sorted(tmp_path.iterdir()) == [Path(one) for one in runs]


# Numbers that floats cannot square


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("information", ["copula", "gaussian", "conditional-gaussian"])
def test_numbers_without_squares_are_refused(information, scale):
    table = {name: values * scale for name, values in numbers().items()}
    with pytest.raises(DataError, match=r"Column 'x' holds numbers of the size .* another unit"):
        tamis.TAM(information=information).fit(table)


def test_a_number_without_a_density_is_told_as_that():
    table = numbers()
    model = tamis.TAM(n_jobs=1).fit(table)
    table["y"][7] = 1e200
    with pytest.raises(DataError, match="too far from the others for a float"):
        model.score(table)


def test_the_command_says_the_cure_in_options_and_not_in_python_too(tmp_path):
    rows = tmp_path / "copies.csv"
    rows.write_text("a,b,c\n" + "".join(f"{i % 2},{i % 2},{i % 3}\n" for i in range(60)))
    said = " ".join(CliRunner().invoke(app, ["learn", str(rows)]).output.split())
    assert "shrink the correlations: --information gaussian --source shrinkage=0.1." in said
