"""Other methods on the same table, most through their own libraries, with one way to run them.

    run = tamis.baselines.run("pc", df, time_limit=60)
    run.graph, run.seconds, run.timed_out, run.failure

Methods that find an equivalence class, and score-based methods that cannot tell its members
apart, give a CPDAG: an undirected edge is there in both directions. ``tamis.metrics`` reads the
runs as they are.

| name | library | method |
|---|---|---|
| ``pc`` | causal-learn | PC with a discrete BIC test, as in the paper |
| ``pc-g2`` | causal-learn | PC with the G² test at 0.05 |
| ``ges`` | tamis | GES with the BDeu score |
| ``ges-bic`` | tamis | GES with the discrete BIC score, as in the paper |
| ``hill-climbing`` | pyAgrum | greedy hill climbing over DAGs, BIC |
| ``tabu`` | pyAgrum | local search with a tabu list, BIC |
| ``miic`` | pyAgrum | MIIC with the MDL correction, which is that of BIC |
| ``boss`` | causal-learn | BOSS with the BDeu score |
| ``flop`` | flopsearch | FLOP, for linear Gaussian columns |
| ``pc-fisher-z`` | causal-learn | PC with Fisher's z-test at 0.05, for linear Gaussian columns |
| ``ges-gaussian`` | tamis | GES with the BIC of linear Gaussian columns |
| ``equal-variance`` | numpy | least conditional variance first: a DAG, for numeric columns |

How they differ from the paper's runs with Tetrad is said in each file.
"""

from __future__ import annotations

from tamis.baselines.interface import Baseline, Learned
from tamis.baselines.running import BaselineRun, available, run

__all__ = ["Baseline", "BaselineRun", "Learned", "available", "run"]
