"""tamis: learn one Bayesian-network DAG from data by sieving variables layer by layer.

The public names; each is imported when first used, so that starting the command is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis import constants as constants
    from tamis import metrics as metrics
    from tamis import rules as rules
    from tamis import simulate as simulate
    from tamis.comparison import Comparison
    from tamis.comparison.methods import compare
    from tamis.errors import (
        DataError,
        FileFormatError,
        PluginError,
        SettingError,
        TamisError,
        TamisWarning,
    )
    from tamis.estimator import TAM
    from tamis.formats import load, save
    from tamis.identifiability.check import check
    from tamis.identifiability.report import Check
    from tamis.information.estimators import EntropyEstimator
    from tamis.information.interface import Ability, Context, Group, Profiles, Query, Source, Tests
    from tamis.inspection import inspect
    from tamis.knowledge import Knowledge
    from tamis.network import BayesianNetwork, GaussianNetwork
    from tamis.quantities import conditional_mutual_information, entropy, markov_boundary
    from tamis.result import Result
    from tamis.tables.cuts import Discretization
    from tamis.tables.discretize import discretize
    from tamis.tables.plan import ColumnPlan, Plan
    from tamis.tables.suspicions import Suspicion
    from tamis.tables.table import TableView

    __version__: str

_HOME = {
    "TAM": "tamis.estimator",
    "BayesianNetwork": "tamis.network",
    "GaussianNetwork": "tamis.network",
    "Check": "tamis.identifiability",
    "check": "tamis.identifiability",
    "Comparison": "tamis.comparison",
    "compare": "tamis.comparison.methods",
    "Discretization": "tamis.tables.cuts",
    "discretize": "tamis.tables.discretize",
    "Ability": "tamis.information.interface",
    "Context": "tamis.information.interface",
    "EntropyEstimator": "tamis.information.estimators",
    "Group": "tamis.information.interface",
    "Profiles": "tamis.information.interface",
    "Query": "tamis.information.interface",
    "Source": "tamis.information.interface",
    "Tests": "tamis.information.interface",
    "inspect": "tamis.inspection",
    "Plan": "tamis.tables.plan",
    "ColumnPlan": "tamis.tables.plan",
    "Suspicion": "tamis.tables.suspicions",
    "Knowledge": "tamis.knowledge",
    "TableView": "tamis.tables.table",
    "Result": "tamis.result",
    "load": "tamis.formats",
    "save": "tamis.formats",
    "entropy": "tamis.quantities",
    "conditional_mutual_information": "tamis.quantities",
    "markov_boundary": "tamis.quantities",
    "TamisError": "tamis.errors",
    "DataError": "tamis.errors",
    "SettingError": "tamis.errors",
    "FileFormatError": "tamis.errors",
    "PluginError": "tamis.errors",
    "TamisWarning": "tamis.errors",
}

__all__ = [
    "TAM",
    "Ability",
    "BayesianNetwork",
    "Check",
    "ColumnPlan",
    "Comparison",
    "Context",
    "DataError",
    "Discretization",
    "EntropyEstimator",
    "FileFormatError",
    "GaussianNetwork",
    "Group",
    "Knowledge",
    "Plan",
    "PluginError",
    "Profiles",
    "Query",
    "Result",
    "SettingError",
    "Source",
    "Suspicion",
    "TableView",
    "TamisError",
    "TamisWarning",
    "Tests",
    "__version__",
    "check",
    "compare",
    "conditional_mutual_information",
    "constants",
    "discretize",
    "entropy",
    "inspect",
    "load",
    "markov_boundary",
    "metrics",
    "rules",
    "save",
    "simulate",
]


# Hidden from type checkers: to them it would say that every name is there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
        if name in _HOME:
            return getattr(import_module(_HOME[name]), name)
        if name in ("constants", "metrics", "rules", "simulate"):
            return import_module(f"tamis.{name}")
        if name == "__version__":
            from importlib.metadata import version

            return version("tamis")
        raise AttributeError(f"module 'tamis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
