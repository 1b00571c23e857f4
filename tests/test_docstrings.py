"""Public docstrings name their parameters, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from enum import Enum

import pytest

import tamis
import tamis.metrics
import tamis.rules
import tamis.simulate

PLACES = (tamis, tamis.simulate, tamis.metrics, tamis.rules)
LIBRARIES = {"to_pgmpy": "pgmpy.models", "from_pgmpy": "pgmpy.models", "to_pyagrum": "pyagrum",
             "from_pyagrum": "pyagrum", "sid": "gadjid"}  # fmt: skip
"""What the examples of these import besides what tamis always needs."""
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def named() -> Iterator[tuple[str, object]]:
    """Every public function, class and method that tamis itself defines."""
    for place in PLACES:
        for name in place.__all__:
            thing = getattr(place, name)
            if inspect.isfunction(thing) or (inspect.isclass(thing) and not is_bare(thing)):
                yield f"{place.__name__}.{name}", thing
            if inspect.isclass(thing) and place is tamis:
                for method, raw in vars(thing).items():
                    if not method.startswith("_") and inspect.isfunction(raw):
                        yield f"tamis.{name}.{method}", raw


def is_bare(thing: type) -> bool:
    return issubclass(thing, Exception | Enum)


PUBLIC = dict(named())


def section(thing: object, heading: str) -> str:
    """The text under a numpydoc heading."""
    found = re.search(
        rf"^{heading}\n-+\n(.*?)(?=^\w+\n---|\Z)", inspect.getdoc(thing) or "", re.M | re.S
    )
    return found[1] if found else ""


@pytest.mark.parametrize("name", PUBLIC)
def test_there_is_a_docstring_and_its_parameters_are_those_that_there_are(name):
    thing = PUBLIC[name]
    assert inspect.getdoc(thing)
    text = section(thing, "Parameters")
    heads = [line.partition(" : ")[0] for line in text.splitlines() if line[:1].strip()]
    if text and not inspect.isclass(thing):
        taken = inspect.signature(thing).parameters.values()
        given = [STARS.get(one.kind, "") + one.name for one in taken if one.name != "self"]
        assert [one.strip() for head in heads for one in head.split(",")] == given


@pytest.mark.parametrize("name", [name for name in PUBLIC if ">>>" in (PUBLIC[name].__doc__ or "")])
def test_the_example_runs(name, tmp_path, monkeypatch):
    last = name.rpartition(".")[2]
    if last in LIBRARIES:
        pytest.importorskip(LIBRARIES[last], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    parser, told = doctest.DocTestParser(), []
    example = parser.get_doctest(section(PUBLIC[name], "Examples"), {}, name, None, None)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    ran = doctest.DocTestRunner(optionflags=options).run(example, out=told.append)
    assert ran.attempted > 0
    assert not ran.failed, "".join(told)
