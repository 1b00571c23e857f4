"""The decision rules: what counts as dependence, and what each rule promises.

A rule is a threshold, on p-values or on nats, with its correction for many candidates. The p-values
are the source's, which owns its tests; a rule names the test that it asks for. Rules of your own
derive from ``Rule``.

================ ============================================ ==================================
rule             information counts as dependence when     choose it
================ ============================================ ==================================
Permutation      p < alpha / tests, by permutation moments    for rows; holds in sparse tables
ChiSquared       p < alpha / tests, by the G-test             for rows that fill every cell
BIC              it raises the likelihood past a penalty      for few false edges, no alpha
Fixed            it exceeds a number of nats                  for exact or smoothed information
Rate             it exceeds a number set by n and d           to follow Theorem thm:tuning
FTest            p < alpha / tests, by the F test             for moments (gaussian, copula)
LocalPermutation p < alpha / tests, by shuffles of near rows  for neighbours (neighbours, mixed)
PValue           p < alpha / tests, by the source's own test  for any source that has one
Score            it raises the score of the family            what "auto" and "sequential" do
CallableTest     p < alpha / tests, by a function of yours    for a test of another library
================ ============================================ ==================================
"""

from __future__ import annotations

from tamis.decisions.p_values import (
    CallableTest,
    ChiSquared,
    FTest,
    LocalPermutation,
    Permutation,
    PValue,
)
from tamis.decisions.rule import BIC, Fixed, Rate, Rule, Score

__all__ = [
    "BIC",
    "CallableTest",
    "ChiSquared",
    "FTest",
    "Fixed",
    "LocalPermutation",
    "PValue",
    "Permutation",
    "Rate",
    "Rule",
    "Score",
]
