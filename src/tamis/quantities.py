"""Single quantities of a table: an entropy, a conditional mutual information, a boundary."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.choices import as_backward
from tamis.decisions.p_values import Permutation
from tamis.decisions.rule import Rule
from tamis.decisions.specification import as_rule
from tamis.errors import SettingError
from tamis.information.counted import CountedInformation
from tamis.information.estimators import EntropyEstimator, EstimatorName
from tamis.information.interface import Context, Group
from tamis.parameters import Backward, require
from tamis.plugins import listed
from tamis.result import suggest
from tamis.search.boundary import Selection
from tamis.search.remembered import Remembered
from tamis.tables import Table, read_table

Columns = str | Sequence[str]
"""One column or several, by name."""


def entropy(
    data: object,
    columns: Columns,
    given: Columns = (),
    *,
    estimator: EstimatorName | EntropyEstimator = "plugin",
) -> float:
    """Estimate a joint or conditional entropy, H(columns | given), in nats.

    Parameters
    ----------
    data : data frame, array, mapping or path
        A table, as ``tamis.TAM().fit`` takes it.
    columns : str or sequence of str
        One column, or several that are taken together.
    given : str or sequence of str
        What to condition on. A conditional entropy is the difference of two joint entropies, by the
        same estimator.
    estimator : str or EntropyEstimator
        As in `tamis.TAM`. The plug-in is what other libraries compute; the searches use less biased
        estimators.

    Returns
    -------
    float
        The entropy in nats.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1], "wet": [0, 0, 1, 1]}
    >>> round(tamis.entropy(rows, "wet"), 3), tamis.entropy(rows, "wet", given="rain")
    (0.693, 0.0)
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
    estimator: EstimatorName | EntropyEstimator = "plugin",
) -> float:
    """Estimate a conditional mutual information, I(x ; y | given), in nats.

    Parameters
    ----------
    data : data frame, array, mapping or path
        A table, as ``tamis.TAM().fit`` takes it.
    x, y : str or sequence of str
        One column on each side, or several that are taken together.
    given : str or sequence of str
        What to condition on.
    estimator : str or EntropyEstimator
        As in `tamis.TAM`. The plug-in is never negative, and biased upward. The gain on a learned
        edge comes from the estimator of its search.

    Returns
    -------
    float
        The information in nats.

    Examples
    --------
    >>> import tamis
    >>> rows = {"rain": [0, 0, 1, 1], "wet": [0, 0, 1, 1], "coin": [0, 1, 0, 1]}
    >>> round(tamis.conditional_mutual_information(rows, "rain", "wet", given="coin"), 3)
    0.693
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
    backward: Backward | bool = "one",
    estimator: EstimatorName | EntropyEstimator = "grassberger",
    max_boundary: int | None = None,
) -> list[str]:
    """Find the Markov boundary of a column: PPS, then the backward phase of IAMB.

    With all columns as candidates this is the boundary in the whole graph, which includes children
    and their other parents.

    Parameters
    ----------
    data : data frame, array, mapping or path
        A table, as ``tamis.TAM().fit`` takes it.
    target : str
        The column whose boundary is wanted.
    candidates : sequence of str or None
        Where to look; None is all other columns.
    rule : float, rule of `tamis.rules` or None
        When information counts as dependence; None is Permutation(0.001).
    backward : {"one", "together", "none"} or bool
        How superfluous members are removed.
    estimator : str or EntropyEstimator
        As in `tamis.TAM`.
    max_boundary : int or None
        The size of the largest boundary that PPS may build.

    Returns
    -------
    list of str
        The members in the order in which they were selected.

    Examples
    --------
    >>> import tamis
    >>> orchard = tamis.BayesianNetwork.example("orchard").sample(500, seed=1)
    >>> sorted(tamis.markov_boundary(orchard, "harvest", candidates=["fruit", "bees", "frost"]))
    ['fruit']
    """
    backward = as_backward(backward)
    require(max_boundary=max_boundary)
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
    selection = Selection(Remembered(information, bound), limit=max_boundary, backward=backward)
    return [table.names[m] for m in selection.boundary(k, others).members]


def _positions(table: Table, columns: Columns | None) -> list[int]:
    """Where these columns stand, each once; names are compared as strings, as tables read them."""
    if columns is None:
        return []
    several = listed(columns)
    wanted = list(dict.fromkeys(map(str, [columns] if several is None else several)))
    positions = {name: k for k, name in enumerate(table.names)}
    for name in wanted:
        if name not in positions:
            raise SettingError(f"there is no column {name!r}; {suggest(name, table.names)}")
    return [positions[name] for name in wanted]
