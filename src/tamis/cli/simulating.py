"""The command `tamis simulate`: check, draw, write, say what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx
from rich.console import RenderableType
from rich.text import Text

from tamis.cli.layout import Hanging, console, pairs_of
from tamis.errors import SettingError
from tamis.result import show
from tamis.simulate import GRAPHS, Simulated, draw
from tamis.simulate.drawing import checked_path
from tamis.simulate.options import options_of
from tamis.tables.refusals import count

MODEL = "mod"
"""The model unless another is asked for."""
_OPTIONS = {
    "d": "--nodes",
    "n": "--rows",
    "graph": "GRAPH",
    "model": "--model",
    "edges": "--edges",
    "p": "--p",
    "flip": "--flip",
    "seed": "--seed",
    "replicate": "--replicate",
}
_BESIDE = {".graph.csv": "the true edges", ".network.bif": "the exact network"}


def run(
    graph: str | None,
    model: str | None,
    *,
    network: str | None,
    options: Mapping[str, Any],
    more: Sequence[str],
    rows: int,
    seed: int,
    replicate: int,
    out: str,
    quiet: bool,
) -> None:
    """Draw a table and write it; whatever can be refused is refused before the work begins.

    ``options`` are those of the graph and the model; ``more`` are further ones, as NAME=VALUE.
    """
    given = _options(options, more)
    if network is not None:
        extra = {"graph": graph, "model": model, **given}
        if names := [_spelled(name) for name, value in extra.items() if value is not None]:
            raise SettingError(
                f"--network is graph and model at once: leave out {', '.join(names)}"
            )
    elif model is None:
        model = MODEL
    checked_path(out)
    with _option_names():
        simulated = draw(
            graph, model, network=network, n=rows, seed=seed, replicate=replicate, **given
        )
    written = simulated.write(out)
    if not quiet:
        stdout = console()
        for part in _parts(simulated, written):
            stdout.print(part)


def options_from_text(texts: Sequence[str]) -> dict[str, Any]:
    """Options written as NAME=VALUE; a value is a number, numbers with commas, true, false or
    another word."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            raise SettingError(f"--set {text!r} must be NAME=VALUE, such as entropy=0.3")
        if name in options:
            raise SettingError(f"--set gives {name} twice: leave one out")
        options[name] = _value(text, value.strip())
    return options


def _value(text: str, value: str) -> Any:  # noqa: ANN401 - a number, a boolean, a list or a word
    try:
        found = json.loads(f"[{value}]")
    except ValueError:
        if value.replace("-", "_").isidentifier():
            return value
        found = []
    if not found or not all(isinstance(one, int | float) for one in found):
        raise SettingError(
            f"--set {text!r} must have a number, numbers with commas, true, false or another word "
            "after the ="
        )
    return found if len(found) > 1 else found[0]


def _options(options: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    more = options_from_text(texts)
    for name in more:
        if name in _OPTIONS:
            raise SettingError(f"--set {name} is written {_OPTIONS[name]}")
    # One layer has a width too.
    if isinstance(more.get("widths"), int):
        more["widths"] = [more["widths"]]
    return given | more


def _spelled(name: str) -> str:
    return _OPTIONS.get(name, f"--set {name}")


@contextmanager
def _option_names() -> Iterator[None]:
    """The library's names of options become those of the command."""
    try:
        yield
    except SettingError as error:
        raise SettingError(_in_words(str(error))) from None


def _in_words(message: str) -> str:
    name, blank, rest = message.partition(" ")
    if rest.startswith("must"):
        return f"{_spelled(name)}{blank}{rest}"
    return message


def _parts(simulated: Simulated, written: Sequence[str]) -> Iterator[RenderableType]:
    graph, settings = simulated.graph, simulated.settings
    layers = sum(1 for _ in nx.topological_generations(graph))
    size = (
        f"{count(settings['n'], 'row')} of {count(len(graph), 'node')}, "
        f"{count(graph.number_of_edges(), 'edge')}, {count(layers, 'layer')}"
    )
    yield Hanging(Text(), f"{show(written[0])}: {size}")
    yield from pairs_of(_settings(settings))
    for path in written[1:]:
        what = next(what for ending, what in _BESIDE.items() if path.endswith(ending))
        yield Hanging(Text(), f"{show(path)}: {what}")


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Graph, model and seed, each with its options."""
    if "network" in settings:
        yield "network", show(settings["network"])
    of_graph = options_of(GRAPHS[settings["graph"]]) if "graph" in settings else {}
    of_model = settings.keys() - {"graph", "model", "network", "n", "seed", "replicate", *of_graph}
    for part, names in (("graph", of_graph), ("model", of_model)):
        if part in settings:
            options = [_option(name, settings[name]) for name in settings if name in names]
            yield part, ", ".join([settings[part], *options])
    seed = str(settings["seed"])
    yield "seed", f"{seed}, replicate {settings['replicate']}" if settings["replicate"] else seed


def _option(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    parts = value if isinstance(value, list) else [value]
    text = ",".join(one if isinstance(one, str) else f"{one:g}" for one in parts)
    return f"{name} {text}"
