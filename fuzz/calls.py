"""Public functions and methods with arguments that nobody means."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

import tamis
from fuzz import frames, odd
from fuzz.kind import Case
from tamis.parameters import PARAMETERS
from tamis.rules import BIC, ChiSquared, Fixed, Permutation

Good = Mapping[str, Sequence[Any]]
"""Values that a parameter may have, by its name: others stay what they are by default."""

TABLE = {
    "a": [0, 1] * 20,
    "b": [0, 1, 1, 1] * 10,
    "c": [0, 1, 2, 0, 1] * 8,
}
GOOD: dict[str, Sequence[Any]] = {
    "search": ("auto", "sequential", "node", "layer", "sieve", "reference"),
    "alpha": (0.02, 0.5), "entropy": ("plugin", "jackknife", "minimax"),
    "boundary_rule": (0.01, BIC(), Permutation(0.01), Fixed(0.1)),
    "masking_rule": (ChiSquared(0.1), 0.0),
    "boundary": ("pps", "none"), "backward": ("one", "together", "none", True, None),
    "max_boundary": (0, 1, 2), "look_ahead": (1, 2, 6), "information": frames.INFORMATION,
    "source": ({"k": 3}, {"shrinkage": 0.1}, {"seed": 1}, {}),
    "knowledge": ({"tiers": [["a"], ["b"]]}, {"required": ["a -> b"]}, {"sinks": ["a"]}),
    "refine": (True, False), "units": ("unknown", "same"), "missing": frames.MISSING,
    "types": ({"a": "category"}, {"c": "number"}, {"a": "ignore"}, {"c": [2, 1, 0]}),
    "memory": ("1GB", 10**9), "n_jobs": (1, 2), "quick": (True,), "epsilon": (0.1,),
    "n": (1, 2, 20), "n_simulations": (1,), "seed": (0, 1), "scheme": ("half", "rows"),
    "conditions": ("quick", False), "equivalent_sample_size": (0, 1.0), "most": (0, 2),
    "columns": ("a", ["a", "b"]), "given": ("b", ["b", "c"], ()), "x": ("a",), "y": ("b", ["c"]),
    "target": ("a", "c"), "candidates": (["b", "c"], None), "estimator": ("plugin", "grassberger"),
    "method": ("quantile", "kmeans", "equal_width"), "bins": (2, {"c": 2}),
    "graph": ("tree", "er", "chain", "sf", "layered", "polyforest"), "d": (1, 3, 5), "p": (0.2,),
    "model": ("mod", "add", "tables", "gaussian", "logistic", "noisy-or", "mixed", "ordinal"),
    "edges": (2, 3.5), "replicate": (0, 1), "add": ([("a", "c")], []), "remove": ([("a", "b")],),
    "turn": ([("a", "b")],), "name": ("a", "b"), "fitted": (True, False), "threshold": (0.5,),
    "required": (["a -> b"], [("a", "b")]), "forbidden": (["b -> a"],), "tiers": ([["a"], ["b"]],),
    "sources": (["a"],), "sinks": (["b"],), "methods": (["sequential"],), "limit": (30.0,),
    "names": (["a", "b"],), "order": (["a", "b", "c"],), "a": ("a",), "b": ("b",),
    "truth": ({"a": [], "b": ["a"]},),
    "data": (TABLE,), "X": (TABLE,), "sample_weight": (None, [1] * 40), "network": ("diamond",
    "m1"),
    "path": ("x.json", "x.csv"), "command": ("tamis learn", None), "parent": ("a",),
    "child": ("b",),
}  # fmt: skip


@cache
def model() -> tamis.TAM:
    """A fitted model, which no call changes."""
    return tamis.TAM("sequential", n_jobs=1).fit(TABLE)


@cache
def measured() -> tamis.TAM:
    """One of numbers."""
    x = np.sin(np.arange(60.0) ** 2)
    return tamis.TAM("sequential", n_jobs=1).fit({"a": x, "b": x + np.cos(np.arange(60.0) ** 3)})


@cache
def confidence() -> Any:  # noqa: ANN401 - of a module that is imported late
    """What a bootstrap found."""
    return model().bootstrap(2)


@cache
def network() -> tamis.BayesianNetwork:
    """A known network."""
    return tamis.BayesianNetwork.example("diamond")


def _fit(**given: object) -> object:
    return tamis.TAM(**given).fit(TABLE)  # type: ignore[arg-type]


_fit.__signature__ = inspect.signature(
    tamis.TAM.__init__
).replace(  # type: ignore[attr-defined]
    parameters=list(inspect.signature(tamis.TAM.__init__).parameters.values())[1:]
)


def _compare(*, things: object = (), **given: object) -> object:
    several = things if isinstance(things, tuple) else (things,)
    return tamis.compare(*several, **given)  # type: ignore[arg-type]


_compare.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
        for name in ("things", "truth", "limit", "types", "missing", "progress")
    ]
)


def _draw(**given: object) -> object:
    return tamis.simulate.draw(**{"n": 5, "seed": 1, **given})  # type: ignore[arg-type]


_draw.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
        for name in (
            "graph", "model", "n", "seed", "d", "network", "replicate", "p", "edges", "flip", "m",
            "widths",
            "entropy", "arity", "coefficients", "variances", "terms", "directions", "components",
            "leak",
            "strengths", "least", "most", "share", "paths", "length", "new_to_old", "drop",
            "extra", "weights",
        )
    ]
)  # fmt: skip


def _calls() -> dict[str, Callable[..., object]]:
    """What is called, by name; classes stand for their makers."""
    learned, result, numbers = model(), model().result_, measured().result_
    own = {
        "TAM": _fit, "compare": _compare, "draw": _draw, "check": tamis.check,
        "inspect": tamis.inspect,
        "discretize": tamis.discretize, "entropy": tamis.entropy, "Knowledge": tamis.Knowledge,
        "cmi": tamis.conditional_mutual_information, "markov_boundary": tamis.markov_boundary,
        "load": tamis.load, "save": tamis.save, "fit": tamis.TAM("sequential").fit,
        "network.read": tamis.BayesianNetwork.read,
        "network.write": network().write, "network.sample": network().sample,
        "network.fit": tamis.BayesianNetwork.fit, "gaussian.fit": tamis.GaussianNetwork.fit,
        "network.in_order": network().in_order, "network.parents_of": network().parents_of,
        "network.bic": network().bic, "network.log_likelihood": network().log_likelihood,
        "confidence.skeleton": confidence().skeleton,
        "confidence.direction": confidence().direction,
        "confidence.graph": confidence().graph, "numbers.fitted_network": numbers.fitted_network,
        "numbers.report": numbers.report, "numbers.with_edges": numbers.with_edges,
        "shd": tamis.metrics.shd, "sid": tamis.metrics.sid,
        "from_networkx": tamis.BayesianNetwork.from_networkx,
    }  # fmt: skip
    of_model = (
        "bootstrap", "recovery_check", "with_edges", "explain", "plot", "report", "to_networkx",
        "to_pgmpy", "to_pyagrum", "forecast", "score",
    )  # fmt: skip
    of_result = (
        "closest_directions", "closest_calls", "explain", "with_edges", "bootstrap",
        "fitted_network", "to_networkx", "to_pgmpy", "plot", "report", "require",
    )  # fmt: skip
    own |= {f"model.{name}": getattr(learned, name) for name in of_model}
    own |= {f"result.{name}": getattr(result, name) for name in of_result}
    own |= {name: getattr(tamis.rules, name) for name in tamis.rules.__all__ if name != "Rule"}
    return own


@cache
def _parameters(name: str) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(_all()[name]).parameters.values())


@cache
def _all() -> dict[str, Callable[..., object]]:
    return _calls()


def untried() -> set[str]:
    """Parameters in tamis's own table that no call here is ever given."""
    return set(PARAMETERS) - {one.name for name in _all() for one in _parameters(name)}


def _argument(rng: Random, name: str, oddity: float) -> object:
    if name == "progress":
        # What a function of the user's raises is the user's.
        return rng.choice([one for one in odd.VALUES if not callable(one)])
    if rng.random() < oddity or name not in GOOD:
        if name in ("X", "data", "things") and rng.random() < 0.5:
            return frames.contained(rng, frames.columns(rng))[1]
        return odd.value(rng)
    return rng.choice(GOOD[name])


def _arguments(rng: Random, name: str) -> tuple[list[object], dict[str, object]]:
    """Some arguments by name; those without a default always, and one at least is odd."""
    positional: list[object] = []
    named: dict[str, object] = {}
    own = _parameters(name)
    strange = rng.choice(own).name if own else ""
    for one in own:
        oddity = 0.9 if one.name == strange else 0.05
        if one.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [odd.value(rng) for _ in range(rng.randrange(3))]
        elif one.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        elif one.default is inspect.Parameter.empty or one.name == strange or rng.random() < 0.15:
            if one.default is inspect.Parameter.empty and rng.random() < 0.02 and named:
                continue
            value = _argument(rng, one.name, oddity)
            if one.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[one.name] = value
    return positional, named


def _shown(name: str, positional: list[object], named: dict[str, object]) -> str:
    """A call in words. pandas warns while it writes numbers that some types do not hold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f"{name}(*{positional!r}, **{named!r})"[:2000]


def call(case: Case) -> None:
    """Call something with odd arguments; nothing is written where it is refused."""
    name = case.rng.choice(list(_all()))
    positional, named = _arguments(case.rng, name)
    case.tries(_shown(name, positional, named))
    before = sorted(os.listdir(case.folder))
    try:
        inspect.signature(_all()[name]).bind(*positional, **named)
    except TypeError:
        return  # Python itself refuses such a call
    found = case.answer(lambda: _all()[name](*positional, **named))
    if case.refusals and sorted(os.listdir(case.folder)) != before:
        raise AssertionError("a call that was refused left a file")
    if found is not None:
        repr(found)
