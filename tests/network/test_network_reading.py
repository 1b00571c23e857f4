"""BIF as it occurs, and BIF as it should not."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from made_networks import read_by_agrum, read_by_pgmpy

from tamis.errors import FileFormatError, TamisWarning
from tamis.network import BayesianNetwork
from tamis.network.bif import MOST_BYTES, parse_bif

HEAD = """network unknown {
}
variable a {
  type discrete [ 2 ] { yes, no };
}
variable b {
  type discrete [ 3 ] { low, mid, high };
}
"""
ROOT = """probability ( a ) {
  table 0.25, 0.75;
}
"""
CHILD = """probability ( b | a ) {
  (yes) 0.5, 0.25, 0.25;
  (no) 0.125, 0.375, 0.5;
}
"""
PLAIN = HEAD + ROOT + CHILD
WANTED = BayesianNetwork(
    ("a", "b"),
    (("yes", "no"), ("low", "mid", "high")),
    ((), (0,)),
    (np.array([0.25, 0.75]), np.array([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]])),
)


def read(text):
    return BayesianNetwork(*parse_bif(text.encode(), "'x.bif'"))


def swap(old, new):
    return PLAIN.replace(old, new)


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        swap("\n", "\r\n"),
        swap("\n", "\r"),
        swap("\n", " "),
        "\ufeff" + PLAIN,
        swap(",", " "),
        swap("low, mid, high", "low | mid | high"),
        swap("(yes) 0.5, 0.25, 0.25", "( yes ) 5e-1 | .25 | 25.E-2"),
        HEAD + CHILD + ROOT,
        ROOT + CHILD + HEAD,
        swap("network unknown {\n}", ""),
        swap("network unknown {", 'network "My net" { property "a;b {" ; property c = 5" ;'),
        swap("{ yes", "{ // two\n yes").replace("0.75;", "/* three\n quarters */ 0.75;"),
        swap("(yes)", "/**/ ( /* when */ yes ) // then\n").replace("| a", "/*|*/ a"),
        swap("(yes)", '("yes")').replace("variable a", 'variable "a"'),
        swap("  type", "  property x = {1, 2) ;\n  type").replace("};\n", "}; property y;\n"),
        swap("  (yes)", "  property p = (yes) 1 ;\n  (yes)"),
        swap("( b | a )", "( b a )"),
        swap("( a )", "( a | )"),
        swap("  table 0.25", "  default 0.25"),
        swap("  table 0.25", "  () 0.25"),
        swap("[ 2 ]", "[ 02 ]"),
    ],
)  # fmt: skip
def test_all_spellings_of_one_network_are_read_alike(text):
    assert read(text) == WANTED


def test_rows_may_come_in_any_order():
    lines = CHILD.splitlines()
    assert read(HEAD + ROOT + "\n".join([lines[0], lines[2], lines[1], lines[3]])) == WANTED


TABLE = CHILD.replace("(yes) 0.5, 0.25, 0.25;", "table 0.5 0.125 0.25 0.375 0.25 0.5;").replace(
    "  (no) 0.125, 0.375, 0.5;\n", ""
)


def test_a_table_lists_all_rows_of_the_first_state_before_the_second(tmp_path):
    text = HEAD + ROOT + TABLE
    assert read(text) == WANTED
    ours = {"a": (("yes", "no"), (), WANTED.tables[0]), "b": (("low", "mid", "high"), ("a",))}
    for others in (read_by_agrum(write(tmp_path / "t.bif", text)), read_by_pgmpy(text)):
        assert others["b"][:2] == ours["b"]
        np.testing.assert_allclose(others["b"][2], WANTED.tables[1])


def test_in_a_table_the_last_parent_changes_fastest():
    text = HEAD + ROOT + CHILD
    text += "variable c { type discrete [ 2 ] { on, off }; }\nprobability ( c | b, a ) { table "
    on = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    text += " ".join(map(str, [*on, *(1 - p for p in on)])) + "; }\n"
    table = read(text).tables[2]
    # b = mid is 1, a = no is 1, c = on is 0.
    assert table[1, 1, 0] == 0.4
    assert table[..., 0].ravel().tolist() == on


def test_default_fills_the_rows_that_are_not_listed(tmp_path):
    text = HEAD + ROOT + CHILD.replace("  (yes) 0.5", "  default 0.5")
    assert read(text) == WANTED
    assert read_by_agrum(write(tmp_path / "d.bif", text))["b"][2].tolist() == (
        WANTED.tables[1].tolist()
    )


MALFORMED = [
    (swap("network", "netwrk"), 1, "expected 'network', 'variable' or 'probability', but"),
    (PLAIN + "a remark", 16, "found 'a'; put remarks behind //"),
    (PLAIN + "network again { }", 16, "a second 'network' begins"),
    (swap("unknown {\n}", "unknown {\n x }"), 2, "expected '}' after the properties"),
    (swap("unknown {", "unknown ;"), 1, "expected '{' after the name of the network"),
    (swap("variable a {", "variable {"), 3, "expected the name of a variable, but found '{'"),
    (swap("variable a {", "variable a b {"), 3, "expected '{' after the variable 'a'"),
    (swap("type discrete [ 2 ]", "typ discrete [ 2 ]"), 4, "expected 'type' or 'property'"),
    (swap("  type discrete [ 2 ] { yes, no };\n", ""), 4, "variable 'a', but found '}'"),
    (swap("no };", "no }; type discrete [1] {x};"), 4, "the variable 'a' has a second type"),
    (swap("discrete [ 2 ]", "continuous [ 2 ]"), 4, "only 'discrete' is read"),
    (swap("[ 2 ]", "2"), 4, "expected '[' after 'discrete', but found '2'"),
    (swap("[ 2 ]", "[ ]"), 4, "expected the number of states of 'a', but found ']'"),
    (swap("[ 2 ]", "[ 3 ]"), 4, "'a' announces '3' states, but lists 2"),
    (swap("[ 2 ]", f"[ {'9' * 5000} ]"), 4, "'a' announces '9999999999"),
    (swap("{ yes, no };", "{ yes, no }"), 5, "expected ';' after the states of 'a'"),
    (swap("{ yes, no };", "{ yes, no ;"), 4, "expected '}' after the states of 'a'"),
    (swap("{ yes, no }", "{ yes, yes }"), 4, "'a' has the state 'yes' twice"),
    (swap("[ 2 ] { yes, no }", "[ 0 ] { }"), 3, "the variable 'a' has no states"),
    (swap("variable b", "variable a"), 6, "a second variable is called 'a'"),
    (swap("variable b", 'variable " "'), 6, "the name of a variable is empty"),
    (swap("variable b", 'variable "b'), 6, "this quotation mark has no twin"),
    (swap("{ yes", "{ /* yes"), 4, "this comment has no '*/'"),
    (swap("  type", "  property x").replace(";", ""), 4, "this property has no ';' at its end"),
    ("network x { }", 1, "the file has no variables"),
    (HEAD + ROOT, 6, "the variable 'b' has no probability block"),
    (PLAIN + ROOT, 16, "a second probability block for 'a'"),
    (swap("| a", "| c"), 12, "there is no variable 'c'"),
    (swap("( a )", "( c )"), 9, "there is no variable 'c'"),
    (swap("| a", "| a, a"), 12, "'b' has the parent 'a' twice"),
    (swap("b | a", "b, a | a"), 12, "a bar after 'a', though 'b' is the one variable"),
    (swap("( a )", "( a | b )"), 9, "the network has a cycle: 'a' → 'b' → 'a'"),
    (swap("( a )", "( a | a )"), 9, "the network has a cycle: 'a' → 'a'"),
    (swap("( a )", "a"), 9, "expected '(' after 'probability', but found 'a'"),
    (swap("( a )", "( a"), 9, "expected ')' after the parents of 'a', but found '{'"),
    (swap("0.75;", "0.75"), 11, "expected ';' after the probabilities, but found '}'"),
    (swap("0.25;", "0.25"), 14, "expected ';' after the probabilities, but found '('"),
    (swap("(yes)", "(yes"), 13, "expected ')' after the states of a row, but found ';'"),
    (swap("(yes)", "yes"), 13, "expected a row, 'table', 'default' or '}' in the block"),
    (swap("(yes)", "(maybe)"), 13, "'a' has no state 'maybe'"),
    (swap("(no)", "(yes)"), 14, "a second row for 'b' given 'a' = 'yes'"),
    (swap("(no)", "(no, no)"), 14, "names 2 states, but the number of parents of 'b' is 1"),
    (swap("  (no) 0.125, 0.375, 0.5;\n", ""), 12, "there is no row for 'b' given 'a' = 'no'"),
    (swap("0.375, 0.5", "0.875"), 14, "this row has 2 probabilities, but 'b' has 3 states"),
    (swap("table 0.25,", "table 0.25, 0,"), 10, "'a' has 3 probabilities, but needs 2"),
    (swap("  table 0.25, 0.75;\n", ""), 9, "there is no row for 'a'."),
    (swap("table", "table 0.25, 0.75; table"), 10, "the block of 'a' has a second table"),
    (swap("table", "default 1 0; default"), 10, "the block of 'a' has a second default"),
    (swap("table", "default 0.25, 0.75; table"), 10, "has a table and further rows"),
    (HEAD + ROOT + TABLE.replace("}", "(no) 0 0 1; }"), 14, "has a table and further rows"),
    (swap("0.375", "0.275"), 14, "of 'b' given 'a' = 'no' sum to 0.9, which misses 1 by 0.1"),
    (swap("0.25, 0.75", "1.25, -0.25"), 10, "of 'a' hold -0.25, which is negative"),
    (swap("0.375", "1e999"), 14, "of 'b' given 'a' = 'no' hold inf"),
    (swap("0.375", "nan"), 14, "expected a probability, but found 'nan'"),
    (swap("0.375", "0.3.75"), 14, "expected a probability, but found '0.3.75'"),
    (swap("0.375", "0_375"), 14, "expected a probability, but found '0_375'"),
    (swap("0.375", "٠"), 14, "expected a probability, but found '٠'"),
    (swap("0.375", "0,375"), 14, "this row has 4 probabilities, but 'b' has 3 states"),
    (PLAIN[:-3], 14, "in the block of 'b', but found the end of the file"),
    (PLAIN[:-4], 14, "expected ';' after the probabilities, but found the end of the file"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), MALFORMED, ids=lambda value: str(value)[-30:])
def test_what_is_wrong_is_said_with_the_line(text, line, message):
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert str(caught.value).startswith(f"'x.bif', line {line}: ")
    assert message in str(caught.value)


def test_a_table_that_would_fill_the_memory_is_refused_before_it_is_made():
    names = [f"v{i}" for i in range(30)]
    text = "".join(f"variable {v} {{ type discrete [ 2 ] {{ x y }}; }}\n" for v in names)
    text += "".join(f"probability ( {v} ) {{ table 0.5 0.5; }}\n" for v in names[1:])
    text += f"probability ( v0 | {' '.join(names[1:])} ) {{ default 0.5 0.5; }}"
    with pytest.raises(
        FileFormatError, match=f"line 60: the table of 'v0' would hold {2**30} prob"
    ):
        read(text)


def test_rounded_rows_are_rescaled_with_a_warning_that_names_the_worst(tmp_path):
    third = PLAIN.replace("0.5, 0.25, 0.25", "0.33, 0.33, 0.33").replace("0.375", "0.3751")
    path = write(tmp_path / "third.bif", third)
    with pytest.warns(
        TamisWarning, match=r"'b' given 'a' = 'yes' \(line 13\) miss it by 0.01"
    ) as w:
        network = BayesianNetwork.read(path)
    assert w[0].filename == __file__
    np.testing.assert_allclose(network.tables[1][0], 1 / 3)
    np.testing.assert_allclose(network.tables[1][1], np.array([0.125, 0.3751, 0.5]) / 1.0001)


def test_plain_and_compressed_files_are_read_by_their_endings(tmp_path):
    write(tmp_path / "x.BIF", PLAIN)
    (tmp_path / "x.bif.gz").write_bytes(gzip.compress(PLAIN.encode()))
    assert BayesianNetwork.read(tmp_path / "x.BIF") == WANTED
    assert BayesianNetwork.read(str(tmp_path / "x.bif.gz")) == WANTED


def test_a_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.network.bif.MOST_BYTES", 1000)
    assert MOST_BYTES > 10 * 5_512_265  # the largest published file
    (tmp_path / "bomb.bif.gz").write_bytes(gzip.compress(b" " * 1001))
    with pytest.raises(FileFormatError, match="holds more than 1000 bytes"):
        BayesianNetwork.read(tmp_path / "bomb.bif.gz")
