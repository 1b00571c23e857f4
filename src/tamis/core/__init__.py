"""Counting and searching in C++: the headers here, and what Python sees of them, `_core.pyx`."""

from tamis.core._core import Asked, Dag, Judge, Moments, OrderSearch, Table

__all__ = ["Asked", "Dag", "Judge", "Moments", "OrderSearch", "Table"]
