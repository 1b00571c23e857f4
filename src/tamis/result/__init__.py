"""A learned DAG with its reasons, and the words to tell them."""

from __future__ import annotations

from tamis.result.explanation import Explanation, describe, engine_in_words, explain, sentence, show
from tamis.result.model import (
    Admitted,
    Edge,
    Engine,
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
    "Engine",
    "Explanation",
    "Masked",
    "Moved",
    "Result",
    "Run",
    "Selection",
    "Trace",
    "Verdict",
    "describe",
    "engine_in_words",
    "explain",
    "sentence",
    "show",
    "suggest",
]
