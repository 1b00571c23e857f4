"""Faithfulness, which the method does not need: every independence is a d-separation.

A pair of nodes and a set at a time is enough: if two sets of nodes are independent, so is every
pair across them, and if they are not d-separated, some pair across them is not.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import comb

from tamis.identifiability.known import Known
from tamis.identifiability.verdicts import TOLERANCE, UNDECIDABLE, Condition, Findings, Violation

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
            _compare(known, findings)
        except UNDECIDABLE as error:
            findings.skip(str(error))
    return findings.condition(
        "faithful",
        "Faithfulness (not needed)",
        good="All independences are those of the graph; methods that need this may be used too.",
        bad="There are independences that the graph does not show; PC and GES may be misled.",
    )


def _compare(known: Known, findings: Findings) -> None:
    ask = known.information
    nodes = range(known.n_variables)
    for x, y in combinations(nodes, 2):
        others = [k for k in nodes if k not in (x, y)]
        for size in range(len(others) + 1):
            for S in combinations(others, size):
                if not known.separated_in_graph(x, y, S):
                    gain = ask.gain(x, [y], S)
                    findings.add(gain, partial(_violation, known, x, y, S))


def _violation(known: Known, x: int, y: int, S: tuple[int, ...]) -> Violation:
    names = known.called((x, y, *S))
    given = f" given {', '.join(names[2:])}" if S else ""
    text = f"{names[0]} and {names[1]} are independent{given}, though not separated in the graph"
    return Violation(text, names, {"tolerance": TOLERANCE})
