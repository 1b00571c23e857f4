"""Contingency tables, from bit planes or from the codes of the rows.

A table is ``cells[(s, x), y]``, laid flat: the strata s of the conditioning set and the
levels x of the target share the first axis, x running fastest; y is the candidate's level.
"""

from __future__ import annotations

import numpy as np

from tamis.counts.bits import count_common
from tamis.counts.compiled import Codes, Ints, Pairs, Words, compiled, inner


@inner
def close_levels(
    counts: Ints,
    sizes: Ints,
    width: int,
) -> None:
    """Turn the entry that counts all rows of an axis into that of the axis's last level.

    ``counts`` holds ``width`` tensors of shape ``sizes`` side by side, ``counts[cell, tensor]``;
    along each axis the last entry first holds the sum over all levels and afterwards the last
    level alone.
    """
    stride = 1
    for v in range(sizes.shape[0] - 1, -1, -1):
        block = stride * sizes[v]
        for base in range(0, counts.shape[0], block):
            for last in range(base + block - stride, base + block):
                for other in range(last - block + stride, last, stride):
                    for j in range(width):
                        counts[last, j] -= counts[other, j]
        stride = block


@inner
def context_masks(
    words: Words,
    first: Ints,
    variables: Ints,
    sizes: Ints,
    single: Ints,
    slot: Ints,
) -> Words:
    """The masks of all combinations of levels of ``variables``, last levels meaning "any".

    Combination e needs no mask of its own when it fixes no level (``single[e] == -1``) or one
    (``single[e]`` is its plane); otherwise its rows are ``masks[slot[e]]``.
    """
    n_cells = single.shape[0]
    n_masks = n_cells
    for v in range(sizes.shape[0]):
        n_masks -= sizes[v] - 1
    n_masks -= 1
    masks = np.empty((n_masks, words.shape[1]), dtype=np.uint64)
    filled = 0
    # The parent of a combination frees its first fixed level, so it has a larger index.
    for e in range(n_cells - 1, -1, -1):
        stride = n_cells
        parent = -1
        plane = -1
        for v in range(sizes.shape[0]):
            stride //= sizes[v]
            level = (e // stride) % sizes[v]
            if level < sizes[v] - 1:
                plane = first[variables[v]] + level
                parent = e + (sizes[v] - 1 - level) * stride
                break
        slot[e] = -1
        if parent == -1:
            single[e] = -1
        elif parent == n_cells - 1:
            single[e] = plane
        else:
            single[e] = -2
            slot[e] = filled
            if slot[parent] >= 0:
                for w in range(words.shape[1]):
                    masks[filled, w] = masks[slot[parent], w] & words[plane, w]
            else:
                for w in range(words.shape[1]):
                    masks[filled, w] = words[single[parent], w] & words[plane, w]
            filled += 1
    return masks


@inner
def margin_from_planes(
    words: Words,
    ones: Ints,
    masks: Words,
    single: Ints,
    slot: Ints,
    sizes: Ints,
    n_rows: int,
) -> Ints:
    """The counts of the context's own cells."""
    counts = np.empty((single.shape[0], 1), dtype=np.int64)
    for e in range(single.shape[0]):
        if slot[e] >= 0:
            counts[e, 0] = count_common(masks, slot[e], masks, slot[e])
        else:
            counts[e, 0] = ones[single[e]] if single[e] >= 0 else n_rows
    close_levels(counts, sizes, 1)
    margin = np.empty(single.shape[0], dtype=np.int64)
    for e in range(single.shape[0]):
        margin[e] = counts[e, 0]
    return margin


@inner
def plane_counts(
    words: Words,
    ones: Ints,
    pairs: Pairs,
    masks: Words,
    single: Ints,
    slot: Ints,
    sizes: Ints,
    planes: Ints,
    n_planes: int,
    counts: Ints,
) -> None:
    """The joint counts of every cell of a context with each of the first ``planes``."""
    for e in range(single.shape[0]):
        if slot[e] >= 0:
            for j in range(n_planes):
                counts[e, j] = count_common(masks, slot[e], words, planes[j])
        elif single[e] < 0:
            for j in range(n_planes):
                counts[e, j] = ones[planes[j]]
        elif pairs.shape[0]:
            for j in range(n_planes):
                counts[e, j] = pairs[single[e], planes[j]]
        else:
            for j in range(n_planes):
                counts[e, j] = count_common(words, single[e], words, planes[j])
    close_levels(counts, sizes, n_planes)


@inner
def table_from_planes(
    counts: Ints,
    margin: Ints,
    start: int,
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


@inner
def table_from_codes(
    cell_of_row: Ints,
    codes: Codes,
    candidate: int,
    n_candidate: int,
    n_cells: int,
    cells: Ints,
) -> None:
    """Fill ``cells`` by going through the rows once."""
    for e in range(n_cells * n_candidate):
        cells[e] = 0
    for i in range(cell_of_row.shape[0]):
        cells[cell_of_row[i] * n_candidate + codes[candidate, i]] += 1


@compiled
def relabel(
    states: Ints,
    size: int,
) -> int:
    """Number the states that occur 0, 1, ... in order of their value; return how many."""
    number = np.zeros(size, dtype=np.int64)
    for state in states:
        number[state] = 1
    total = 0
    for state in range(size):
        if number[state]:
            number[state] = total
            total += 1
    for i in range(states.shape[0]):
        states[i] = number[states[i]]
    return total


@compiled
def extended(
    states: Ints,
    codes: Codes,
    column: int,
    arity: int,
) -> Ints:
    """Mixed-radix states with one more column appended."""
    longer = np.empty(states.shape[0], dtype=np.int64)
    for i in range(states.shape[0]):
        longer[i] = states[i] * arity + codes[column, i]
    return longer
