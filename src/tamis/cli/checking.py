"""The command `tamis check`: read a network, check the conditions, simulate if asked, show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tamis.atomic import check_place, together
from tamis.cli.layout import QUIET, TITLE, Hanging, console, item, more, pairs_of, title_of, waiting
from tamis.cli.texts import bytes_from_text, numbers_from_text
from tamis.drawing.pictures import require_matplotlib
from tamis.errors import FileFormatError, SettingError
from tamis.identifiability import Check, Simulation, check, simulate
from tamis.identifiability.guarantees import SearchVerdict
from tamis.network import BayesianNetwork
from tamis.parameters import Search
from tamis.result import show
from tamis.settings import Settings
from tamis.tables.refusals import count

VIOLATIONS = 3
"""Culprits shown for each condition."""
NODES = 20
"""Nodes whose important ancestors are shown."""
BAR = 20
"""Characters of a whole bar."""
_SAID_BY = {"U1": ("C1",), "main": ("C1", "C2"), "general": ("C1", "U2")}
"""Whose culprits are those of another condition, if that fails."""
_SHORT = {"main": "C1 with C2", "general": "U1 with U2"}
_STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}


@dataclass(frozen=True)
class CheckWishes:
    """What to compute and what to do with it."""

    out: str | None
    plot: str | None
    quick: bool
    simulate: bool
    search: str | None
    """None is the first that is guaranteed, or the default."""
    rows: tuple[int, ...]
    repeats: int
    seed: int
    epsilon: float
    memory_limit: int | None
    quiet: bool


def run(
    source: str,
    *,
    rows: str,
    memory: str | None,
    **options: Any,  # noqa: ANN401 - the other fields of CheckWishes
) -> None:
    """Check a network; whatever can be refused is refused before the work begins."""
    numbers = numbers_from_text("--rows", rows)
    wishes = CheckWishes(rows=numbers, memory_limit=bytes_from_text("--memory", memory), **options)
    _settings(wishes.search)
    _check_outputs(wishes)
    network = _network(source)
    with waiting(quiet=wishes.quiet) as wait:
        found = check(
            network,
            quick=wishes.quick,
            epsilon=wishes.epsilon,
            memory_limit=wishes.memory_limit,
            progress=wait.step,
        )
        if wishes.simulate:
            simulation = simulate(
                network,
                _settings(wishes.search or _promising(found)),
                rows=wishes.rows,
                repeats=wishes.repeats,
                seed=wishes.seed,
                progress=lambda done, of: wait.step("learning simulated tables", done, of),
            )
            found = found.with_simulation(simulation)
    with together():
        if wishes.out is not None:
            found.write(wishes.out)
        if wishes.plot is not None and found.simulation is not None:
            found.simulation.save_plot(wishes.plot)
    if not wishes.quiet:
        show_check(console(), found, source, wishes)


USUAL = "sequential"
"""Simulated unless another search is asked for, or is the first that is guaranteed."""


def _settings(search: str | None) -> Settings:
    return Settings(cast(Search, search or USUAL))


def _promising(found: Check) -> str | None:
    """A search that is guaranteed, if the default is not."""
    return USUAL if USUAL in found.guaranteed else next(iter(found.guaranteed), None)


def _network(source: str) -> BayesianNetwork:
    """A file, or one of the networks that come with tamis, by name."""
    examples = BayesianNetwork.examples()
    if source in examples:
        return BayesianNetwork.example(source)
    if not os.path.exists(source):
        raise FileFormatError(
            f"There is no file {source!r}. Give a BIF file, or a network that comes with tamis: "
            f"{', '.join(examples)}."
        )
    return BayesianNetwork.read(source)


def _check_outputs(wishes: CheckWishes) -> None:
    if wishes.plot is not None and not wishes.simulate:
        raise SettingError("--plot draws the simulation: add --simulate")
    if wishes.plot is not None:
        require_matplotlib()
    for option, path, endings in (
        ("--out", wishes.out, (".json",)),
        ("--plot", wishes.plot, (".png", ".svg", ".pdf")),
    ):
        if path is not None:
            if not path.endswith(endings):
                raise SettingError(f"{option} {path!r} must end in {' or '.join(endings)}")
            check_place(path)


def show_check(stdout: Console, found: Check, source: str, wishes: CheckWishes) -> None:
    """The conditions, the culprits, what follows, and what simulation says."""
    for part in _parts(found, source, wishes):
        stdout.print(part)


def _parts(found: Check, source: str, wishes: CheckWishes) -> Iterator[RenderableType]:
    size = (
        f"{count(len(found.names), 'node')}, {count(found.n_edges, 'edge')}, "
        f"{count(len(found.layers), 'layer')}, {count(found.paths.total, 'directed path')}"
    )
    if found.paths.most > 1 and found.paths.ends is not None:
        start, end = map(show, found.paths.ends)
        size += f" (at most {found.paths.most} between two nodes: {start} and {end})"
    yield Hanging(Text(), f"{show(source)}: {size}")
    yield Text(found.answer, style=TITLE)
    yield from _conditions(found)
    yield from _culprits(found)
    yield from _important(found)
    yield from _consequences(found)
    yield from _needed(found)
    if found.simulation is not None:
        yield from _simulated(found.simulation)
    yield from _hints(wishes)


def _conditions(found: Check) -> Iterator[RenderableType]:
    yield from title_of("Conditions", "each with the slack of its tightest inequality")
    for key, condition in found.conditions.items():
        margin = "" if condition.margin is None else _signed(condition.margin)
        head = Text.assemble(
            (f" {_SHORT.get(key, key):13}  ", QUIET),
            (f"{condition.word:9}", _STYLES[condition.word]),
            f"{margin:>8}  ",
        )
        yield Hanging(head, show(condition.sentence))


def _signed(margin: float) -> str:
    return f"{margin:+.2g}" if margin else "0"


def _culprits(found: Check) -> Iterator[RenderableType]:
    broken = [one for one in found.conditions.values() if one.violations and one.key != "C3"]
    if not broken:
        return
    yield from title_of("Where they fail", "worst first")
    for condition in broken:
        if condition.key in _SAID_BY and any(
            found.conditions[key].violations for key in _SAID_BY[condition.key]
        ):
            continue
        for violation in condition.violations[:VIOLATIONS]:
            yield item(f"{condition.key}: {show(violation.text)}")
        yield from more(len(condition.violations) - VIOLATIONS, "place", "all with --out FILE")


def _important(found: Check) -> Iterator[RenderableType]:
    """The important ancestors of each node, layer by layer."""
    by_node: dict[str, list[str]] = {}
    for one in found.conditions["main"].details["ancestors"]:  # type: ignore[attr-defined]
        names = ", ".join(map(show, one["ancestors"])) or "none"
        by_node.setdefault(show(one["node"]), []).append(f"{names} (layer {one['layer']})")
    if not by_node:
        return
    yield from title_of("Important ancestors", "less uncertain, and informative")
    shown = list(by_node.items())[:NODES]
    yield from pairs_of((name, "; ".join(parts)) for name, parts in shown)
    yield from more(len(by_node) - len(shown), "node", "all with --out FILE")


def _consequences(found: Check) -> Iterator[RenderableType]:
    yield from title_of("What follows", "with exact information, that is with unlimited rows")
    yield from pairs_of((name, _outcome(one)) for name, one in found.searches.items())
    yield from title_of("Without PPS", "boundary='none', the same")
    yield from pairs_of((name, _outcome(one)) for name, one in found.without_pps.items())
    yield from title_of("As printed", "the paper's algorithms to the letter, the same")
    yield from pairs_of((name, _outcome(one)) for name, one in found.printed.items())


def _outcome(one: SearchVerdict) -> str:
    if one.guaranteed:
        return "guaranteed to return this graph"
    if one.recovers:
        doubt = "not decided" if one.guaranteed is None else "without a guarantee"
        return f"returns this graph, {doubt}: it rests on {one.rests_on}"
    if one.distance is not None:
        return f"returns another graph, {count(one.distance, 'edge')} away"
    return "not decided"


def _needed(found: Check) -> Iterator[RenderableType]:
    yield from title_of("Gaps", "in nats; they set the number of rows")
    names = {
        "Delta": "Delta, lead of important ancestors",
        "eta": "eta, their gain",
        "Delta_tilde": "Delta~, lead of parents in PPS",
        "xi": "xi, half their least gain",
        "Delta_I": "Delta_I, gain of a parent given the rest",
    }
    values = found.gaps.to_dict()
    yield from pairs_of((text, _number(values[name])) for name, text in names.items())
    yield from title_of(
        "Rows by theorem",
        f"orders of magnitude, constants taken as 1, for probability {1 - found.epsilon:g}",
    )
    yield from pairs_of(
        (
            one.theorem,
            f"not applicable: {one.why}"
            if one.magnitude is None
            else f"about 10^{round(one.magnitude)}; {one.why}",
        )
        for one in found.rows
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _simulated(simulation: Simulation) -> Iterator[RenderableType]:
    first = simulation.points[0]
    yield from title_of(
        "Simulated", f"{simulation.search}, {first.tables} tables a size, seed {simulation.seed}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style=QUIET)
    for title in ("rows", "recovered", "95% interval", "mean SHD", "skeleton"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for point in simulation.points:
        full = round(point.recovered * BAR)
        table.add_row(
            f"{point.rows:,}",
            f"{point.recovered:.0%}",
            f"{point.low:.0%} to {point.high:.0%}",
            f"{point.distance:.2f}",
            f"{point.skeleton:.2f}",
            Text("█" * full + "·" * (BAR - full), style="cyan"),
        )
    yield Padding(table, (0, 0, 0, 1), expand=False)


def _hints(wishes: CheckWishes) -> Iterator[RenderableType]:
    yield Text()
    written = [path for path in (wishes.out, wishes.plot) if path is not None]
    if written:
        yield Text("Wrote " + ", ".join(map(show, written)))
    elif not wishes.simulate:
        yield Text("--simulate says how often the graph comes back from how many rows", style=QUIET)
