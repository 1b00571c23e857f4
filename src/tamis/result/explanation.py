"""The story of one column: who masked it, when it entered, which parents it took and why, and which
columns took it."""

from __future__ import annotations

import math

from tamis.decisions.rule import Score
from tamis.result.looks import LOOKS
from tamis.result.model import Edge, Engine, Result, Verdict


class Explanation(str):
    """Text that shows itself as text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def explain(result: Result, name: str) -> Explanation:
    """Why ``name`` stands where it does, one decision a line."""
    result.require(name)
    lines = [f"{show(name)}: {_place(result, name)}"]
    lines += _masked(result, name)
    lines += _admitted(result, name)
    lines += _parents(result, name)
    lines += _children(result, name)
    return Explanation("\n".join(lines))


def show(name: str) -> str:
    """A name as one line of text, whatever characters it holds."""
    return name if name.isprintable() else repr(name)[1:-1]


def describe(verdict: Verdict) -> str:
    """value, threshold and margin of one decision, and its rows where they are not all."""
    if verdict.unit == "p":
        compared = f"p {verdict.value:.2g} {'<' if verdict.dependent else '≥'} "
        compared += f"{verdict.threshold:.2g}, margin {verdict.margin:+.1f} log units"
    elif verdict.unit == Score.unit:
        compared = f"score {verdict.value:+.1f}"
    else:
        sign = ">" if verdict.dependent else "≤"
        compared = f"{verdict.value:.5f} {sign} {verdict.threshold:.5f} {verdict.unit}, "
        compared += f"margin {verdict.margin:+.5f}"
    used = "" if verdict.n_rows is None else f" on {verdict.n_rows:,} rows"
    return f"gain {verdict.gain:.5f} nats{used}; {compared}"


def sentence(verdict: Verdict) -> str:
    """One test in words, with its numbers."""
    found = "depends on" if verdict.dependent else "is independent of"
    given = f" given {_set(verdict.given)}" if verdict.given else ""
    return f"{show(verdict.target)} {found} {_set(verdict.others)}{given}: {describe(verdict)}"


def _place(result: Result, name: str) -> str:
    layer = next(j for j, names in enumerate(result.layers, start=1) if name in names)
    number = result.order.index(name) + 1
    place = (
        f"layer {layer} of {len(result.layers)}, number {number} of {len(result.order)} admitted"
    )
    return f"{place}, conditional entropy {result.entropies[name]:.4f} nats"


def _set(names: tuple[str, ...]) -> str:
    return ", ".join(show(n) for n in names) if names else "nothing"


def _masked(result: Result, name: str) -> list[str]:
    return [
        f"  masked in layer {m.round} by {_set(m.verdict.others)} "
        f"(given {_set(m.verdict.given)}): {describe(m.verdict)}"
        for m in result.trace.maskings
        if m.name == name
    ]


def _admitted(result: Result, name: str) -> list[str]:
    entry = next(a for a in result.trace.admissions if a.name == name)
    one_by_one = result.search in ("sequential", "orders")
    when = f"as number {entry.round}" if one_by_one else f"to layer {entry.round}"
    line = f"  admitted {when} with conditional entropy {entry.entropy:.4f}"
    if entry.runner_up is not None and entry.runner_up_entropy is not None:
        ahead = entry.runner_up_entropy - entry.entropy
        line += f"; next in line {show(entry.runner_up)}, {ahead:.4f} nats behind"
    lines = [line]
    if entry.closest is not None:
        lines.append(
            f"  nearest to masking it: {_set(entry.closest.others)} "
            f"(given {_set(entry.closest.given)}): {describe(entry.closest)}"
        )
    return lines


def _parents(result: Result, name: str) -> list[str]:
    selection = next(s for s in result.trace.selections if s.name == name)
    required = [p for p, child in result.required if child == name]
    lines = [f"  required: {_set(tuple(required))}"] if required else []
    lines += [
        f"  took {_set(v.others)} (given {_set(v.given)}): {describe(v)}" for v in selection.taken
    ]
    if selection.refused is not None:
        v = selection.refused
        lines.append(f"  refused {_set(v.others)} (given {_set(v.given)}): {describe(v)}")
    n_taken = sum(len(v.others) for v in selection.taken)
    if n_taken == result.settings.get("max_boundary"):
        lines.append(f"  stopped at max_boundary={n_taken}")
    taken = {v.others for v in selection.taken}
    if result.parents[name] and not taken and not required and result.search == "orders":
        lines.append("  its arrows were turned to the directions that were chosen for their class")
    lines += [
        f"  kept {_set(v.others)} (given {_set(v.given)}): {describe(v)}"
        for v in selection.retained
        if v.others not in taken
    ]
    lines += [
        f"  removed {_set(v.others)} (given {_set(v.given)}): {describe(v)}"
        for v in selection.removed
    ]
    boundary = result.settings.get("boundary")
    found = "" if isinstance(boundary, str | None) else f", found by {boundary['boundary']}"
    lines.append(f"  parents: {_set(result.parents[name])}{found}")
    lines += [f"  {direction_in_words(e)}" for e in result.edges if e.child == name]
    return lines


def _children(result: Result, name: str) -> list[str]:
    edges = [e for e in result.edges if e.parent == name]
    if not edges:
        return []
    children = f"  children: {_set(tuple(e.child for e in edges))}"
    return [children, *(f"  {direction_in_words(e)}" for e in edges)]


def direction_in_words(edge: Edge) -> str:
    """What the direction of an arrow rests on, in one line."""
    ends = f"{show(edge.parent)} -> {show(edge.child)}"
    return f"{ends}: {rests_on(edge)}"


def rests_on(edge: Edge) -> str:
    """What the direction of an arrow rests on and how likely it is; what knowledge alone decides
    has no probability."""
    label = LOOKS[edge.warrant].label
    if edge.warrant == "given" and edge.direction_probability == 1.0:
        return label
    return f"{label}, probability {chance(edge.direction_probability)}"


def chance(probability: float) -> str:
    """A probability to two digits, cut off: what is not claimed does not look as if it were."""
    return f"{math.floor(100 * probability + 1e-9) / 100:.2f}"


def rows_in_words(result: Result) -> str:
    """What was learned from: a number of rows, or a known distribution."""
    return "a known law" if result.n_rows is None else _some(result.n_rows, "row")


def engine_in_words(engine: Engine) -> str:
    """How a table was counted whose rows were not in memory."""
    parts, rounds = _some(engine.partitions, "part"), _some(engine.rounds, "round")
    if engine.name == "dask":
        moved = f"{_size(engine.bytes_moved)} of questions and answers moved"
        return f"by Dask, {parts}, {rounds}, about {moved}"
    return f"in blocks, {parts}, {rounds}, {_size(engine.bytes_moved)} read"


def _some(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 10**6:,.1f} MB" if n_bytes >= 10**5 else f"{n_bytes / 10**3:,.1f} kB"
