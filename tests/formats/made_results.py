"""Results made up by hypothesis: consistent, and otherwise as strange as they can be."""

from __future__ import annotations

import hypothesis.strategies as st

from tamis.parameters import BACKWARD, SEARCHES, UNITS
from tamis.result import LOOKS, Admitted, Edge, Masked, Result, Selection, Trace, Verdict
from tamis.rules import BIC, ChiSquared, Fixed, Permutation, Rate
from tamis.settings import Settings

STRANGE = (
    'say "hi"', "back\\slash", "ends in \\", "\\", "two\nlines", "carriage\rreturn", "a\r\nb",
    "tab\there", "<script>alert(1)</script>", "a & b", "&lt;", "=1+1", "@x", " x ", "\u3000x",
    "\u202eevil", "x\x85", "\u2028x", "é", "日本", "🙂", "[red]", "a,b", "'", "12", "null", "\\n",
)  # fmt: skip

characters = st.characters(codec="utf-8")
xml_characters = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
pairs = st.tuples(numbers, numbers)


def names_of(alphabet: st.SearchStrategy[str] = characters) -> st.SearchStrategy[str]:
    return st.sampled_from(STRANGE) | st.text(alphabet, min_size=1, max_size=6).filter(str.strip)


labels = st.one_of(
    st.lists(st.text(characters, max_size=4), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-(2**63), 2**63), min_size=1, max_size=3, unique=True),
    st.permutations([False, True]),
).map(tuple)

kinds = st.sampled_from(["category", "ordinal", "number"])

levels_of_rules = st.floats(1e-300, 1, exclude_max=True)
rules = st.one_of(
    st.floats(0, 10).map(Fixed),
    levels_of_rules.map(ChiSquared),
    levels_of_rules.map(Permutation),
    st.just(BIC()),
    levels_of_rules.map(Rate),
)


@st.composite
def settings_of(draw, boundary):
    search = draw(st.sampled_from([s for s in SEARCHES if s not in ("auto", "reference")]))
    made = Settings(
        search=search,
        entropy=draw(st.sampled_from([None, "plugin", "jackknife", "minimax"])),
        boundary_rule=draw(rules),
        masking_rule=draw(rules),
        boundary=boundary,
        backward=draw(st.sampled_from(BACKWARD if boundary == "pps" else BACKWARD[:2])),
        max_boundary=draw(st.none() | st.integers(0, 2**63 - 1)) if boundary == "pps" else None,
        units=draw(st.sampled_from(UNITS)),
    )
    return made.to_dict()


@st.composite
def verdicts(draw, target, others, given, *, dependent):
    unit = draw(st.sampled_from(["nats", "p", "nats over the penalty"]))
    compared = st.floats(0, 1) if unit == "p" else numbers
    margin = abs(draw(numbers))
    return Verdict(
        target=target,
        others=tuple(others),
        given=tuple(given),
        gain=draw(numbers),
        value=draw(compared),
        threshold=draw(compared),
        margin=margin if dependent else -margin,
        unit=unit,
        dependent=dependent,
    )


def merged(draw, parents, removed):
    """Both in one list, in which the parents keep their order."""
    taken = list(parents)
    for node in removed:
        taken.insert(draw(st.integers(0, len(taken))), node)
    return taken


@st.composite
def selections(draw, name, parents, earlier, boundary):
    spare = [node for node in earlier if node not in parents]
    removed = draw(st.lists(st.sampled_from(spare), unique=True)) if spare else []
    taken = merged(draw, parents, removed) if boundary == "pps" else []
    left = [node for node in earlier if node not in taken]
    refused = None
    if left and draw(st.booleans()):
        refused = draw(verdicts(name, left[:1], taken, dependent=False))
    return Selection(
        name,
        tuple(draw(verdicts(name, [other], (), dependent=True)) for other in taken),
        refused,
        tuple(draw(verdicts(name, [other], parents, dependent=False)) for other in removed),
        tuple(draw(verdicts(name, [other], (), dependent=True)) for other in parents),
    )


@st.composite
def admissions(draw, name, number, entropy, names):
    others = [node for node in names if node != name]
    runner_up = draw(st.sampled_from([None, *others]))
    closest = None
    if others and draw(st.booleans()):
        closest = draw(verdicts(name, others[:1], (), dependent=False))
    next_entropy = None if runner_up is None else draw(numbers)
    return Admitted(name, number, entropy, runner_up, next_entropy, closest)


@st.composite
def maskings(draw, names):
    name = draw(st.sampled_from(names))
    others = draw(st.permutations([node for node in names if node != name]))
    verdict = draw(verdicts(name, others, (), dependent=True))
    return Masked(name, draw(st.integers(1, len(names))), draw(numbers), verdict)


def generations(order, parents):
    depth = {}
    for name in order:
        depth[name] = 1 + max((depth[parent] for parent in parents[name]), default=0)
    return tuple(
        tuple(name for name in order if depth[name] == j) for j in range(1, max(depth.values()) + 1)
    )


def made_edges(draw, order, parents, chosen):
    for child, selection in zip(order, chosen, strict=True):
        steps = {verdict.others[0]: i for i, verdict in enumerate(selection.taken, start=1)}
        for parent in parents[child]:
            p_value = draw(st.floats(0, 1))
            yield Edge(
                parent,
                child,
                draw(numbers),
                p_value,
                steps.get(parent, 0),
                *draw(pairs),
                draw(st.sampled_from(tuple(LOOKS))),
                draw(st.floats(0, 1)),
            )


@st.composite
def results(draw, names=names_of()):  # noqa: B008 - a strategy is a description
    columns = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    order = tuple(draw(st.permutations(columns)))
    earlier = {name: list(order[:i]) for i, name in enumerate(order)}
    parents = {
        name: tuple(draw(st.lists(st.sampled_from(before), unique=True)) if before else ())
        for name, before in earlier.items()
    }
    boundary = draw(st.sampled_from(["pps", "none"]))
    chosen = [draw(selections(name, parents[name], earlier[name], boundary)) for name in order]
    entropies = {name: draw(numbers) for name in columns}
    masked = st.lists(maskings(order), max_size=2) if len(columns) > 1 else st.just([])
    return Result(
        names=tuple(columns),
        levels={name: draw(labels) for name in columns},
        n_rows=draw(st.integers(3, 10**9)),
        settings=draw(settings_of(boundary)),
        layers=generations(order, parents),
        order=order,
        parents={name: parents[name] for name in columns},
        entropies=entropies,
        edges=tuple(made_edges(draw, order, parents, chosen)),
        trace=Trace(
            tuple(
                draw(admissions(name, i, entropies[name], order))
                for i, name in enumerate(order, start=1)
            ),
            tuple(draw(masked)),
            tuple(chosen),
        ),
        warnings=tuple(draw(st.lists(st.text(characters), max_size=2))),
        kinds=draw(st.none() | st.fixed_dictionaries(dict.fromkeys(columns, kinds))),
    )
