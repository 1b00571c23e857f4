"""What is written is read again, to the last bit, by tamis and by others."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_networks import STRANGE, networks, published, read_by_agrum, read_by_pgmpy, words

from tamis.errors import FileFormatError, SettingError
from tamis.network import BayesianNetwork
from tamis.network.bif import parse_bif, render

COIN = BayesianNetwork(["coin"], [["heads", "tails"]], [()], [[0.5, 0.5]])


def again(network):
    return BayesianNetwork(*parse_bif(render(network).encode(), "again"))


@given(networks())
def test_a_round_trip_keeps_names_levels_parents_and_every_bit(network):
    assert again(network) == network


@given(networks(labels=st.integers(-(2**70), 2**70)) | networks(labels=st.booleans()))
def test_labels_that_are_not_strings_come_back_as_their_text(network):
    back = again(network)
    assert back.levels == tuple(tuple(map(str, labels)) for labels in network.levels)
    assert [table.tolist() for table in back.tables] == [table.tolist() for table in network.tables]


@pytest.mark.parametrize("name", ["child", "munin1", "sachs"])
def test_a_published_network_survives_a_round_trip(name, tmp_path):
    network = BayesianNetwork.read(published(name))
    network.write(tmp_path / "again.bif.gz")
    assert BayesianNetwork.read(tmp_path / "again.bif.gz") == network


@pytest.mark.parametrize("name", STRANGE)
def test_every_strange_name_can_be_a_name_and_a_level(name):
    network = BayesianNetwork(
        [name, "child"], [[name, ""], ["x", name]], [(), (0,)], [[0.25, 0.75], [[1, 0], [0.5, 0.5]]]
    )
    assert again(network) == network


@given(networks(names=words, labels=words))
@settings(max_examples=12)
def test_pgmpy_reads_the_same_network(network):
    others = read_by_pgmpy(render(network))
    for k, name in enumerate(network.names):
        states, parents, table = others[name]
        assert (states, parents) == (network.levels[k], network.parents_of(name))
        assert table.tolist() == network.tables[k].tolist()


@given(network=networks(names=words, labels=words, fewest=2))  # aGrUM knows no constants
def test_agrum_reads_the_same_network(network, tmp_path_factory):
    path = tmp_path_factory.mktemp("agrum") / "x.bif"
    network.write(path)
    others = read_by_agrum(path)
    for k, name in enumerate(network.names):
        states, parents, table = others[name]
        assert (states, parents) == (network.levels[k], network.parents_of(name))
        # In single precision.
        np.testing.assert_allclose(table, network.tables[k], rtol=1e-6, atol=1e-37)


@pytest.mark.parametrize("bad", ['say "hi"', "two\nlines", "carriage\rreturn", '"'])
def test_a_name_or_label_that_bif_cannot_hold_is_named_and_nothing_is_written(bad, tmp_path):
    for names, levels, what in (
        ([bad], [["x", "y"]], f"BIF cannot hold the name {bad!r}: "),
        (["a"], [["x", bad]], f"BIF cannot hold the level {bad!r} of 'a': "),
    ):
        network = BayesianNetwork(names, levels, [()], [[0.5, 0.5]])
        with pytest.raises(SettingError) as caught:
            network.write(tmp_path / "x.bif")
        assert what in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_ending_says_whether_the_file_is_compressed(tmp_path):
    COIN.write(tmp_path / "x.bif")
    COIN.write(str(tmp_path / "x.bif.gz"))
    plain = (tmp_path / "x.bif").read_bytes()
    assert plain.decode() == render(COIN)
    assert gzip.decompress((tmp_path / "x.bif.gz").read_bytes()) == plain


def damaged(draw, text):
    """The text with a piece cut out, doubled, moved or replaced."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 12)))
    filler = draw(
        st.sampled_from(
            ["", ";", "{", "}", "(", ")", "|", '"', "/*", "//", "-", "1", "1e9", "nan", "default"]
        )
        | st.text(max_size=4)
        | st.just(text[start:end] * 2)
    )
    return text[:start] + filler + text[end:]


@st.composite
def damaged_files(draw):
    text = render(draw(networks()))
    for _ in range(draw(st.integers(1, 3))):
        text = damaged(draw, text)
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    content = text.encode(errors="surrogatepass")
    if draw(st.booleans()) and content:
        at = draw(st.integers(0, len(content) - 1))
        content = content[:at] + draw(st.binary(max_size=3)) + content[at + 1 :]
    return content


@given(damaged_files())
@pytest.mark.filterwarnings("ignore::tamis.errors.TamisWarning")
def test_a_damaged_file_is_a_network_or_a_file_format_error(content):
    try:
        network = BayesianNetwork(*parse_bif(content, "'x.bif'"))
    except FileFormatError as error:
        complaint = str(error)
    else:
        assert again(network) == network
        return
    assert complaint.startswith("'x.bif'")
