"""`tamis.inspect`: what each column is taken for, and what is suspicious about it."""

from __future__ import annotations

import datetime
import json
import unicodedata
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.errors import DataError, FileFormatError, SettingError
from tamis.tables import read_table
from tamis.tables.kinds import are_dates, are_written_days

N = 200
RNG = np.random.default_rng(18)
DAYS = [(datetime.date(2024, 1, 1) + datetime.timedelta(k)).isoformat() for k in range(N)]


def table(**columns):
    """Two harmless columns, and these."""
    rng = np.random.default_rng(1)
    return {"x": rng.normal(size=N), "g": rng.choice(["a", "b", "c"], N).tolist(), **columns}


def topics(**columns):
    """What is suspicious about the last of these columns, and whether it is grave."""
    plan = tamis.inspect(table(**columns))
    last = plan[list(columns)[-1]]
    return {(one.topic, one.grave) for one in last.suspicions}


def words_of(plan):
    """What a plan prints, without its lines."""
    return " ".join(str(plan).split())


def fresh():
    return np.random.default_rng(18)


def width(text):
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


# Kinds.


def test_kinds_levels_ranges_and_missing_values_are_those_of_the_table():
    size = pd.Categorical(["low", "high"] * (N // 2), ["low", "high"], ordered=True)
    rng = np.random.default_rng(3)
    flags = pd.array([True, False, None, True] * (N // 4), dtype="boolean")
    frame = pd.DataFrame(table(few=rng.integers(0, 3, N), many=rng.integers(0, 90, N), flag=flags))
    frame["size"] = size
    plan = tamis.inspect(frame)
    kinds = {column.name: column.kind for column in plan}
    assert kinds == {
        "x": "number", "g": "category", "few": "category", "many": "number", "flag": "category",
        "size": "ordinal",
    }  # fmt: skip
    assert plan["size"].levels == ("low", "high")
    assert (plan["many"].low, plan["many"].high) == (frame["many"].min(), frame["many"].max())
    assert plan["flag"].n_missing == N // 4
    assert (len(plan), plan.n_rows) == (6, N)
    assert plan.types == {}


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
def test_every_container_has_the_same_plan(make):
    columns = table(id=list(range(N)), day=DAYS, n=[1, None] * (N // 2))
    plan = tamis.inspect(make(columns))
    assert plan.to_dict() == tamis.inspect(columns).to_dict()


def test_files_have_the_plan_of_their_table(tmp_path):
    frame = pd.DataFrame(table(id=range(N), day=DAYS))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for path in (tmp_path / "a.csv", str(tmp_path / "a.parquet")):
        assert tamis.inspect(path).types == {"id": "ignore", "day": "ignore"}


def test_of_a_large_folder_the_first_file_is_looked_at(tmp_path, monkeypatch):
    for name in "ab":
        pd.DataFrame(table()).to_csv(tmp_path / f"{name}.csv", index=False)
    whole = tamis.inspect(tmp_path)
    assert (whole.n_rows, whole.notes) == (2 * N, ())
    monkeypatch.setattr("tamis.tables.paths.SMALL_BYTES", 10)
    assert tamis.inspect(tmp_path).notes == ("Of 2 files the first was looked at.",)
    assert tamis.inspect(str(tmp_path / "a*.csv")).notes == ()


def test_a_packed_file_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="Inspect the table that it was packed from"):
        tamis.inspect(tmp_path / "t.tamis")


def test_whole_numbers_alone_are_read_both_ways():
    whole = {"a": fresh().integers(0, 5, N), "b": fresh().integers(0, 2, N)}
    assert tamis.inspect(whole).both_ways
    assert "read both ways" in words_of(tamis.inspect(whole))
    assert not tamis.inspect(whole, types={"a": "number"}).both_ways
    assert not tamis.inspect({"a": whole["b"], "b": whole["b"][::-1]}).both_ways
    assert not tamis.inspect(table()).both_ways


# Suspicions.


@pytest.mark.parametrize(
    "column",
    [
        range(1, N + 1),
        RNG.permutation(N),
        RNG.permutation(N).astype(float) + 1000,
        [f"patient {k}" for k in range(N)],
        [f"patient {k // 1.5:.0f}" for k in range(N)],
    ],
    ids=["running", "shuffled", "floats", "text", "nearly all different"],
)
def test_an_identifier_is_grave(column):
    assert topics(row=list(column)) == {("identifier", True)}


def test_different_whole_numbers_are_an_identifier_if_they_are_called_so():
    scattered = fresh().choice(10**6, N, replace=False)
    for name in ("id", "patient_id", "PatientID", "customerId", "Sample Number", "Unnamed: 0"):
        assert topics(**{name: scattered}) == {("identifier", True)}
    for name in ("income", "paid", "number_of_cells", "covid", "price"):
        assert topics(**{name: scattered}) == set()


def test_whole_numbers_that_grow_from_row_to_row_are_a_hint():
    grown = np.sort(fresh().choice(10**6, N, replace=False))
    assert topics(weight=grown) == {("identifier", False)}
    assert topics(weight=grown[::-1]) == {("identifier", False)}


def test_patient_numbers_with_gaps_are_grave_whatever_they_are_called():
    kept = fresh().random(2 * N) < 0.7
    numbers = 1000 + np.flatnonzero(kept)[:N]
    assert topics(weight=numbers) == {("identifier", True)}
    assert topics(weight=fresh().permutation(numbers)) == {("identifier", True)}
    with pytest.warns(tamis.TamisWarning, match="'weight' numbers the rows with gaps, 1000 to"):
        read_table(table(weight=numbers), continuous=True)
    repeated = np.append(numbers[:-1], numbers[0])
    assert topics(weight=repeated) == set()


def test_an_identifier_of_several_rows_is_a_hint():
    assert topics(patient_id=fresh().integers(0, 50, N) * 7) == {("identifier", False)}
    assert topics(school=[f"s{k % 60}" for k in range(N)]) == set()


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(DAYS),
        pl.Series(DAYS).str.to_date(),
        pa.array([datetime.date.fromisoformat(day) for day in DAYS]),
        [datetime.date.fromisoformat(day) for day in DAYS],
        [datetime.time(k % 24, k % 60) for k in range(N)],
        pd.period_range("2001", periods=N, freq="M").to_series(),
        DAYS,
        [int(day.replace("-", "")) for day in DAYS],
        [day.replace("-", "/") for day in DAYS],
    ],
)
def test_dates_are_grave(column):
    assert topics(when=column) == {("date", True)}


def test_dates_of_few_values_are_a_hint():
    assert topics(quarter=["2011 Q1", "2011 Q2", "2011 Q3", "2011 Q4"] * 50) == {("date", False)}


@pytest.mark.parametrize(
    "labels",
    [
        ["2024-01-31", "1999-12-01", "2000-2-3"],
        ["2024-01-31 12:00:00", "2024-01-31T00:01", "2024-01-30"],
        ["31.12.1999", "1.1.2000", "12.3.01"],
        ["12/31/1999", "1/13/2000", "2/1/1998"],
        ["1959-01", "1959-02", "1960-12"],
        ["1959M1", "1959M12", "1960M3"],
        ["2001Q1", "2001Q2", "2002Q4"],
        ["3 Jan 2020", "14-Feb-2021", "1 march 1999"],
        ["Jan 3, 2020", "February 14, 2021", "Mar 1 1999"],
        ["Jan 2020", "Feb 2020", "Mar-2021"],
        ["09:15", "10:30:59", "23:59"],
    ],
)
def test_the_usual_forms_of_dates_are_known(labels):
    assert are_dates(labels)


@pytest.mark.parametrize(
    "labels",
    [
        ["2024-13-31", "1999-12-01", "2000-02-03"],
        ["1-2", "3-4", "5-6"],
        ["10-19", "20-29", "30-39"],
        ["1.5", "2.5", "3.5"],
        ["192.168.0.1", "192.168.0.2", "10.0.0.1"],
        ["may", "june", "march"],
        ["2001", "2002", "2003"],
        ["2024-01-01", "never", "2024-01-02"],
        ["2024-01-01", "2024-01-02"],
    ],
)
def test_other_labels_are_no_dates(labels):
    assert not are_dates(labels)


def test_whole_numbers_are_dates_if_all_of_them_are_days_or_months():
    assert are_written_days(
        np.array([20240131.0, 20231201, 19991105, 20200229, 20010102, 20020202])
    )
    assert are_written_days(np.array([202401.0, 202312, 199911, 202002, 200101, 200202]))
    assert not are_written_days(np.array([202401.0, 202313, 199911, 202002, 200101, 200202]))
    assert not are_written_days(np.array([202401.0, 202402]))
    assert not are_written_days(np.array([202401.5] * 9))
    assert not are_written_days(np.array([]))


@pytest.mark.parametrize("column", [["v"] * N, [3] * N, [2.5] * N, [True] * N])
def test_a_constant_column_is_a_hint(column):
    assert topics(same=column) == {("constant", False)}


def test_a_copy_and_a_recoding_are_hints():
    g = table()["g"]
    assert topics(copy=g) == {("copy", False)}
    assert topics(recoded=[{"a": 3, "b": 1, "c": 2}[level] for level in g]) == {("copy", False)}
    assert topics(same=table()["x"]) == {("copy", False)}


def test_columns_that_are_functions_of_others_are_hints():
    rng = np.random.default_rng(2)
    city = [f"city {k}" for k in rng.integers(0, 12, N)]
    country = [{"0": "A", "1": "B"}.get(name[-1], "C") for name in city]
    before, after = rng.normal(60, 9, N), rng.normal(61, 9, N)
    age = rng.integers(18, 80, N)
    group = np.where(age < 40, "young", np.where(age < 65, "middle", "old")).tolist()
    late = ["yes" if value > 0.3 else "no" for value in table()["x"]]
    assert topics(city=city, country=country) == {("function", False)}
    assert topics(before=before, after=after, change=after - before) == {("function", False)}
    assert topics(a=before, b=after, c=np.round(before + after, 1)) == {("function", False)}
    assert topics(cm=before, inch=np.round(before / 2.54, 2)) == {("function", False)}
    assert topics(age=age, group=group) == {("function", False)}
    assert topics(late=late) == {("function", False)}


def test_a_function_is_named_by_its_formula():
    rng = np.random.default_rng(2)
    before, after = rng.normal(60, 9, N), rng.normal(61, 9, N)
    after[:20] = np.nan
    plan = tamis.inspect(table(wt71=before, wt82=after, wt82_71=after - before))
    assert plan["wt82_71"].suspicions[0].what == "is 'wt82' - 'wt71'"
    hot = rng.integers(0, 3, N)
    dummies = {f"is {k}": (hot == k).astype(int) for k in range(3)}
    plan = tamis.inspect(table(**dummies))
    assert plan["is 2"].suspicions[0].what == "is 1 - 'is 0' - 'is 1'"


def test_noisy_or_unrelated_columns_are_no_functions():
    rng = np.random.default_rng(4)
    before, after = rng.normal(60, 9, N), rng.normal(61, 9, N)
    assert topics(a=before, b=after, c=before + after + rng.normal(0, 0.5, N)) == set()
    frame = pd.DataFrame(rng.integers(0, 3, (60, 40))).rename(columns=str)
    assert tamis.inspect(frame).suspicions == ()
    assert (
        tamis.inspect(pd.DataFrame(rng.normal(size=(30, 60))).rename(columns=str)).suspicions == ()
    )


def test_a_column_that_says_which_rows_belong_together_is_a_hint():
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(50), 4)
    of_person = {name: rng.integers(0, 5, 50)[person] for name in ("sex", "city")}
    plan = tamis.inspect(table(**of_person, person=rng.permutation(50)[person] * 3))
    assert [one.topic for one in plan["person"].suspicions] == ["identifier"]
    assert plan["sex"].suspicions == ()


def test_columns_that_are_mostly_missing_are_a_hint_and_empty_ones_grave():
    assert topics(rare=[1, 2, None, None, None] * (N // 5)) == {("empty", False)}
    assert topics(none=[None] * N) == {("empty", True)}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["yes", "Yes", "no", "no"] * 50, {("spelling", False)}),
        (["New York", "new  york", "Rome", "Rome"] * 50, {("spelling", False)}),
        (["yes", "yes ", "no", "no"] * 50, {("spelling", True)}),
        (["A", "A-", "A+", "AB"] * 50, set()),
    ],
)
def test_two_spellings_of_one_level(column, expected):
    assert topics(answer=column) == expected


def test_codes_that_look_like_numbers_are_hints():
    codes = fresh().integers(10000, 99999, 60)[fresh().integers(0, 60, N)]
    for name in ("zip", "zip_code", "ZIPCode", "postcode", "fips", "occupation code", "ind_cd"):
        assert topics(**{name: codes}) == {("code", False)}
    for name in ("cd4", "cd40", "weight", "barcodescanned"):
        assert topics(**{name: codes}) == set()
    icd = [f"E{k:02d}.{k % 10}" for k in fresh().integers(0, 40, N)]
    assert topics(diagnosis=icd) == {("code", False)}
    assert topics(zip=[f"{code:05d}" for code in fresh().integers(1, 60, N)]) == set()


def spoilt(values, sentinel, n=5):
    """The values, a few of which are replaced."""
    return np.append(values[:-n], [sentinel] * n)


@pytest.mark.parametrize(
    ("column", "odd"),
    [
        (spoilt(RNG.normal(50, 9, N), -999.0), "-999 in 5 rows"),
        (spoilt(RNG.normal(10, 2, N).round(1), 99.9), "99.9 in 5 rows"),
        (spoilt(RNG.integers(18, 90, N), -1), "-1 in 5 rows"),
        (spoilt(RNG.integers(1900, 2000, N), 9999), "9999 in 5 rows"),
        (spoilt(RNG.integers(0, 5, N), 99), "99 in 5 rows"),
        (spoilt(spoilt(RNG.integers(20, 80, N), 999), -99).tolist(), "-99 in 5 rows"),
    ],
)
def test_values_that_may_stand_for_missing_ones_are_hints(column, odd):
    plan = tamis.inspect(table(age=column))
    assert [(one.topic, one.grave) for one in plan["age"].suspicions] == [("sentinel", False)]
    assert plan["age"].suspicions[0].what == f"holds {odd}"
    assert "leave those cells empty" in plan["age"].suspicions[0].do
    plan["age"] = "number"
    assert len(plan["age"].suspicions) == 1


@pytest.mark.parametrize(
    "column",
    [
        spoilt(RNG.normal(50, 9, N), -999.0, n=2),
        RNG.normal(0, 1, N).round(),
        RNG.integers(0, 100, N),
        RNG.poisson(3, N) - 1,
        RNG.choice([92, 95, 99], N),
        RNG.choice([-1, 0, 1], N),
        spoilt(RNG.normal(0, 1, N), 40.0),
    ],
)
def test_other_values_are_no_sentinels(column):
    assert topics(age=column) == set()


@pytest.mark.parametrize(
    "write", ["${:,}", "{} %", "{},5", "€ {}", "{},00 EUR", "{:,}.50", "+{}%", "1.234,{:02}"]
)
def test_numbers_written_as_text_are_hints_or_grave(write):
    values = fresh().integers(1000, 1060, N)
    if "1.234" in write:
        values %= 100
    assert topics(price=[write.format(value) for value in values]) == {("code", False)}
    every = [write.format(k) for k in range(900, 900 + N)]
    assert topics(price=every) == {("refused", True)}
    with pytest.raises(DataError, match=r"written as text, such as .*\. Write such .* 1234\.56"):
        read_table(table(price=every), continuous=True)


def test_other_text_with_digits_is_no_number():
    for write in ("{}th", "0{} 123", "{}-{}", "A{}", "1.{}.3"):
        assert topics(price=[write.format(k, k + 9) for k in fresh().integers(0, 60, N)]) == set()
    assert topics(dose=["10%", "20%", "30%", "20%"] * 50) == set()


def test_a_few_texts_among_numbers_are_a_hint():
    numbers = [str(k) for k in fresh().integers(0, 40, N)]
    assert topics(age=["?", *numbers[1:]]) == {("code", False)}
    assert topics(grade=["good", "bad", "?", "bad"] * 50) == {("code", False)}
    assert topics(age=numbers) == set()


@pytest.mark.parametrize(
    "column",
    [
        [1, "a"] * (N // 2),
        [[1]] * N,
        [float("inf"), 1.5] * (N // 2),
        [1j] * N,
        [10**30 + k for k in range(N)],
        [b"x"] * N,
        ["\ud800", "b"] * (N // 2),
    ],
)
def test_what_reading_refuses_is_a_suspicion_with_a_way_out(column):
    plan = tamis.inspect(table(odd=column))
    assert plan["odd"].kind == "ignore"
    assert plan["odd"].suspicions[0].grave
    assert plan["odd"].suspicions[0].do
    assert read_table(table(odd=column), continuous=True, types=plan.types).names == ("x", "g")


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_the_shortest_tables_have_a_plan(n_rows):
    columns = {"a": [1, 2], "b": ["x", "y"], "c": [0.5, 1.5], "d": [None, None]}
    plan = tamis.inspect({name: values[:n_rows] for name, values in columns.items()})
    assert plan.n_rows == n_rows
    assert any("2 rows" in note for note in plan.notes) == (n_rows < 2)
    assert str(plan)


def test_one_column_has_a_plan_and_repeated_names_have_none():
    assert "at least 2 columns" in str(tamis.inspect(pd.DataFrame({"a": [1, 2]})))
    with pytest.raises(DataError, match="share the name 'a'"):
        tamis.inspect(pd.DataFrame([[1, 2]], columns=["a", "a"]))


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=4),
    st.dates(),
    st.decimals(),
    st.binary(max_size=2),
    st.lists(st.integers(), max_size=1),
)
ANY_COLUMN = st.one_of(
    st.lists(CELLS, min_size=12, max_size=12),
    st.lists(st.sampled_from([0, 1, 2, None]), min_size=12, max_size=12),
    st.lists(st.sampled_from(["a", "b ", "b", "B"]), min_size=12, max_size=12),
    st.lists(st.floats(0, 1), min_size=12, max_size=12),
    st.permutations(list(range(12))),
)


@given(st.lists(ANY_COLUMN, min_size=2, max_size=5))
def test_no_column_makes_it_fail_and_the_plan_can_be_read(columns):
    data = {f"c{k}": column for k, column in enumerate(columns)}
    data |= {"good": [1, 2, 3] * 4, "better": ["u", "v"] * 6}
    plan = tamis.inspect(data)
    assert max(map(width, str(plan).split("\n"))) <= 80
    assert tamis.Plan.from_dict(json.loads(json.dumps(plan.to_dict()))).to_dict() == plan.to_dict()
    complete = {one.name for one in plan if not one.n_missing or one.kind == "ignore"}
    kept = {name: column for name, column in data.items() if name in complete}
    types = {name: told for name, told in plan.types.items() if name in complete}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.TamisWarning)
        read = read_table(kept, continuous=True, types=types)
    assert set(read.names) == complete - set(types)
    assert all(plan[name].kind == kind for name, kind in zip(read.names, read.kinds, strict=True))


# The plan as an object.


def test_a_plan_is_edited_and_handed_over():
    plan = tamis.inspect(table(id=range(N), grade=[1, 2, 3, 4] * 50))
    plan["grade"] = "ordinal"
    plan.set({"id": "number", "g": ["c", "a", "b"]})
    assert plan.types == {"id": "number", "grade": "ordinal", "g": ["c", "a", "b"]}
    read = read_table(table(id=range(N), grade=[1, 2, 3, 4] * 50), continuous=True, types=plan)
    assert read.kinds == ("number", "ordinal", "number", "ordinal")
    assert read.levels[1] == ("c", "a", "b")
    assert plan["id"].suspicions == ()
    plan["id"] = "ignore"
    assert "id" in plan
    assert plan.of_kind("ignore") == ["id"]


@pytest.mark.parametrize(
    ("name", "told", "words"),
    [
        ("g", "number", "column 'g' can be 'category' or 'ordinal' or 'ignore', not 'number'"),
        ("x", "category", "column 'x' can be 'number' or 'ignore', not 'category'"),
        ("g", "text", "must be one of 'category', 'ordinal', 'number', 'ignore', or a list"),
        ("g", ["a", "b"], "the order of column 'g' lacks its level 'c'"),
        ("g", ["a", "b", "a"], "names the level 'a' twice"),
        ("g", ["a"], "needs two levels"),
        ("g", ["a", None], "holds None, which is no level"),
        ("day", "category", r"can be 'ignore', not 'category': it holds dates"),
    ],
)
def test_a_kind_that_a_column_cannot_have_is_refused(name, told, words):
    plan = tamis.inspect(table(day=DAYS))
    before = plan.to_dict()
    with pytest.raises(SettingError, match=words):
        plan[name] = told
    assert plan.to_dict() == before


def test_a_column_that_is_not_there_is_refused_with_a_suggestion():
    plan = tamis.inspect(table(weight=fresh().normal(size=N)))
    with pytest.raises(KeyError, match="did you mean 'weight'"):
        plan["wieght"]
    with pytest.raises(DataError, match=r"no column 'wieght'\. Did you mean 'weight'"):
        tamis.inspect(table(weight=fresh().normal(size=N)), types={"wieght": "number"})


def test_rows_that_are_left_follow_the_columns_that_are_kept():
    rare = [1, 2, None, None, None] * (N // 5)
    some = [1, 2, 3, 4, None] * (N // 5)
    plan = tamis.inspect(table(rare=rare, some=some), missing="drop")
    assert plan.rows == {"drop": 80, "level": N, "pairwise": N}
    assert "Without 'rare' 'drop' would leave 160." in words_of(plan)
    assert "The choice is missing='drop'." in words_of(plan)
    plan["rare"] = "ignore"
    assert plan.rows["drop"] == 160
    again = tamis.Plan.from_dict(plan.to_dict())
    assert again.rows["drop"] == 160
    again["g"] = "ignore"
    assert again.rows["drop"] is None
    assert "not known" in words_of(again)
    again["some"] = "ignore"
    assert again.rows["drop"] == N
    with pytest.raises(SettingError, match="missing must be one of"):
        tamis.inspect(table(), missing="maybe")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda written: written.pop("columns"),
        lambda written: written["columns"][0].update(kind="text"),
        lambda written: written["columns"][0].pop("levels"),
        lambda written: written["columns"][0].update(name=5),
        lambda written: written["columns"][0].update(low="few"),
        lambda written: written["columns"][0].update(n_values="many"),
        lambda written: written["columns"][0].update(n_missing=None),
        lambda written: written["columns"][-1]["suspicions"][0].update(topic="smell"),
    ],
)
def test_what_is_no_plan_is_refused(spoil):
    written = json.loads(json.dumps(tamis.inspect(table(id=range(N))).to_dict()))
    spoil(written)
    with pytest.raises(FileFormatError, match="no plan that tamis has written"):
        tamis.Plan.from_dict(written)


def test_a_plan_prints_in_80_columns_whatever_it_holds():
    hostile = {
        "<b>x</b>": ["<script>", "&"] * 100,
        "[red]\x1b[31m": ["\x1b[0m", "b", "[bold]", "d"] * 50,
        "line\nbreak": range(N),
        "名前" * 30: ["漢字" * 40, "b", "b", "b"] * 50,
        "e\u0301" * 50: ["y"] * N,
    }
    plan = tamis.inspect(hostile)
    assert max(map(width, str(plan).split("\n"))) <= 80
    assert str(plan).replace("\n", "").isprintable()
    shown = plan._repr_html_()
    assert "<script>" not in shown
    assert "<b>x" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in shown


# Kinds that are named, and what learning says.


def test_levels_are_put_in_the_order_that_is_told():
    sizes = ["small", "medium", "large", "small"] * 50
    read = read_table(
        table(size=sizes), continuous=True, types={"size": ["small", "medium", "large"]}
    )
    k = read.names.index("size")
    assert (read.levels[k], read.kinds[k]) == (("small", "medium", "large"), "ordinal")
    assert [read.levels[k][code] for code in read.codes[k]] == sizes
    numbers = [3, 1, 2, 1] * 50
    read = read_table(table(size=numbers), continuous=True, types={"size": ["3", 1, 2.0]})
    assert read.levels[k] == (3, 1, 2)
    halves = [0.5, 1.0, 0.5, 1.5] * 50
    read = read_table(table(size=halves), continuous=True, types={"size": [1.5, 1.0, 0.5]})
    assert read.levels[k] == ("1.5", "1", "0.5")


def test_an_order_that_lacks_a_level_is_refused_by_name():
    sizes = ["small", "medium", "large", "small"] * 50
    with pytest.raises(DataError, match="has the level 'medium', which its order"):
        read_table(table(size=sizes), continuous=True, types={"size": ["small", "large"]})
    assert read_table(
        table(size=sizes), continuous=True, types={"size": ["s", "small", "medium", "large"]}
    )


@pytest.mark.parametrize(
    "make",
    [
        pd.to_datetime,
        lambda days: pl.Series(days).str.to_date(),
        lambda days: pa.array([datetime.date.fromisoformat(day) for day in days]),
        lambda days: [datetime.date.fromisoformat(day) for day in days],
        lambda days: pl.Series(days).str.to_datetime("%Y-%m-%d", time_unit="ns"),
        lambda days: days,
    ],
    ids=["pandas", "polars", "arrow", "objects", "nanoseconds", "text"],
)
def test_dates_are_categories_if_the_user_says_so(make):
    data = table(when=make(DAYS[:8] * (N // 8)))
    for kind in ("category", "ordinal"):
        read = read_table(data, continuous=True, types={"when": kind})
        assert (read.kinds[2], read.levels[2]) == (kind, tuple(DAYS[:8]))
    plan = tamis.inspect(data)
    assert "--type when=category" in plan["when"].suspicions[0].do
    plan["when"] = "category"
    assert read_table(data, continuous=True, types=plan).levels[2] == tuple(DAYS[:8])
    told = tamis.inspect(data, types={"when": "category"})
    assert (told["when"].levels, told["when"].suspicions) == (tuple(DAYS[:8]), ())
    with pytest.raises(DataError, match="has 200 levels in 200 rows"):
        read_table(table(when=make(DAYS)), types={"when": "category"}, continuous=True)
