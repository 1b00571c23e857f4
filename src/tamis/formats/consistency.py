"""Whether the parts of a result agree, so that a damaged file cannot pass for a result."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Any, TypeVar, get_args

from tamis.decisions.rule import UNITS
from tamis.errors import SettingError
from tamis.learning import SAME
from tamis.parameters import KINDS
from tamis.plugins import is_plain, is_qualified
from tamis.result import LOOKS, Admitted, Result, Selection, Verdict
from tamis.search.default import FIRST, ORDERS
from tamis.settings import ADDED, RECORDED, VERSION, Settings
from tamis.tables.table import ColumnKind

_FIELDS = {*RECORDED, VERSION}
_DEEP = ("knowledge", "types")
_TRIED = (FIRST, ORDERS, "node", SAME)
"""What a ranking names."""
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,99}")


def wrong_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings of a result, in words."""
    settings = {**ADDED, **settings}
    if settings.keys() != _FIELDS:
        yield f"settings does not have the fields {', '.join(sorted(_FIELDS))}"
    # Knowledge and kinds are read, and written again, as a whole.
    flat = {name: value for name, value in settings.items() if name not in _DEEP}
    deep = next((name for name, value in flat.items() if not _is_flat(value)), None)
    if deep is not None:
        yield f"settings has something in {deep!r} that no run has"
    version = settings[VERSION]
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        yield f"settings names no version of tamis but {version!r}"
    try:
        read = Settings.from_dict(settings)
    except SettingError as error:
        yield f"settings is not what a run can have: {error}"
        return
    if {**read.to_dict(), VERSION: version} != settings:
        yield "settings is not in full what a run writes down"


def _is_flat(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return is_plain(value)


def wrong_verdict(verdict: Verdict) -> Iterator[str]:
    """What is wrong with a verdict on known columns, in words."""
    name = verdict.target
    yield from _sets(verdict)
    for field in ("gain", "value", "threshold", "margin"):
        number = getattr(verdict, field)
        if not math.isfinite(number):
            yield f"the {field} of a test of {name!r} is {number!r}"
    if verdict.unit not in UNITS:
        yield f"a test of {name!r} has the unknown unit {verdict.unit!r}"
    if verdict.unit == "p" and not (0 <= verdict.value <= 1 and 0 <= verdict.threshold <= 1):
        yield f"a test of {name!r} has a p-value or a level that is no probability"
    if verdict.n_rows is not None and verdict.n_rows < 0:
        yield f"a test of {name!r} was made on {verdict.n_rows} rows"
    if verdict.margin < 0 if verdict.dependent else verdict.margin > 0:
        yield f"the margin of a test of {name!r} speaks against what it found"


def _sets(verdict: Verdict) -> Iterator[str]:
    name, about = verdict.target, (*verdict.others, *verdict.given)
    if not verdict.others:
        yield f"a test of {name!r} names nothing it was tested with"
    if name in about:
        yield f"a test of {name!r} names the column itself among the others"
    if len(set(about)) < len(about):
        yield f"a test of {name!r} names another column twice"


T = TypeVar("T")
ENGINES = ("blocks", "dask")


def first_contradiction(result: Result) -> str | None:
    """What is wrong with a result of the right types, in words; None if nothing is."""
    return next(_contradictions(result), None)


def _contradictions(result: Result) -> Iterator[str]:
    # Later checks may rely on what earlier ones found in order.
    yield from wrong_settings(result.settings)
    yield from _names(result)
    yield from _levels(result)
    yield from _kinds(result)
    yield from _numbers(result)
    yield from _graph(result)
    yield from _edges(result)
    yield from _trace(result)
    yield from _ranking(result)
    yield from _engine(result)
    yield from _left_open(result)


def _names(result: Result) -> Iterator[str]:
    names = set(result.names)
    if not names:
        yield "names is empty"
    if len(names) < len(result.names):
        yield "names holds a name twice"
    if not all(name.strip() for name in names):
        yield "names holds an empty name"
    for field in ("levels", "parents", "entropies"):
        if getattr(result, field).keys() != names:
            yield f"{field} is not about the columns in names"
    if result.kinds is not None and result.kinds.keys() != names:
        yield "kinds is not about the columns in names"
    if sorted(result.order) != sorted(result.names):
        yield "order is not an order of the columns in names"
    if sorted(chain.from_iterable(result.layers)) != sorted(result.names):
        yield "layers do not hold each of the columns in names once"
    if not all(result.layers):
        yield "layers holds an empty layer"


def _levels(result: Result) -> Iterator[str]:
    if result.n_rows is None and not is_qualified(result.settings["information"]):
        yield "n_rows is None, and there is no law without rows"
    n_rows = math.inf if result.n_rows is None else result.n_rows
    if n_rows < 2:
        yield f"n_rows is {n_rows}"
    for name, labels in result.levels.items():
        # Only a continuous column has no levels.
        if not labels and result.settings["information"] == "counts":
            yield f"levels has no labels for {name!r}"
        if len({type(label) for label in labels}) > 1:
            yield f"levels has labels of several types for {name!r}"
        if len(set(labels)) < len(labels):
            yield f"levels has a label twice for {name!r}"
        if len(labels) > n_rows:
            yield f"levels has more labels for {name!r} than there are rows"


def _kinds(result: Result) -> Iterator[str]:
    for name, kind in (result.kinds or {}).items():
        if kind not in get_args(ColumnKind):
            yield f"the kind of {name!r} is {kind!r}"


def _numbers(result: Result) -> Iterator[str]:
    for what, value in chain(_entropies(result), _edge_numbers(result)):
        if not math.isfinite(value):
            yield f"{what} is {value!r}"


def _entropies(result: Result) -> Iterator[tuple[str, float]]:
    for name, value in result.entropies.items():
        yield f"the entropy of {name!r}", value
    for admission in result.trace.admissions:
        yield f"the entropy of {admission.name!r} in the trace", admission.entropy
        for value in _some(admission.runner_up_entropy):
            yield f"the runner_up_entropy of {admission.name!r}", value
    for masking in result.trace.maskings:
        yield f"the entropy of {masking.name!r} in the trace", masking.entropy


def _edge_numbers(result: Result) -> Iterator[tuple[str, float]]:
    for edge in result.edges:
        for field in ("gain", "gain_given_rest", "entropy_gap"):
            yield f"the {field} of {edge.parent!r} → {edge.child!r}", getattr(edge, field)


def _graph(result: Result) -> Iterator[str]:
    for child, parents in result.parents.items():
        yield from _unknown(parents, result, f"the parents of {child!r}")
        if len(set(parents)) < len(parents):
            yield f"a parent of {child!r} is named twice"
    try:
        TopologicalSorter(result.parents).prepare()
    except CycleError as error:
        yield f"parents has a cycle: {' → '.join(map(repr, error.args[1]))}"
    place = {name: i for i, name in enumerate(result.order)}
    depth = {name: j for j, layer in enumerate(result.layers) for name in layer}
    for child, parents in result.parents.items():
        for parent in parents:
            if place[parent] >= place[child]:
                yield f"order puts {child!r} before its parent {parent!r}"
            if depth[parent] >= depth[child]:
                yield f"layers put {child!r} no later than its parent {parent!r}"


def _edges(result: Result) -> Iterator[str]:
    listed = [(edge.parent, edge.child) for edge in result.edges]
    if len(set(listed)) < len(listed):
        yield "edges holds an edge twice"
    if set(listed) != {(p, child) for child, parents in result.parents.items() for p in parents}:
        yield "edges and parents disagree"
    for edge in result.edges:
        ends = f"{edge.parent!r} → {edge.child!r}"
        if edge.warrant not in LOOKS:
            yield f"the warrant of {ends} is {edge.warrant!r}"
        if not 0.0 <= edge.direction_probability <= 1.0:
            yield f"the direction_probability of {ends} is {edge.direction_probability!r}"
    kind = KINDS.get(result.settings["information"])
    untested = kind is None or not kind.tested
    for edge in result.edges:
        if untested and math.isnan(edge.p_value):
            continue
        if not 0.0 <= edge.p_value <= 1.0:
            yield f"the p_value of {edge.parent!r} → {edge.child!r} is {edge.p_value!r}"


def _trace(result: Result) -> Iterator[str]:
    trace = result.trace
    for field, entries in (("admissions", trace.admissions), ("selections", trace.selections)):
        if tuple(entry.name for entry in entries) != result.order:
            yield f"trace.{field} does not follow order"
    for verdict in trace.verdicts():
        about = (verdict.target, *verdict.others, *verdict.given)
        yield from _unknown(about, result, "a test of the trace")
    for admission in trace.admissions:
        yield from _admission(result, admission)
    for masking in trace.maskings:
        yield from _misplaced(masking.name, [masking.verdict], dependent=True)
    for selection in trace.selections:
        yield from _selection(result, selection)
    for verdict in trace.verdicts():
        yield from wrong_verdict(verdict)
        if result.n_rows is not None and (verdict.n_rows or 0) > result.n_rows:
            yield f"a test of {verdict.target!r} was made on more rows than there are"
    yield from _places(result)
    yield from _steps(result)


def _ranking(result: Result) -> Iterator[str]:
    auto = result.settings["search"] == "auto"
    if auto and [run.chosen for run in result.ranking[:1]] != [True]:
        yield "ranking does not begin with what was chosen"
    if sum(run.chosen for run in result.ranking) > 1 or (result.ranking and not auto):
        yield "ranking is not that of the search in settings"
    for run in result.ranking:
        if run.search not in _TRIED or not _is_information(run.information):
            yield f"ranking names {run.search!r} on {run.information!r}, which is not tried"
        if not math.isfinite(run.score) or run.n_edges < 0:
            yield f"ranking has no score or no edges for {run.search!r}"


def _left_open(result: Result) -> Iterator[str]:
    for name in result.left_open:
        if name not in ("search", "information"):
            yield f"left_open names {name!r}, which is no setting that can be left open"


def _is_information(name: str) -> bool:
    return name in KINDS or is_qualified(name)


def _admission(result: Result, admission: Admitted) -> Iterator[str]:
    name = admission.name
    if admission.entropy != result.entropies[name]:
        yield f"entropies and trace disagree about {name!r}"
    if (admission.runner_up is None) != (admission.runner_up_entropy is None):
        yield f"the runner-up of {name!r} lacks its name or its entropy"
    if admission.runner_up == name:
        yield f"the runner-up of {name!r} is the column itself"
    yield from _unknown(_some(admission.runner_up), result, "a runner-up")
    yield from _misplaced(name, _some(admission.closest), dependent=False)


def _places(result: Result) -> Iterator[str]:
    placed = [(entry.name, entry.round) for entry in result.trace.admissions]
    placed += [(entry.name, entry.round) for entry in result.trace.maskings]
    for name, number in placed:
        if not 1 <= number <= len(result.names):
            yield f"the trace puts {name!r} in round {number}"


def _selection(result: Result, selection: Selection) -> Iterator[str]:
    name, parents = selection.name, result.parents[selection.name]
    yield from _misplaced(name, selection.taken, dependent=True)
    yield from _misplaced(name, _some(selection.refused), dependent=False)
    yield from _misplaced(name, selection.removed, dependent=False)
    yield from _misplaced(name, selection.retained, dependent=True)
    taken = [other for verdict in selection.taken for other in verdict.others]
    removed = {other for verdict in selection.removed for other in verdict.others}
    if len(set(taken)) < len(taken):
        yield f"{name!r} took a parent twice"
    # Without a boundary search of tamis nothing is taken: all is there from the start. So it is
    # where arrows were turned within their class.
    turned = result.search == ORDERS and not taken
    without = result.settings["boundary"] != "pps" or turned
    if without and taken:
        yield f"{name!r} took parents, though no boundary was searched for"
    found = parents if without else (*_required(result, name), *taken)
    if sorted(parents) != sorted(other for other in found if other not in removed):
        yield f"trace.selections and parents disagree about {name!r}"


def _required(result: Result, child: str) -> list[str]:
    """The parents that a column has by knowledge, which are there before any is taken."""
    return [parent for parent, of in result.required if of == child]


def _steps(result: Result) -> Iterator[str]:
    taken = {
        (other, selection.name): step
        for selection in result.trace.selections
        for step, verdict in enumerate(selection.taken, start=1)
        for other in verdict.others
    }
    for edge in result.edges:
        if edge.step != taken.get((edge.parent, edge.child), 0):
            yield f"edges and trace disagree about when {edge.child!r} took {edge.parent!r}"


def _misplaced(name: str, verdicts: Iterable[Verdict], *, dependent: bool) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.target != name:
            yield f"a test of {verdict.target!r} stands in the trace of {name!r}"
        if verdict.dependent is not dependent:
            yield f"a test of {name!r} stands in the trace for the opposite of what it found"


def _unknown(names: Sequence[str], result: Result, where: str) -> Iterator[str]:
    for name in names:
        if name not in result.parents:
            yield f"{where} names {name!r}, which is not a column"


def _some(value: T | None) -> list[T]:
    return [] if value is None else [value]


def _engine(result: Result) -> Iterator[str]:
    engine = result.engine
    if engine is None:
        return
    if engine.name not in ENGINES:
        yield f"engine.name is {engine.name!r}, and not one of {', '.join(ENGINES)}"
    for field in ("partitions", "rounds", "bytes_moved"):
        if not 0 <= getattr(engine, field) < 2**63:
            yield f"engine.{field} is {getattr(engine, field)}, which it cannot be"
