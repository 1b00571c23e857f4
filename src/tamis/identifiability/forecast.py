"""How long a check will take, from the graph alone."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.identifiability.known import Known
from tamis.identifiability.pps_condition import MOST_GAINS
from tamis.network import BayesianNetwork

SECONDS_A_GAIN = 5e-4
"""Measured on ALARM; most of it is bookkeeping, so it depends little on the machine's load."""
LONG = 60.0
"""Seconds that are announced beforehand."""


@dataclass(frozen=True)
class Forecast:
    """How many gains the conditions compare, about."""

    n_places: int
    """Nodes against earlier layers, in C1 and C2."""
    n_gains: int
    """Gains in the PPS condition, if d-separation is all that makes boundaries small."""

    @property
    def seconds(self) -> float:
        """A guess, good to a factor of a few."""
        return (self.n_places + 3 * self.n_gains) * SECONDS_A_GAIN

    @property
    def is_long(self) -> bool:
        """Whether it should be announced."""
        return self.seconds > LONG

    def __str__(self) -> str:
        minutes = max(round(self.seconds / 60), 1)
        return (
            f"The PPS condition compares about {float(self.n_gains):.2g} gains: some {minutes} "
            f"minute{'s' if minutes > 1 else ''}. --quick leaves it out."
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
    return Forecast(sum(1 for _ in known.pairs()), n_gains)
