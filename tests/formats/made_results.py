"""Results made up by hypothesis: consistent, and otherwise as strange as they can be."""

from __future__ import annotations

import hypothesis.strategies as st

from tamis.result import Admitted, Edge, Masked, Result, Selection, Trace, Verdict

STRANGE = (
    'say "hi"', "back\\slash", "ends in \\", "\\", "two\nlines", "carriage\rreturn", "\r\n",
    "tab\there", "<script>alert(1)</script>", "a & b", "&lt;", "=1+1", "@x", " ", "\u3000",
    "\u202eevil", "\x85", "\u2028", "é", "日本", "🙂", "[red]", "a,b", "'", "12", "null", "\\n",
)  # fmt: skip

characters = st.characters(codec="utf-8")
xml_characters = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
)
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.floats(allow_nan=False)
pairs = st.tuples(numbers, numbers)


def names_of(alphabet: st.SearchStrategy[str] = characters) -> st.SearchStrategy[str]:
    return st.sampled_from(STRANGE) | st.text(alphabet, min_size=1, max_size=6)


labels = st.one_of(
    st.lists(st.text(characters, max_size=4), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-(2**63), 2**63), min_size=1, max_size=3, unique=True),
    st.permutations([False, True]),
).map(tuple)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(characters, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(characters, max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def verdicts(draw, target, others, given, *, dependent):
    return Verdict(
        target=target,
        others=tuple(others),
        given=tuple(given),
        gain=draw(numbers),
        value=draw(numbers),
        threshold=draw(numbers),
        margin=draw(numbers),
        unit=draw(st.sampled_from(["nats", "p", "nats over the penalty"])),
        dependent=dependent,
    )


@st.composite
def selections(draw, name, parents, earlier, boundary):
    spare = [node for node in earlier if node not in parents]
    removed = draw(st.lists(st.sampled_from(spare), unique=True)) if spare else []
    taken = draw(st.permutations([*parents, *removed])) if boundary == "pps" else []
    refused = None
    if earlier and draw(st.booleans()):
        refused = draw(verdicts(name, [earlier[0]], taken, dependent=False))
    return Selection(
        name,
        tuple(draw(verdicts(name, [other], (), dependent=True)) for other in taken),
        refused,
        tuple(draw(verdicts(name, [other], parents, dependent=False)) for other in removed),
        tuple(draw(verdicts(name, [other], (), dependent=True)) for other in parents),
    )


@st.composite
def admissions(draw, name, number, names):
    runner_up = draw(st.none() | st.sampled_from(names))
    closest = None
    if draw(st.booleans()):
        closest = draw(verdicts(name, [names[0]], (), dependent=False))
    entropy = None if runner_up is None else draw(numbers)
    return Admitted(name, number, draw(numbers), runner_up, entropy, closest)


@st.composite
def maskings(draw, names):
    name = draw(st.sampled_from(names))
    verdict = draw(verdicts(name, draw(st.permutations(names)), (), dependent=True))
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
            yield Edge(parent, child, draw(numbers), p_value, steps.get(parent, 0), *draw(pairs))


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
    extra = draw(st.dictionaries(st.text(characters, max_size=3), json_values, max_size=2))
    return Result(
        names=tuple(columns),
        levels={name: draw(labels) for name in columns},
        n_rows=draw(st.integers(1, 10**9)),
        settings={**extra, "search": draw(st.text(characters)), "boundary": boundary},
        layers=generations(order, parents),
        order=order,
        parents={name: parents[name] for name in columns},
        entropies={name: draw(numbers) for name in columns},
        edges=tuple(made_edges(draw, order, parents, chosen)),
        trace=Trace(
            tuple(draw(admissions(name, i, order)) for i, name in enumerate(order, start=1)),
            tuple(draw(st.lists(maskings(order), max_size=2))),
            tuple(chosen),
        ),
        warnings=tuple(draw(st.lists(st.text(characters), max_size=2))),
    )
