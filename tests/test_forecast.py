"""The forecast of a run: what it will take and what it can see."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ncf, ncx2
from scipy.stats import f as f_law
from typer.testing import CliRunner

from tables import table_of
from tamis import TAM
from tamis.cli import app
from tamis.counting.interactions import interacting_columns
from tamis.counting.memory import MemoryCounts
from tamis.counting.opening import open_blocks
from tamis.errors import SettingError, TamisWarning
from tamis.forecast import Forecast, forecast
from tamis.forecast import make as making
from tamis.forecast.memory import Planes, of_counts
from tamis.forecast.model import (
    POWER,
    alpha_of,
    detectable,
    difference_of_coins,
    noncentrality,
    size_in_words,
    time_in_words,
)
from tamis.forecast.probe import (
    DEEPEST,
    TARGETS,
    Probe,
    contexts_of,
    part_of,
    probe,
    seconds_of,
    work_of,
)
from tamis.information.counted import CountedInformation
from tamis.information.gaussian import GaussianInformation
from tamis.information.interface import Query
from tamis.learning import learn
from tamis.rules import BIC, ChiSquared, Fixed, FTest, LocalPermutation, Permutation
from tamis.settings import Settings
from tamis.simulate import draw
from tamis.tables import read_table
from tamis.tables.packed_file import pack


def steady():
    """A clock that goes on by a millisecond whenever it is looked at."""
    ticks = count()
    return lambda: next(ticks) / 1000


def chain(d: int = 6, n: int = 400, levels: int = 2, seed: int = 1):
    """Columns of which each is a noisy copy of the one before."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, levels, (n, d))
    for k in range(1, d):
        copied = rng.random(n) < 0.8
        rows[:, k] = np.where(copied, rows[:, k - 1], rows[:, k])
    return table_of(rows)


def numbers(d: int = 5, n: int = 200):
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(n, d)).cumsum(axis=1)
    return read_table({f"x{k}": columns[:, k] for k in range(d)}, continuous=True)


# What can be seen.


def share_found(rule, information, n_tests: int) -> float:
    """How many of the other columns the first one is found to depend on, as one of such tests."""
    others = np.arange(1, information.n_variables)
    evidence = information.tests([Query(0, (), others)])
    return float((rule.strengths(evidence) > rule.threshold_for(n_tests)).mean())


def share_of_coins_found(rule, n: int, n_tests: int, difference: float) -> float:
    """How often even coins that differ by so much between the sides of another are found."""
    rng = np.random.default_rng(7)
    x = rng.integers(0, 2, n)
    heads = np.where(x == 1, 0.5 + difference / 2, 0.5 - difference / 2)
    coins = rng.random((n, 400)) < heads[:, None]
    table = table_of(np.column_stack([x, coins]).astype(int))
    return share_found(rule, CountedInformation(table), n_tests)


@pytest.mark.parametrize(
    ("rule", "n"),
    [
        (Permutation(0.02), 300),
        (Permutation(0.02), 3000),
        (ChiSquared(0.001), 1000),
        (BIC(), 1000),
        (Fixed(0.01), 3000),
    ],
)
def test_a_visible_gain_is_found_as_often_as_promised(rule, n):
    bound = rule.bind(n, 20)
    told = detectable(bound, n, 19, (2, 2))
    seen = share_of_coins_found(bound, n, 19, told.effect)
    assert abs(seen - POWER) < 0.08  # the standard error is .02
    assert share_of_coins_found(bound, n, 19, told.effect / 2) < 0.5


def test_with_many_levels_a_visible_gain_is_found_as_often_as_promised():
    n, levels, n_tests = 2000, 5, 30
    rule = Permutation(0.02, whole_graph=True).bind(n, 31)
    told = detectable(rule, n, n_tests, (levels, levels))
    kept = _copied_for_gain(told.gain, levels)
    rng = np.random.default_rng(3)
    rows = rng.integers(0, levels, (n, 401))
    rows = np.where(rng.random((n, 401)) < kept, rows[:, :1], rows)
    seen = share_found(rule, CountedInformation(table_of(rows)), n_tests)
    assert abs(seen - POWER) < 0.08


def _copied_for_gain(gain: float, levels: int) -> float:
    """The share of copied values at which a noisy copy has this gain."""
    from scipy.optimize import brentq

    def told(share: float) -> float:
        same = share + (1 - share) / levels
        other = (1 - share) / levels
        return same * math.log(same * levels) + (levels - 1) * other * math.log(other * levels)

    return brentq(lambda share: told(share) - gain, 1e-6, 0.99)


def test_a_visible_correlation_is_found_as_often_as_promised():
    n, n_tests = 500, 19
    rule = FTest(0.02, whole_graph=True).bind(n, 20)
    told = detectable(rule, n, n_tests, None)
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(n, 401))
    rows[:, 1:] *= math.sqrt(1 - told.effect**2)
    rows[:, 1:] += told.effect * rows[:, :1]
    names = tuple(f"x{k}" for k in range(401))
    seen = share_found(rule, GaussianInformation(names, np.cov(rows.T), n), n_tests)
    assert abs(seen - POWER) < 0.08
    assert told.gain == pytest.approx(-0.5 * math.log(1 - told.effect**2))


@given(st.integers(1, 400), st.floats(1e-12, 0.2))
@settings(max_examples=40, deadline=None)
def test_the_noncentrality_solves_the_power_of_chi_squared(df, level):
    critical = chi2.isf(level, df)
    assert ncx2.sf(critical, df, noncentrality(critical, df)) == pytest.approx(POWER, abs=1e-5)


@given(st.integers(20, 10_000), st.floats(1e-8, 0.2))
@settings(max_examples=40, deadline=None)
def test_the_gain_of_numbers_solves_the_power_of_f(n, level):
    gain = detectable(FTest(level), n, 1, None).gain
    critical = f_law.isf(level, 1, n - 2)
    nc = n * math.expm1(2 * gain)
    assert ncf.sf(critical, 1, n - 2, nc) == pytest.approx(POWER, abs=1e-4)


@example(9.049167809900782e-11)  # a gain that rounds to less than nothing
@given(st.floats(0.0, 1.0))
def test_the_difference_of_coins_inverts_their_gain(difference):
    told = sum(p * math.log(2 * p) for p in ((1 + difference) / 2, (1 - difference) / 2) if p > 0)
    assert difference_of_coins(told) == pytest.approx(difference, abs=1e-5)


def test_more_rows_and_fewer_tests_show_weaker_dependence():
    rule = Permutation(0.01)
    gains = [detectable(rule, n, 10, (2, 2)).gain for n in (100, 1000, 10_000)]
    assert gains == sorted(gains, reverse=True)
    assert detectable(rule, 100, 1, (2, 2)).gain < gains[0]
    assert detectable(rule, 100, 10, (6, 6)).gain > gains[0]


def test_the_level_is_shared_among_nodes_and_candidates():
    assert alpha_of(Permutation(0.02, whole_graph=True).bind(500, 10), 9) == pytest.approx(
        0.02 / 90
    )
    assert alpha_of(BIC(), 9) is None


def test_what_nobody_knows_beforehand_is_not_told():
    assert detectable(LocalPermutation(0.01), 500, 9, None) is None
    assert detectable(FTest(0.01), 2, 9, None) is None
    assert detectable(Permutation(0.01), 500, 9, (1, 4)) is None
    assert not detectable(FTest(0.001), 4, 9, None).possible


# What it takes.


def test_memory_is_that_of_the_arrays():
    table = table_of(np.random.default_rng(1).integers(0, [2, 3, 4, 5, 70], (500, 5)))
    counts = MemoryCounts(table, 1)
    planes = Planes.of(table)
    assert (planes.n_planes, planes.n_words) == counts._planes.words.shape
    assert planes.n_interacting == len(interacting_columns(counts.arities))
    assert of_counts(table, 1)["pair counts"] == counts._columns[2].nbytes
    assert of_counts(table, 1)["bit planes"] >= counts._planes.words.nbytes
    assert planes.sets(2) == sum(math.comb(planes.n_interacting, k) for k in range(4))
    assert planes.sets(1) == 0


def test_contexts_are_as_many_as_a_run_asks_for_where_nothing_depends(monkeypatch):
    table = table_of(np.random.default_rng(2).integers(0, 2, (300, 12)))
    wanted = Settings(search="sequential", n_jobs=1)
    asked = counted_contexts(monkeypatch)
    learn(table, wanted)
    assert asked[0] == 12
    assert forecast(table, wanted, clock=steady()).n_contexts == 12


@pytest.mark.parametrize("search", ["sequential", "node", "auto"])
def test_contexts_are_near_those_that_a_run_asks_for(search, monkeypatch):
    data = draw("er", "tables", d=30, n=2000, seed=31, edges=30, arity=2).data
    table, wanted = read_table(data), Settings(search=search, n_jobs=1)
    told = forecast(table, wanted, clock=steady()).n_contexts
    asked = counted_contexts(monkeypatch)
    learn(table, wanted)
    assert 1 / 3 < told / asked[0] < 3


def counted_contexts(monkeypatch) -> list[int]:
    asked = [0]
    original = CountedInformation.profiles

    def profiles(self, contexts):
        asked[0] += len(contexts)
        return original(self, contexts)

    monkeypatch.setattr(CountedInformation, "profiles", profiles)
    # What the order search has counted while it runs is not seen here.
    monkeypatch.setattr(CountedInformation, "direct", lambda self, test: None)
    return asked


def test_longer_paths_and_more_columns_take_longer():
    assert contexts_of("auto", 10, [1, 1]) > contexts_of("sequential", 10, [1, 1])
    # Half of the paths take four columns, or all take two.
    assert contexts_of("node", 10, [0.5] * 4) > contexts_of("node", 10, [1.0] * 2)
    short = Probe(10, 100, seconds=[1e-4, 1e-3], reached=[1.0])
    long = Probe(10, 100, seconds=[1e-4, 1e-3], reached=[1.0, 1.0, 1.0])

    def seconds(found, scale=1.0, search="auto"):
        return work_of(search, 10, found, scale=scale).seconds

    assert seconds(short) < seconds(long)
    assert seconds(short) < seconds(short, 2.0)
    assert seconds(short, search="sequential") < seconds(short)


def test_a_probe_follows_dependence_and_stops_where_there_is_none():
    rule = Permutation(0.001)
    found = probe(CountedInformation(chain()), rule.bind(400, 6), steady())
    assert all(1 <= len(path) <= 2 for path in found.paths.values())
    assert found.paths[0] == (1,)
    lengths = [len(path) for path in found.paths.values()]
    assert found.boundary == pytest.approx(np.mean(lengths))
    nothing = table_of(np.random.default_rng(3).integers(0, 2, (400, 6)))
    found = probe(CountedInformation(nothing), rule.bind(400, 6), steady())
    assert found.boundary == 0
    assert len(found.seconds) == 3  # what conditioning would cost is still known


def test_a_parity_is_no_path_though_its_second_column_would_pass():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 2, (2, 400))
    table = table_of(np.column_stack([a, b, a ^ b]))
    found = probe(CountedInformation(table), Permutation(0.001).bind(400, 3), steady())
    assert found.reached == []
    assert found.paths == {0: (), 1: (), 2: ()}


def test_a_probe_is_bounded(monkeypatch):
    table = table_of(np.random.default_rng(4).integers(0, 2, (50, 40)))
    asked = counted_contexts(monkeypatch)
    found = probe(CountedInformation(table), Fixed(0.0), steady())
    assert max(map(len, found.paths.values())) <= DEEPEST
    assert len(found.paths) == TARGETS
    assert asked[0] <= (DEEPEST + 1) * (3 * TARGETS + 1) + 1


def test_a_slow_source_is_left_after_one_depth():
    ticks = count()
    found = probe(CountedInformation(chain()), Fixed(0.0), lambda: 10.0 * next(ticks))
    assert len(found.seconds) == 1
    assert found.reached == []


@pytest.mark.parametrize(("later", "expected"), [(0.02, 0.02), (0.0001, 0.05)])
def test_a_remembered_answer_is_no_measure(later, expected):
    times = iter([0.0, 0.05, 1.0, 1.0 + later])
    assert seconds_of(list, lambda: next(times)) == pytest.approx(expected)


def test_tests_that_rows_do_not_bring_are_timed():
    few, many = chain(d=20), chain(d=130, n=60)
    rule = Permutation(0.001)
    found = [probe(CountedInformation(one), rule.bind(60, 130), steady()) for one in (few, many)]
    assert [one.tests_come_along for one in found] == [True, False]
    assert found[0].test == 0.0
    assert found[1].test > 0.0
    masking, single = (
        work_of(search, 130, found[1], scale=1.0).counting for search in ("node", "sequential")
    )
    assert masking > single


def test_where_few_paths_are_followed_they_stand_for_all():
    ticks = count()
    # A context takes 0.06 s by this clock: one fits into a batch.
    found = probe(CountedInformation(chain()), Fixed(0.0), lambda: 0.06 * next(ticks))
    assert len(found.paths) == 1
    assert found.reached[0] == 1.0


def test_a_large_table_is_probed_in_part(monkeypatch):
    monkeypatch.setattr("tamis.forecast.probe.MOST_CELLS", 2000)
    monkeypatch.setattr("tamis.forecast.probe.MOST_ROWS", 100)
    table = chain(d=40, n=400)
    part = part_of(table)
    assert (part.n_variables, part.n_rows) == (20, 100)
    told = forecast(table, Settings(n_jobs=1))
    assert (told.n_rows, told.n_columns) == (400, 40)


# The whole.


def test_the_plain_numbers_and_the_words_agree():
    told = forecast(chain(d=8, n=4000), Settings(search="sequential", n_jobs=1), clock=steady())
    assert isinstance(told, Forecast)
    assert (told.n_rows, told.n_columns, told.n_continuous) == (4000, 8, 0)
    assert (told.fewest_levels, told.most_levels, told.pair_cells) == (2, 2, 4)
    assert (told.information, told.search, told.look_ahead) == (("counts",), "sequential", 1)
    assert told.bytes == sum(told.memory.values())
    assert told.alpha == pytest.approx(0.001 / 7)
    (one,) = told.detectable
    text = str(told)
    assert "4,000 rows, 8 columns: 2 levels" in text
    assert f"{one.gain:.2g} nats" in text
    assert f"{100 * one.effect:.0f} percentage points" in text
    assert f"alpha {told.alpha:.1g}" in text


def test_a_forecast_by_the_same_clock_is_the_same_in_any_order_of_columns():
    table = chain(d=7)
    told = forecast(table, Settings(n_jobs=1), clock=steady())
    again = forecast(table.select([6, 2, 0, 5, 1, 3, 4]), Settings(n_jobs=1), clock=steady())
    assert told == again


def test_numbers_are_told_a_correlation():
    told = forecast(numbers(), Settings(n_jobs=1))
    (one,) = told.detectable
    assert (told.information, told.n_continuous, told.most_levels) == (("gaussian",), 5, 0)
    assert f"a correlation of {one.effect:.2f}" in str(told)
    assert "numbers are not counted" in str(told)


def test_labels_beside_numbers_are_told_both():
    rng = np.random.default_rng(1)
    table = read_table(
        {"a": rng.normal(size=90), "b": ["x", "y", "z"] * 30, "c": ["u", "v"] * 45}, continuous=True
    )
    told = forecast(table, Settings(n_jobs=1))
    assert told.information == ("conditional-gaussian",)
    assert [one.levels for one in told.detectable] == [(2, 3), None]


def test_whole_numbers_are_read_twice_and_counts_are_left_out_where_they_are_far_behind():
    rng = np.random.default_rng(2)
    steps = rng.integers(0, 6, (3000, 6)).cumsum(axis=1)
    # By the machine's own clock a busy one follows paths less far.
    told = forecast(table_of(steps), Settings(n_jobs=1), clock=steady())
    assert told.information == ("counts", "gaussian")
    assert "bit planes" not in told.memory
    assert "far behind" in told.why["information"]
    again = forecast(chain(levels=4), Settings(n_jobs=1), clock=steady())
    assert "bit planes" in again.memory


def test_neighbours_have_no_power_known_beforehand():
    told = forecast(numbers(4, 60), Settings(information="neighbours", n_jobs=1))
    assert told.detectable == ()
    assert "not known beforehand" in str(told)
    assert "in place of auto" in told.why["search"]


def test_without_boundaries_the_time_is_not_told():
    told = forecast(chain(), Settings(search="node", boundary="none", n_jobs=1))
    assert told.seconds is None
    assert "not known" in dict(told.lines())["time"]


def test_gaps_leave_fewer_rows_to_see_with():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (200, 3)).astype(object)
    whole = forecast(read_table({f"x{k}": rows[:, k] for k in range(3)}), Settings(n_jobs=1))
    rows[:50, 0] = None
    rows[40:90, 1] = None
    table = read_table({f"x{k}": rows[:, k] for k in range(3)}, missing="pairwise")
    told = forecast(table, Settings(missing="pairwise", n_jobs=1))
    assert told.detectable[0].n_rows == 110
    assert told.detectable[0].gain > whole.detectable[0].gain


def test_a_table_in_blocks_is_forecast_within_its_limit(tmp_path):
    path = tmp_path / "t.csv"
    rows = np.random.default_rng(1).integers(0, 2, (300, 6)).tolist()
    path.write_text("\n".join(["a,b,c,d,e,f", *(",".join(map(str, row)) for row in rows)]))
    pack(path, tmp_path / "t.tamis")
    packed = open_blocks(tmp_path / "t.tamis")
    told = forecast(packed, Settings(n_jobs=1), clock=steady())
    plain = forecast(read_table(path), Settings(n_jobs=1), clock=steady())
    assert told.memory["blocks and their counts"] == packed.working_bytes
    assert (told.n_rows, told.n_contexts) == (plain.n_rows, plain.n_contexts)
    assert told.detectable == plain.detectable


def test_weighted_rows_count_as_fewer():
    rng = np.random.default_rng(4)
    rows = {f"x{k}": rng.integers(0, 2, 200) for k in range(3)}
    table = read_table(rows, weights=rng.random(200) + 0.1)
    told = forecast(table, Settings(n_jobs=1))
    assert told.detectable[0].n_rows < 200


def test_constant_and_single_columns_can_be_forecast():
    constant = table_of(np.zeros((30, 3), dtype=int))
    told = forecast(constant, Settings(n_jobs=1), clock=steady())
    assert told.detectable == ()
    assert told.n_contexts == 3
    assert "3 columns: 1 level" in str(told)
    assert forecast(table_of(np.array([[0], [1], [0]])), Settings(n_jobs=1)).n_columns == 1


def test_looking_too_far_ahead_is_refused_as_in_a_run():
    table = table_of(np.random.default_rng(1).integers(0, 2, (50, 130)))
    with pytest.raises(SettingError, match="would take hours"):
        forecast(table, Settings(look_ahead=6, n_jobs=1))
    with pytest.warns(TamisWarning, match="beyond the budget"):
        told = forecast(table, Settings(look_ahead=4, n_jobs=1))
    assert told.why["look_ahead"].endswith("as asked for")


def test_looking_ahead_is_what_a_run_would_choose():
    table = chain(d=12)
    result = learn(table, Settings(n_jobs=1))
    assert forecast(table, Settings(n_jobs=1)).look_ahead == result.settings["look_ahead"]


def test_looking_ahead_is_timed_on_few_columns(monkeypatch):
    table = chain(d=60, n=3000)
    widths = []
    original = making.open_information

    def opened(part, settings):
        widths.append(part.n_variables)
        return original(part, settings)

    monkeypatch.setattr(making, "open_information", opened)
    assert forecast(table, Settings(n_jobs=1), clock=steady()).look_ahead > 1
    assert widths[0] == 60
    assert 3 < widths[-1] < 60


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.1, "about a second or less"),
        (2.34, "seconds"),
        (44.0, "tens of seconds"),
        (130.0, "minutes"),
        (1800.0, "tens of minutes"),
        (7200.0, "hours"),
        (1e6, "half a day or more"),
    ],
)
def test_time_is_told_as_a_person_would_wait(seconds, words):
    assert time_in_words(seconds) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(10, "1 kB"), (12_000, "12 kB"), (2_500_000, "2.5 MB"), (48e6, "48 MB"), (3e9, "3 GB")],
)
def test_sizes_are_told_in_decimal_units(size, words):
    assert size_in_words(size) == words


# The command.


def run(*arguments):
    return CliRunner().invoke(app, ["learn", *map(str, arguments)])


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "t.csv"
    rows = np.random.default_rng(1).integers(0, 2, (200, 5)).tolist()
    path.write_text("\n".join(["a,b,c,d,e", *(",".join(map(str, row)) for row in rows)]))
    return path


def test_a_dry_run_shows_the_forecast_and_writes_nothing(csv, tmp_path):
    done = run(csv, "--dry-run", "--out", tmp_path / "r.json", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    for title in ("table", "memory", "time", "visible"):
        assert f" {title} " in done.stdout
    assert "200 rows, 5 columns" in done.stdout
    assert "Nothing was learned or written" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_a_dry_run_refuses_what_a_run_would_refuse(csv):
    assert "leave one out" in run(csv, "--dry-run", "--quiet").output
    done = run(csv, "--dry-run", "--out", "r.nonsense")
    assert done.exit_code != 0
    done = run(csv, "--dry-run", "--explain", "nobody")
    assert done.exit_code != 0
    done = run(csv, "--dry-run", "--search", "nonsense")
    assert done.exit_code != 0


def test_a_dry_run_says_that_resamples_come_on_top(csv):
    assert "--bootstrap 20 comes on top" in run(csv, "--dry-run", "--bootstrap", 20).stdout


def test_names_of_any_kind_do_no_harm(tmp_path):
    path = tmp_path / "<script>alert(1)</script>.csv".replace("/", "_")
    path.write_text('"<b>","a\nb","[red]"\n' + "0,1,0\n1,0,1\n" * 30)
    done = run(path, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "3 columns" in done.stdout


def test_knowledge_is_said_to_take_longer():
    table = {"a": [0, 1] * 40, "b": [0, 1, 1, 0] * 20}
    told = TAM(knowledge={"tiers": [["a"], ["b"]]}).forecast(table)
    assert any("learned once more without it" in note for note in told.notes)
    assert not any("without it" in note for note in TAM().forecast(table).notes)
