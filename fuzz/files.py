"""Files that were damaged, or changed by somebody who knows their digests."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import tamis
from fuzz import frames, good_files, odd
from fuzz.kind import Case, require
from tamis import studies
from tamis.formats.files import load_graph
from tamis.formats.json_file import DIGEST, digest_of
from tamis.studies.rows import JOURNAL
from tamis.tables.packed_file import PRELUDE, read_header
from tamis.tables.planes import digest

template = Path()
"""The folder with the good files; set by the process that runs the cases."""


def _content(name: str) -> bytes:
    return (template / name).read_bytes()


def _put(case: Case, name: str, content: bytes, note: str) -> Path:
    path = case.folder / name
    path.write_bytes(content)
    case.tries(f"{name} ({note}): {content[:3000]!r}")
    return path


def result(case: Case) -> None:
    """A damaged result is refused, or is the result; one that was changed and sealed again is
    refused, or shown, saved and loaded like any other."""
    name = case.rng.choice(("run.json", "numbers.json"))
    was = (good_files.levels() if name == "run.json" else good_files.numbers()).result_
    if case.chance(0.4):
        path = _put(case, name, odd.damaged(case.rng, _content(name)), "damaged")
        found = case.answer(lambda: tamis.load(path))
        require(found is None or found == was, "a damaged result was taken for another one")
        return
    document = json.loads(_content(name))
    for _ in range(case.rng.choice((1, 1, 2))):
        document = odd.changed(case.rng, document)
    if isinstance(document, dict):
        document[DIGEST] = digest_of(document)
    path = _put(case, name, json.dumps(document).encode(), "sealed again")
    found = case.answer(lambda: tamis.load(path))
    if found is not None:
        _use_result(case, found)


def _use_result(case: Case, found: tamis.Result) -> None:
    frames.kept(case, found)
    uses: list[Callable[[], object]] = [
        lambda: str(found.answer()),
        lambda: [str(found.explain(name)) for name in found.names],
        lambda: found.report(case.folder / "page.html"),
        lambda: found.save(case.folder / "x.dot", case.folder / "x.graphml", case.folder / "x.csv"),
        lambda: found.with_edges(good_files.rows_of_levels()),
        lambda: found.bootstrap(good_files.rows_of_levels(), 1),
        lambda: found.cpdag.edges,
    ]
    for use in case.rng.sample(uses, 3):
        case.answer(use)


def bif(case: Case) -> None:
    """A BIF file is refused, or a network that is written and read again as it is."""
    content = _content("run.bif")
    if case.chance(0.5):
        content = odd.damaged(case.rng, content)
    else:
        content = _words_moved(case.rng, content)
    ending = "bif"
    if case.chance(0.1):
        ending, content = "bif.gz", odd.damaged(case.rng, gzip.compress(content, mtime=0))
    path = _put(case, f"x.{ending}", content, "damaged")
    network = case.answer(lambda: tamis.BayesianNetwork.read(path))
    if network is None:
        return
    again = case.folder / "again.bif"
    if case.answer(lambda: network.write(again) or True):
        require(tamis.BayesianNetwork.read(again) == network, "a network came back as another one")
    if case.chance(0.2):
        case.answer(lambda: network.sample(3, 1))
    if case.chance(0.1):
        case.answer(lambda: tamis.check(network, quick=True))


def _words_moved(rng: random.Random, content: bytes) -> bytes:
    """With words that stand where others belong."""
    words = content.split(b" ")
    for _ in range(rng.choice((1, 2, 4))):
        at = rng.randrange(len(words))
        words[at] = rng.choice(
            (*words, b"", b"{", b"}", b"(", b")", b";", b"|", b"1e400", b"-1", b"nan", b"0", b'"')
        )
    return b" ".join(words)


def packed(case: Case) -> None:
    """A packed file is refused, or learned from as before."""
    content = _content("table.tamis")
    if case.chance(0.4):
        path = _put(case, "x.tamis", odd.damaged(case.rng, content), "damaged")
        model = case.answer(lambda: tamis.TAM("node", n_jobs=1).fit(path))
        was = good_files.levels().result_
        same = model is None or model.result_.edges == was.edges
        require(same, "a damaged packed file gave another graph")
        return
    path = _put(case, "x.tamis", _sealed(case.rng, content), "sealed again")
    search = case.rng.choice(frames.SEARCHES)
    case.answer(lambda: tamis.TAM(search, n_jobs=1).fit(path))


def _sealed(rng: random.Random, content: bytes) -> bytes:
    """With another header, or other blocks, and digests that are right."""
    size = PRELUDE.unpack(content[: PRELUDE.size])[3]
    end = PRELUDE.size + size
    text = content[PRELUDE.size : end]
    if rng.random() < 0.6:
        text = json.dumps(odd.changed(rng, json.loads(text)), separators=(",", ":")).encode()
        content = _padded(text, content[end:])
        end = PRELUDE.size + len(text)
    head = PRELUDE.pack(
        *struct.unpack("<16sIIQ32s", content[: PRELUDE.size])[:3], len(text),
        hashlib.blake2b(text, digest_size=32).digest(),
    )  # fmt: skip
    whole = bytearray(head + text + content[end:])
    try:
        layout = _layout(bytes(whole))
    except (tamis.TamisError, ArithmeticError, MemoryError, ValueError):
        return bytes(whole)
    if not 0 < layout.size < 10**6:
        return bytes(whole)
    whole = bytearray(bytes(whole)[: layout.size].ljust(layout.size, b"\0"))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(layout.planes_start, layout.digests_start)
        whole[at] ^= 1 << rng.randrange(8)
    listed = b"".join(
        digest([bytes(whole[begin:stop]) for begin, stop in layout.parts(block)])
        for block in range(layout.n_blocks)
    )
    whole[layout.digests_start :] = listed + digest([listed])
    return bytes(whole)


def _padded(text: bytes, rest: bytes) -> bytes:
    return b"\0" * PRELUDE.size + text + rest


def _layout(content: bytes):  # noqa: ANN202 - private to the counting room
    import io

    header, end = read_header("x.tamis", io.BytesIO(content))
    return header.layout(end)


def _line_changed(rng: random.Random, lines: bytes) -> bytes:
    """One line of a journal changed, with its right digest."""
    found = lines.splitlines()
    at = rng.randrange(len(found))
    entry = json.loads(found[at])
    entry.pop("sha256")
    entry = odd.changed(rng, entry)
    if isinstance(entry, dict):
        text = json.dumps(entry, separators=(",", ":"))
        entry = {**entry, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    found[at] = json.dumps(entry, separators=(",", ":")).encode()
    return b"\n".join(found) + b"\n"


def study(case: Case) -> None:
    """The journal of a study is refused, or its tables and figures can be made."""
    lines = _content(f"study/{JOURNAL}")
    sealed = case.chance(0.6)
    content = _line_changed(case.rng, lines) if sealed else odd.damaged(case.rng, lines)
    path = _put(case, JOURNAL, content, "sealed again" if sealed else "damaged")
    folder = path.parent
    plan = case.answer(lambda: studies.read_plan(folder))
    rows = case.answer(lambda: studies.read(folder))
    if rows:
        case.answer(lambda: studies.summarise(rows, plan[0] if plan else None))
        if case.chance(0.05):
            case.answer(lambda: studies.write_figures(rows, folder))
        if case.chance(0.5):
            studies.write(rows, folder)
            os.unlink(path)
            require(studies.read(folder) == rows, "the table of a study came back as another one")


def plan(case: Case) -> None:
    """The plan of a study is refused, or a plan."""
    path = _put(case, "plan.toml", odd.damaged(case.rng, _content("plan.toml")), "damaged")
    found = case.answer(lambda: studies.load(str(path)))
    if found is not None:
        case.answer(lambda: (len(found.draws), found.to_dict()))


def knowledge(case: Case) -> None:
    """Knowledge is refused, or comes back from what it is written as."""
    ending = case.rng.choice(("json", "yaml"))
    if case.chance(0.4):
        content = odd.damaged(case.rng, _content(f"known.{ending}"))
    else:
        known: object = good_files.KNOWN
        for _ in range(case.rng.choice((1, 2, 4))):
            known = odd.changed(case.rng, known)
        content = json.dumps(known if case.chance(0.8) else odd.document(case.rng)).encode()
    path = _put(case, f"known.{ending}", content, "changed")
    found = case.answer(lambda: tamis.Knowledge.read(path))
    if found is None:
        return
    require(tamis.Knowledge.of(found.to_dict()) == found, "knowledge came back as other knowledge")
    if case.chance(0.3):
        case.answer(
            lambda: tamis.TAM("node", knowledge=found, n_jobs=1).fit(good_files.rows_of_levels())
        )


def parquet(case: Case) -> None:
    """A Parquet file is refused or read: one that is damaged, or one with odd columns."""
    if case.chance(0.5):
        path = _put(case, "x.parquet", odd.damaged(case.rng, _content("table.parquet")), "damaged")
    else:
        table = frames.columns(case.rng)
        case.tries(f"{table!r}"[:2000])
        path = case.folder / "x.parquet"
        try:
            pq.write_table(pa.table(table), path)
        except (pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError):
            return
    _read(case, path)


def csv(case: Case) -> None:
    """A CSV file is refused or read: one that is damaged, or one with odd cells."""
    if case.chance(0.5):
        name = case.rng.choice(("table.csv", "numbers.csv", "gaps.csv", "mixed.csv"))
        content = odd.damaged(case.rng, _content(name))
    else:
        mark = case.rng.choice((",", ",", ";", "\t", "|", " "))
        few = case.rng.sample(odd.CELLS, 3)
        rows = [
            case.rng.sample(odd.NAMES, 3),
            *([case.rng.choice(few) for _ in range(3)] for _ in range(30)),
        ]
        text = case.rng.choice(("\n", "\r\n", "\r")).join(mark.join(row) for row in rows)
        content = text.encode(case.rng.choice(("utf-8", "utf-8", "utf-16", "latin-1")), "replace")
    _read(case, _put(case, "x.csv", content, "damaged"))


def _read(case: Case, path: Path) -> None:
    act = case.rng.randrange(4)
    if act == 0:
        case.answer(lambda: str(tamis.inspect(path)))
    memory = "1GB" if act == 1 else None
    given = frames.settings(case.rng)
    case.tries(f"TAM({given}, memory={memory})")
    model = case.answer(lambda: tamis.TAM(**given, memory=memory).fit(path))
    if model is not None:
        frames.kept(case, model.result_)


def graph(case: Case) -> None:
    """A file of a graph is refused, or a graph that can be compared."""
    name = case.rng.choice(("run.graphml", "edges.csv"))
    path = _put(case, name, odd.damaged(case.rng, _content(name)), "damaged")
    found = case.answer(lambda: load_graph(path))
    if found is not None:
        case.answer(lambda: str(tamis.compare(path, template / "run.json")))
