# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The kernel of charsim: suffix automata over texts, and overlaps of every order read off them.

    extend      texts  ->  one suffix automaton, grown a character at a time
    freeze      renumber its states in preorder of the suffix-link tree, edges side by side
    count       how often each reference holds each state's strings  ->  weights per state
    score_rows  candidates, each against a few references of its own: build, walk, combine, nothing kept
    score_set   candidates against a frozen set, all references together (main and median form)
    score_base  the same, split by reference length (base form)
    score_cells  every candidate against every reference alone (matrix)

The file is Python and runs interpreted; compiled by Cython it runs without bounds checks, so callers
pass built-in memoryviews over arrays of the sizes stated here, and check what they loaded from disk.
Nothing is allocated, the GIL is released, and numbers stay integers until the one division per order.

A state u stands for strings that end at the same places: the suffixes of its longest one, of lengths
(len(link(u)), len(u)]. State 0 is the empty string. Derivation: docs/charsim.md.

While growing, `nodes` holds 8 numbers a state: 0 link, 1 len, 2 character and 3 target of its first
edge, 4 the list of its further edges (-1: none), 5 number of edges, 6 and 7 counts. `edges` holds 3 a
further edge: character, target, next. The root's edges are the dense table `root`, indexed by
character, 0 where there is none. States with more than 8 edges also enter the hash table `keys`
(state << 32 | character), `slots` (the edge).

Frozen, `states` holds 8 numbers a state, half a cache line: 0 link, 1 len, 2 weight (all references that
hold it; -1: see the table), 3 row of `table_start` (-1: no reference holds it twice), 4 character and 5
target of its first edge, 6 where its other edges begin in `more` (character, target; ascending), 7 how
many those are. `table` holds rows (count, A, B): from that count m on, sum_i min(c_i, m) is A + m B.
"""

from __future__ import annotations

import cython

# A parameter a line would be a third of this file.
# fmt: off


def compiled() -> bool:
    """Return True if this is the compiled kernel, False if the source runs interpreted."""
    return cython.compiled


# ---------------------------------------------------------------------------------------------------
# Growing


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(keys: cython.longlong[::1], state: cython.longlong, char: cython.longlong) -> cython.longlong:
    """Return the place in the hash table where an edge is, or where it would go."""
    mask: cython.longlong = keys.shape[0] - 1
    key: cython.longlong = (state << 32) | char
    at: cython.longlong = (state * 0x1E3779B1) ^ (char * 0x25EBCA6B)
    at = (at ^ (at >> 15)) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _find(
    nodes: cython.int[::1], edges: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    state: cython.longlong, char: cython.int,
) -> cython.longlong:
    """Return the edge of a state other than the root: -1 for its first, -2 for none, else a further edge."""
    if nodes[8 * state + 2] == char:
        return -1
    edge: cython.longlong = nodes[8 * state + 4]
    if nodes[8 * state + 5] > 8:
        at: cython.longlong = _slot(keys, state, char)
        return slots[at] if keys[at] != 0 else -2
    while edge >= 0:
        if edges[3 * edge] == char:
            return edge
        edge = edges[3 * edge + 2]
    return -2


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _link_in(
    keys: cython.longlong[::1], slots: cython.int[::1], tally: cython.longlong[::1], state: cython.longlong,
    char: cython.int, edge: cython.longlong,
) -> cython.void:
    """Enter an edge of a crowded state in the hash table; a table half full sets the overflow flag."""
    if 2 * tally[2] >= keys.shape[0]:
        tally[3] = 1
        return
    at: cython.longlong = _slot(keys, state, char)
    keys[at] = (state << 32) | char
    slots[at] = cython.cast(cython.int, edge)
    tally[2] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_edge(
    nodes: cython.int[::1], edges: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    tally: cython.longlong[::1], state: cython.longlong, char: cython.int, target: cython.longlong,
) -> cython.void:
    """Give a state other than the root one more edge."""
    at: cython.longlong = 8 * state
    degree: cython.int = nodes[at + 5] + 1
    nodes[at + 5] = degree
    if degree == 1:
        nodes[at + 2] = char
        nodes[at + 3] = cython.cast(cython.int, target)
        return
    edge: cython.longlong = tally[1]
    tally[1] = edge + 1
    edges[3 * edge] = char
    edges[3 * edge + 1] = cython.cast(cython.int, target)
    edges[3 * edge + 2] = nodes[at + 4]
    nodes[at + 4] = cython.cast(cython.int, edge)
    # A list of edges beats a hash table while it is short, which it is for nearly every state; beyond
    # 8 edges it would make 'x' followed by 500,000 different characters quadratic.
    if degree > 9:
        _link_in(keys, slots, tally, state, char, edge)
    elif degree == 9:
        while edge >= 0:
            _link_in(keys, slots, tally, state, edges[3 * edge], edge)
            edge = edges[3 * edge + 2]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _clone(
    nodes: cython.int[::1], edges: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    tally: cython.longlong[::1], state: cython.longlong, length: cython.longlong,
) -> cython.longlong:
    """Return a new state for the strings of `state` up to `length`, with its link and its edges."""
    new: cython.longlong = tally[0]
    tally[0] = new + 1
    at: cython.longlong = 8 * new
    nodes[at] = nodes[8 * state]
    nodes[at + 1] = cython.cast(cython.int, length)
    nodes[at + 2] = -1
    nodes[at + 4] = -1
    nodes[at + 5] = 0
    nodes[at + 6] = 0
    nodes[8 * state] = cython.cast(cython.int, new)
    if nodes[8 * state + 5] > 0:
        _add_edge(nodes, edges, keys, slots, tally, new, nodes[8 * state + 2], nodes[8 * state + 3])
    edge: cython.longlong = nodes[8 * state + 4]
    while edge >= 0:
        _add_edge(nodes, edges, keys, slots, tally, new, edges[3 * edge], edges[3 * edge + 1])
        edge = edges[3 * edge + 2]
    return new


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _split(
    nodes: cython.int[::1], edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1],
    slots: cython.int[::1], tally: cython.longlong[::1], parent: cython.longlong, char: cython.int,
    target: cython.longlong,
) -> cython.longlong:
    """Return the state reached from `parent` by `char` whose longest string is one longer than the parent's."""
    length: cython.longlong = nodes[8 * parent + 1] + 1 if parent > 0 else 1
    if nodes[8 * target + 1] == length:
        return target
    new: cython.longlong = _clone(nodes, edges, keys, slots, tally, target, length)
    edge: cython.longlong
    while parent > 0:
        edge = _find(nodes, edges, keys, slots, parent, char)
        if edge == -1:
            if nodes[8 * parent + 3] != target:
                return new
            nodes[8 * parent + 3] = cython.cast(cython.int, new)
        else:
            if edge < 0 or edges[3 * edge + 1] != target:
                return new
            edges[3 * edge + 1] = cython.cast(cython.int, new)
        parent = nodes[8 * parent]
    if root[char] == target:
        root[char] = cython.cast(cython.int, new)
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _extend(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong, nodes: cython.int[::1],
    edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    tally: cython.longlong[::1],
) -> cython.void:
    """Add the text `codes[start:stop]` to the automaton (Blumer et al. 1985, several texts)."""
    last: cython.longlong = 0
    i: cython.longlong
    char: cython.int
    edge: cython.longlong
    target: cython.longlong
    parent: cython.longlong
    new: cython.longlong
    for i in range(start, stop):
        char = codes[i]
        target = 0
        if last == 0:
            target = root[char]
        else:
            edge = _find(nodes, edges, keys, slots, last, char)
            if edge == -1:
                target = nodes[8 * last + 3]
            elif edge >= 0:
                target = edges[3 * edge + 1]
        if target != 0:
            last = _split(nodes, edges, root, keys, slots, tally, last, char, target)
            nodes[8 * last + 6] += 1
            if tally[3] != 0:
                return
            continue
        new = tally[0]
        tally[0] = new + 1
        nodes[8 * new] = 0
        nodes[8 * new + 1] = nodes[8 * last + 1] + 1 if last > 0 else 1
        nodes[8 * new + 2] = -1
        nodes[8 * new + 4] = -1
        nodes[8 * new + 5] = 0
        nodes[8 * new + 6] = 1
        parent = last
        while parent > 0:
            edge = _find(nodes, edges, keys, slots, parent, char)
            if edge == -1:
                target = nodes[8 * parent + 3]
                break
            if edge >= 0:
                target = edges[3 * edge + 1]
                break
            _add_edge(nodes, edges, keys, slots, tally, parent, char, new)
            parent = nodes[8 * parent]
        if parent == 0:
            target = root[char]
            if target == 0:
                root[char] = cython.cast(cython.int, new)
        if target != 0:
            target = _split(nodes, edges, root, keys, slots, tally, parent, char, target)
            nodes[8 * new] = cython.cast(cython.int, target)
        last = new
        if tally[3] != 0:
            return


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _begin(nodes: cython.int[::1], tally: cython.longlong[::1]) -> cython.void:
    """Make an automaton of the empty string alone."""
    nodes[0] = -1
    nodes[1] = 0
    nodes[2] = -1
    nodes[4] = -1
    nodes[5] = 0
    nodes[6] = 0
    tally[0] = 1
    tally[1] = 0
    tally[2] = 0
    tally[3] = 0


def extend(
    codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1], nodes: cython.int[::1],
    edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    tally: cython.longlong[::1],
) -> bool:
    """Build the automaton of all texts; return False if the hash table (zeros, a power of 2) was too small.

    For n characters in all: `nodes` 8 (2 n + 2), `edges` 3 (3 n + 1), `root` zeros up to the largest
    character, `tally` 4 numbers: states, further edges, hashed edges, overflow.
    """
    i: cython.longlong
    with cython.nogil:
        _begin(nodes, tally)
        for i in range(offsets.shape[0] - 1):
            _extend(codes, offsets[i], offsets[i + 1], nodes, edges, root, keys, slots, tally)
            if tally[3] != 0:
                break
    return tally[3] == 0


# ---------------------------------------------------------------------------------------------------
# One candidate, one reference


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _land(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong, nodes: cython.int[::1],
    edges: cython.int[::1], root: cython.const[cython.int][::1], keys: cython.longlong[::1], slots: cython.int[::1],
    land: cython.int[::1], by_length: cython.int[::1],
) -> cython.longlong:
    """Walk a candidate: where each of its prefixes lands, grouped by matched length; return the longest.

    `land` gets 4 numbers a position: state, length (0: nothing matches), next of the same length, (free).
    """
    state: cython.longlong = 0
    length: cython.longlong = 0
    longest: cython.longlong = 0
    edge: cython.longlong
    target: cython.longlong
    char: cython.int
    i: cython.longlong
    at: cython.longlong = 0
    for i in range(start, stop):
        char = codes[i]
        target = 0
        while state > 0:
            edge = _find(nodes, edges, keys, slots, state, char)
            if edge == -1:
                target = nodes[8 * state + 3]
                break
            if edge >= 0:
                target = edges[3 * edge + 1]
                break
            state = nodes[8 * state]
            length = nodes[8 * state + 1]
        if state == 0 and char < root.shape[0]:
            target = root[char]
        state = target
        if target > 0:
            length += 1
            if length > longest:
                longest = length
            land[at] = cython.cast(cython.int, target)
            land[at + 2] = by_length[length]
            by_length[length] = cython.cast(cython.int, at)
        else:
            length = 0
        land[at + 1] = cython.cast(cython.int, length)
        at += 4
    return longest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _extend_dense(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong, width: cython.longlong,
    ids: cython.const[cython.int][::1], nodes: cython.int[::1], moves: cython.int[::1],
) -> cython.longlong:
    """Build the automaton of one short text, the edges of state u in `moves[width u:]`; return its states.

    `width` is one more than the number of different characters, `ids` numbers them from 1; `moves` is zero.
    """
    count: cython.longlong = 1
    last: cython.longlong = 0
    parent: cython.longlong
    target: cython.longlong
    new: cython.longlong
    length: cython.longlong
    i: cython.longlong
    j: cython.longlong
    letter: cython.longlong
    nodes[0] = -1
    nodes[1] = 0
    for i in range(start, stop):
        letter = ids[codes[i]]
        new = count
        count += 1
        nodes[8 * new] = 0
        nodes[8 * new + 1] = cython.cast(cython.int, i - start + 1)
        nodes[8 * new + 2] = 0
        nodes[8 * new + 3] = -1
        nodes[8 * new + 6] = 1
        parent = last
        last = new
        while parent >= 0 and moves[width * parent + letter] == 0:
            moves[width * parent + letter] = cython.cast(cython.int, new)
            parent = nodes[8 * parent]
        if parent < 0:
            continue
        target = moves[width * parent + letter]
        length = nodes[8 * parent + 1] + 1
        if nodes[8 * target + 1] != length:
            nodes[8 * count] = nodes[8 * target]
            nodes[8 * count + 1] = cython.cast(cython.int, length)
            nodes[8 * count + 2] = 0
            nodes[8 * count + 3] = -1
            nodes[8 * count + 6] = 0
            for j in range(width):
                moves[width * count + j] = moves[width * target + j]
            nodes[8 * target] = cython.cast(cython.int, count)
            while parent >= 0 and moves[width * parent + letter] == target:
                moves[width * parent + letter] = cython.cast(cython.int, count)
                parent = nodes[8 * parent]
            target = count
            count += 1
        nodes[8 * new] = cython.cast(cython.int, target)
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _land_dense(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong, width: cython.longlong,
    ids: cython.const[cython.int][::1], nodes: cython.const[cython.int][::1], moves: cython.const[cython.int][::1],
    land: cython.int[::1], by_length: cython.int[::1],
) -> cython.longlong:
    """Do what `_land` does, on an automaton of `_extend_dense`."""
    state: cython.longlong = 0
    target: cython.longlong
    length: cython.longlong = 0
    longest: cython.longlong = 0
    letter: cython.longlong
    char: cython.int
    i: cython.longlong
    at: cython.longlong = 0
    for i in range(start, stop):
        char = codes[i]
        letter = ids[char] if char < ids.shape[0] else 0
        if letter == 0:
            state = 0
            length = 0
            land[at + 1] = 0
            at += 4
            continue
        target = moves[width * state + letter]
        if target == 0:
            # The root has an edge for every letter, so this ends there at the latest.
            while target == 0:
                state = nodes[8 * state]
                target = moves[width * state + letter]
            length = nodes[8 * state + 1]
        state = target
        length += 1
        if length > longest:
            longest = length
        land[at] = cython.cast(cython.int, target)
        land[at + 1] = cython.cast(cython.int, length)
        land[at + 2] = by_length[length]
        by_length[length] = cython.cast(cython.int, at)
        at += 4
    return longest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _overlap_one(
    nodes: cython.int[::1], count: cython.longlong, land: cython.int[::1], by_length: cython.int[::1],
    longest: cython.longlong, reference_length: cython.longlong, order: cython.int[::1], buckets: cython.int[::1],
    steps: cython.longlong[::1],
) -> cython.void:
    """Add the interior overlaps to `steps`, as differences over orders.

    A landing covers its state up to its length and every ancestor wholly, so counts are pushed up the
    links in order of length, the reference's (6) and the candidate's (2) together.
    """
    u: cython.longlong
    i: cython.longlong
    at: cython.longlong
    up: cython.longlong
    for i in range(reference_length + 1):
        buckets[i] = 0
    for u in range(1, count):
        buckets[nodes[8 * u + 1]] += 1
    total: cython.int = 0
    for i in range(reference_length, 0, -1):
        total += buckets[i]
        buckets[i] = total - buckets[i]
    for u in range(1, count):
        i = nodes[8 * u + 1]
        order[buckets[i]] = cython.cast(cython.int, 8 * u)
        buckets[i] += 1
    # Ascending lengths pushed on the front: each state's landings end up longest first.
    for i in range(1, longest + 1):
        at = by_length[i]
        by_length[i] = -1
        while at >= 0:
            u = 8 * cython.cast(cython.longlong, land[at])
            land[at + 3] = nodes[u + 3]
            nodes[u + 3] = cython.cast(cython.int, at)
            at = land[at + 2]
    held: cython.longlong
    hits: cython.longlong
    top: cython.longlong
    length: cython.longlong
    value: cython.longlong
    for i in range(count - 1):
        u = order[i]
        up = 8 * cython.cast(cython.longlong, nodes[u])
        held = nodes[u + 6]
        nodes[up + 6] += cython.cast(cython.int, held)
        hits = nodes[u + 2]
        at = nodes[u + 3]
        if hits == 0 and at < 0:
            continue
        top = nodes[u + 1]
        while at >= 0:
            length = land[at + 1]
            if length < top:
                if hits > 0:
                    value = held if held < hits else hits
                    steps[length + 1] += value
                    steps[top + 1] -= value
                top = length
            hits += 1
            at = land[at + 3]
        value = held if held < hits else hits
        steps[(nodes[up + 1] if up > 0 else 0) + 1] += value
        steps[top + 1] -= value
        nodes[up + 2] += cython.cast(cython.int, hits)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _common(
    a: cython.const[cython.int][::1], a_start: cython.longlong, a_stop: cython.longlong,
    b: cython.const[cython.int][::1], b_start: cython.longlong, b_stop: cython.longlong, suffix: cython.bint,
) -> cython.longlong:
    """Return the length of the longest common prefix, or suffix, of two texts."""
    most: cython.longlong = a_stop - a_start
    if b_stop - b_start < most:
        most = b_stop - b_start
    n: cython.longlong = 0
    if suffix:
        while n < most and a[a_stop - 1 - n] == b[b_stop - 1 - n]:
            n += 1
    else:
        while n < most and a[a_start + n] == b[b_start + n]:
            n += 1
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _combine_one(
    steps: cython.longlong[::1], longest: cython.longlong, prefix: cython.longlong, suffix: cython.longlong,
    length: cython.longlong, orders: cython.longlong, inverse: cython.const[cython.double][::1],
) -> cython.double:
    """Return sum_n o(n) / (length + n - 1) / n for n = 1 .. orders, and leave `steps` zero.

    o(n) is the prefix sum of `steps` plus min(n - 1, prefix) + min(n - 1, suffix).
    """
    total: cython.double = 0.0
    interior: cython.longlong = 0
    n: cython.longlong
    value: cython.longlong
    bend: cython.longlong = longest + 1
    if prefix + 1 > bend:
        bend = prefix + 1
    if suffix + 1 > bend:
        bend = suffix + 1
    if orders < bend:
        bend = orders
    for n in range(1, bend + 1):
        interior += steps[n]
        value = interior + (prefix if prefix < n - 1 else n - 1) + (suffix if suffix < n - 1 else n - 1)
        total += cython.cast(cython.double, value) / cython.cast(cython.double, length + n - 1) * inverse[n]
    if prefix + suffix > 0:
        constant: cython.double = cython.cast(cython.double, prefix + suffix)
        for n in range(bend + 1, orders + 1):
            total += constant / cython.cast(cython.double, length + n - 1) * inverse[n]
    for n in range(longest + 2):
        steps[n] = 0
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _overlap_pair(
    candidates: cython.const[cython.int][::1], a: cython.longlong, t: cython.longlong,
    references: cython.const[cython.int][::1], b: cython.longlong, r: cython.longlong, nodes: cython.int[::1],
    edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1],
    tally: cython.longlong[::1], moves: cython.int[::1], land: cython.int[::1], by_length: cython.int[::1],
    order: cython.int[::1], buckets: cython.int[::1], steps: cython.longlong[::1], only_land: cython.bint,
) -> cython.longlong:
    """Add one pair's interior overlaps to `steps`; return the longest match, -1 where the hash table was too small.

    With `only_land` no more is done than to fill `land`.
    """
    j: cython.longlong
    width: cython.longlong = 1
    states: cython.longlong
    longest: cython.longlong = -1
    for j in range(b, b + r):
        if root[references[j]] == 0:
            root[references[j]] = cython.cast(cython.int, width)
            width += 1
    # A row of edges per state makes building and walking 1.5 times faster than lists, as long as the
    # rows stay in the cache; benchmarks/charsim.md, first table.
    if (2 * r + 2) * width <= moves.shape[0]:
        states = _extend_dense(references, b, b + r, width, root, nodes, moves)
        longest = _land_dense(candidates, a, a + t, width, root, nodes, moves, land, by_length)
        # One clearing at the end: clearing each new state's row alone took a tenth of the time.
        for j in range(width * states):
            moves[j] = 0
        for j in range(b, b + r):
            root[references[j]] = 0
    else:
        for j in range(b, b + r):
            root[references[j]] = 0
        _begin(nodes, tally)
        _extend(references, b, b + r, nodes, edges, root, keys, slots, tally)
        states = tally[0]
        if tally[3] == 0:
            longest = _land(candidates, a, a + t, nodes, edges, root, keys, slots, land, by_length)
            for j in range(1, states):
                nodes[8 * j + 2] = 0
                nodes[8 * j + 3] = -1
        for j in range(b, b + r):
            root[references[j]] = 0
        if tally[2] != 0:
            for j in range(keys.shape[0]):
                keys[j] = 0
    if only_land:
        for j in range(1, longest + 1):
            by_length[j] = -1
    elif longest > 0:
        _overlap_one(nodes, states, land, by_length, longest, r, order, buckets, steps)
    return longest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _rank(
    offsets: cython.const[cython.longlong][::1], start: cython.longlong, stop: cython.longlong, ranks: cython.int[::1]
) -> cython.void:
    """Put the numbers of the texts start .. stop - 1 in order of length, shortest first (Shell's sort)."""
    i: cython.longlong
    j: cython.longlong
    text: cython.int
    length: cython.longlong
    count: cython.longlong = stop - start
    gap: cython.longlong = count // 2
    for i in range(count):
        ranks[i] = cython.cast(cython.int, start + i)
    while gap > 0:
        for i in range(gap, count):
            text = ranks[i]
            length = offsets[text + 1] - offsets[text]
            j = i
            while j >= gap and offsets[ranks[j - gap] + 1] - offsets[ranks[j - gap]] > length:
                ranks[j] = ranks[j - gap]
                j -= gap
            ranks[j] = text
        gap = gap // 2 if gap < 5 else gap * 5 // 11


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _flush(
    steps: cython.longlong[::1], slopes: cython.longlong[::1], rhos: cython.double[::1], reach: cython.longlong,
    orders: cython.longlong, scale: cython.longlong, x0: cython.longlong, x1: cython.longlong, y0: cython.longlong,
    y1: cython.longlong,
) -> cython.void:
    """Add scale o(n) / max(x0 + x1 (n - 1), y0 + y1 (n - 1)) to `rhos`, and leave `steps` and `slopes` zero."""
    n: cython.longlong
    value: cython.longlong = 0
    slope: cython.longlong = 0
    bound: cython.longlong
    for n in range(1, orders + 1):
        if n <= reach:
            value += steps[n]
            slope += slopes[n]
        value += slope
        if value != 0:
            bound = x0 + x1 * (n - 1)
            if y0 + y1 * (n - 1) > bound:
                bound = y0 + y1 * (n - 1)
            rhos[n] += cython.cast(cython.double, scale * value) / cython.cast(cython.double, bound)
    for n in range(reach + 1):
        steps[n] = 0
        slopes[n] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _score_alone(
    candidates: cython.const[cython.int][::1], a: cython.longlong, t: cython.longlong,
    references: cython.const[cython.int][::1], b: cython.longlong, r: cython.longlong, max_order: cython.longlong,
    inverse: cython.const[cython.double][::1], harmonic: cython.const[cython.double][::1],
    nodes: cython.int[::1], edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1],
    slots: cython.int[::1], tally: cython.longlong[::1], moves: cython.int[::1], land: cython.int[::1],
    by_length: cython.int[::1], order: cython.int[::1], buckets: cython.int[::1],
    steps: cython.longlong[::1],
) -> cython.double:
    """Return one candidate's score against one reference, in any form; -1 where the hash table was too small."""
    longest: cython.longlong
    prefix: cython.longlong
    suffix: cython.longlong
    longer: cython.longlong = t if t > r else r
    orders: cython.longlong = longer if max_order <= 0 or longer < max_order else max_order
    if t == 0 or r == 0:
        return 1.0 if t == r else 0.0
    prefix = _common(candidates, a, a + t, references, b, b + r, False)
    if prefix == t and t == r:
        return 1.0
    suffix = _common(candidates, a, a + t, references, b, b + r, True)
    longest = _overlap_pair(
        candidates, a, t, references, b, r, nodes, edges, root, keys, slots, tally, moves, land, by_length, order,
        buckets, steps, False,
    )
    if longest < 0:
        return -1.0
    return _combine_one(steps, longest, prefix, suffix, longer, orders, inverse) / harmonic[orders]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _length(offsets: cython.const[cython.longlong][::1], text: cython.longlong) -> cython.longlong:
    """Return the length of one text."""
    return offsets[text + 1] - offsets[text]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_references(
    candidates: cython.const[cython.int][::1], a: cython.longlong, t: cython.longlong,
    references: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1], heads: cython.longlong,
    ranks: cython.const[cython.int][::1], base: cython.bint, orders: cython.longlong,
    nodes: cython.int[::1], edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1],
    slots: cython.int[::1], tally: cython.longlong[::1], moves: cython.int[::1], land: cython.int[::1],
    by_length: cython.int[::1], order: cython.int[::1], buckets: cython.int[::1],
    steps: cython.longlong[::1], slopes: cython.longlong[::1], rhos: cython.double[::1],
) -> cython.longlong:
    """Add each reference's overlaps, shortest first; return the last order at which `steps` or `slopes` change.

    For the base form those with one denominator are divided by it, and `rhos` takes their sum. -1 where
    the hash table was too small.
    """
    k: cython.longlong
    b: cython.longlong
    r: cython.longlong
    longest: cython.longlong
    prefix: cython.longlong
    suffix: cython.longlong
    below: cython.longlong
    after: cython.longlong
    reach: cython.longlong = 2
    for k in range(heads):
        b = offsets[ranks[k]]
        r = _length(offsets, ranks[k])
        if r > 0:
            prefix = _common(candidates, a, a + t, references, b, b + r, False)
            suffix = _common(candidates, a, a + t, references, b, b + r, True)
            slopes[2] += 2
            slopes[prefix + 2] -= 1
            slopes[suffix + 2] -= 1
            if prefix == t and t == r:
                slopes[t + 2] += 1
            longest = _overlap_pair(
                candidates, a, t, references, b, r, nodes, edges, root, keys, slots, tally, moves, land, by_length,
                order, buckets, steps, False,
            )
            if longest < 0:
                return -1
            if longest + 1 > reach:
                reach = longest + 1
            if prefix + 2 > reach:
                reach = prefix + 2
            if suffix + 2 > reach:
                reach = suffix + 2
        if base:
            below = r if r > t else t
            after = -1
            if k + 1 < heads:
                after = _length(offsets, ranks[k + 1])
                after = after if after > t else t
            if after != below:
                _flush(steps, slopes, rhos, reach, orders, 1, heads * below, heads, 0, 0)
                reach = 2
    return reach


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _score_together(
    candidates: cython.const[cython.int][::1], a: cython.longlong, t: cython.longlong,
    references: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1], first: cython.longlong,
    heads: cython.longlong, form: cython.int, max_order: cython.longlong,
    inverse: cython.const[cython.double][::1], harmonic: cython.const[cython.double][::1],
    nodes: cython.int[::1], edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1],
    slots: cython.int[::1], tally: cython.longlong[::1], moves: cython.int[::1], land: cython.int[::1],
    by_length: cython.int[::1], order: cython.int[::1], buckets: cython.int[::1],
    ranks: cython.int[::1], steps: cython.longlong[::1], slopes: cython.longlong[::1], rhos: cython.double[::1],
) -> cython.double:
    """Return one candidate's score against several references; -1 where the hash table was too small."""
    k: cython.longlong
    n: cython.longlong
    filled: cython.longlong = 0
    characters: cython.longlong = 0
    reach: cython.longlong
    total: cython.double = 0.0
    _rank(offsets, first, first + heads, ranks)
    for k in range(heads):
        characters += _length(offsets, ranks[k])
        filled += 1 if _length(offsets, ranks[k]) > 0 else 0
    low: cython.longlong = _length(offsets, ranks[(heads - 1) // 2])
    high: cython.longlong = _length(offsets, ranks[heads // 2])
    orders: cython.longlong = _length(offsets, ranks[heads - 1])
    if t > orders:
        orders = t
    if max_order > 0 and max_order < orders:
        orders = max_order
    if t == 0 and (form != 1 or filled == 0):
        return 1.0 if filled == 0 or (form == 2 and high == 0) else 0.0
    if t == 0:
        for n in range(1, orders + 1):
            rhos[n] = cython.cast(cython.double, heads - filled) / cython.cast(cython.double, heads)
    else:
        reach = _add_references(
            candidates, a, t, references, offsets, heads, ranks, form == 1, orders, nodes, edges, root, keys, slots,
            tally, moves, land, by_length, order, buckets, steps, slopes, rhos,
        )
        if reach < 0:
            for n in range(steps.shape[0]):
                steps[n] = 0
                slopes[n] = 0
            for n in range(rhos.shape[0]):
                rhos[n] = 0.0
            return -1.0
        if form == 0:
            _flush(steps, slopes, rhos, reach, orders, 1, heads * t, heads, characters, filled)
        elif form == 2:
            _flush(
                steps, slopes, rhos, reach, orders, 2, 2 * heads * t, 2 * heads, heads * (low + high),
                heads * ((1 if low > 0 else 0) + (1 if high > 0 else 0)),
            )
    for n in range(1, orders + 1):
        total += rhos[n] * inverse[n]
        rhos[n] = 0.0
    return total / harmonic[orders]


def score_rows(
    candidates: cython.const[cython.int][::1], candidate_offsets: cython.const[cython.longlong][::1],
    references: cython.const[cython.int][::1], reference_offsets: cython.const[cython.longlong][::1],
    row_offsets: cython.const[cython.longlong][::1], start: cython.longlong, form: cython.int,
    max_order: cython.longlong, inverse: cython.const[cython.double][::1],
    harmonic: cython.const[cython.double][::1], nodes: cython.int[::1], edges: cython.int[::1],
    root: cython.int[::1], keys: cython.longlong[::1], slots: cython.int[::1], tally: cython.longlong[::1],
    moves: cython.int[::1], land: cython.int[::1], work: cython.int[::1], ranks: cython.int[::1],
    steps: cython.longlong[::1], slopes: cython.longlong[::1], rhos: cython.double[::1], out: cython.double[::1],
) -> int:
    """Score candidate i against its own few references, from row `start` on; return the first row not scored.

    Row i has the references row_offsets[i] .. row_offsets[i + 1] - 1, one at least; `form` is 0 main,
    1 base, 2 median. It stops early only where the hash table was too small: the caller brings a
    larger one and goes on. For T and R the longest candidate and reference, K the longest row: `moves`
    zeros, any size (texts whose table of edges is larger use lists), `land` 4 T, `work` -1 in T + 2 places and
    then 3 R + 3 of any value, `ranks` K, `steps` and `slopes` T + 3 zeros, `rhos` max(T, R) + 1 zeros;
    the rest as in `extend`; `inverse` and `harmonic` hold 1/n and its sums. All are left as found.
    """
    i: cython.longlong
    a: cython.longlong
    t: cython.longlong
    first: cython.longlong
    heads: cython.longlong
    done: cython.longlong = candidate_offsets.shape[0] - 1
    score: cython.double
    by_length: cython.int[::1] = work[: steps.shape[0] - 1]
    order: cython.int[::1] = work[steps.shape[0] - 1 :]
    room: cython.longlong = order.shape[0] // 3
    buckets: cython.int[::1] = order[2 * room :]
    with cython.nogil:
        for i in range(start, candidate_offsets.shape[0] - 1):
            a = candidate_offsets[i]
            t = _length(candidate_offsets, i)
            first = row_offsets[i]
            heads = _length(row_offsets, i)
            if heads == 1:
                score = _score_alone(
                    candidates, a, t, references, reference_offsets[first], _length(reference_offsets, first),
                    max_order, inverse, harmonic, nodes, edges, root, keys, slots, tally, moves, land, by_length,
                    order, buckets, steps,
                )
            else:
                score = _score_together(
                    candidates, a, t, references, reference_offsets, first, heads, form, max_order, inverse, harmonic,
                    nodes, edges, root, keys, slots, tally, moves, land, by_length, order, buckets, ranks, steps,
                    slopes, rhos,
                )
            if score < 0.0:
                done = i
                break
            out[i] = score
    return done


def overlap_alone(
    candidates: cython.const[cython.int][::1], references: cython.const[cython.int][::1],
    inverse: cython.const[cython.double][::1], harmonic: cython.const[cython.double][::1],
    nodes: cython.int[::1], edges: cython.int[::1], root: cython.int[::1], keys: cython.longlong[::1],
    slots: cython.int[::1], tally: cython.longlong[::1], moves: cython.int[::1], land: cython.int[::1],
    work: cython.int[::1], steps: cython.longlong[::1], overlaps: cython.longlong[::1],
    lengths: cython.longlong[::1],
) -> float:
    """Write o(1), o(2), ... of one pair, as many as `overlaps` takes, and return the score over that many orders.

    `lengths` gets, for each position of the candidate, the longest match that ends there. The score is that of
    `score_rows`, to the last bit; 0 if `overlaps` is empty. Neither text is empty; the arrays are those of
    `score_rows`, and -1 is returned where the hash table was too small.
    """
    t: cython.longlong = candidates.shape[0]
    r: cython.longlong = references.shape[0]
    orders: cython.longlong = overlaps.shape[0]
    longer: cython.longlong = t if t > r else r
    prefix: cython.longlong
    suffix: cython.longlong
    longest: cython.longlong
    n: cython.longlong
    interior: cython.longlong = 0
    total: cython.double = 0.0
    by_length: cython.int[::1] = work[: steps.shape[0] - 1]
    order: cython.int[::1] = work[steps.shape[0] - 1 :]
    room: cython.longlong = order.shape[0] // 3
    buckets: cython.int[::1] = order[2 * room :]
    with cython.nogil:
        prefix = _common(candidates, 0, t, references, 0, r, False)
        suffix = _common(candidates, 0, t, references, 0, r, True)
        longest = _overlap_pair(
            candidates, 0, t, references, 0, r, nodes, edges, root, keys, slots, tally, moves, land, by_length, order,
            buckets, steps, orders == 0,
        )
        for n in range(1, orders + 1):
            if n <= longest + 1:
                interior += steps[n]
            overlaps[n - 1] = interior + (prefix if prefix < n - 1 else n - 1) + (suffix if suffix < n - 1 else n - 1)
            if prefix == t and t == r:
                overlaps[n - 1] = t + n - 1
            total += (
                cython.cast(cython.double, overlaps[n - 1])
                / cython.cast(cython.double, longer + n - 1)
                * inverse[n]
            )
        if orders > 0:
            total /= harmonic[orders]
            for n in range(longest + 2):
                steps[n] = 0
        for n in range(t):
            lengths[n] = land[4 * n + 1]
    return total if longest >= 0 else -1.0


# ---------------------------------------------------------------------------------------------------
# Freezing


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_edges(more: cython.int[::1], first: cython.longlong, count: cython.longlong) -> cython.void:
    """Sort the edges `more[first:first + count]`, two numbers each, by character (Shell's sort)."""
    gap: cython.longlong = count // 2
    i: cython.longlong
    j: cython.longlong
    char: cython.int
    target: cython.int
    while gap > 0:
        for i in range(first + gap, first + count):
            char = more[2 * i]
            target = more[2 * i + 1]
            j = i
            while j - gap >= first and more[2 * (j - gap)] > char:
                more[2 * j] = more[2 * (j - gap)]
                more[2 * j + 1] = more[2 * (j - gap) + 1]
                j -= gap
            more[2 * j] = char
            more[2 * j + 1] = target
        gap = gap // 2 if gap < 5 else gap * 5 // 11


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(
    nodes: cython.const[cython.int][::1], count: cython.longlong, order: cython.int[::1], size: cython.int[::1],
    heavy: cython.int[::1], cursor: cython.int[::1], place: cython.int[::1],
) -> cython.void:
    """Give every state its place in preorder of the link tree, the child with most states below first.

    So most of the path from a state to the root is one stretch of memory, and a state's descendants
    are the places that follow it.
    """
    u: cython.longlong
    i: cython.longlong
    up: cython.longlong
    total: cython.int = 0
    number: cython.int
    for u in range(count):
        cursor[u] = 0
        size[u] = 1
        heavy[u] = 0
    for u in range(count):
        cursor[nodes[8 * u + 1]] += 1
    for i in range(count):
        number = cursor[i]
        cursor[i] = total
        total += number
    for u in range(count):
        i = nodes[8 * u + 1]
        order[cursor[i]] = cython.cast(cython.int, u)
        cursor[i] += 1
    for i in range(count - 1, 0, -1):
        u = order[i]
        up = nodes[8 * u]
        size[up] += size[u]
        if heavy[up] == 0 or size[u] > size[heavy[up]]:
            heavy[up] = cython.cast(cython.int, u)
    place[0] = 0
    cursor[0] = 1 + size[heavy[0]] if heavy[0] > 0 else 1
    for i in range(1, count):
        u = order[i]
        up = nodes[8 * u]
        if heavy[up] == u:
            place[u] = place[up] + 1
        else:
            place[u] = cursor[up]
            cursor[up] += size[u]
        cursor[u] = place[u] + 1 + (size[heavy[u]] if heavy[u] > 0 else 0)


def freeze(
    nodes: cython.const[cython.int][::1], edges: cython.const[cython.int][::1], root: cython.int[::1],
    tally: cython.const[cython.longlong][::1], scratch: cython.int[::1], states: cython.int[::1],
    more: cython.int[::1],
) -> None:
    """Renumber a grown automaton of V states and lay out its edges side by side.

    `scratch` 5 V, `states` 8 V, `more` 2 for each further edge; `root` is changed in place.
    """
    count: cython.longlong = tally[0]
    u: cython.longlong
    v: cython.longlong
    i: cython.longlong
    at: cython.longlong = 0
    edge: cython.longlong
    order: cython.int[::1] = scratch[:count]
    size: cython.int[::1] = scratch[count : 2 * count]
    heavy: cython.int[::1] = scratch[2 * count : 3 * count]
    cursor: cython.int[::1] = scratch[3 * count : 4 * count]
    place: cython.int[::1] = scratch[4 * count : 5 * count]
    with cython.nogil:
        _number(nodes, count, order, size, heavy, cursor, place)
        for u in range(count):
            v = 8 * cython.cast(cython.longlong, place[u])
            states[v] = place[nodes[8 * u]] if u > 0 else -1
            states[v + 1] = nodes[8 * u + 1]
            states[v + 2] = 0
            states[v + 3] = -1
            states[v + 4] = -1
            states[v + 5] = 0
            states[v + 6] = cython.cast(cython.int, at)
            states[v + 7] = 0
            if nodes[8 * u + 5] == 0:
                continue
            states[v + 4] = nodes[8 * u + 2]
            states[v + 5] = place[nodes[8 * u + 3]]
            edge = nodes[8 * u + 4]
            i = at
            while edge >= 0:
                more[2 * i] = edges[3 * edge]
                more[2 * i + 1] = place[edges[3 * edge + 1]]
                i += 1
                edge = edges[3 * edge + 2]
            states[v + 7] = cython.cast(cython.int, i - at)
            _sort_edges(more, at, i - at)
            at = i
        for i in range(root.shape[0]):
            if root[i] != 0:
                root[i] = place[root[i]]


# ---------------------------------------------------------------------------------------------------
# Walking a frozen automaton


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _step(
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], state: cython.longlong,
    char: cython.int,
) -> cython.longlong:
    """Return where a state other than the root goes by a character, 0 if nowhere."""
    if states[8 * state + 4] == char:
        return states[8 * state + 5]
    low: cython.longlong = states[8 * state + 6]
    high: cython.longlong = low + states[8 * state + 7]
    middle: cython.longlong
    while high - low > 6:
        middle = (low + high) >> 1
        if more[2 * middle] > char:
            high = middle
        else:
            low = middle
    while low < high:
        if more[2 * low] == char:
            return more[2 * low + 1]
        low += 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _arrange(
    keys: cython.longlong[::1], other: cython.longlong[::1], count: cython.longlong, bound: cython.longlong,
    buckets: cython.longlong[::1],
) -> cython.void:
    """Sort landings (state << 32 | length) by state and then length; states are below `bound`."""
    i: cython.longlong
    j: cython.longlong
    key: cython.longlong
    total: cython.longlong
    number: cython.longlong
    shift: cython.longlong = 32
    passes: cython.longlong = 0
    rounds: cython.longlong
    digit: cython.longlong
    mask: cython.longlong
    bits: cython.longlong = 0
    most: cython.longlong = 0
    if count > 24:
        # Least significant digit first: linear, and stable. Digits of equal width, 8 bits at most: a
        # candidate has some hundred landings, so a pass costs about as much for its buckets as for them.
        while (bound - 1) >> bits > 0:
            bits += 1
        rounds = (bits + 7) // 8
        digit = (bits + rounds - 1) // rounds if rounds > 0 else 1
        mask = (1 << digit) - 1
        while passes < rounds:
            for i in range(mask + 1):
                buckets[i] = 0
            if passes & 1:
                for i in range(count):
                    buckets[(other[i] >> shift) & mask] += 1
            else:
                for i in range(count):
                    buckets[(keys[i] >> shift) & mask] += 1
            total = 0
            for i in range(mask + 1):
                number = buckets[i]
                buckets[i] = total
                total += number
            if passes & 1:
                for i in range(count):
                    j = (other[i] >> shift) & mask
                    keys[buckets[j]] = other[i]
                    buckets[j] += 1
            else:
                for i in range(count):
                    j = (keys[i] >> shift) & mask
                    other[buckets[j]] = keys[i]
                    buckets[j] += 1
            passes += 1
            shift += digit
        if passes & 1:
            for i in range(count):
                keys[i] = other[i]
    # Few landings share a state, so an insertion sort finishes the lengths. Where it could be long (long
    # texts of repetitions), each group of landings at one state is looked at, and large ones get byte passes.
    i = 0
    while i < count:
        j = count
        if count > 512:
            j = i + 1
            most = keys[i] & 0x7FFFFFFF
            while j < count and keys[j] >> 32 == keys[i] >> 32:
                if keys[j] & 0x7FFFFFFF > most:
                    most = keys[j] & 0x7FFFFFFF
                j += 1
            if j - i > 24:
                _arrange_lengths(keys, other, i, j, most, buckets)
                i = j
                continue
        for number in range(i + 1, j):
            key = keys[number]
            total = number
            while total > i and keys[total - 1] > key:
                keys[total] = keys[total - 1]
                total -= 1
            keys[total] = key
        i = j


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _arrange_lengths(
    keys: cython.longlong[::1], other: cython.longlong[::1], start: cython.longlong, stop: cython.longlong,
    most: cython.longlong, buckets: cython.longlong[::1],
) -> cython.void:
    """Sort the landings of one state by length, of which the largest is `most`."""
    i: cython.longlong
    j: cython.longlong
    total: cython.longlong
    number: cython.longlong
    shift: cython.longlong = 0
    while most >> shift > 0:
        for i in range(256):
            buckets[i] = 0
        for i in range(start, stop):
            buckets[(keys[i] >> shift) & 255] += 1
        total = start
        for i in range(256):
            number = buckets[i]
            buckets[i] = total
            total += number
        for i in range(start, stop):
            j = (keys[i] >> shift) & 255
            other[buckets[j]] = keys[i]
            buckets[j] += 1
        for i in range(start, stop):
            keys[i] = other[i]
        shift += 8


# ---------------------------------------------------------------------------------------------------
# Counting references


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _enter(
    seen: cython.longlong[::1], sums: cython.longlong[::1], tally: cython.longlong[::1], state: cython.longlong,
    times: cython.longlong, weight: cython.longlong,
) -> cython.void:
    """Note that references of this weight hold the state's strings `times` times; half full sets the flag."""
    at: cython.longlong = _slot(seen, state, times)
    if seen[at] == 0:
        if 2 * tally[0] >= seen.shape[0]:
            tally[1] = 1
            return
        seen[at] = (state << 32) | times
        sums[at] = 0
        tally[0] += 1
    sums[at] += weight


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _note(
    kind: cython.int, totals: cython.longlong[::1], seen: cython.longlong[::1], sums: cython.longlong[::1],
    tally: cython.longlong[::1], cell_start: cython.longlong[::1], cells: cython.int[::1],
    masses: cython.double[::1], state: cython.longlong, times: cython.longlong, weight: cython.longlong,
    column: cython.longlong,
) -> cython.void:
    """Take in that one reference holds a state's strings `times` times.

    Kind 0: weights per state, counts above one in the hash table. Kind 1: number the cells that kind 2
    writes, (column, times) and their weight at the state's place; neighbours that agree share one.
    """
    at: cython.longlong
    if kind == 0:
        totals[state] += weight
        if times > 1:
            _enter(seen, sums, tally, state, times, weight)
    elif kind == 1:
        if totals[state] != ((column + 1) << 32) | times:
            totals[state] = ((column + 1) << 32) | times
            cell_start[state] += 1
    else:
        if totals[state] != ((column + 1) << 32) | times:
            totals[state] = ((column + 1) << 32) | times
            at = cell_start[state]
            cell_start[state] = at + 1
            cells[2 * at] = cython.cast(cython.int, column)
            cells[2 * at + 1] = cython.cast(cython.int, times)
            if masses.shape[0] > 0:
                masses[at] = cython.cast(cython.double, weight)
        elif masses.shape[0] > 0:
            masses[cell_start[state] - 1] += cython.cast(cython.double, weight)


def count(
    kind: cython.int, codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1],
    weights: cython.const[cython.longlong][::1], columns: cython.const[cython.longlong][::1],
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    totals: cython.longlong[::1], begins: cython.longlong[::1], finishes: cython.longlong[::1],
    ends: cython.int[::1], seen: cython.longlong[::1], sums: cython.longlong[::1], tally: cython.longlong[::1],
    cell_start: cython.longlong[::1], cells: cython.int[::1], masses: cython.double[::1],
    landings: cython.longlong[::1], other: cython.longlong[::1], pending: cython.longlong[::1],
    buckets: cython.longlong[::1],
) -> bool:
    """Run every reference through its own automaton and count it in; False if the hash table was too small.

    Kind 0 fills, per state, `totals` (weight of the references that hold it), `begins` and `finishes`
    (weight of those that begin or end with its longest string), `ends` (the state of each whole text),
    and the hash table `seen`, `sums` of counts above one. Kinds 1 and 2 count and fill `cells`; kind 2
    wants `landings` as kind 1 left it, with room for all texts. Else `landings`, `other` and `pending`
    have room for the longest reference, `buckets` 260.
    """
    r: cython.longlong
    i: cython.longlong
    state: cython.longlong
    upper: cython.longlong
    length: cython.longlong
    times: cython.longlong
    depth: cython.longlong
    weight: cython.longlong
    base: cython.longlong
    with cython.nogil:
        for r in range(offsets.shape[0] - 1):
            length = offsets[r + 1] - offsets[r]
            if length == 0:
                continue
            weight = weights[r]
            base = offsets[r] if kind > 0 else 0
            if kind < 2:
                state = 0
                for i in range(length):
                    if state == 0:
                        state = root[codes[offsets[r] + i]]
                    else:
                        state = _step(states, more, state, codes[offsets[r] + i])
                    landings[base + i] = state << 32
                    if kind == 0:
                        begins[state] += weight
                if kind == 0:
                    ends[r] = cython.cast(cython.int, state)
                    while state > 0:
                        finishes[state] += weight
                        state = states[8 * state]
                _arrange(landings[base : base + length], other, length, states.shape[0] // 8, buckets)
            # Backwards over landings in preorder: climb until the path is shared with the landing
            # before, leave the count there. Whoever is left waiting lies on the next landing's path.
            depth = 0
            i = base + length - 1
            while i >= base:
                state = landings[i] >> 32
                times = 0
                while i >= base and landings[i] >> 32 == state:
                    times += 1
                    i -= 1
                upper = landings[i] >> 32 if i >= base else 0
                while state > upper:
                    if depth > 0 and pending[2 * depth - 2] == state:
                        times += pending[2 * depth - 1]
                        depth -= 1
                    _note(kind, totals, seen, sums, tally, cell_start, cells, masses, state, times, weight, columns[r])
                    state = states[8 * state]
                if state > 0:
                    if depth > 0 and pending[2 * depth - 2] == state:
                        pending[2 * depth - 1] += times
                    else:
                        pending[2 * depth] = state
                        pending[2 * depth + 1] = times
                        depth += 1
            if tally[1] != 0:
                break
    return tally[1] == 0


def tabulate(
    keys: cython.const[cython.longlong][::1], sums: cython.const[cython.longlong][::1],
    totals: cython.const[cython.longlong][::1], states: cython.int[::1], table_start: cython.longlong[::1],
    table: cython.longlong[::1],
) -> int:
    """Write weights and rows into `states`, and the `table`; return how many states have rows there.

    `keys` (state << 32 | times, ascending) and `sums` are what `count` left in its hash table. Row one of a
    state covers the references that hold it once. With n keys and m totals beyond 32 bits (fractional weights
    on a fine grid), `table_start` has room for n + m + 1 and `table` for 2 n + m rows.
    """
    i: cython.longlong = 0
    j: cython.longlong
    state: cython.longlong
    row: cython.longlong = 0
    group: cython.longlong = 0
    base: cython.longlong
    left: cython.longlong
    with cython.nogil:
        for state in range(totals.shape[0]):
            states[8 * state + 2] = cython.cast(cython.int, totals[state] if totals[state] <= 0x7FFFFFFF else -1)
        while i < keys.shape[0]:
            state = keys[i] >> 32
            left = 0
            j = i
            while j < keys.shape[0] and keys[j] >> 32 == state:
                left += sums[j]
                j += 1
            base = totals[state] - left
            states[8 * state + 3] = cython.cast(cython.int, group)
            table_start[group] = row
            group += 1
            table[3 * row] = 1
            table[3 * row + 1] = base
            table[3 * row + 2] = left
            row += 1
            while i < j:
                base += sums[i] * (keys[i] & 0x7FFFFFFF)
                left -= sums[i]
                table[3 * row] = keys[i] & 0x7FFFFFFF
                table[3 * row + 1] = base
                table[3 * row + 2] = left
                row += 1
                i += 1
        for state in range(totals.shape[0]):
            if totals[state] > 0x7FFFFFFF and states[8 * state + 3] < 0:
                states[8 * state + 3] = cython.cast(cython.int, group)
                table_start[group] = row
                group += 1
                table[3 * row] = 1
                table[3 * row + 1] = totals[state]
                table[3 * row + 2] = 0
                row += 1
        table_start[group] = row
    return group


# ---------------------------------------------------------------------------------------------------
# Candidates against a frozen set


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong,
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    landings: cython.longlong[::1], last: cython.longlong[::1],
) -> cython.longlong:
    """Record where each prefix of a candidate lands; return how many do.

    `last` gets the last landing's state and length, the length of the longest prefix that occurs whole, and
    that of the longest match.
    """
    state: cython.longlong = 0
    length: cython.longlong = 0
    target: cython.longlong
    landed: cython.longlong = 0
    i: cython.longlong
    char: cython.int
    longest: cython.longlong = 0
    last[2] = 0
    for i in range(start, stop):
        char = codes[i]
        target = 0
        while state > 0:
            target = _step(states, more, state, char)
            if target > 0:
                break
            state = states[8 * state]
            length = states[8 * state + 1]
        if state == 0 and char < root.shape[0]:
            target = root[char]
        state = target
        if state > 0:
            length += 1
            landings[landed] = (state << 32) | length
            landed += 1
            if length == i - start + 1:
                last[2] = length
            if length > longest:
                longest = length
        else:
            length = 0
    last[0] = state
    last[1] = length
    last[3] = longest
    return landed


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shared(
    states: cython.const[cython.int][::1], table_start: cython.const[cython.longlong][::1],
    table: cython.const[cython.longlong][::1], state: cython.longlong, hits: cython.longlong,
) -> cython.longlong:
    """Return sum_i weight_i min(count_i, hits) over the references, for the strings of one state."""
    value: cython.longlong = states[8 * state + 2]
    row: cython.longlong = states[8 * state + 3]
    if row < 0 or (hits == 1 and value >= 0):
        return value
    low: cython.longlong = table_start[row]
    high: cython.longlong = table_start[row + 1]
    # Counts rise from one on, by one as a rule, so the row wanted is the one `hits` rows on, or before it.
    middle: cython.longlong = low + hits - 1
    if middle >= high:
        middle = high - 1
    if table[3 * middle] > hits:
        high = middle
        while high - low > 1:
            middle = (low + high) >> 1
            if table[3 * middle] > hits:
                high = middle
            else:
                low = middle
        middle = low
    return table[3 * middle + 1] + hits * table[3 * middle + 2]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _overlap_set(
    states: cython.const[cython.int][::1], table_start: cython.const[cython.longlong][::1],
    table: cython.const[cython.longlong][::1], landings: cython.const[cython.longlong][::1],
    landed: cython.longlong, pending: cython.longlong[::1], steps: cython.longlong[::1],
) -> cython.void:
    """Add the interior overlaps of sorted landings to `steps`, as differences over orders.

    The climb is that of `count`. Along it, lengths fall without a gap, so one write per state moves
    from the overlap of the stretch above to that of the stretch below.
    """
    i: cython.longlong = landed - 1
    state: cython.longlong
    upper: cython.longlong
    top: cython.longlong
    hits: cython.longlong
    depth: cython.longlong = 0
    value: cython.longlong
    before: cython.longlong
    while i >= 0:
        state = landings[i] >> 32
        hits = 0
        before = 0
        top = states[8 * state + 1]
        if depth > 0 and pending[2 * depth - 2] == state:
            depth -= 1
            hits = pending[2 * depth + 1]
            before = _shared(states, table_start, table, state, hits)
            steps[top + 1] -= before
        while i >= 0 and landings[i] >> 32 == state:
            hits += 1
            top = landings[i] & 0x7FFFFFFF
            i -= 1
            value = _shared(states, table_start, table, state, hits)
            steps[top + 1] += before - value
            before = value
        upper = landings[i] >> 32 if i >= 0 else 0
        state = states[8 * state]
        while state > upper:
            if depth > 0 and pending[2 * depth - 2] == state:
                depth -= 1
                hits += pending[2 * depth + 1]
            value = _shared(states, table_start, table, state, hits)
            steps[states[8 * state + 1] + 1] += before - value
            before = value
            state = states[8 * state]
        steps[states[8 * state + 1] + 1] += before
        if state > 0:
            if depth > 0 and pending[2 * depth - 2] == state:
                pending[2 * depth - 1] += hits
            else:
                pending[2 * depth] = state
                pending[2 * depth + 1] = hits
                depth += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _edges_of_text(
    length: cython.longlong, states: cython.const[cython.int][::1], begins: cython.const[cython.longlong][::1],
    finishes: cython.const[cython.longlong][::1], whole: cython.const[cython.longlong][::1],
    landings: cython.const[cython.longlong][::1], last: cython.const[cython.longlong][::1],
    slopes: cython.longlong[::1],
) -> cython.longlong:
    """Add to `slopes[k + 1]` the references that begin, and those that end, with k characters of the candidate.

    Landings are in the order of the text. Returns the weight of the references equal to it.
    """
    k: cython.longlong = 0
    state: cython.longlong
    reach: cython.longlong
    low: cython.longlong = 0
    high: cython.longlong = whole.shape[0] // 2
    middle: cython.longlong
    # What a reference begins with has no fixed character before it, so it is its state's longest string.
    while k < last[2]:
        state = landings[k] >> 32
        if states[8 * state + 1] != k + 1 or begins[state] == 0:
            break
        k += 1
        slopes[k + 1] += begins[state]
    state = last[0]
    reach = last[1]
    while state > 0:
        k = states[8 * cython.cast(cython.longlong, states[8 * state]) + 1]
        if finishes[state] > 0:
            while reach > k:
                slopes[reach + 1] += finishes[state]
                reach -= 1
        reach = k
        state = states[8 * state]
    state = last[0]
    if state == 0 or last[1] != length or states[8 * state + 1] != length:
        return 0
    while high - low > 1:
        middle = (low + high) >> 1
        if whole[2 * middle] > state:
            high = middle
        else:
            low = middle
    return whole[2 * low + 1] if low < high and whole[2 * low] == state else 0


def score_set(
    codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1],
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    table_start: cython.const[cython.longlong][::1], table: cython.const[cython.longlong][::1],
    begins: cython.const[cython.longlong][::1], finishes: cython.const[cython.longlong][::1],
    whole: cython.const[cython.longlong][::1], longest: cython.longlong, max_order: cython.longlong,
    scale: cython.longlong, bounds: cython.const[cython.longlong][::1], inverse: cython.const[cython.double][::1],
    harmonic: cython.const[cython.double][::1], landings: cython.longlong[::1], other: cython.longlong[::1],
    pending: cython.longlong[::1], buckets: cython.longlong[::1], steps: cython.longlong[::1],
    slopes: cython.longlong[::1], overlaps: cython.longlong[::1], out: cython.double[::1],
) -> None:
    """Score candidates against a frozen set: sum_n scale o(n) / max(scale K L(n), y0 + y1 (n - 1)) / n / H_N.

    `bounds` holds 4 numbers a candidate: how much of its own weight leaves the set (consensus; else 0),
    the weight K of the references that are left, y0 and y1. `longest` is the longest reference. For T
    the longest candidate: `landings` and `other` T, `pending` 2 T, `buckets` 260, `steps` and `slopes`
    T + 3 zeros, left so. `overlaps` gets the last candidate's o(1), o(2), ... as far as it reaches.
    """
    c: cython.longlong
    n: cython.longlong
    t: cython.longlong
    orders: cython.longlong
    landed: cython.longlong
    same: cython.longlong
    own: cython.longlong
    heads: cython.longlong
    value: cython.longlong
    family: cython.longlong
    bound: cython.longlong
    floor: cython.longlong
    shared: cython.longlong
    reach: cython.longlong
    longest_match: cython.longlong
    constant: cython.double
    total: cython.double
    last: cython.longlong[::1] = buckets[256:260]
    with cython.nogil:
        for c in range(offsets.shape[0] - 1):
            t = offsets[c + 1] - offsets[c]
            own = bounds[4 * c]
            heads = bounds[4 * c + 1]
            if t == 0:
                out[c] = 1.0 if bounds[4 * c + 2] == 0 and bounds[4 * c + 3] == 0 else 0.0
                continue
            orders = t if t > longest else longest
            if max_order > 0 and max_order < orders:
                orders = max_order
            landed = _walk(codes, offsets[c], offsets[c + 1], states, more, root, landings, last)
            longest_match = last[3]
            same = _edges_of_text(t, states, begins, finishes, whole, landings, last, slopes)
            _arrange(landings, other, landed, states.shape[0] // 8, buckets)
            _overlap_set(states, table_start, table, landings, landed, pending, steps)
            total = 0.0
            value = 0
            family = 0
            reach = last[2] if last[2] > longest_match else longest_match
            if last[1] > reach:
                reach = last[1]
            if own != 0 or same != 0 or overlaps.shape[0] > 0:
                reach = orders
            elif reach + 1 < orders:
                reach += 1
            else:
                reach = orders
            bound = heads * t * scale
            floor = bounds[4 * c + 2]
            for n in range(1, reach + 1):
                if n <= t + 1:
                    value += steps[n]
                    family += slopes[n]
                else:
                    family += same
                shared = value + family - own * (t + n - 1)
                if n <= overlaps.shape[0]:
                    overlaps[n - 1] = shared
                total += (
                    cython.cast(cython.double, shared * scale)
                    / cython.cast(cython.double, bound if bound > floor else floor)
                    * inverse[n]
                )
                bound += heads * scale
                floor += bounds[4 * c + 3]
            # Beyond the longest match nothing changes but the lengths.
            if value + family != 0:
                constant = cython.cast(cython.double, (value + family) * scale)
                for n in range(reach + 1, orders + 1):
                    total += constant / cython.cast(cython.double, bound if bound > floor else floor) * inverse[n]
                    bound += heads * scale
                    floor += bounds[4 * c + 3]
            out[c] = total / harmonic[orders]
            for n in range(t + 3):
                steps[n] = 0
                slopes[n] = 0


# ---------------------------------------------------------------------------------------------------
# Candidates against each reference, or each length of references, apart


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_cells(
    cell_start: cython.const[cython.longlong][::1], cells: cython.const[cython.int][::1],
    masses: cython.const[cython.double][::1], width: cython.longlong, state: cython.longlong, hits: cython.longlong,
    low: cython.longlong, high: cython.longlong, steps: cython.double[::1], direct: cython.double[::1],
) -> cython.void:
    """Add a state's overlaps, column by column, to the orders low + 1 .. high.

    One order alone is added to its row of `direct`, several to `steps` as differences over orders.
    """
    at: cython.longlong
    first: cython.longlong = width * (low + 1)
    after: cython.longlong = width * (high + 1)
    value: cython.double
    # Most states near the root cover one order, and most strings occur once: one addition a cell, where
    # the general case has a comparison and two (it made the matrix 1.6 times slower).
    if high == low + 1:
        if masses.shape[0] > 0:
            for at in range(cell_start[state], cell_start[state + 1]):
                value = cells[2 * at + 1] if cells[2 * at + 1] < hits else hits
                direct[first + cells[2 * at]] += value * masses[at]
        elif hits == 1:
            for at in range(cell_start[state], cell_start[state + 1]):
                direct[first + cells[2 * at]] += 1.0
        else:
            for at in range(cell_start[state], cell_start[state + 1]):
                direct[first + cells[2 * at]] += cells[2 * at + 1] if cells[2 * at + 1] < hits else hits
        return
    for at in range(cell_start[state], cell_start[state + 1]):
        value = cells[2 * at + 1] if cells[2 * at + 1] < hits else hits
        if masses.shape[0] > 0:
            value *= masses[at]
        steps[first + cells[2 * at]] += value
        steps[after + cells[2 * at]] -= value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _overlap_cells(
    states: cython.const[cython.int][::1], cell_start: cython.const[cython.longlong][::1],
    cells: cython.const[cython.int][::1], masses: cython.const[cython.double][::1], width: cython.longlong,
    landings: cython.const[cython.longlong][::1], landed: cython.longlong, pending: cython.longlong[::1],
    steps: cython.double[::1], direct: cython.double[::1],
) -> cython.longlong:
    """Do what `_overlap_set` does for every column; return the last row of `steps` that was written."""
    i: cython.longlong = landed - 1
    state: cython.longlong
    upper: cython.longlong
    top: cython.longlong
    reach: cython.longlong
    hits: cython.longlong
    depth: cython.longlong = 0
    rows: cython.longlong = 0
    while i >= 0:
        state = landings[i] >> 32
        hits = 0
        top = states[8 * state + 1]
        if depth > 0 and pending[2 * depth - 2] == state:
            depth -= 1
            hits = pending[2 * depth + 1]
        else:
            top = landings[i] & 0x7FFFFFFF
        if top > rows:
            rows = top
        while i >= 0 and landings[i] >> 32 == state:
            reach = landings[i] & 0x7FFFFFFF
            if reach < top:
                _add_cells(cell_start, cells, masses, width, state, hits, reach, top, steps, direct)
                top = reach
            hits += 1
            i -= 1
        upper = landings[i] >> 32 if i >= 0 else 0
        reach = states[8 * cython.cast(cython.longlong, states[8 * state]) + 1]
        _add_cells(cell_start, cells, masses, width, state, hits, reach, top, steps, direct)
        state = states[8 * state]
        while state > upper:
            if depth > 0 and pending[2 * depth - 2] == state:
                depth -= 1
                hits += pending[2 * depth + 1]
            top = reach
            reach = states[8 * cython.cast(cython.longlong, states[8 * state]) + 1]
            _add_cells(cell_start, cells, masses, width, state, hits, reach, top, steps, direct)
            state = states[8 * state]
        if state > 0:
            if depth > 0 and pending[2 * depth - 2] == state:
                pending[2 * depth - 1] += hits
            else:
                pending[2 * depth] = state
                pending[2 * depth + 1] = hits
                depth += 1
    return rows + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _ends_alike(
    codes: cython.const[cython.int][::1], start: cython.longlong, stop: cython.longlong,
    references: cython.const[cython.int][::1], reference_offsets: cython.const[cython.longlong][::1],
    weights: cython.const[cython.longlong][::1], columns: cython.const[cython.longlong][::1],
    width: cython.longlong, rows: cython.longlong, steps: cython.double[::1], same: cython.double[::1],
) -> cython.longlong:
    """Add what each reference shares with the candidate at its two ends; return the last row written.

    `same` gets the weight of the references equal to it.
    """
    r: cython.longlong
    k: cython.longlong
    n: cython.longlong
    side: cython.int
    weight: cython.double
    same[0] = 0.0
    for r in range(reference_offsets.shape[0] - 1):
        weight = cython.cast(cython.double, weights[r])
        k = 0
        for side in range(2):
            k = _common(codes, start, stop, references, reference_offsets[r], reference_offsets[r + 1], side == 1)
            for n in range(2, k + 2):
                steps[width * n + columns[r]] += weight
            if k + 1 > rows:
                rows = k + 1
        if k == stop - start and k == reference_offsets[r + 1] - reference_offsets[r]:
            same[0] += weight
    return rows


def score_cells(
    codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1],
    references: cython.const[cython.int][::1], reference_offsets: cython.const[cython.longlong][::1],
    weights: cython.const[cython.longlong][::1], columns: cython.const[cython.longlong][::1],
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    cell_start: cython.const[cython.longlong][::1], cells: cython.const[cython.int][::1],
    masses: cython.const[cython.double][::1], max_order: cython.longlong, inverse: cython.const[cython.double][::1],
    harmonic: cython.const[cython.double][::1], landings: cython.longlong[::1], other: cython.longlong[::1],
    pending: cython.longlong[::1], buckets: cython.longlong[::1], steps: cython.double[::1],
    direct: cython.double[::1], rows: cython.double[::1], out: cython.double[::1],
) -> None:
    """Score every candidate against each of R references alone, these longest first: `out` (C, R), flat.

    `weights` are ones and `columns` 0 .. R - 1. For T the longest candidate: `steps` and `direct`
    R (T + 3) zeros, left so, `rows` 6 R + 1, the rest as in `score_set`. Its numbers are integers below 2**53, kept as
    floats because those are added and divided several at a time.
    """
    c: cython.longlong
    r: cython.longlong
    n: cython.longlong
    t: cython.longlong
    width: cython.longlong = reference_offsets.shape[0] - 1
    landed: cython.longlong
    orders: cython.longlong
    length: cython.longlong
    bend: cython.longlong
    active: cython.longlong
    dense: cython.longlong
    weight: cython.double
    run: cython.double[::1] = rows[:width]
    longer: cython.double[::1] = rows[width : 2 * width]
    total: cython.double[::1] = rows[2 * width : 3 * width]
    some_run: cython.double[::1] = rows[3 * width : 4 * width]
    some_longer: cython.double[::1] = rows[4 * width : 5 * width]
    some_total: cython.double[::1] = rows[5 * width : 6 * width]
    same: cython.double[::1] = rows[6 * width : 6 * width + 1]
    last: cython.longlong[::1] = buckets[256:260]
    with cython.nogil:
        for c in range(offsets.shape[0] - 1):
            t = offsets[c + 1] - offsets[c]
            if t == 0:
                for r in range(width):
                    out[c * width + r] = 1.0 if reference_offsets[r + 1] == reference_offsets[r] else 0.0
                continue
            landed = _walk(codes, offsets[c], offsets[c + 1], states, more, root, landings, last)
            _arrange(landings, other, landed, states.shape[0] // 8, buckets)
            bend = _overlap_cells(states, cell_start, cells, masses, width, landings, landed, pending, steps, direct)
            bend = _ends_alike(
                codes, offsets[c], offsets[c + 1], references, reference_offsets, weights, columns, width, bend,
                steps, same,
            )
            for r in range(width):
                length = reference_offsets[r + 1] - reference_offsets[r]
                longer[r] = cython.cast(cython.double, t if t > length else length) - 1.0
                run[r] = 0.0
                total[r] = 0.0
            orders = reference_offsets[1] - reference_offsets[0]
            if t > orders:
                orders = t
            if max_order > 0 and max_order < orders:
                orders = max_order
            active = width
            for n in range(1, bend + 1):
                if n <= orders:
                    while n > t and reference_offsets[active] - reference_offsets[active - 1] < n:
                        active -= 1
                    weight = inverse[n]
                    for r in range(active):
                        run[r] += steps[width * n + r]
                        total[r] += (run[r] + direct[width * n + r]) / (longer[r] + n) * weight
                for r in range(width * n, width * n + width):
                    steps[r] = 0.0
                    direct[r] = 0.0
            # Beyond the longest match the overlaps stay as they are, zero for most.
            dense = 0
            for r in range(active):
                if run[r] != 0.0:
                    some_run[dense] = run[r]
                    some_longer[dense] = longer[r]
                    some_total[dense] = total[r]
                    dense += 1
            for n in range(bend + 1, orders + 1):
                while n > t and dense > 0 and some_longer[dense - 1] + 1.0 < n:
                    dense -= 1
                weight = inverse[n]
                for r in range(dense):
                    some_total[r] += some_run[r] / (some_longer[r] + n) * weight
            dense = 0
            for r in range(active):
                if run[r] != 0.0:
                    total[r] = some_total[dense]
                    dense += 1
            for r in range(width):
                orders = cython.cast(cython.longlong, longer[r]) + 1
                if max_order > 0 and max_order < orders:
                    orders = max_order
                out[c * width + r] = total[r] / harmonic[orders]


def score_base(
    codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1],
    references: cython.const[cython.int][::1], reference_offsets: cython.const[cython.longlong][::1],
    weights: cython.const[cython.longlong][::1], columns: cython.const[cython.longlong][::1],
    lengths: cython.const[cython.longlong][::1], states: cython.const[cython.int][::1],
    more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    cell_start: cython.const[cython.longlong][::1], cells: cython.const[cython.int][::1],
    masses: cython.const[cython.double][::1], max_order: cython.longlong,
    bounds: cython.const[cython.longlong][::1], inverse: cython.const[cython.double][::1],
    harmonic: cython.const[cython.double][::1], landings: cython.longlong[::1], other: cython.longlong[::1],
    pending: cython.longlong[::1], buckets: cython.longlong[::1], steps: cython.double[::1],
    direct: cython.double[::1], run: cython.double[::1], per_order: cython.double[::1], out: cython.double[::1],
) -> None:
    """Score candidates by the base form: rho(n) = sum over denominators d of (sum of o_i(n) over those) / (K d).

    `columns` puts each reference in a class by its length; `lengths` (ascending) are those of the J
    classes. `bounds` holds 4 numbers a candidate: how much of its own weight leaves the set, the class
    of that text, the weight K of what is left, the weight of the empty references left. `steps` and
    `direct` J (T + 3) zeros, left so, `run` J + 1, the rest as in `score_cells`; `per_order` gets the last
    candidate's rho(n), then precision(n), then recall(n), averaged over references, each for a third of its places.
    """
    c: cython.longlong
    j: cython.longlong
    n: cython.longlong
    t: cython.longlong
    width: cython.longlong = lengths.shape[0]
    longest: cython.longlong = lengths[lengths.shape[0] - 1]
    landed: cython.longlong
    orders: cython.longlong
    bend: cython.longlong
    short: cython.longlong
    total: cython.double
    rho: cython.double
    shared: cython.double
    heads: cython.double
    recall: cython.double
    precision: cython.double
    told: cython.longlong = per_order.shape[0] // 3
    same: cython.double[::1] = run[width:]
    last: cython.longlong[::1] = buckets[256:260]
    with cython.nogil:
        for c in range(offsets.shape[0] - 1):
            t = offsets[c + 1] - offsets[c]
            heads = cython.cast(cython.double, bounds[4 * c + 2])
            orders = t if t > longest else longest
            if max_order > 0 and max_order < orders:
                orders = max_order
            if t == 0:
                rho = cython.cast(cython.double, bounds[4 * c + 3]) / heads
                total = 0.0
                for n in range(1, orders + 1):
                    total += rho * inverse[n]
                    if n <= told:
                        per_order[n - 1] = rho
                        per_order[told + n - 1] = rho
                        per_order[2 * told + n - 1] = rho
                out[c] = total / harmonic[orders] if orders > 0 else 1.0
                continue
            landed = _walk(codes, offsets[c], offsets[c + 1], states, more, root, landings, last)
            _arrange(landings, other, landed, states.shape[0] // 8, buckets)
            bend = _overlap_cells(states, cell_start, cells, masses, width, landings, landed, pending, steps, direct)
            bend = _ends_alike(
                codes, offsets[c], offsets[c + 1], references, reference_offsets, weights, columns, width, bend,
                steps, same,
            )
            # The candidate's own text shares all its L(n) = t + n - 1 windows with itself.
            if bounds[4 * c] != 0:
                j = bounds[4 * c + 1]
                shared = cython.cast(cython.double, bounds[4 * c])
                same[0] -= shared
                steps[width + j] -= shared * t
                for n in range(2, t + 2):
                    steps[width * n + j] -= shared
                if bend < t + 1:
                    bend = t + 1
            short = 0
            while short < width and lengths[short] <= t:
                short += 1
            for j in range(width):
                run[j] = 0.0
            total = 0.0
            for n in range(1, orders + 1):
                if n <= bend:
                    for j in range(width):
                        run[j] += steps[width * n + j]
                if n > t + 1 and same[0] != 0.0:
                    run[short - 1] += same[0]
                rho = 0.0
                shared = 0.0
                for j in range(short):
                    shared += run[j]
                if n <= bend:
                    for j in range(short):
                        shared += direct[width * n + j]
                if shared != 0.0:
                    rho = shared / (heads * (t + n - 1))
                for j in range(short, width):
                    shared = run[j]
                    if n <= bend:
                        shared += direct[width * n + j]
                    if shared != 0.0:
                        rho += shared / (heads * (lengths[j] + n - 1))
                if n <= told:
                    per_order[n - 1] = rho
                    precision = 0.0
                    recall = 0.0
                    for j in range(width):
                        shared = run[j]
                        if n <= bend:
                            shared += direct[width * n + j]
                        if shared != 0.0:
                            precision += shared / (heads * (t + n - 1))
                            recall += shared / (heads * (lengths[j] + n - 1))
                    per_order[told + n - 1] = precision
                    per_order[2 * told + n - 1] = recall
                total += rho * inverse[n]
            for n in range(width * (bend + 1)):
                steps[n] = 0.0
                direct[n] = 0.0
            out[c] = total / harmonic[orders]


# ---------------------------------------------------------------------------------------------------
# Explaining


def trace(
    codes: cython.const[cython.int][::1], states: cython.const[cython.int][::1],
    more: cython.const[cython.int][::1], root: cython.const[cython.int][::1], where: cython.longlong[::1],
    lengths: cython.longlong[::1], held: cython.char[::1],
) -> None:
    """Walk one text through a frozen set: at each position the longest suffix that some reference holds.

    `where` and `lengths` get its state and length, 0 for none. `held` (zeros, one a state, or empty) gets 1
    for the states whose longest string the text holds.
    """
    i: cython.longlong = 0
    at: cython.longlong = 0
    state: cython.longlong = 0
    length: cython.longlong = 0
    place: cython.longlong
    with cython.nogil:
        for i in range(codes.shape[0]):
            place = 0
            while state > 0:
                place = _step(states, more, state, codes[i])
                if place > 0:
                    break
                state = states[8 * state]
                length = states[8 * state + 1]
            if state == 0 and codes[i] < root.shape[0]:
                place = root[codes[i]]
            state = place
            length = length + 1 if state > 0 else 0
            where[i] = state
            lengths[i] = length
            if held.shape[0] > 0 and state > 0:
                at = state if length == states[8 * state + 1] else states[8 * state]
                while at > 0 and held[at] == 0:
                    held[at] = 1
                    at = states[8 * at]


def sites(
    codes: cython.const[cython.int][::1], offsets: cython.const[cython.longlong][::1],
    states: cython.const[cython.int][::1], more: cython.const[cython.int][::1], root: cython.const[cython.int][::1],
    ends: cython.longlong[::1],
) -> None:
    """Write, for each state of a set, where in the set's own `codes` one of its strings ends; the root gets 0."""
    r: cython.longlong
    i: cython.longlong
    state: cython.longlong
    up: cython.longlong
    with cython.nogil:
        for r in range(offsets.shape[0] - 1):
            state = 0
            for i in range(offsets[r], offsets[r + 1]):
                state = root[codes[i]] if state == 0 else _step(states, more, state, codes[i])
                if ends[state] == 0:
                    ends[state] = i + 1
        # Every state is one that a prefix lands in, or above one; and those below have the larger numbers.
        for state in range(ends.shape[0] - 1, 0, -1):
            up = states[8 * state]
            if ends[up] == 0:
                ends[up] = ends[state]
    ends[0] = 0


def cover(lengths: cython.const[cython.longlong][::1], queue: cython.longlong[::1], best: cython.longlong[::1]) -> None:
    """For each position, the end of the longest of the matches that cover it, the leftmost of equal ones; -1: none.

    `lengths[e]` is the length of the longest match that ends at e; `queue` has as many places.
    """
    i: cython.longlong
    e: cython.longlong = 0
    head: cython.longlong = 0
    tail: cython.longlong = 0
    count: cython.longlong = lengths.shape[0]
    with cython.nogil:
        # Matches begin in the order in which they end. The queue holds ends, their lengths falling.
        for i in range(count):
            while e < count and e - lengths[e] + 1 <= i:
                if e >= i and lengths[e] > 0:
                    while tail > head and lengths[queue[tail - 1]] < lengths[e]:
                        tail -= 1
                    queue[tail] = e
                    tail += 1
                e += 1
            while tail > head and queue[head] < i:
                head += 1
            best[i] = queue[head] if tail > head else -1
