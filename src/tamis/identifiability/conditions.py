"""Conditions on single nodes, edges and the graph, and what a check says of any condition: whether
it holds, by how much, and who breaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from tamis.identifiability.known import Known, resolved
from tamis.information.inference import TooLarge
from tamis.network import GaussianNetwork

TOLERANCE = 1e-9
"""Entropies are exact to about 1e-12 nats; a strict inequality must hold by this many."""


class TooMany(Exception):  # noqa: N818 - it is caught, never seen
    """More quantities than a check is ready to compute; the message says how many of what."""


UNDECIDABLE = (TooLarge, TooMany)
"""What leaves a condition undecided."""


@dataclass(frozen=True)
class Violation:
    """Where a condition breaks, in words and in numbers; ``names`` are the nodes involved."""

    text: str
    names: tuple[str, ...]
    numbers: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {"text": self.text, "names": list(self.names), "numbers": dict(self.numbers)}


@dataclass(frozen=True, repr=False)
class Condition:
    """One condition of the paper on one network.

    ``holds`` is None where it could not be decided; ``undecided`` says what stood in the way.
    ``margin`` is the slack of the tightest inequality, negative where it is broken, and None
    where nothing was computed or there is nothing to be short of.
    """

    key: str
    title: str
    holds: bool | None
    margin: float | None
    sentence: str
    unit: str = "nats"
    violations: tuple[Violation, ...] = ()
    undecided: tuple[str, ...] = ()
    details: dict[str, object] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return {True: "holds", False: "fails", None: "undecided"}[self.holds]

    def __repr__(self) -> str:
        margin = "" if self.margin is None else f", margin {self.margin:+.3g} {self.unit}"
        return f"<Condition {self.key}: {self.word}{margin}>"

    def __str__(self) -> str:
        return f"{self.title}: {self.word}. {self.sentence}"

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "title": self.title,
            "holds": self.holds,
            "margin": self.margin,
            "unit": self.unit,
            "sentence": self.sentence,
            "violations": [violation.to_dict() for violation in self.violations],
            "undecided": list(self.undecided),
            "details": self.details,
        }


class Findings:
    """Gathers the inequalities of one condition, each with its slack."""

    def __init__(self, tolerance: float = TOLERANCE) -> None:
        self._tolerance = tolerance
        self.margin: float | None = None
        self.violations: list[tuple[float, Violation]] = []
        self.undecided: list[str] = []

    def add(self, slack: float, violation: Callable[[], Violation]) -> None:
        """One inequality; the violation is only put in words if there is one."""
        if self.margin is None or slack < self.margin:
            self.margin = slack
        if slack <= self._tolerance:
            self.violations.append((slack, violation()))

    def skip(self, what: str) -> None:
        """One inequality that could not be computed."""
        self.undecided.append(what)

    @property
    def holds(self) -> bool | None:
        """A violation settles it; without one, everything must have been seen."""
        if self.violations:
            return False
        return None if self.undecided else True

    def condition(
        self,
        key: str,
        title: str,
        *,
        good: str,
        bad: str,
        unit: str = "nats",
        details: dict[str, object] | None = None,
    ) -> Condition:
        """The verdict, with the sentence for the good or for the bad case."""
        worst_first = sorted(self.violations, key=lambda pair: pair[0])
        sentence = {
            True: good,
            False: bad,
            None: "Not decided: " + (self.undecided[0] if self.undecided else "nothing computed."),
        }[self.holds]
        return Condition(
            key,
            title,
            self.holds,
            self.margin,
            sentence,
            unit,
            tuple(violation for _, violation in worst_first),
            tuple(self.undecided),
            details or {},
        )


def equal_entropy(known: Known) -> Condition:
    """C3 of the paper (cond:equal), with the spread of H(X_k | pa(k)); the margin is minus that."""
    key, title = "C3", "C3, equal entropy"
    try:
        own = [known.own(k) for k in range(known.n_variables)]
    except UNDECIDABLE as error:
        why = str(error)
        return Condition(key, title, None, None, f"Not decided: {why}", undecided=(why,))
    low, high = min(range(len(own)), key=own.__getitem__), max(range(len(own)), key=own.__getitem__)
    spread = own[high] - own[low]
    details: dict[str, object] = {
        "spread": spread,
        "own_entropies": dict(zip(known.names, own, strict=True)),
    }
    if spread <= TOLERANCE:
        sentence = f"All nodes keep {own[0]:.4g} nats of uncertainty given their parents."
        return Condition(key, title, True, 0.0, sentence, details=details)
    text = (
        f"given its parents {known.name(high)} has {own[high]:.4g} nats of uncertainty left, "
        f"{known.name(low)} has {own[low]:.4g}"
    )
    return Condition(
        key,
        title,
        False,
        -spread,
        f"What is left unsure given the parents differs by up to {spread:.3g} nats.",
        violations=(Violation(text, known.called((low, high)), {"spread": spread}),),
        details=details,
    )


def positivity(known: Known) -> Condition:
    """Every cell of the joint distribution has positive probability.

    The joint is the product of the tables, and all combinations occur once all tables are
    positive; so it is enough to look at these. Normal densities are positive everywhere.
    """
    findings = Findings(tolerance=0.0)
    network = known.network
    for k, table in enumerate(() if isinstance(network, GaussianNetwork) else network.tables):
        smallest = float(table.min())
        findings.add(smallest, partial(_zero, known, k, table))
    return findings.condition(
        "positivity",
        "Positivity",
        good="Every combination of values can occur, so Markov boundaries are unique.",
        bad="Some combinations of values cannot occur; what matters then is nondegeneracy.",
        unit="probability",
    )


def _zero(known: Known, k: int, table: NDArray[np.float64]) -> Violation:
    network = known.network
    zeros = np.argwhere(table == 0)
    *configuration, level = (int(v) for v in zeros[0])
    label = network.levels[k][level]
    given = ", ".join(
        f"{known.name(p)}={network.levels[p][v]}"
        for p, v in zip(known.parents[k], configuration, strict=True)
    )
    text = f"P({known.name(k)}={label}" + (f" | {given})" if given else ")") + " = 0"
    if len(zeros) > 1:
        text += f", and {len(zeros) - 1} more in its table"
    return Violation(text, (known.name(k),), {"zeros": float(len(zeros))})


def minimality(known: Known) -> Condition:
    """Whether the graph is a minimal I-map, as every theorem assumes: no edge can be left out.

    A parent is needed when it informs about the node given all the other parents.
    """

    def gain(p: int, k: int) -> float:
        return known.information.gain(k, [p], set(known.parents[k]) - {p})

    return _edge_by_edge(known, gain, _superfluous).condition(
        "minimal",
        "Minimal I-map",
        good="Every edge is needed.",
        bad="Some edge can be left out, and no method can find it.",
    )


def nondegeneracy(known: Known) -> Condition:
    """cond:mi, by one inequality an edge (see above)."""

    def slack(p: int, k: int) -> float:
        return resolved(least_uncertainty(known, k, p) - known.own(k))

    return _edge_by_edge(known, slack, _certain_too_soon).condition(
        "nondegeneracy",
        "Nondegeneracy (cond:mi)",
        good="As long as a parent is missing, whatever else is known, the node is less certain.",
        bad="Some node can be as certain as it will ever be before its last parent is known.",
    )


def _edge_by_edge(
    known: Known,
    slack: Callable[[int, int], float],
    violation: Callable[[Known, int, int], Violation],
) -> Findings:
    """One inequality for each edge p -> k."""
    findings = Findings()
    for k, parents in enumerate(known.parents):
        for p in parents:
            try:
                findings.add(slack(p, k), partial(violation, known, p, k))
            except UNDECIDABLE as error:
                findings.skip(str(error))
    return findings


def _superfluous(known: Known, p: int, k: int) -> Violation:
    text = f"{known.name(p)} -> {known.name(k)} makes no difference given the other parents"
    return Violation(text, known.called((p, k)))


def least_uncertainty(known: Known, k: int, p: int) -> float:
    """The least H(X_k | A) over the ancestral sets A that miss the parent p."""
    without = frozenset(a for a in known.ancestors[k] if a != p and p not in known.ancestors[a])
    return known.entropy(k, without)


def _certain_too_soon(known: Known, p: int, k: int) -> Violation:
    return Violation(
        f"{known.name(p)} -> {known.name(k)}: given all nodes but {known.name(p)} and what comes "
        "after it, the parents still missing say nothing more",
        known.called((p, k)),
    )


@dataclass(frozen=True)
class Paths:
    """How many directed paths there are."""

    total: int
    most: int
    """Between one pair of nodes."""
    ends: tuple[str, str] | None
    """Such a pair."""

    def to_dict(self) -> dict[str, object]:
        """Convert it to what JSON can hold."""
        return {
            "total": self.total,
            "most": self.most,
            "ends": None if self.ends is None else list(self.ends),
        }


def directed_paths(known: Known) -> Paths:
    """Count the directed paths between all pairs, by dynamic programming along the arrows."""
    order = list(nx.topological_sort(known.graph))
    total, most, ends = 0, 0, None
    for start in order:
        ways = {start: 1}
        for k in order:
            if k != start:
                n = sum(ways.get(p, 0) for p in known.parents[k])
                if n:
                    ways[k] = n
                    total += n
                    if n > most:
                        most, ends = n, (known.name(start), known.name(k))
    return Paths(total, most, ends)


def polyforest(known: Known) -> Condition:
    """Whether the skeleton has no cycle.

    Theorem thm:poly and Lemma lem:poly then promise the PPS condition and C2. Both fail for the
    noisy parity of fair coins, and with more than two levels a node can be independent of its
    grandparent along a single path (docs/departures.md); so both are computed all the same.
    """
    skeleton = known.graph.to_undirected()
    cycles = nx.cycle_basis(skeleton)
    holds = not cycles
    shortest = min(cycles, key=len) if cycles else []
    names = known.called(shortest)
    text = "the skeleton has a cycle: " + " - ".join((*names, *names[:1]))
    return Condition(
        "polyforest",
        "Polyforest",
        holds,
        None,
        "At most one path joins any two nodes, so effects cannot cancel along several."
        if holds
        else f"The skeleton has {len(cycles)} independent "
        + ("cycle." if len(cycles) == 1 else "cycles."),
        unit="",
        violations=() if holds else (Violation(text, names),),
        details={"independent_cycles": len(cycles)},
    )


MOST_TESTS = 40_000
"""Independences looked at before giving up; 11 nodes make 28 160."""


def n_tests(n_variables: int) -> int:
    """Pairs of nodes times sets of the others."""
    return comb(n_variables, 2) << max(n_variables - 2, 0)


def faithful(known: Known, left_out: str = "") -> Condition:
    """Every conditional independence against d-separation, on networks small enough.

    ``left_out`` says why it is not to be looked at at all.
    """
    d = known.n_variables
    findings = Findings()
    if left_out:
        findings.skip(left_out)
    elif n_tests(d) > MOST_TESTS:
        findings.skip(
            f"{d} nodes have {float(n_tests(d)):.2g} conditional independences; "
            f"up to {MOST_TESTS} are looked at."
        )
    else:
        try:
            _compare_independences(known, findings)
        except UNDECIDABLE as error:
            findings.skip(str(error))
    return findings.condition(
        "faithful",
        "Faithfulness (not needed)",
        good="All independences are those of the graph; methods that need this may be used too.",
        bad="There are independences that the graph does not show; PC and GES may be misled.",
    )


def _compare_independences(known: Known, findings: Findings) -> None:
    ask = known.information
    nodes = range(known.n_variables)
    for x, y in combinations(nodes, 2):
        others = [k for k in nodes if k not in (x, y)]
        for size in range(len(others) + 1):
            for S in combinations(others, size):
                if not known.separated_in_graph(x, y, S):
                    gain = ask.gain(x, [y], S)
                    findings.add(gain, partial(_unfaithful, known, x, y, S))


def _unfaithful(known: Known, x: int, y: int, S: tuple[int, ...]) -> Violation:
    names = known.called((x, y, *S))
    given = f" given {', '.join(names[2:])}" if S else ""
    text = f"{names[0]} and {names[1]} are independent{given}, though not separated in the graph"
    return Violation(text, names, {"tolerance": TOLERANCE})
