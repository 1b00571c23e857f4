"""Public docstrings are complete, document what there is, and show examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from types import FunctionType

import pytest

import tamis

MODULES = (
    "tamis",
    "tamis.simulate",
    "tamis.metrics",
    "tamis.rules",
)
BESIDES = (
    "tamis.bootstrap.Confidence",
    "tamis.identifiability.RecoveryCheck",
    "tamis.comparison.compare_graphs",
)
"""What methods return and users call methods of, and what has examples all the same."""
WITH_METHODS = (
    "TAM",
    "Result",
    "Confidence",
    "RecoveryCheck",
    "BayesianNetwork",
    "GaussianNetwork",
    "Check",
    "Comparison",
    "Plan",
    "Knowledge",
)
"""Classes of which every public method is documented like a function."""
LIBRARIES = {
    "to_pgmpy": ("pgmpy.models",),
    "from_pgmpy": ("pgmpy.models",),
    "to_pyagrum": ("pyagrum",),
    "from_pyagrum": ("pyagrum",),
    "from_causal_learn": ("causallearn",),
    "sid": ("gadjid",),
}
"""What the examples of these import besides what tamis always needs."""
HEADINGS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")
"""The sections in the order in which they come."""
ROUTINES = (FunctionType, classmethod, staticmethod)
STUMBLES = ("The same", "And ", "Also ")


@cache
def public() -> dict[str, object]:
    """Every public function, class and method under one of its names."""
    found: dict[str, object] = {}
    for name, thing in _named():
        known = any(thing is other for other in found.values())
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and not known:
            found[name] = thing
            found |= dict(_methods(name, thing))
    return found


def _named() -> Iterator[tuple[str, object]]:
    for place in MODULES:
        module = import_module(place)
        yield from ((f"{place}.{name}", getattr(module, name)) for name in module.__all__)
    for name in BESIDES:
        place, _, last = name.rpartition(".")
        yield name, getattr(import_module(place), last)


def _methods(name: str, thing: object) -> Iterator[tuple[str, object]]:
    if not inspect.isclass(thing) or thing.__name__ not in WITH_METHODS:
        return
    own = [one for one in thing.__mro__ if one.__module__.startswith("tamis")]
    for method in dict.fromkeys(key for one in own for key in vars(one)):
        raw = inspect.getattr_static(thing, method)
        if not method.startswith("_") and isinstance(raw, ROUTINES):
            yield f"{name}.{method}", getattr(thing, method)


def sections(thing: object) -> dict[str, str]:
    """The text under each numpydoc heading; what comes before the first is under ''."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    found: dict[str, list[str]] = {"": []}
    heading = ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", below) and len(below) == len(line):
            heading = line
            found[heading] = []
        elif not re.fullmatch("-{3,}", line):
            found[heading].append(line)
    return {heading: "\n".join(text) for heading, text in found.items()}


def entries(text: str) -> list[str]:
    """The names that a section documents: ``a, b : type`` at the margin."""
    heads = [line.partition(" : ")[0] for line in text.splitlines() if line[:1].strip()]
    return [name.strip() for head in heads for name in head.split(",")]


def arguments(thing: object) -> list[str]:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    taken = inspect.signature(thing).parameters.values()
    return [stars.get(one.kind, "") + one.name for one in taken if one.name not in ("self", "cls")]


def is_made_by_calling(thing: type) -> bool:
    """Whether users give the constructor arguments that it should document."""
    if issubclass(thing, Exception | Enum) or inspect.isabstract(thing):
        return False
    return bool(arguments(thing)) and not getattr(thing, "_is_protocol", False)


@pytest.mark.parametrize("name", public())
def test_a_docstring_begins_with_one_line_that_stands_alone(name):
    first, *rest = (inspect.getdoc(public()[name]) or "").splitlines() or [""]
    assert first.endswith("."), "the first line is a whole sentence"
    assert not rest or not rest[0].strip(), "a blank line follows the first"
    assert not first.startswith(STUMBLES)


@pytest.mark.parametrize("name", public())
def test_sections_are_those_of_numpydoc_in_their_order(name):
    found = [heading for heading in sections(public()[name]) if heading]
    assert found == [heading for heading in HEADINGS if heading in found]


@pytest.mark.parametrize("name", public())
def test_exactly_the_parameters_are_documented(name):
    thing = public()[name]
    documented = entries(sections(thing).get("Parameters", ""))
    if not inspect.isclass(thing):
        assert documented == arguments(thing)
    elif is_made_by_calling(thing):
        attributes = entries(sections(thing).get("Attributes", ""))
        assert [one for one in arguments(thing) if one not in documented + attributes] == []
        assert [one for one in documented if one not in arguments(thing)] == []


@pytest.mark.parametrize("name", public())
def test_what_a_function_returns_is_documented(name):
    thing = public()[name]
    if not inspect.isclass(thing):
        nothing = inspect.signature(thing).return_annotation in ("None", None)
        assert ("Returns" in sections(thing)) is not nothing


@pytest.mark.parametrize("name", public())
def test_the_example_runs(name, tmp_path, monkeypatch):
    thing = public()[name]
    for library in LIBRARIES.get(name.rpartition(".")[2], ()):
        pytest.importorskip(library, exc_type=ImportError)
    text = sections(thing).get("Examples", "")
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    outcome: list[str] = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    ran = doctest.DocTestRunner(optionflags=options).run(example, out=outcome.append)
    assert ran.attempted > 0, "there is no example"
    assert ran.failed == 0, "".join(outcome)


def test_a_docstring_that_lacks_a_parameter_or_names_another_is_seen():
    def add(one: int, other: int) -> int:
        """Add two numbers.

        Parameters
        ----------
        one, another : int
            The numbers.
        """
        return one + other

    assert entries(sections(add)["Parameters"]) != arguments(add)
    assert "Returns" not in sections(add)


def test_every_public_name_is_looked_at():
    callables = [name for name in tamis.__all__ if inspect.isclass(getattr(tamis, name))]
    assert {getattr(tamis, name) for name in callables} <= set(map(_as_is, public().values()))
    assert "tamis.TAM.fit" in public()
    assert "tamis.metrics.shd" in public()
    assert "tamis.GaussianNetwork.log_likelihood" in public()


def _as_is(thing: object) -> object:
    return thing
