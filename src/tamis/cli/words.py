"""What was run, in words: the settings of a result as a person would say them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_SEARCHES = {
    "auto": "the paper's searches, refined by likelihood",
    "sequential": "the least uncertain node next, one at a time",
    "sieve": "layers; masked by every less uncertain node",
    "node": "layers; masked by the node just admitted",
    "layer": "layers; masked by the whole layer so far",
    "reference": "as in the authors' program",
}

_INFORMATION = {
    "counts": "counts of levels",
    "gaussian": "moments of the columns as numbers: linear dependence, exact for Gaussian columns",
    "copula": "moments of the columns' ranks: monotone dependence",
    "neighbours": "nearest neighbours: any smooth dependence",
    "mixed": "nearest neighbours, with levels: any smooth dependence; the order of a level and a "
    "number is a convention",
    "conditional-gaussian": "normal distributions of numbers given levels: linear dependence "
    "within every cell; the order of a level and a number is a convention",
    "lipschitz": "smoothed densities: any dependence, no tests and so no p-values",
}

_CHOSEN = {
    "gaussian": "; curves are not seen, for those there is --information neighbours",
    "conditional-gaussian": " and others hold labels; curves are not seen, for those there is "
    "--information mixed",
}
"""What else to know where the columns have made the choice."""

_RULES = {
    "fixed": "gain above {threshold:g} nats",
    "permutation": "permutation test at alpha {alpha:g}{share}",
    "chi-squared": "G-test at alpha {alpha:g}{share}",
    "f-test": "F test at alpha {alpha:g}{share}",
    "local-permutation": "test by shuffles of near rows at alpha {alpha:g}{share}",
    "p-value": "the test of the source at alpha {alpha:g}{share}",
    "bic": "BIC",
    "rate": "gain above the rate of Theorem tuning, c = {c:g}",
}

_MISSING = {
    "drop": "rows with missing values were left out",
    "drop-anyway": "rows with missing values were left out, however many",
    "level": "missing values are a level of their own",
    "pairwise": "each test on the rows that have its columns",
}
_MOST_LIKELY = "maximum likelihood of what is present; what tests are worth"
"""What is done in place of that with moments."""

_BACKWARD = {
    "one": "superfluous ones removed one at a time",
    "together": "superfluous ones removed together",
    "none": "none removed again",
}


def settings_in_words(
    settings: Mapping[str, Any], *, n_numbers: int = 0, asked_for: str | None = None
) -> dict[str, str]:
    """A line for each choice, under a short title; choices that played no part are left out.

    ``n_numbers`` is the number of columns of numbers if those have chosen the information;
    ``asked_for`` the search that the user named.
    """
    search = settings["search"]
    words = {"search": _named(search, _SEARCHES.get(search))}
    if asked_for == "auto" and search != "auto":
        words["search"] += "; in place of auto, which compares graphs by a likelihood"
    if settings["entropy"] is not None:
        words["entropy"] = _with_parameters(settings["entropy"], "estimator")
    else:
        words["information"] = _information(settings, n_numbers)
    words["parents"] = _parents(settings)
    if search not in ("auto", "sequential"):
        words["masking"] = rule_in_words(settings["masking_rule"])
    if settings.get("missing", "error") != "error":
        by_moments = (settings["missing"], settings["information"]) == ("pairwise", "gaussian")
        words["missing"] = _MOST_LIKELY if by_moments else _MISSING[settings["missing"]]
    return words


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """A rule, as it stands in the settings, in words."""
    sentence = _RULES.get(rule["rule"])
    if sentence is None:
        return _with_parameters(rule, "rule")
    return sentence.format(share=" for the whole graph" if rule.get("whole_graph") else "", **rule)


def options_in_words(message: str) -> str:
    """A message of the library about its parameters, as one about options."""
    # Where a message has words for both, those for Python go.
    message = re.sub(r"\b(information|source|types)=[^;]*; on the command line ", "", message)
    message = message.replace("max_boundary", "--max-boundary")
    message = message.replace("look_ahead", "--look-ahead")
    message = message.replace("units='same'", "--same-units")
    message = message.replace("Set alpha to", "Set --alpha to")
    message = re.sub(
        r"\b(search|boundary|backward|information|missing)='([\w-]+)'", r"--\1 \2", message
    )
    return re.sub(
        r"^(search|boundary|backward|information|source|missing)( must|:| has)", r"--\1\2", message
    )


def count(number: int, thing: str) -> str:
    """A number of things, in the plural unless there is one."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def p_value(p: float) -> str:
    """A p-value as short as it is true; the smallest are cut off where the rules cut them."""
    if math.isnan(p):
        return "no test"
    if p < 1e-299:
        return "< 1e-299"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"


def _information(settings: Mapping[str, Any], n_numbers: int) -> str:
    """What is known of the columns, with its own settings; and why, if nobody asked for it."""
    named = settings["information"]
    words = _INFORMATION.get(named, f"{named}, from outside tamis")
    if settings.get("source"):
        words += f" ({_listed(settings['source'])})"
    if n_numbers and named in _CHOSEN:
        verb = "holds" if n_numbers == 1 else "hold"
        words += f"; chosen because {count(n_numbers, 'column')} {verb} numbers{_CHOSEN[named]}"
    return words


def _parents(settings: Mapping[str, Any]) -> str:
    if not isinstance(settings["boundary"], str):
        return f"found by {_with_parameters(settings['boundary'], 'boundary')}"
    parts = [rule_in_words(settings["boundary_rule"])]
    if settings["boundary"] == "none":
        parts.append("from all nodes before")
    if (settings["look_ahead"] or 1) > 1:
        parts.append(f"up to {settings['look_ahead']} at once where no single one passes")
    if settings["max_boundary"] is not None:
        parts.append(f"at most {settings['max_boundary']}")
    parts.append(_BACKWARD.get(settings["backward"], settings["backward"]))
    return "; ".join(parts)


def _named(name: str, meaning: str | None) -> str:
    return name if meaning is None else f"{name} ({meaning})"


def _with_parameters(written: Mapping[str, Any], title: str) -> str:
    rest = {key: value for key, value in written.items() if key != title}
    return _named(str(written[title]), _listed(rest) or None)


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in parameters.items())
