"""Background knowledge: refused where it contradicts itself, kept to everywhere else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Knowledge, SettingError

NAMES = ("a", "b", "c", "d", "e")
SEARCHES = ("auto", "sequential", "node", "layer")


def table(seed: int, n: int = 120, levels: int = 2) -> dict[str, np.ndarray]:
    """Five columns that depend on each other in the order of a random permutation."""
    rng = np.random.default_rng(seed)
    values = np.zeros((len(NAMES), n), dtype=int)
    for i, k in enumerate(rng.permutation(len(NAMES))):
        noise = rng.integers(0, levels, n)
        own = rng.random(n) < 0.35
        others = values[rng.permutation(len(NAMES))[: 1 + i % 3]].sum(0) % levels
        values[k] = np.where(own, noise, others)
    return dict(zip(NAMES, values, strict=True))


def violations(graph, knowledge: Knowledge) -> list[str]:
    """Every statement that a graph breaks, read from the statements one by one."""
    broken = [f"lacks {arrow}" for arrow in knowledge.required if not graph.has_edge(*arrow)]
    broken += [f"has {arrow}" for arrow in knowledge.forbidden if graph.has_edge(*arrow)]
    broken += [f"{k} has parents" for k in knowledge.sources if graph.in_degree(k)]
    broken += [f"{k} has children" for k in knowledge.sinks if graph.out_degree(k)]
    tier = {name: i for i, names in enumerate(knowledge.tiers) for name in names}
    broken += [
        f"{p} -> {c} goes back"
        for p, c in graph.edges
        if p in tier and c in tier and tier[p] > tier[c]
    ]
    return broken


arrows = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda a: a[0] != a[1])


@st.composite
def knowledges(draw) -> Knowledge:
    """Statements of all kinds that do not contradict each other."""
    placed = draw(st.lists(st.sampled_from([*NAMES, "|"]), unique=False, max_size=8))
    tiers: list[list[str]] = [[]]
    for one in dict.fromkeys(f"|{i}" if x == "|" else x for i, x in enumerate(placed)):
        if one.startswith("|"):
            tiers.append([])
        else:
            tiers[-1].append(one)
    parts = {
        "required": draw(st.lists(arrows, max_size=3)),
        "forbidden": draw(st.lists(arrows, max_size=8)),
        "tiers": tiers,
        "sources": draw(st.lists(st.sampled_from(NAMES), max_size=1)),
        "sinks": draw(st.lists(st.sampled_from(NAMES), max_size=1)),
    }
    while True:
        try:
            return Knowledge(**parts)
        except SettingError:
            # Take statements back until no two of them contradict each other.
            part = next(p for p in ("required", "tiers", "sources", "sinks") if parts[p])
            parts[part] = parts[part][:-1]


@pytest.mark.parametrize("search", SEARCHES)
@given(knowledge=knowledges(), seed=st.integers(0, 30), boundary=st.sampled_from(["pps", "none"]))
def test_no_statement_is_ever_broken(search, knowledge, seed, boundary):
    model = tamis.TAM(
        search,
        knowledge=knowledge,
        boundary="pps" if search == "auto" else boundary,
        look_ahead=None if boundary == "none" or search == "auto" else 2,
    )
    model.fit(table(seed))
    assert violations(model.graph_, knowledge) == []
    for name in NAMES:  # the reasons agree with the graph
        assert str(model.explain(name))


@given(knowledge=knowledges(), seed=st.integers(0, 30))
def test_knowledge_holds_for_numbers_too(knowledge, seed):
    rng = np.random.default_rng(seed)
    columns = {k: v + rng.normal(size=len(v)) for k, v in table(seed).items()}
    model = tamis.TAM(knowledge=knowledge).fit(columns)
    assert model.result_.settings["information"] == "gaussian"
    assert violations(model.graph_, knowledge) == []


@given(knowledge=knowledges(), seed=st.integers(0, 30), order=st.permutations(NAMES))
def test_the_order_of_columns_plays_no_part(knowledge, seed, order):
    columns = table(seed)
    one = tamis.TAM(knowledge=knowledge).fit(columns).graph_
    other = tamis.TAM(knowledge=knowledge).fit({k: columns[k] for k in order}).graph_
    assert set(one.edges) == set(other.edges)


def test_knowledge_that_says_nothing_changes_nothing():
    columns = table(3, n=2000)
    plain = tamis.TAM().fit(columns).result_
    assert tamis.TAM(knowledge={}).fit(columns).result_ == plain
    assert tamis.TAM(knowledge=Knowledge(tiers=[[]])).fit(columns).graph_.edges == plain.graph.edges


def test_what_is_true_anyway_changes_no_arrow():
    model = tamis.TAM().fit("examples/sprinkler.csv")
    told = tamis.TAM(knowledge={"required": list(model.graph_.edges), "tiers": model.layers_}).fit(
        "examples/sprinkler.csv"
    )
    assert set(told.graph_.edges) == set(model.graph_.edges)


def test_tiers_turn_an_arrow_that_the_entropies_got_wrong():
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 4000)
    rare = coin & (rng.random(4000) < 0.2)  # less uncertain than its cause
    columns = {"cause": coin, "effect": rare}
    assert list(tamis.TAM().fit(columns).graph_.edges) == [("effect", "cause")]
    told = tamis.TAM(knowledge={"tiers": [["cause"], ["effect"]]}).fit(columns)
    assert list(told.graph_.edges) == [("cause", "effect")]
    edge = told.graph_.edges["cause", "effect"]
    assert (edge["warrant"], edge["direction_probability"]) == ("given", 1.0)


@pytest.mark.parametrize(
    "known",
    [
        {"tiers": [["cause"], ["effect"]]},
        {"sources": ["cause"]},
        {"sinks": ["effect"]},
        {"forbidden": ["effect -> cause"]},
    ],
)
def test_what_is_ruled_out_one_way_is_found_the_other(known):
    rng = np.random.default_rng(0)
    coin = rng.integers(0, 2, 4000)
    rare = coin & (rng.random(4000) < 0.2)  # less uncertain than its cause
    third = rare ^ (rng.random(4000) < 0.02)
    columns = {"cause": coin, "effect": rare, "third": third}
    assert ("effect", "cause") in tamis.TAM().fit(columns).graph_.edges
    told = tamis.TAM(knowledge=known).fit(columns)
    assert ("cause", "effect") in told.graph_.edges or known.get("sinks")
    assert violations(told.graph_, Knowledge.of(known)) == []
    assert told.graph_.in_degree("effect") or told.graph_.out_degree("effect")


def test_what_knowledge_costs_is_what_the_score_loses_by_it():
    columns = table(3, n=2000)
    free = tamis.TAM().fit(columns)
    (parent, child) = next(iter(free.graph_.edges))
    held = tamis.TAM(knowledge={"forbidden": [(parent, child), (child, parent)]}).fit(columns)
    lost = free.ranking_[0].score - held.ranking_[0].score
    assert held.result_.knowledge_cost == pytest.approx(lost)
    assert lost > 1
    true = tamis.TAM(knowledge={"required": [(parent, child)]}).fit(columns)
    assert true.result_.knowledge_cost == pytest.approx(0, abs=1e-6)


def test_sources_come_first_and_sinks_last_unless_tiers_say_otherwise():
    known = Knowledge(tiers=[["a"], ["b"]], sources=["b", "c"], sinks=["a"])
    constraints = known.constraints(NAMES)
    assert constraints is not None
    order: list[int] = []
    while len(order) < len(NAMES):
        free = constraints.free([k for k in range(len(NAMES)) if k not in order])
        assert free
        order.append(free[0])
    assert order.index(0) < order.index(1)  # the tiers, though a is a sink and b a source
    assert order.index(2) < order.index(3)


def test_a_required_parent_without_dependence_is_there_and_explained():
    columns = table(1, n=500)
    columns["z"] = np.random.default_rng(5).integers(0, 2, 500)
    model = tamis.TAM(knowledge={"required": [("z", "a")]}).fit(columns)
    assert "z" in model.parents_["a"]
    assert "required: z" in str(model.explain("a"))
    assert model.graph_.edges["z", "a"]["step"] == 0


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"required": ["a -> b", "b -> a"]}, ["required 'a' -> 'b'", "required 'b' -> 'a'"]),
        (
            {"required": ["a -> b"], "forbidden": ["a -> b"]},
            ["required 'a' -> 'b'", "forbidden 'a' -> 'b'"],
        ),
        (
            {"required": ["b -> a"], "tiers": [["a"], ["b"]]},
            ["required 'b' -> 'a'", "tier 1 with 'a' before tier 2 with 'b'"],
        ),
        (
            {"required": ["c -> d", "d -> a"], "tiers": [["a"], ["b"], ["c"]]},
            ["'c' -> 'd'", "'d' -> 'a'", "tier 1", "tier 2"],
        ),
        ({"required": ["a -> b"], "sources": ["b"]}, ["'b' is a source"]),
        ({"required": ["a -> b"], "sinks": ["a"]}, ["'a' is a sink"]),
        ({"tiers": [["a"], ["b", "a"]]}, ["'a' is in tier 1 and again in tier 2"]),
        ({"required": [("a", "a")]}, ["its own parent"]),
        ({"required": ["a"]}, ["'a' is no arrow", "parent -> child"]),
        ({"required": ["a -> b -> c"]}, ["is no arrow"]),
        ({"required": [("a", "b", "c")]}, ["is no arrow"]),
        ({"required": [(1, "b")]}, ["1 is not the name of a column"]),
        ({"required": "a -> b"}, ["required must be a list"]),
        ({"sources": "age"}, ["sources must be a list"]),
        ({"tiers": ["ab"]}, ["tiers must be a list"]),
        ({"tiers": 5}, ["tiers must be a list"]),
        ({"layers": []}, ["no part 'layers'", "required, forbidden, tiers"]),
    ],
)
def test_contradictions_and_slips_are_named(parts, words):
    with pytest.raises(SettingError) as caught:
        Knowledge.of(parts)
    for word in words:
        assert word in str(caught.value)


def test_unknown_columns_constants_and_the_reference_are_refused():
    columns = table(0)
    with pytest.raises(SettingError, match="no column 'aa'; did you mean 'a'"):
        tamis.TAM(knowledge={"sources": ["aa"]}).fit(columns)
    with pytest.raises(SettingError, match="takes no knowledge"):
        tamis.TAM("reference", knowledge={"sources": ["a"]}).fit(columns)
    with pytest.raises(SettingError, match="the path of a file, not int"):
        tamis.TAM(knowledge=5).fit(columns)
    columns["k"] = np.zeros(120, dtype=int)
    with (
        pytest.warns(tamis.TamisWarning, match="Constant"),
        pytest.raises(tamis.DataError, match="'k' has one value in all rows"),
    ):
        tamis.TAM(knowledge={"required": [("k", "a")]}).fit(columns)


def test_files(tmp_path):
    known = Knowledge(required=[("a", "b")], tiers=[["a"], ["b", "c -> d"]], sinks=["e"])
    as_json = tmp_path / "known.json"
    as_json.write_text(json.dumps(known.to_dict()))
    assert Knowledge.read(as_json) == known
    as_yaml = tmp_path / "known.yaml"
    as_yaml.write_text("required: [[a, b]]\ntiers:\n  - [a]\n  - [b, 'c -> d']\nsinks: [e]\n")
    assert Knowledge.read(str(as_yaml)) == known


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("k.json", "{", "is not JSON"),
        ("k.json", "[" * 100_000, "k.json"),
        ("k.json", "[]", "must hold a mapping"),
        ("k.json", '{"sinks": ["a"], "sinks": ["b"]}', "'sinks' is there twice"),
        ("k.yaml", "sinks: [a]\nsinks: [b]", "'sinks' is there twice"),
        ("k.yaml", "tiers: [{a: 1, a: 2}]", "'a' is there twice"),
        ("k.json", '{"tiers": 3}', "tiers must be a list"),
        ("k.yaml", "a: [", "is not YAML"),
        ("k.yaml", "!!python/object/apply:os.system ['true']", "is not YAML"),
        ("k.json", b"\xff\xfe\xff", "not text in UTF-8"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(tamis.FileFormatError, match=words):
        Knowledge.read(path)
    with pytest.raises(tamis.FileFormatError, match="cannot read"):
        Knowledge.read(tmp_path / "absent.json")


def test_the_command_takes_files_and_options(tmp_path):
    from typer.testing import CliRunner

    from tamis.cli import app

    path = tmp_path / "known.json"
    path.write_text('{"forbidden": [["rain", "lawn"]], "sources": ["shoes"]}')
    out = tmp_path / "run.json"
    done = CliRunner().invoke(
        app,
        [
            *("learn", "examples/sprinkler.csv", "--knowledge", str(path), "--out", str(out)),
            *("--require", "season -> lawn", "--forbid", "road->traffic"),
            *("--tier", "season", "--tier", '"rain", sprinkler'),
        ],
    )
    assert done.exit_code == 0, done.output
    result = tamis.load(str(out))
    known = Knowledge(
        required=[("season", "lawn")],
        forbidden=[("rain", "lawn"), ("road", "traffic")],
        tiers=[["season"], ["rain", "sprinkler"]],
        sources=["shoes"],
    )
    assert Knowledge.of(result.settings["knowledge"]) == known
    assert violations(result.graph, known) == []
    wrong = CliRunner().invoke(app, ["learn", "examples/sprinkler.csv", "--require", "rain"])
    assert wrong.exit_code == 2
    assert "is no arrow" in wrong.output
