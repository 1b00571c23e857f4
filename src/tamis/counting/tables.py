"""Contingency tables from bit planes.

A table is ``cells[(s, x), y]``, laid flat: the strata s of the conditioning set and the
levels x of the target share the first axis, x running fastest; y is the candidate's level.
"""

from __future__ import annotations

import numpy as np

from tamis.counting.compiled import (
    Floats,
    Ints,
    Pairs,
    Words,
    compiled,
    inner,
    popcount,
    whole,
)


@inner
def cells_in_planes(
    first: Ints, arities: Ints, most: int, variables: Ints, start: int, stop: int
) -> int:
    """The cells of the table of ``variables[start:stop]`` if planes are to count it: if all have
    planes and there are no more than ``most``; one more than that if not."""
    n_cells = whole(1)
    for v in range(start, stop):
        k = variables[v]
        n_cells *= arities[k]
        if n_cells > most or first[k + 1] - first[k] != arities[k] - 1:
            return most + 1
    return n_cells


@inner
def candidate_in_planes(first: Ints, arities: Ints, most: int, n_cells: int, k: int) -> bool:
    """Whether planes are to count a candidate with a context of this number of cells."""
    # A candidate without levels to count must not bring a large context to the planes.
    n_planes = arities[k] - 1
    return n_cells <= most and n_cells * n_planes <= most and first[k + 1] - first[k] == n_planes


@inner
def is_among(k: int, variables: Ints, start: int, stop: int) -> bool:
    """Whether a candidate is the target or given, and so has nothing to add."""
    for v in range(start, stop):  # noqa: SIM110 - the compiler knows no generators
        if variables[v] == k:
            return True
    return False


@inner
def head_of(k: int, classes: Ints, heads: Ints) -> int:
    """Where the heads for candidate k are: by its class, or there are the same for all."""
    return int(classes[k]) if heads.shape[1] > 1 else whole(0)


@inner
def nothing_gained(c: int, gains: Floats, stats: Floats) -> None:
    """Candidate c is part of its context."""
    gains[c] = 0.0
    if stats.shape[0]:
        for i in range(stats.shape[1]):
            stats[c, i] = 0.0


@inner
def count_common(
    a: Words,
    p: int,
    b: Words,
    q: int,
) -> np.int64:
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
def close_levels(
    counts: Ints,
    width: int,
    arities: Ints,
    variables: Ints,
    start: int,
    stop: int,
) -> None:
    """Turn the entry that counts all rows of a variable into that of its last level.

    ``counts`` holds ``width`` tensors side by side, ``counts[cell, tensor]``, which have an axis
    for each of ``variables[start:stop]``; along each axis the last entry first holds the sum over
    all levels and afterwards the last level alone.
    """
    step = 1
    for v in range(stop - 1, start - 1, -1):
        block = step * arities[variables[v]]
        for base in range(0, counts.shape[0], block):
            for last in range(base + block - step, base + block):
                for other in range(last - block + step, last, step):
                    for j in range(width):
                        counts[last, j] -= counts[other, j]
        step = block


@inner
def context_masks(
    words: Words,
    first: Ints,
    arities: Ints,
    variables: Ints,
    start: int,
    stop: int,
    where: Ints,
) -> Words:
    """The masks of all combinations of levels of ``variables[start:stop]``, last levels meaning
    "any".

    ``where`` receives for each combination where its rows are: -1 is all rows, as no level is
    fixed; up to the number of planes it is the plane of the one level that is; from there on it is
    a mask.
    """
    n_planes, n_words = words.shape
    n_cells = where.shape[0]
    n_masks = n_cells - 1
    for v in range(start, stop):
        n_masks -= arities[variables[v]] - 1
    masks = np.empty((n_masks, n_words), dtype=np.uint64)
    filled = 0
    # The parent of a combination frees its first fixed level, so it has a larger index.
    for e in range(n_cells - 1, -1, -1):
        step = n_cells
        parent = -1
        plane = -1
        for v in range(start, stop):
            last = arities[variables[v]] - 1
            step //= last + 1
            level = (e // step) % (last + 1)
            if level < last:
                plane = first[variables[v]] + level
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
def context_margin(
    words: Words,
    ones: Ints,
    first: Ints,
    arities: Ints,
    n_rows: int,
    variables: Ints,
    start: int,
    stop: int,
    where: Ints,
    margin: Ints,
) -> Words:
    """Count the context's own cells; returns its masks, as above."""
    masks = context_masks(words, first, arities, variables, start, stop, where)
    n_planes = words.shape[0]
    counts = np.empty((where.shape[0], 1), dtype=np.int64)
    for e in range(where.shape[0]):
        place = where[e]
        if place >= n_planes:
            counts[e, 0] = count_common(masks, place - n_planes, masks, place - n_planes)
        else:
            counts[e, 0] = ones[place] if place >= 0 else n_rows
    close_levels(counts, whole(1), arities, variables, start, stop)
    for e in range(where.shape[0]):
        margin[e] = counts[e, 0]
    return masks


@inner
def plane_counts(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    masks: Words,
    where: Ints,
    planes: Ints,
    listed: int,
    counts: Ints,
) -> None:
    """The joint counts of every combination of a context with each of the listed planes."""
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
def table_from_planes(
    counts: Ints,
    start: int,
    margin: Ints,
    n_candidate: int,
    cells: Ints,
) -> None:
    """Gather one candidate's table; its last level is what the others leave of the margin."""
    for e in range(margin.shape[0]):
        rest = margin[e]
        for y in range(n_candidate - 1):
            count = counts[e, start + y]
            cells[e * n_candidate + y] = count
            rest -= count
        cells[e * n_candidate + n_candidate - 1] = rest
