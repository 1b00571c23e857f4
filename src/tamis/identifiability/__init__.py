"""Can a known network be identified, by how much, and with how many rows?"""

from tamis.identifiability.certificate import Certificate
from tamis.identifiability.check import check
from tamis.identifiability.report import Check
from tamis.identifiability.simulation import Simulation, simulate
from tamis.identifiability.verdicts import Condition, Violation

__all__ = ["Certificate", "Check", "Condition", "Simulation", "Violation", "check", "simulate"]
