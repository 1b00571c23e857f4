"""A learned model as one HTML file, for people."""

from __future__ import annotations

from tamis.report.page import write_report

__all__ = ["write_report"]
