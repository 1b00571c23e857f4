"""C3: all nodes are equally uncertain given their parents."""

from __future__ import annotations

from tamis.identifiability.known import Known
from tamis.identifiability.verdicts import TOLERANCE, UNDECIDABLE, Condition, Violation


def equal_entropy(known: Known) -> Condition:
    """C3 of the paper (cond:equal), with the spread of H(X_k | pa(k)); the margin is minus that."""
    key, title = "C3", "C3, equal entropy"
    try:
        own = [known.own(k) for k in range(known.n_variables)]
    except UNDECIDABLE as error:
        why = str(error)
        return Condition(key, title, None, None, f"Not decided: {why}", undecided=(why,))
    low, high = min(range(len(own)), key=own.__getitem__), max(range(len(own)), key=own.__getitem__)
    spread = own[high] - own[low]
    details: dict[str, object] = {
        "spread": spread,
        "own_entropies": dict(zip(known.names, own, strict=True)),
    }
    if spread <= TOLERANCE:
        sentence = f"All nodes keep {own[0]:.4g} nats of uncertainty given their parents."
        return Condition(key, title, True, 0.0, sentence, details=details)
    text = (
        f"given its parents {known.name(high)} has {own[high]:.4g} nats of uncertainty left, "
        f"{known.name(low)} has {own[low]:.4g}"
    )
    return Condition(
        key,
        title,
        False,
        -spread,
        f"What is left unsure given the parents differs by up to {spread:.3g} nats.",
        violations=(Violation(text, known.called((low, high)), {"spread": spread}),),
        details=details,
    )
