"""What a caller or a command cannot mean is refused in a sentence that names it and the cure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tamis
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


@pytest.mark.parametrize("name", [["a"], {"a": 1}, None, 0, "c"])
def test_what_is_no_name_is_no_column(result, name):
    with pytest.raises(SettingError, match=r"there is no column .*; the columns are 'a', 'b'"):
        result.explain(name)


# Comparisons


# Numbers that floats cannot square


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@pytest.mark.parametrize("information", ["copula", "gaussian", "conditional-gaussian"])
def test_numbers_without_squares_are_refused(information, scale):
    table = {name: values * scale for name, values in numbers().items()}
    with pytest.raises(DataError, match=r"Column 'x' holds numbers of the size .* another unit"):
        tamis.TAM(information=information).fit(table)


# Values of the wrong type, wherever they are given

ODD = {
    "an array": np.arange(3), "words": np.array(["a", "b"]), "a table": pd.DataFrame({"a": [1]}),
    "pandas' missing": pd.NA, "bytes": b"x", "a mapping": {"a": 1}, "a list": [1],
    "an object": object(), "a class": int, "a long number": 10**400, "no text": "\ud800",
}  # fmt: skip
CALLS = {
    "plot(ax)": lambda model, odd: model.plot(ax=odd),
    "plot(confidence)": lambda model, odd: model.plot(confidence=odd),
    "report(path)": lambda model, odd: model.report(odd),
    "report(recovery)": lambda model, odd: model.report("page.html", recovery=odd),
    "report(confidence)": lambda model, odd: model.report("page.html", confidence=odd),
    "save(path)": lambda model, odd: model.save(odd),
    "save(result)": lambda model, odd: tamis.save(odd, "run.json"),
    "load(path)": lambda model, odd: tamis.load(odd),
    "bootstrap(n)": lambda model, odd: model.bootstrap(odd),
    "bootstrap(scheme)": lambda model, odd: model.bootstrap(2, scheme=odd),
    "bootstrap(search)": lambda model, odd: model.bootstrap(2, search=odd),
    "recovery_check(n_simulations)": lambda model, odd: model.recovery_check(odd),
    "recovery_check(conditions)": lambda model, odd: model.recovery_check(2, conditions=odd),
    "closest_calls(most)": lambda model, odd: model.result_.closest_calls(odd),
    "answer(part)": lambda model, odd: model.result_.answer(odd),
    "to_networkx(fitted)": lambda model, odd: model.to_networkx(fitted=odd),
    "to_networkx(network)": lambda model, odd: model.result_.to_networkx(odd),
    "explain(name)": lambda model, odd: model.explain(odd),
    **{
        f"TAM({name})": lambda model, odd, name=name: tamis.TAM(**{name: odd}).fit(numbers())
        for name in ("search", "information", "source", "units", "edge_price", "missing")
    },
    "compare(missing)": lambda model, odd: tamis.compare(numbers(), missing=odd),
    "check(quick)": lambda model, odd: tamis.check(tamis.BayesianNetwork.example("m1"), quick=odd),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_value_of_the_wrong_type_is_refused_in_words_of_tamis(
    model, call, odd, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tamis.TamisError):
        call(model, odd)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", ["fit", "bootstrap", "recovery_check", "compare", "check"])
def test_progress_must_be_a_function(model, call):
    calls = {
        "fit": lambda: tamis.TAM().fit(numbers(), progress=3),
        "compare": lambda: tamis.compare(numbers(), progress=3),
        "check": lambda: tamis.check(tamis.BayesianNetwork.example("m1"), progress=3),
    }
    with pytest.raises(SettingError, match="progress must be None or a function, not 3"):
        calls.get(call, lambda: getattr(model, call)(2, progress=3))()
