"""How long a check will take, from the graph alone."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import MOST_GAINS
from tamis.network import BayesianNetwork

SECONDS_A_GAIN = 5e-5
SECONDS_A_QUESTION = 5e-4
"""Measured on ALARM: a gain read off a joint table, and one that is an inference of its own."""
LONG = 60.0
"""Seconds that are announced beforehand."""


@dataclass(frozen=True)
class Forecast:
    """How many gains the conditions compare, about."""

    n_places: int
    """Nodes against earlier layers, in C1 and C2."""
    n_gains: int
    """Gains in the PPS condition, if d-separation is all that makes boundaries small."""
    n_questions: int
    """Gains that the searches ask for: a row of all nodes for each node and step."""

    @property
    def seconds(self) -> float:
        """A guess, good to a factor of a few."""
        questions = self.n_places + self.n_questions
        return self.n_gains * SECONDS_A_GAIN + questions * SECONDS_A_QUESTION

    @property
    def is_long(self) -> bool:
        """Whether it should be announced."""
        return self.seconds > LONG

    def __str__(self) -> str:
        minutes = max(round(self.seconds / 60), 1)
        return (
            f"The PPS condition compares about {float(self.n_gains):.2g} gains, and the searches "
            f"ask for {float(self.n_questions):.2g}: some {minutes} minute"
            f"{'s' if minutes > 1 else ''}. --quick leaves them out."
        )


def forecast(network: BayesianNetwork) -> Forecast:
    """Count what a check will compute; nothing is computed but d-separations."""
    known = Known(network)
    n_gains = 0
    for A in known.canonical[1:-1]:
        for k in known.beyond(A):
            size = len(known.information.relevant(k, A & known.ancestors[k]))
            gains = 2**size * len(A)
            n_gains += gains if gains <= MOST_GAINS else 0
    return Forecast(sum(1 for _ in known.pairs()), n_gains, known.n_variables**3)
