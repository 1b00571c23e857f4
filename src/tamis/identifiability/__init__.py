"""Can a known network be identified, by how much, and with how many rows?"""

from tamis.identifiability.check import check
from tamis.identifiability.recovery import RecoveryCheck
from tamis.identifiability.report import Check
from tamis.identifiability.simulation import Simulation, simulate
from tamis.identifiability.verdicts import Condition, Violation

__all__ = ["Check", "Condition", "RecoveryCheck", "Simulation", "Violation", "check", "simulate"]
