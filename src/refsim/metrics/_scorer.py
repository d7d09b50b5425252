"""A charsim Scorer: one metric and one compiled set of references."""

from __future__ import annotations

import hashlib
import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from refsim._version import __version__
from refsim.errors import InputError
from refsim.metrics._arguments import check_references, check_share, check_text, check_texts
from refsim.metrics._compiled import SumSet, Texts, check_size
from refsim.metrics._explain import Explanation
from refsim.metrics._orders import score_orders
from refsim.metrics._reference_set import ReferenceSet, distinct
from refsim.metrics._single import Single
from refsim.metrics._store import write_set
from refsim.metrics._symbols import Encoder
from refsim.metrics._threads import thread_count
from refsim.metrics._verdict import judge

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from refsim.metrics._compiled import Shared, Trace
    from refsim.metrics._verdict import Language, Verdict
    from refsim.metrics.charsim import Charsim


class CharsimScorer:
    """Scores candidates against one fixed list of references; made by `Charsim.compile` or `refsim.load`.

    Two Scorers are equal if their metrics and their references (in any order) are; they hash, and
    pickle for process pools.
    """

    def __init__(self, metric: Charsim, prepared: Sequence[str], weights: Sequence[int] | None = None) -> None:
        """Compile references that are prepared already; `weights` say how often each counts."""
        self._metric = metric
        self._texts, counts, places = distinct(prepared)
        if weights is not None:
            counts = np.zeros(len(self._texts), np.int64)
            np.add.at(counts, places, np.asarray(weights, np.int64))
        self._weights = counts
        self._heads = int(counts.sum())
        self._encode = Encoder(metric.preparation)
        self._counted = Texts(*self._encode(self._texts), counts)
        self._encode.closed()
        self._shared: dict[int, Shared] = {}

    @cached_property
    def _set(self) -> ReferenceSet:
        return ReferenceSet.of(self._metric.form, self._counted)

    @property
    def metric(self) -> Charsim:
        """The metric that the references were compiled for."""
        return self._metric

    @property
    def references(self) -> list[str]:
        """The different references, as prepared."""
        return list(self._texts)

    @property
    def weights(self) -> list[int]:
        """How often each of the different references counts."""
        counts: list[int] = self._weights.tolist()
        return counts

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the prepared references and their repeats, whatever their order."""
        digest = hashlib.sha256()
        for text, weight in sorted(zip(self._texts, self._weights.tolist(), strict=True)):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(f"{len(data)} {weight} ".encode() + data)
        return digest.hexdigest()

    @property
    def signature(self) -> str:
        """The metric's signature, with the number of references and their digest."""
        return f"{self._metric.signature}|references:{len(self)},sha256:{self.digest[:16]}"

    @property
    def nbytes(self) -> int:
        """Bytes of memory held, about."""
        return self._set.nbytes + sum(map(len, self._texts))

    def __len__(self) -> int:
        """Return the number K of references, repeats counted."""
        return self._heads

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return f"<refsim scorer {self._metric} of {len(self)} references, {len(self._texts)} different>"

    def __eq__(self, other: object) -> bool:
        """Return whether both give the same score to every candidate, by the same metric and references."""
        if not isinstance(other, CharsimScorer):
            return NotImplemented
        return self._metric == other._metric and self.digest == other.digest

    def __hash__(self) -> int:
        """Return a hash that fits `==`."""
        return hash((self._metric, self.digest))

    def score(self, candidate: str) -> float:
        """Return the score of one candidate, in [0, 1]."""
        return float(self._score([check_text(candidate, "candidate")], 1)[0])

    def score_batch(self, candidates: Sequence[str], *, threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores (C,) of candidates, in [0, 1]. Raises InputError for anything but strings."""
        thread_count(threads)
        return self._score(check_texts(candidates, "candidates"), threads)

    def score_rows(self, candidates: Sequence[str], *, threads: int | None = None) -> NDArray[np.float64]:
        """Return one row of statistics for each candidate (C, 1): its score."""
        return self.score_batch(candidates, threads=threads).reshape(-1, 1)

    def _score(self, candidates: list[str], threads: int | None) -> NDArray[np.float64]:
        # Answers of models repeat, and so do prompts' sampled candidates: each is scored once.
        texts, _, places = distinct(self._metric.preparation.apply_candidates(candidates))
        scores = self._set.score(*self._encode(texts), max_order=self._metric.max_order, threads=threads)
        return scores if len(texts) == len(candidates) else scores[places]

    def per_order(self, candidate: str) -> NDArray[np.float64]:
        """Return rho(1) .. rho(N) (N,) of one candidate, before they are weighted by 1/n."""
        return self.explain(candidate).orders.rho

    def explain(self, candidate: str, *, against: str | None = None, share: float = 0.5) -> Explanation:
        """Return why the candidate scores what it does; with `against`, what another candidate in its place changes.

        `share` in (0, 1] says how many of the references must hold a string that is listed as missing.
        """
        check_share(share)
        other = None if against is None else self._explain(check_text(against, "against"), share, None)
        return self._explain(check_text(candidate, "candidate"), share, other)

    def judge(self, candidate: str, at_least: float | None = None, *, language: Language = "en") -> Verdict:
        """Return the score with a sentence that says why; `passed` is whether it is `at_least` that."""
        return judge(self.explain(candidate), at_least, language)

    def _explain(self, text: str, share: float, against: Explanation | None) -> Explanation:
        prepared = self._metric.preparation.apply_candidates([text])[0]
        codes = self.encode_one(prepared)
        trace: Trace | None = None
        if isinstance(self.sums, Single):
            score, orders, trace = self.sums.score_orders(codes, self._metric.max_order)
        else:
            score, orders = score_orders(self._set, codes, self._metric.max_order)
        return Explanation(self, prepared, codes, score, orders, trace=trace, share=share, against=against)

    @cached_property
    def sums(self) -> SumSet | Single:
        """The references as explanations ask for them, in the order of `references`."""
        if len(self._texts) == 1:
            return Single(self._counted)
        # The base form keeps a sum for each length, and texts in order of length.
        return compiled if isinstance(compiled := self._set.compiled, SumSet) else SumSet.of(self._counted)

    def encode_one(self, prepared: str) -> NDArray[np.int32]:
        """Return the symbols (T,) of one text that is prepared already."""
        return self._encode([prepared])[0]

    def part(self, reference: int, start: int, stop: int) -> str:
        """Return the characters from `start` to `stop` of one of the different references."""
        return "".join(self.split(self._texts[reference])[start:stop])

    def split(self, prepared: str) -> Sequence[str]:
        """Return the characters (T,) of a prepared text, as the metric counts them."""
        return self._encode.split(prepared)

    def holders(self, prepared: str) -> int:
        """Return how many of the references, repeats counted, hold a prepared text."""
        prepared = check_text(prepared, "prepared")
        codes = self.encode_one(prepared)
        if not len(codes):
            return len(self)
        found = self.sums.trace(codes)
        return int(self.sums.holders(found.where[-1:])[0]) if found.lengths[-1] == len(codes) else 0

    def shared(self, share: float) -> Shared:
        """Return the longest strings that at least this share of the references hold, above 0 and at most 1."""
        check_share(share)
        # The product of a decimal share and a count may miss a whole number by a rounding.
        least = math.ceil(round(share * len(self), 9))
        if least not in self._shared:
            self._shared[least] = self.sums.shared(least)
        return self._shared[least]

    def ceiling(self, *, threads: int | None = None) -> float:
        """Return the mean score of the references, each against all the others: what one of them would get.

        Raises InputError for a single reference, which has no others.
        """
        thread_count(threads)
        if len(self) == 1:
            message = (
                "a ceiling needs two references or more; this set has one, which has no others to be compared with"
            )
            raise InputError(message)
        weights = self._set.texts.weights
        texts = self._set.texts
        scores = self._set.score(
            texts.codes, texts.offsets, max_order=self._metric.max_order, threads=threads, own=np.ones_like(weights)
        )
        return math.fsum((scores * weights).tolist()) / len(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to the directory `path`, for `refsim.load`; complete or not at all.

        A compiled set under that name is replaced. Raises InputError where something else is there, and OSError
        where writing fails.
        """
        _save(self._metric, self._texts, self._weights, path)


def save_references(metric: Charsim, references: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write what `metric.compile(references).save(path)` writes, to the last byte.

    A set on disk holds texts, so no automaton is built for it: of 37 sets of up to 3,000 answers, that was two
    thirds of the time.
    """
    texts, counts, _ = distinct(metric.preparation.apply(check_references(references)))
    check_size(sum(map(len, texts)))
    _save(metric, texts, counts, path)


def _save(metric: Charsim, texts: list[str], counts: NDArray[np.int64], path: str | os.PathLike[str]) -> None:
    preparation = metric.preparation
    header = {
        "metric": "charsim",
        "parameters": {"form": metric.form, "max_order": metric.max_order},
        "preparation": {name: getattr(preparation, name) for name in preparation.__dataclass_fields__},
        "preparation_signature": preparation.signature,
        "refsim": __version__,
        "references": int(counts.sum()),
    }
    write_set(path, header, texts, counts.tolist())
