"""In how many of K references each n-gram of 1 to 10 characters stands: one sort of all positions, then runs.

    references  --symbols-->  positions sorted by the 10 characters that follow  --runs of equal n-grams-->
    for each order n: keys_n, sorted, of (number of the (n-1)-gram, next symbol), and counts_n beside them

A text looks its n-grams up order by order: the number of the (n-1)-gram at a position and one more symbol make the key
of the n-gram, whose number is its place among the keys. A dictionary of the same counts takes 20 times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim.text import code_points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

ORDERS: Final = 10
_BITS: Final = 63


@dataclass(frozen=True)
class Table:
    """The n-grams of some references: sorted `alphabet`; by order sorted `keys`, and `counts`, how many hold each."""

    alphabet: NDArray[np.int32]
    keys: tuple[NDArray[np.int64], ...]
    counts: tuple[NDArray[np.int64], ...]

    @property
    def nbytes(self) -> int:
        """The room that the arrays take."""
        return self.alphabet.nbytes + sum(array.nbytes for array in (*self.keys, *self.counts))


@dataclass(frozen=True)
class Positions:
    """Texts in one row of characters: where each begins and ends, and of each character the text that it is in."""

    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Positions:
        """Return the characters of texts."""
        return cls(*code_points(texts))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of characters of each text."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The text of each character."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Which character of its text each one is, from 1."""
        return np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths) + 1

    @property
    def left(self) -> NDArray[np.int64]:
        """How many characters are left in the text from each one on, itself included."""
        return np.repeat(self.offsets[1:], self.lengths) - np.arange(len(self.codes))


def make_table(texts: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
    """Return the table of some references, and for each of their characters what `gains` says of it."""
    positions = Positions.of(texts)
    alphabet, found = np.unique(positions.codes, return_inverse=True)
    left, owners = positions.left, positions.owners
    symbols = found.astype(np.int64) + 1

    def symbol(at: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        # 0 stands behind the end of a text, so that no n-gram reaches into the next one.
        return np.where(left[at] >= n, symbols[np.minimum(at + n - 1, len(symbols) - 1)], 0)

    order = _sorted_positions(symbol, len(symbols), len(alphabet).bit_length())
    # The same positions by reference, and sorted within it: equal n-grams of one reference stand together there too.
    by_owner = np.argsort(owners[order], kind="stable")
    places = order[by_owner]
    numbers, same = np.zeros(len(order), np.int64), np.arange(len(order)) > 0
    keys, counts, gains = [], [], np.zeros(len(symbols), np.int64)
    for n in range(1, ORDERS + 1):
        following = symbol(order, n)
        valid = following > 0
        same &= np.diff(following, prepend=-1) == 0
        first = valid & ~same
        keys.append((numbers * (len(alphabet) + 1) + following)[first])
        # What is no n-gram has a number that means nothing, and its longer ones are none either.
        numbers = np.maximum(np.cumsum(first) - 1, 0)
        kept = valid[by_owner]
        seen = numbers[by_owner][kept]
        new_owner = np.diff(owners[places[kept]], prepend=-1) != 0
        starts = np.flatnonzero(new_owner | (np.diff(seen, prepend=-1) != 0))
        counts.append(np.bincount(seen[starts], minlength=len(keys[-1])))
        if len(starts):
            earliest = np.minimum.reduceat(places[kept], starts)
            np.add.at(gains, earliest + n - 1, counts[-1][seen[starts]])
    return Table(alphabet, tuple(keys), tuple(counts)), gains


def _sorted_positions(
    symbol: Callable[[NDArray[np.int64], int], NDArray[np.int64]], size: int, bits: int
) -> NDArray[np.int64]:
    """Return all positions in the order of the 10 symbols from each one on, as many of them in a number as it holds."""
    everywhere, packed = np.arange(size), []
    together = _BITS // max(bits, 1)
    for start in range(1, ORDERS + 1, together):
        number = np.zeros(size, np.int64)
        for n in range(start, min(start + together, ORDERS + 1)):
            number = number << bits | symbol(everywhere, n)
        packed.append(number)
    return np.lexsort(packed[::-1])


def look_up(table: Table, positions: Positions) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, for each order, the number and the count of the n-gram from each character on; both -1 and 0 of none."""
    left, width = positions.left, len(table.alphabet) + 1
    symbols = _find(table.alphabet, positions.codes) + 1
    numbers = np.zeros(len(symbols), np.int64)
    for n, (keys, counts) in enumerate(zip(table.keys, table.counts, strict=True), start=1):
        at = np.flatnonzero((numbers >= 0) & (left >= n))
        following = symbols[at + n - 1]
        found = np.where(following > 0, _find(keys, numbers[at] * width + following), -1)
        numbers = np.full(len(symbols), -1)
        numbers[at] = found
        held = np.zeros(len(symbols), np.int64)
        held[at[found >= 0]] = counts[found[found >= 0]]
        yield n, numbers, held


def gains(positions: Positions, found: Sequence[tuple[int, NDArray[np.int64], NDArray[np.int64]]]) -> NDArray[np.int64]:
    """Return for each character the sum of counts of the n-grams that end with it, and in its text not before."""
    total, owners = np.zeros(len(positions.codes), np.int64), positions.owners
    for n, numbers, held in found:
        at = np.flatnonzero(numbers >= 0)
        _, first = np.unique(owners[at] * (numbers.max(initial=0) + 1) + numbers[at], return_index=True)
        np.add.at(total, at[first] + n - 1, held[at[first]])
    return total


def _find(keys: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Return the place of each wanted number among sorted keys, -1 of what is not there."""
    places = np.searchsorted(keys, wanted)
    inside = np.minimum(places, len(keys) - 1)
    return np.where(keys[inside] == wanted, inside, -1) if len(keys) else np.full(len(wanted), -1)
