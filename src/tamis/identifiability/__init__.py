"""Can a known network be identified, by how much, and with how many rows?"""

from tamis.identifiability.check import check
from tamis.identifiability.conditions import Condition, Violation
from tamis.identifiability.recovery import RecoveryCheck, Simulation, simulate
from tamis.identifiability.report import Check

__all__ = ["Check", "Condition", "RecoveryCheck", "Simulation", "Violation", "check", "simulate"]
