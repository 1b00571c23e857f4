"""The decision rules: what counts as dependence, and what each rule promises.

================ ============================================ ==================================
rule             a gain counts as dependence when             choose it
================ ============================================ ==================================
Permutation      p < alpha / tests, by permutation moments    for rows; holds in sparse tables
ChiSquared       p < alpha / tests, by the G-test             for rows that fill every cell
BIC              it raises the likelihood past a penalty      for few false edges, no level
Fixed            it exceeds a number of nats                  for exact or smoothed information
Rate             it exceeds a number set by n and d           to follow Theorem thm:tuning
FTest            p < alpha / tests, by the F test             for moments (gaussian, copula)
LocalPermutation p < alpha / tests, by shuffles of near rows  for neighbours (neighbours, mixed)
================ ============================================ ==================================
"""

from __future__ import annotations

from tamis.decisions.bic import BIC
from tamis.decisions.chi_squared import ChiSquared
from tamis.decisions.f_test import FTest
from tamis.decisions.fixed import Fixed
from tamis.decisions.local_permutation import LocalPermutation
from tamis.decisions.permutation import Permutation
from tamis.decisions.rate import Rate
from tamis.decisions.rule import Rule

__all__ = [
    "BIC",
    "ChiSquared",
    "FTest",
    "Fixed",
    "LocalPermutation",
    "Permutation",
    "Rate",
    "Rule",
]
