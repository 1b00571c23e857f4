"""Contingency tables: bit planes and the compiled loops that count, fold and test them."""
