"""Contexts judged in bit planes: their tables are counted, folded and, where asked, tested.

A table is ``cells[(s, x), y]``, laid flat: the strata s of the conditioning set and the
levels x of the target share the first axis, x running fastest; y is the candidate's level.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import (
    Asked,
    Columns,
    Floats,
    Ints,
    Pairs,
    Tables,
    Words,
    compiled,
    inner,
    popcount,
    whole,
)
from tamis.counting.independence import (
    SCALE,
    finish,
    fold_table,
    fold_two_levels,
    test_table,
    test_two_levels,
)

BLOCK = 128
"""Planes counted together: enough to vectorise over, few enough to stay in the cache."""


@inner
def cells_in_planes(columns: Columns, most: int, members: Ints) -> int:
    """The cells of the table of these columns if planes are to count it: if all have planes and
    there are no more than ``most``; one more than that if not."""
    _, _, _, first, arities, _, _, _, _ = columns
    n_cells = whole(1)
    for k in members:
        n_cells *= arities[k]
        if n_cells > most or first[k + 1] - first[k] != arities[k] - 1:
            return most + 1
    return n_cells


@inner
def candidate_in_planes(columns: Columns, most: int, n_cells: int, k: int) -> bool:
    """Whether planes are to count a candidate with a context of this number of cells."""
    _, _, _, first, arities, _, _, _, _ = columns
    # A candidate without levels to count must not bring a large context to the planes.
    n_planes = arities[k] - 1
    return n_cells <= most and n_cells * n_planes <= most and first[k + 1] - first[k] == n_planes


@inner
def is_among(k: int, members: Ints) -> bool:
    """Whether a candidate is the target or given, and so has nothing to add."""
    for v in members:  # noqa: SIM110 - the compiler knows no generators
        if v == k:
            return True
    return False


@inner
def rows_of_supports(asked: Asked, b: int, kind: int) -> tuple[int, int]:
    """Those of (S, X_l) and (S, X_k, X_l) for context b and a class of candidates, or there are the
    same for all."""
    _, _, _, _, _, _, heads = asked
    own, kind = b if heads.shape[0] > 1 else whole(0), kind if heads.shape[1] > 1 else whole(0)
    return heads[own, kind, 0], heads[own, kind, 1]


@inner
def rows_of_own_supports(asked: Asked, b: int) -> tuple[int, int]:
    """Those of S and (S, X_k)."""
    _, _, _, _, _, base_heads, heads = asked
    own = b if heads.shape[0] > 1 else whole(0)
    return base_heads[own, 0], base_heads[own, 1]


@inner
def nothing_gained(c: int, gains: Floats, stats: Floats) -> None:
    """Candidate c is part of its context."""
    gains[c] = 0.0
    if stats.shape[0]:
        for i in range(stats.shape[1]):
            stats[c, i] = 0.0


@inner
def count_common(a: Words, p: int, b: Words, q: int) -> np.int64:
    """The rows that plane p of ``a`` and plane q of ``b`` share."""
    total = np.uint64(0)
    for w in range(a.shape[1]):
        total += popcount(a[p, w] & b[q, w])
    return np.int64(total)


@compiled
def add_pairs(words: Words, start: int, stop: int, out: Pairs) -> None:
    """Add the joint counts of planes ``start`` to ``stop`` with themselves and all later ones, in
    both orders."""
    for p in range(start, stop):
        out[p, p] += count_common(words, p, words, p)
        for q in range(p + 1, words.shape[0]):
            common = count_common(words, p, words, q)
            out[p, q] += common
            out[q, p] += common


@inner
def close_levels(counts: Ints, width: int, arities: Ints, members: Ints) -> None:
    """Turn the entry that counts all rows of a variable into that of its last level.

    ``counts`` holds ``width`` tensors side by side, ``counts[cell, tensor]``, which have an axis
    for each of the ``members``; along each axis the last entry first holds the sum over all levels
    and afterwards the last level alone.
    """
    step = 1
    for v in range(members.shape[0] - 1, -1, -1):
        block = step * arities[members[v]]
        for base in range(0, counts.shape[0], block):
            for last in range(base + block - step, base + block):
                for other in range(last - block + step, last, step):
                    for j in range(width):
                        counts[last, j] -= counts[other, j]
        step = block


@inner
def context_masks(words: Words, first: Ints, arities: Ints, members: Ints, where: Ints) -> Words:
    """The masks of all combinations of levels of the members, last levels meaning "any".

    ``where`` receives for each combination where its rows are: -1 is all rows, as no level is
    fixed; up to the number of planes it is the plane of the one level that is; from there on it is
    a mask.
    """
    n_planes, n_words = words.shape
    n_cells = where.shape[0]
    n_masks = n_cells - 1
    for k in members:
        n_masks -= arities[k] - 1
    masks = np.empty((n_masks, n_words), dtype=np.uint64)
    filled = 0
    # The parent of a combination frees its first fixed level, so it has a larger index.
    for e in range(n_cells - 1, -1, -1):
        step = n_cells
        parent = -1
        plane = -1
        for k in members:
            last = arities[k] - 1
            step //= last + 1
            level = (e // step) % (last + 1)
            if level < last:
                plane = first[k] + level
                parent = e + (last - level) * step
                break
        if parent < 0 or where[parent] < 0:
            where[e] = plane
            continue
        before = where[parent]
        if before < n_planes:
            for w in range(n_words):
                masks[filled, w] = words[before, w] & words[plane, w]
        else:
            for w in range(n_words):
                masks[filled, w] = masks[before - n_planes, w] & words[plane, w]
        where[e] = n_planes + filled
        filled += 1
    return masks


@inner
def context_margin(columns: Columns, members: Ints, where: Ints, margin: Ints) -> Words:
    """Count the context's own cells; returns its masks, as above."""
    words, ones, _, first, arities, _, _, n_rows, _ = columns
    masks = context_masks(words, first, arities, members, where)
    n_planes = words.shape[0]
    counts = np.empty((where.shape[0], 1), dtype=np.int64)
    for e in range(where.shape[0]):
        place = where[e]
        if place >= n_planes:
            counts[e, 0] = count_common(masks, place - n_planes, masks, place - n_planes)
        else:
            counts[e, 0] = ones[place] if place >= 0 else n_rows
    close_levels(counts, whole(1), arities, members)
    for e in range(where.shape[0]):
        margin[e] = counts[e, 0]
    return masks


@inner
def plane_counts(
    columns: Columns, masks: Words, where: Ints, planes: Ints, listed: int, counts: Ints
) -> None:
    """The joint counts of every combination of a context with each of the listed planes."""
    words, ones, pairs, _, _, _, _, _, _ = columns
    n_planes = words.shape[0]
    for e in range(where.shape[0]):
        place = where[e]
        if place >= n_planes:
            for j in range(listed):
                counts[e, j] = count_common(masks, place - n_planes, words, planes[j])
        elif place < 0:
            for j in range(listed):
                counts[e, j] = ones[planes[j]]
        elif pairs.shape[0]:
            for j in range(listed):
                counts[e, j] = pairs[place, planes[j]]
        else:
            for j in range(listed):
                counts[e, j] = count_common(words, place, words, planes[j])


@inner
def table_from_planes(counts: Ints, start: int, margin: Ints, width: int, cells: Ints) -> None:
    """Gather one candidate's table; its last level is what the others leave of the margin."""
    for e in range(margin.shape[0]):
        rest = margin[e]
        for y in range(width - 1):
            count = counts[e, start + y]
            cells[e * width + y] = count
            rest -= count
        cells[e * width + width - 1] = rest


@inner
def next_block(
    candidates: Ints, begin: int, stop: int, columns: Columns, most: int, n_cells: int, planes: Ints
) -> tuple[int, int, int]:
    """List the planes of the candidates from ``begin`` on that planes are to count, until there
    are BLOCK or more.

    Returns the first candidate not looked at, the number of planes, and, where all of these
    candidates have two levels, one of them; else -1.
    """
    _, _, _, first, arities, _, _, _, _ = columns
    n_planes, of_two, of_more = whole(0), whole(-1), False
    while begin < stop and n_planes < BLOCK:
        k = candidates[begin]
        if candidate_in_planes(columns, most, n_cells, k):
            for q in range(first[k], first[k + 1]):
                planes[n_planes] = q
                n_planes += 1
            of_two, of_more = k, of_more or arities[k] != 2
        begin += 1
    return begin, n_planes, whole(-1) if of_more else of_two


@inner
def some_in_planes(columns: Columns, most: int, n_cells: int, candidates: Ints) -> bool:
    """Whether planes are to count any of these candidates with a context of this size."""
    for k in candidates:  # noqa: SIM110 - the compiler knows no generators
        if candidate_in_planes(columns, most, n_cells, k):
            return True
    return False


@compiled
def judge_planes(
    columns: Columns, most: int, asked: Asked, begin: int, end: int, lookup: Tables,
    entropies: Floats, gains: Floats, stats: Floats,
) -> int:  # fmt: skip
    """Judge the candidates of each context, counting in bit planes: those from ``begin`` to ``end``
    whose tables want no more than ``most`` counts. Others are left to ``judge_rows``; 0 is
    returned if there are none.

    A candidate that is part of its context gains nothing and has no test. Candidates are counted
    in blocks whose planes stay in the cache while the context's masks pass. Where the target and
    all candidates of a block have two levels, as in most tables, the block is folded at once.
    """
    _, _, _, _, arities, classes, plain, _, widest = columns
    variables, variables_start, candidates, candidates_start, _, _, _ = asked
    _, _, _, _, _, observed, _ = lookup
    room = BLOCK + widest
    if (end - begin) * widest < room:
        room = (end - begin) * widest
    planes = np.empty(room, dtype=np.int64)
    sums = np.empty((4, room), dtype=np.int64)
    scratch = (
        np.empty(widest, dtype=np.int64),
        np.empty(widest, dtype=np.int64),
        np.empty(widest, dtype=np.float64),
    )
    one, n_left = whole(1), whole(0)
    for b in range(entropies.shape[0]):
        members = variables[variables_start[b] : variables_start[b + 1]]
        n_cells = cells_in_planes(columns, most, members)
        if n_cells > most:
            n_left += 1
            continue
        start, stop = candidates_start[b], candidates_start[b + 1]
        is_alone = start == stop
        start, stop = (start if start > begin else begin), (stop if stop < end else end)
        if not is_alone and not some_in_planes(columns, most, n_cells, candidates[start:stop]):
            n_left += 1
            continue
        n_levels = arities[members[members.shape[0] - 1]]
        where = np.empty(n_cells, dtype=np.int64)
        margin = np.empty(n_cells, dtype=np.int64)
        masks = context_margin(columns, members, where, margin)
        h_s, h_sk = fold_table(
            margin, n_cells, n_levels, one, rows_of_own_supports(asked, b), lookup
        )
        entropies[b] = (h_sk - h_s) / SCALE
        # Contexts without candidates want no room for their tables.
        counts = np.empty((0 if is_alone else n_cells, room), dtype=np.int64)
        cells = np.empty(n_cells * widest, dtype=np.int64)
        following = start
        while following < stop:
            start = following
            following, listed, of_two = next_block(
                candidates, start, stop, columns, most, n_cells, planes
            )
            plane_counts(columns, masks, where, planes, listed, counts)
            close_levels(counts, listed, arities, members)
            at_once = of_two >= 0 and n_levels == 2 and not observed
            if at_once:
                rows = rows_of_supports(asked, b, classes[of_two])
                fold_two_levels(counts, margin, listed, rows, lookup, sums)
            plane = whole(0)
            for c in range(start, following):
                k = candidates[c]
                width = arities[k]
                if not candidate_in_planes(columns, most, n_cells, k):
                    n_left += 1
                    continue
                j, plane = plane, plane + width - 1
                if is_among(k, members):
                    nothing_gained(c, gains, stats)
                    continue
                rows = rows_of_supports(asked, b, classes[k])
                if at_once:
                    h_sl = finish(sums[0, j], sums[2, j], rows[0], lookup)
                    h_skl = finish(sums[1, j], sums[3, j], rows[1], lookup)
                    if stats.shape[0]:
                        test_two_levels(counts, margin, j, plain, c, stats)
                else:
                    table_from_planes(counts, j, margin, width, cells)
                    h_sl, h_skl = fold_table(cells, n_cells, n_levels, width, rows, lookup)
                    if stats.shape[0]:
                        test_table(cells, n_cells, n_levels, width, plain, scratch, c, stats)
                gains[c] = (h_sk + h_sl - h_s - h_skl) / SCALE
    return n_left
