"""Single quantities of a table: an entropy, a conditional mutual information, a boundary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tamis.choices import as_backward, require_size
from tamis.decisions.p_values import Permutation
from tamis.decisions.rule import Rule
from tamis.decisions.specification import as_rule
from tamis.errors import SettingError
from tamis.information.counted import CountedInformation
from tamis.information.estimators import EntropyEstimator
from tamis.information.interface import Context, Group
from tamis.result import suggest
from tamis.search.pps import PPS
from tamis.search.selection import Selector
from tamis.tables import Table, read_table

Columns = str | Sequence[str]
"""One column or several, by name."""


def entropy(
    data: object,
    columns: Columns,
    given: Columns = (),
    *,
    estimator: str | EntropyEstimator = "plugin",
) -> float:
    """H(columns | given) in nats, the columns taken together.

    A conditional entropy is the difference of two joint ones, by the same estimator. The
    plug-in is what other libraries compute; the searches rank by less biased ones.
    """
    table = read_table(data)
    targets, conditions = _positions(table, columns), _positions(table, given)
    if not targets:
        raise SettingError("entropy needs at least one column")
    information = CountedInformation(table, estimator, n_jobs=1)
    # The chain rule, one column at a time, telescopes to H(columns, given) - H(given).
    total = 0.0
    seen = list(conditions)
    for k in targets:
        if k not in seen:
            total += float(information.entropies([Context(k, tuple(sorted(seen)))])[0])
            seen.append(k)
    return total


def conditional_mutual_information(
    data: object,
    x: Columns,
    y: Columns,
    given: Columns = (),
    *,
    estimator: str | EntropyEstimator = "plugin",
) -> float:
    """I(x ; y | given) in nats; several columns on a side are taken together.

    The plug-in is never negative and biased upward; the gain on a learned edge is by the
    estimator of its search.
    """
    table = read_table(data)
    xs, ys, zs = (_positions(table, side) for side in (x, y, given))
    if not xs or not ys:
        raise SettingError("conditional_mutual_information needs columns on both sides")
    overlap = (set(xs) & set(ys)) | (set(xs) & set(zs)) | (set(ys) & set(zs))
    if overlap:
        shared = ", ".join(repr(table.names[k]) for k in sorted(overlap))
        raise SettingError(f"x, y and given must have no column in common; they share {shared}")
    information = CountedInformation(table, estimator, n_jobs=1)
    # I(x1, x2 ; y | z) = I(x1 ; y | z) + I(x2 ; y | z, x1)
    total = 0.0
    for i, k in enumerate(xs):
        known = tuple(sorted((*zs, *xs[:i])))
        total += float(information.joint_tests([Group(k, known, tuple(ys))]).cmi[0])
    return total


def markov_boundary(
    data: object,
    target: str,
    candidates: Sequence[str] | None = None,
    *,
    rule: float | Rule | None = None,
    backward: str | bool = "one",
    estimator: str | EntropyEstimator = "grassberger",
    max_boundary: int | None = None,
) -> list[str]:
    """The Markov boundary of ``target`` among ``candidates`` (default: all other columns).

    PPS, then the backward phase of IAMB: "one" at a time, "together" or "none". The members
    come in the order they were taken. With all columns as candidates this is the boundary in
    the whole graph, children and their other parents included.
    """
    backward = as_backward(backward)
    require_size("max_boundary", max_boundary)
    table = read_table(data)
    table = table.select(sorted(range(table.n_variables), key=table.names.__getitem__))
    targets = _positions(table, target)
    if len(targets) != 1:
        raise SettingError(f"target must be one column, not {target!r}")
    k = targets[0]
    others = sorted(
        set(range(table.n_variables)) - {k}
        if candidates is None
        else set(_positions(table, candidates)) - {k}
    )
    information = CountedInformation(table, estimator, n_jobs=1)
    decide_by = Permutation(0.001) if rule is None else as_rule(rule)
    bound = decide_by.bind(information.n_rows, information.n_variables)
    selector = Selector(PPS(information, bound, max_boundary=max_boundary), backward=False)
    found = selector.boundary(k, others)
    if backward != "none":
        (found,) = selector.shrink([found], [len(others)], together=backward == "together")
    return [table.names[m] for m in found.members]


def _positions(table: Table, columns: Columns | None) -> list[int]:
    """Where these columns stand, each once; names are compared as strings, as tables read them."""
    if columns is None:
        return []
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    wanted = list(dict.fromkeys(map(str, columns if several else [columns])))
    positions = {name: k for k, name in enumerate(table.names)}
    for name in wanted:
        if name not in positions:
            raise SettingError(f"there is no column {name!r}; {suggest(name, table.names)}")
    return [positions[name] for name in wanted]
