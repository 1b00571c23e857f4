"""A learned DAG with its reasons, and the words to tell them."""

from __future__ import annotations

from tamis.result.explanation import (
    Explanation,
    chance,
    describe,
    direction_in_words,
    engine_in_words,
    explain,
    rests_on,
    rows_in_words,
    sentence,
    show,
)
from tamis.result.looks import LOOKS, Look
from tamis.result.model import (
    Admitted,
    Edge,
    Engine,
    Masked,
    Result,
    Run,
    Selection,
    Trace,
    Verdict,
    suggest,
)
from tamis.result.sentences import Said, answer

__all__ = [
    "LOOKS",
    "Admitted",
    "Edge",
    "Engine",
    "Explanation",
    "Look",
    "Masked",
    "Result",
    "Run",
    "Said",
    "Selection",
    "Trace",
    "Verdict",
    "answer",
    "chance",
    "describe",
    "direction_in_words",
    "engine_in_words",
    "explain",
    "rests_on",
    "rows_in_words",
    "sentence",
    "show",
    "suggest",
]
