"""How long a check will take, from the graph alone."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import MOST_GAINS
from tamis.information.interface import Context
from tamis.network import BayesianNetwork

SECONDS_A_GAIN = 5e-5
SECONDS_A_QUESTION = 5e-4
SECONDS_A_STEP = 5e-5
SECONDS_A_CELL = 4e-8
"""Measured on ALARM, HAILFINDER and chains: a gain read off a joint table, one that is an inference
of its own, and of an inference the variables eliminated and the cells of the largest table."""
LONG = 60.0
"""Seconds that are announced beforehand."""


@dataclass(frozen=True)
class Forecast:
    """What the conditions compute, about; good to a factor of a few."""

    n_places: int
    """Nodes against earlier layers, in C1 and C2."""
    n_steps: int
    """The variables that are eliminated for these, added up."""
    n_cells: int
    """The cells of the largest tables that these need, added up."""
    n_gains: int
    """Gains in the PPS condition, if d-separation is all that makes boundaries small."""
    n_questions: int
    """Gains that the searches ask for: a row of all nodes for each node and step."""

    def seconds(self, *, quick: bool = False) -> float:
        """The time it will take; ``quick`` leaves the PPS condition and the searches out."""
        first = self.n_steps * SECONDS_A_STEP + self.n_cells * SECONDS_A_CELL
        if quick:
            return first
        return first + self.n_gains * SECONDS_A_GAIN + self.n_questions * SECONDS_A_QUESTION

    def announcement(self, *, quick: bool = False) -> str:
        """A word before anything long; nothing before the rest."""
        seconds = self.seconds(quick=quick)
        if seconds <= LONG:
            return ""
        minutes = max(round(seconds / 60), 1)
        text = f"This will take some {minutes} minute{'s' if minutes > 1 else ''}"
        shorter = self.seconds(quick=True)
        if quick or shorter > seconds / 2:
            return f"{text}; a smaller --memory leaves more undecided and is quicker."
        return (
            f"{text}, most of them for the PPS condition and the searches; --quick leaves them out."
        )


def forecast(network: BayesianNetwork, memory_limit: int | None = None) -> Forecast:
    """Count what a check will compute; nothing is computed but d-separations and plans."""
    known = Known(network, memory_limit)
    limit = known.memory_limit // 8
    steps = cells = 0
    for k, j in known.pairs():
        given = tuple(sorted(known.canonical[j] & known.ancestors[k]))
        largest = known.information.forecast(Context(k, given))
        questions = 1 + len(known.important_candidates(k, j))
        steps += questions * len(known.ancestors[k])
        cells += questions * (largest if largest <= limit else 0)
    n_gains = 0
    for A in known.canonical[1:-1]:
        for k in known.beyond(A):
            size = len(known.information.relevant(k, A & known.ancestors[k]))
            gains = 2**size * len(A)
            n_gains += gains if gains <= MOST_GAINS else 0
    n_places = sum(1 for _ in known.pairs())
    return Forecast(n_places, steps, cells, n_gains, known.n_variables**3)
