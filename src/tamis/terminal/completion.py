"""The words that the shell offers after an option; where there are none it offers files.

Written down here and compared with what the library knows by a test, because a completion must
not wait for the library to be imported.
"""

from __future__ import annotations

from collections.abc import Callable

Completer = Callable[[str], list[str]]


def _among(*words: str) -> Completer:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


searches = _among("auto", "node", "layer", "sieve", "sequential", "reference")
information = _among(
    "auto",
    "counts",
    "gaussian",
    "copula",
    "conditional-gaussian",
    "neighbours",
    "mixed",
    "lipschitz",
)
entropies = _among("grassberger", "plugin", "miller-madow", "jackknife", "minimax")
# Without their parameters: a colon ends a word in bash.
rules = _among(
    "permutation", "chi-squared", "bic", "rate", "fixed", "f-test", "local-permutation", "p-value"
)
boundaries = _among("pps", "none")
backward = _among("one", "together", "none")
missing = _among("error", "drop", "level", "pairwise", "drop-anyway")
