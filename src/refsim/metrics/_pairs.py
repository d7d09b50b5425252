"""Pairs of texts to precision and recall: what is equal or empty is known, the rest is encoded once and matched.

    pairs  --different ones-->  windows of texts  --_encoder-->  vectors  --_matching-->  P, R  -->  PRF (S,)

Memory is bounded by the window: so many floats of vectors at once, whatever the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from refsim.errors import InputError
from refsim.metrics._matching import PRF, f_measure, match_all, match_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import torch
    from numpy.typing import NDArray

    from refsim.metrics._encoder import Encoder, Tokens
    from refsim.metrics._idf import Idf

    Pair = tuple[str, str]
    Doubles = NDArray[np.float64]

# Floats of the vectors that are held at once: 256 MB.
_WINDOW_FLOATS: Final = 2**26


class Side(NamedTuple):
    """What one text brings to a match: vectors (T, D), and weights (T,) that sum to 1."""

    vectors: torch.Tensor
    weights: Doubles


@dataclass(frozen=True)
class Pairs:
    """How cleaned texts are compared: by an encoder, with the weights of an idf or without, over-long ones or not."""

    encoder: Encoder
    idf: Idf | None
    refuse_long: bool

    def score(self, pairs: Sequence[Pair]) -> PRF:
        """Return unscaled PRF (S,): 1 for identical texts, 0 where just one side is empty."""
        precision, recall = _known(pairs)
        for keys, places in self._different(pairs):
            for key, p, r in zip(keys, *self._match(keys), strict=True):
                precision[places[key]], recall[places[key]] = p, r
        return PRF(precision, recall, f_measure(precision, recall))

    def score_layers(self, pairs: Sequence[Pair]) -> PRF:
        """Return unscaled PRF (L + 1, S) of every layer up to the encoder's."""
        layers = self.encoder.setting.layer + 1
        precision, recall = (np.tile(values, (layers, 1)) for values in _known(pairs))
        for keys, places in self._different(pairs, layers):
            texts = _texts_of(keys)
            tokens = self.encoder.tokenise(texts)
            for layer, vectors in enumerate(self.encoder.encode_layers(tokens)):
                found = self._matched(
                    keys, dict(zip(texts, tokens, strict=True)), dict(zip(texts, vectors, strict=True))
                )
                for key, p, r in zip(keys, *found, strict=True):
                    precision[layer, places[key]], recall[layer, places[key]] = p, r
        return PRF(precision, recall, f_measure(precision, recall))

    def score_matrix(
        self, candidates: Sequence[str], references: Sequence[str], known: Mapping[str, Side] | None = None
    ) -> PRF:
        """Return unscaled PRF (C, R) of each candidate against each reference; what is `known` is not encoded again."""
        self.check_lengths([*candidates, *references])
        left, right = list(dict.fromkeys(candidates)), list(dict.fromkeys(references))
        precision, recall = np.zeros((len(left), len(right))), np.zeros((len(left), len(right)))
        rows, columns = [i for i, text in enumerate(left) if text], [i for i, text in enumerate(right) if text]
        if rows and columns:
            place = np.ix_(rows, columns)
            precision[place], recall[place] = self._match_all(
                [left[i] for i in rows], [right[i] for i in columns], known or {}
            )
        where = {text: i for i, text in enumerate(right)}
        for i, text in enumerate(left):
            if text in where:
                precision[i, where[text]] = recall[i, where[text]] = 1.0
        places = {text: i for i, text in enumerate(left)}
        full = np.ix_([places[text] for text in candidates], [where[text] for text in references])
        precision, recall = precision[full], recall[full]
        return PRF(precision, recall, f_measure(precision, recall))

    def check_lengths(self, texts: Iterable[str]) -> None:
        """Raise InputError for a text that is longer than the model takes, if such texts are refused."""
        if not self.refuse_long:
            return
        different = list(dict.fromkeys(texts))
        for text, tokens in zip(different, self.encoder.tokenise(different), strict=True):
            if tokens.cut:
                raise InputError(
                    f"{text[:40]!r}... has more than {self.encoder.limit} tokens, the model's limit; shorten it, or "
                    "choose long_text='truncate' or 'window'"
                )

    def weights(self, tokens: Tokens) -> Doubles:
        """Return the weights (T,) of a text's pieces, which sum to 1; marks have none."""
        plain = tokens.plain.astype(np.float64)
        weights = plain if self.idf is None else plain * self.idf.weights(tokens.ids)
        # Where every piece is in every reference, all weights are 0: then all count alike.
        weights = weights if weights.sum() > 0 else plain
        total = weights.sum()
        return weights / total if total > 0 else weights

    def weightless(self, texts: Iterable[str]) -> set[str]:
        """Return the texts whose pieces are in every reference, so that idf weighs none of them."""
        if self.idf is None:
            return set()
        different = [text for text in dict.fromkeys(texts) if text]
        tokens = self.encoder.tokenise(different)
        return {
            text for text, one in zip(different, tokens, strict=True)
            if one.plain.any() and not (one.plain * self.idf.weights(one.ids)).sum() > 0
        }  # fmt: skip

    def _different(self, pairs: Sequence[Pair], times: int = 1) -> Iterator[tuple[list[Pair], dict[Pair, list[int]]]]:
        """Yield the pairs to be matched, each once and so many at a time, and where each stands."""
        self.check_lengths(text for pair in pairs for text in pair)
        places: dict[Pair, list[int]] = {}
        for i, (left, right) in enumerate(pairs):
            if left != right and left and right:
                places.setdefault((left, right), []).append(i)
        window: list[Pair] = []
        texts: set[str] = set()
        floats = 0
        sizes = self._sizes(_texts_of(list(places)))
        for pair in places:
            more = sum(sizes[text] for text in pair if text not in texts) * times
            if window and floats + more > _WINDOW_FLOATS:
                yield window, places
                window, texts, floats = [], set(), 0
                more = sum(sizes[text] for text in set(pair)) * times
            window.append(pair)
            texts.update(pair)
            floats += more
        if window:
            yield window, places

    def _sizes(self, texts: Sequence[str]) -> dict[str, int]:
        width = self.encoder.width
        return {text: len(one.ids) * width for text, one in zip(texts, self.encoder.tokenise(texts), strict=True)}

    def _match(self, pairs: Sequence[Pair]) -> tuple[list[float], list[float]]:
        texts = _texts_of(pairs)
        tokens = self.encoder.tokenise(texts)
        vectors = self.encoder.encode(texts, tokens)
        return self._matched(pairs, dict(zip(texts, tokens, strict=True)), dict(zip(texts, vectors, strict=True)))

    def _matched(
        self, pairs: Sequence[Pair], tokens: dict[str, Tokens], vectors: dict[str, torch.Tensor]
    ) -> tuple[list[float], list[float]]:
        weights = {text: self.weights(one) for text, one in tokens.items()}
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        precision, recall = match_pairs(
            [vectors[text] for text in left], [vectors[text] for text in right],
            [weights[text] for text in left], [weights[text] for text in right],
        )  # fmt: skip
        bare = _bare([weights[text] for text in left], [weights[text] for text in right])
        precision[bare] = recall[bare] = 0.0
        return precision.tolist(), recall.tolist()

    def sides(self, texts: Sequence[str], vectors: Sequence[torch.Tensor] | None = None) -> dict[str, Side]:
        """Return what each text that is not empty brings to a match; `vectors` are those of the texts if known."""
        tokens = self.encoder.tokenise(texts)
        vectors = self.encoder.encode(texts, tokens) if vectors is None else vectors
        return {
            text: Side(one, self.weights(its)) for text, one, its in zip(texts, vectors, tokens, strict=True) if text
        }

    def _match_all(
        self, left: Sequence[str], right: Sequence[str], known: Mapping[str, Side]
    ) -> tuple[Doubles, Doubles]:
        precision, recall = np.empty((len(left), len(right))), np.empty((len(left), len(right)))
        for rows in self._parts(left, known):
            own = self._encoded([left[i] for i in rows], known)
            for columns in self._parts(right, known):
                theirs = self._encoded([right[i] for i in columns], known)
                place = np.ix_(rows, columns)
                precision[place], recall[place] = match_all(
                    [side.vectors for side in own], [side.vectors for side in theirs],
                    [side.weights for side in own], [side.weights for side in theirs],
                )  # fmt: skip
                bare = [not side.weights.any() for side in own], [not side.weights.any() for side in theirs]
                nothing = np.logical_or.outer(*bare)
                precision[place] = np.where(nothing, 0.0, precision[place])
                recall[place] = np.where(nothing, 0.0, recall[place])
        return precision, recall

    def _parts(self, texts: Sequence[str], known: Mapping[str, Side]) -> Iterator[list[int]]:
        """Yield indices of texts, so many at a time that half a window holds the vectors that are not known."""
        sizes, part, floats = self._sizes([text for text in texts if text not in known]), list[int](), 0
        for i, text in enumerate(texts):
            size = sizes.get(text, 0)
            if part and floats + size > _WINDOW_FLOATS // 2:
                yield part
                part, floats = [], 0
            part.append(i)
            floats += size
        if part:
            yield part

    def _encoded(self, texts: Sequence[str], known: Mapping[str, Side]) -> list[Side]:
        made = self.sides([text for text in texts if text not in known])
        return [known[text] if text in known else made[text] for text in texts]


def _known(pairs: Sequence[Pair]) -> tuple[Doubles, Doubles]:
    same = np.fromiter((left == right for left, right in pairs), np.float64, len(pairs))
    return same, same.copy()


def _texts_of(pairs: Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(text for pair in pairs for text in pair))


def _bare(left: Sequence[Doubles], right: Sequence[Doubles]) -> NDArray[np.bool_]:
    """Say which pairs have a side of marks alone, as a control character leaves: as empty as one without any text."""
    return np.array([not (one.any() and other.any()) for one, other in zip(left, right, strict=True)], bool)
