"""Inverse document frequency: how much a piece of text tells, by how few of the references hold it.

    references  --tokenise-->  pieces (T,) each  --Idf.of-->  Idf  --weights-->  w (T,)

    w(t) = ln((N + 1) / (df(t) + 1)),   N references, repeats counted, of which df(t) hold t

Zhang et al. 2020, section 3. Each string is one document, and counts as often as it stands in the corpus.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Idf:
    """Document frequencies of one corpus: `documents` N, `pieces` (V,) in rising order, `counts` (V,) their df.

    Made by `BERTScore.fit_idf`. Two are equal if they give every piece the same weight.
    """

    documents: int
    pieces: Longs
    counts: Longs

    @classmethod
    def of(cls, texts: Iterable[tuple[Longs, int]]) -> Idf:
        """Return the frequencies of texts, each as its pieces (T,) and how often it counts."""
        documents, counts = 0, dict[int, int]()
        for ids, repeats in texts:
            documents += repeats
            for piece in set(ids.tolist()):
                counts[piece] = counts.get(piece, 0) + repeats
        pieces = np.array(sorted(counts), np.int64)
        return cls(documents, pieces, np.array([counts[piece] for piece in pieces.tolist()], np.int64))

    def __add__(self, other: Idf) -> Idf:
        """Return the frequencies of both corpora together."""
        pieces, places = np.unique(np.concatenate([self.pieces, other.pieces]), return_inverse=True)
        counts = np.zeros(len(pieces), np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Idf(self.documents + other.documents, pieces, counts)

    def weights(self, ids: Longs) -> NDArray[np.float64]:
        """Return the weights (T,) of pieces; one that no document holds gets ln(N + 1)."""
        if not len(self.pieces):
            return np.full(len(ids), np.log(self.documents + 1.0))
        places = np.minimum(np.searchsorted(self.pieces, ids), len(self.pieces) - 1)
        found = np.where(self.pieces[places] == ids, self.counts[places], 0)
        weights: NDArray[np.float64] = np.log((self.documents + 1) / (found + 1))
        return weights

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the numbers: equal where all weights are."""
        digest = hashlib.sha256(str(self.documents).encode())
        digest.update(self.pieces.astype("<i8").tobytes() + self.counts.astype("<i8").tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        """Return whether both give the same weights."""
        return self.digest == other.digest if isinstance(other, Idf) else NotImplemented

    def __hash__(self) -> int:
        """Return a hash that fits `==`."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return f"<idf of {self.documents} documents, {len(self.pieces)} pieces, {self.digest[:12]}>"
