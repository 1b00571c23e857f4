"""Ratios against peers and against the counting floor, and the choice of defaults."""
