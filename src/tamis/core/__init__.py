"""Counting and searching in C++: the headers here, and what Python sees of them, `_core.pyx`."""
