"""pfgen: fluency and truthfulness of pfgen-bench, the ancestor of charsim, from a set of references for each question.

For K references let d(g) be how many of them hold g, an n-gram of 1 to 10 characters; w(n) = 1 - max(n - 100, 0) / 50:

    fluency       max_n  w(n) sum of d over the different n-grams of the first n characters, by its mean over references
    truthfulness  v(n) = w(n) mean over the characters counted so far of min(1, 200 t / K), t the largest d of the
                  trigrams over a character; the larger of max v(n), n >= 100, and v at the last counted character

    references  --_ngram_table.py-->  counts d  --answers, their first 200 characters-->  fluency, truthfulness

Brackets, quotation marks, 、 and 。 are not counted for truthfulness, nor are marks at both ends, which are positions
all the same: n is 1 at the answer's first character. A question's references come in groups, each with a table of its
own, and scores are means over the groups. helpfulness, the third part of the published total, needs hand-written rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from refsim.errors import InputError
from refsim.metrics._cache import cache
from refsim.metrics._ngram_table import Positions, gains, look_up, make_table
from refsim.metrics._peer import Peer, check_preparation
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from refsim.metrics._ngram_table import Table

_LONGEST: Final = 200
_FULL_LENGTH: Final = 100
_FADING: Final = 50
_FULL_SHARE: Final = 200
_TRIGRAM: Final = 3
_NOT_COUNTED: Final = np.array(sorted(map(ord, "^$、。・「」『』（）【】［］〈〉《》")))  # noqa: RUF001  the wide ones are meant
_NAMES: Final = ("pfgen", "fluency", "truthfulness")


@dataclass(frozen=True, kw_only=True)
class Pfgen(Peer):
    """pfgen-bench's fluency and truthfulness, with their mean as the headline.

    Truthfulness lies in [0, 1]; fluency is 1 on average over the references themselves, and can be more.
    `group_size`: every so many references, in their order, are a group with n-gram counts of its own, as the benchmark
    has groups of 1,000; None takes all of them as one. Raises InputError for other values.
    """

    group_size: int | None = 1000
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "pfgen"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        if self.group_size is not None and (type(self.group_size) is not int or self.group_size < 1):
            raise InputError(f"group_size is {self.group_size!r}; expected a whole number from 1 on, or None")
        check_preparation(self.name, self.preparation)

    @property
    def _columns(self) -> tuple[str, ...]:
        return _NAMES

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> Sequence[Sequence[float]]:
        del langs
        rows = np.zeros((len(candidates), len(_NAMES)))
        members: dict[tuple[str, ...], list[int]] = {}
        shared: dict[int, list[int]] = {}
        for i, texts in enumerate(references):
            if id(texts) not in shared:
                shared[id(texts)] = members.setdefault(tuple(texts), [])
            shared[id(texts)].append(i)
        for texts, places in members.items():
            rows[places] = self._groups(texts).score([candidates[i] for i in places])
        found: list[list[float]] = rows.tolist()
        return found

    def _groups(self, texts: tuple[str, ...]) -> _Groups:
        size = self.group_size or len(texts)
        if len(texts) > size and len(texts) % size:
            raise InputError(
                f"{len(texts)} references for a row, in groups of {size}; expected a multiple of group_size, "
                "or group_size=none for one group of all"
            )
        # Its cache is for whatever says how many bytes it takes.
        kept: Any = cast("Any", cache).get(("pfgen", size, texts), lambda: _Groups.of(texts, size))
        return cast("_Groups", kept)


@dataclass(frozen=True)
class _Group:
    """The counts of one group of references: how many there are, and the mean of their unscaled fluency."""

    table: Table
    size: int
    baseline: float

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Group:
        cut = [text[:_LONGEST] for text in texts]
        table, added = make_table(cut)
        sums = _best_sums(Positions.of(cut), added)
        return cls(table, len(texts), int(sums.sum()) / len(texts))

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return fluency and truthfulness (C, 2)."""
        return np.stack([self._fluency(texts), self._truthfulness(texts)], axis=1)

    def _fluency(self, texts: Sequence[str]) -> NDArray[np.float64]:
        positions = Positions.of([text[:_LONGEST] for text in texts])
        sums = _best_sums(positions, gains(positions, list(look_up(self.table, positions))))
        # References without a character hold nothing that an answer could have.
        return sums / self.baseline if self.baseline else np.zeros(len(texts))

    def _truthfulness(self, texts: Sequence[str]) -> NDArray[np.float64]:
        # With a mark at each end 202 characters are looked at; of a longer answer the 201st takes the last one's place.
        positions = Positions.of([text[: _LONGEST + 1] for text in texts])
        held = next(held for n, _, held in look_up(self.table, positions) if n == _TRIGRAM)
        ranks = positions.ranks
        # A trigram from one character on covers that and the next two of its text.
        covering = [np.where(ranks > back, np.roll(held, back), 0) for back in range(_TRIGRAM)]
        counted = ~np.isin(positions.codes, _NOT_COUNTED)
        support = np.where(counted, np.minimum(_FULL_SHARE * np.max(covering, axis=0), self.size), 0)
        sums, numbers = _running(positions, support), _running(positions, counted.astype(np.int64))
        values = _fade(ranks) * sums / np.maximum(numbers * self.size * _FADING, 1)
        last = numbers == _at_ends(positions, numbers)[positions.owners]
        asked = counted & ((ranks >= _FULL_LENGTH) | last)
        best = np.full(len(texts), -np.inf)
        np.maximum.at(best, positions.owners[asked], values[asked])
        return np.where(np.isinf(best), 0.0, best)


@dataclass(frozen=True)
class _Groups:
    """The groups of a question's references."""

    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, texts: Sequence[str], size: int) -> _Groups:
        return cls(tuple(_Group.of(texts[start : start + size]) for start in range(0, len(texts), size)))

    @property
    def nbytes(self) -> int:
        return sum(group.table.nbytes for group in self.groups)

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean of both, fluency and truthfulness (C, 3), over the groups."""
        both = sum(group.score(texts) for group in self.groups) / len(self.groups)
        return np.column_stack([np.mean(both, axis=1), both])


def _best_sums(positions: Positions, added: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return of each text the largest sum so far, faded, times `_FADING`, so that it is a whole number."""
    best = np.zeros(len(positions.offsets) - 1, np.int64)
    np.maximum.at(best, positions.owners, _running(positions, added) * _fade(positions.ranks))
    return best


def _fade(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `_FADING` up to character 100, and one less for each one after it."""
    return _FADING - np.maximum(ranks - _FULL_LENGTH, 0)


def _running(positions: Positions, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of whole numbers from the beginning of each text up to each character."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    running: NDArray[np.int64] = sums[1:] - np.repeat(sums[positions.offsets[:-1]], positions.lengths)
    return running


def _at_ends(positions: Positions, running: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the running sum at the end of each text, 0 of an empty one."""
    ends = np.concatenate([running, [0]])
    return np.where(positions.lengths > 0, ends[positions.offsets[1:] - 1], 0)
