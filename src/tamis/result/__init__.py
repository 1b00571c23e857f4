"""A learned DAG with its reasons, and the words to tell them."""

from __future__ import annotations

from tamis.result.explanation import Explanation, describe, explain, sentence, show
from tamis.result.model import (
    Admitted,
    Edge,
    Masked,
    Moved,
    Result,
    Run,
    Selection,
    Trace,
    Verdict,
    suggest,
)

__all__ = [
    "Admitted",
    "Edge",
    "Explanation",
    "Masked",
    "Moved",
    "Result",
    "Run",
    "Selection",
    "Trace",
    "Verdict",
    "describe",
    "explain",
    "sentence",
    "show",
    "suggest",
]
