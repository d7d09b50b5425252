"""A BERTScore Scorer: one metric and one set of references whose vectors are worked out once.

    references  --prepare, encode-->  texts (R,), repeats (R,), vectors (T, D) each  --save-->  a directory
    candidates  --encode, _packed.match-->  P, R (C, R)  --aggregate, rescale-->  PRF (C,)

Whatever of the metric depends on other texts or files is fixed when the set is compiled: idf by the references of the
set, unless an `Idf` is given, and the baseline's three numbers.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._version import __version__
from refsim.errors import CompiledSetError, InputError
from refsim.metrics._arguments import check_text, check_texts
from refsim.metrics._encoder import clean
from refsim.metrics._idf import Idf
from refsim.metrics._matching import PRF, f_measure
from refsim.metrics._models import weight_hash
from refsim.metrics._packed import match, pack, spans
from refsim.metrics._reference_set import distinct
from refsim.metrics._store import read_extra, write_set

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import torch
    from numpy.typing import NDArray

    from refsim.metrics._alignment import BERTExplanation, BERTVerdict
    from refsim.metrics._packed import Packed
    from refsim.metrics._verdict import Language
    from refsim.metrics.bertscore import BERTScore

VECTORS: Final = "vectors.safetensors"
_AGAIN: Final = "compile the references again"
# Tokens of candidates whose vectors are held at once.
_MOST_TOKENS: Final = 2**16
_NOT_SAVED: Final = ("idf", "preparation", "device", "batch_tokens")


class BERTScorer:
    """Scores candidates against one fixed list of references; made by `BERTScore.compile` or `refsim.load`.

    Two Scorers are equal if their metrics and their references (in any order) are. Safe to share between threads.
    """

    def __init__(
        self,
        metric: BERTScore,
        texts: Sequence[str],
        counts: Sequence[int],
        vectors: Sequence[torch.Tensor] | None = None,
    ) -> None:
        """Take references that are prepared and different, how often each counts, and their vectors if known."""
        self._metric = metric
        self._texts = list(texts)
        self._counts = np.array(counts, np.int64)
        self._pairs = metric.pairs_with(metric.idf if isinstance(metric.idf, Idf) else None)
        self._pairs.check_lengths(self._texts)
        # Where each reference stands among those that are not empty, which alone have vectors.
        self._filled = np.flatnonzero([bool(text) for text in self._texts])
        self._places = {text: i for i, text in enumerate(self._texts)}
        self._packed = self._pack(self._texts, vectors)

    @property
    def metric(self) -> BERTScore:
        """The metric that the references were compiled for, with the idf that it uses."""
        return self._metric

    @property
    def references(self) -> list[str]:
        """The different references, as prepared."""
        return list(self._texts)

    @property
    def weights(self) -> list[int]:
        """How often each of the different references counts."""
        counts: list[int] = self._counts.tolist()
        return counts

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the prepared references and their repeats, whatever their order."""
        digest = hashlib.sha256()
        for text, count in sorted(zip(self._texts, self._counts.tolist(), strict=True)):
            data = text.encode()
            digest.update(f"{len(data)} {count} ".encode() + data)
        return digest.hexdigest()

    @property
    def signature(self) -> str:
        """The metric's signature, with the number of references and their digest."""
        return f"{self._metric.signature}|references:{len(self)},sha256:{self.digest[:16]}"

    @property
    def nbytes(self) -> int:
        """Bytes of memory held, about."""
        return self._packed.nbytes

    def __len__(self) -> int:
        """Return the number of references, repeats counted."""
        return int(self._counts.sum())

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return f"<refsim scorer {self._metric} of {len(self)} references, {len(self._texts)} different>"

    def __eq__(self, other: object) -> bool:
        """Return whether both give the same score to every candidate, by the same metric and references."""
        if not isinstance(other, BERTScorer):
            return NotImplemented
        return self._metric == other._metric and self.digest == other.digest

    def __hash__(self) -> int:
        """Return a hash that fits `==`."""
        return hash((self._metric, self.digest))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as texts and numbers: a tensor of torch would bring code of its own."""
        arrays = [vectors.cpu().numpy() for vectors in self._vectors]
        return _unpickled, (self._metric, self._texts, self._counts.tolist(), arrays)

    def score(self, candidate: str) -> PRF:
        """Return precision, recall and F1 of one candidate."""
        found = self.score_batch([check_text(candidate, "candidate")])
        return PRF(*(float(values[0]) for values in found))

    def score_batch(self, candidates: Sequence[str], *, threads: int | None = None) -> PRF:
        """Return PRF of arrays (C,). `threads` is there for every Scorer alike; the model has its own."""
        del threads
        texts = check_texts(candidates, "candidates")
        found = self._score(texts)
        self._metric.warn_of(texts)
        return found

    def score_rows(self, candidates: Sequence[str], *, threads: int | None = None) -> NDArray[np.float64]:
        """Return one row of statistics for each candidate (C, 3): F1, precision, recall."""
        del threads
        found = self._score(candidates)
        return np.stack([found.f1, found.precision, found.recall], axis=1).reshape(-1, 3)

    def score_matrix(self, candidates: Sequence[str]) -> PRF:
        """Return PRF of arrays (C, R): each candidate against each of the different `references`."""
        texts = check_texts(candidates, "candidates")
        different, _, places = distinct(self._metric.prepare_candidates(texts))
        found = PRF(*(self._metric.rescaled(i, values)[places] for i, values in enumerate(self._matrix(different))))
        self._metric.warn_of(texts)
        return found

    def _score(self, candidates: Sequence[str]) -> PRF:
        texts, _, places = distinct(self._metric.prepare_candidates(candidates))
        found = [self._over_references(values) for values in self._matrix(texts)]
        return PRF(*(self._metric.rescaled(i, values)[places] for i, values in enumerate(found)))

    def _matrix(self, prepared: Sequence[str]) -> PRF:
        """Return unscaled PRF (C, R) of different prepared texts against each of the references."""
        self._pairs.check_lengths(prepared)
        shape = (len(prepared), len(self._texts))
        precision, recall = np.zeros(shape), np.zeros(shape)
        rows = np.flatnonzero([bool(text) for text in prepared])
        texts = [text for text in prepared if text]
        for start, stop in spans([len(one.ids) for one in self._pairs.encoder.tokenise(texts)], _MOST_TOKENS):
            place = np.ix_(rows[start:stop], self._filled)
            precision[place], recall[place] = match(self._pack(texts[start:stop]), self._packed)
        return self._finished(prepared, precision, recall)

    def _finished(self, prepared: Sequence[str], precision: NDArray[np.float64], recall: NDArray[np.float64]) -> PRF:
        """Return PRF (C, R), 1 where a text is the reference itself."""
        for i, text in enumerate(prepared):
            if text in self._places:
                precision[i, self._places[text]] = recall[i, self._places[text]] = 1.0
        return PRF(precision, recall, f_measure(precision, recall))

    def _pack(self, texts: Sequence[str], vectors: Sequence[torch.Tensor] | None = None) -> Packed:
        sides = self._pairs.sides(texts, vectors).values()
        return pack([side.vectors for side in sides], [side.weights for side in sides], _nothing(self._metric))

    @property
    def _vectors(self) -> list[torch.Tensor]:
        """The vectors (T, D) of each of the references, of which empty ones have none."""
        split = iter(self._packed.split())
        nothing = self._packed.vectors[:0]
        return [next(split) if text else nothing for text in self._texts]

    def _over_references(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._metric.aggregate == "max":
            return np.asarray(values.max(axis=1), np.float64) if len(values) else np.empty(0)
        return np.asarray(values @ self._counts / len(self), np.float64)

    def explain(self, candidate: str) -> BERTExplanation:
        """Return why the candidate scores what it does, piece by piece, for each of the references."""
        return self._metric.explain(candidate, self._repeated)

    def judge(self, candidate: str, at_least: float | None = None, *, language: Language = "en") -> BERTVerdict:
        """Return F1 with a sentence that says why; `passed` is whether it is `at_least` that."""
        return self._metric.judge(candidate, self._repeated, at_least, language=language)

    @property
    def _repeated(self) -> list[str]:
        """The references, with their repeats where these count; to prepare them again does nothing."""
        counts = self._counts.tolist() if self._metric.aggregate == "mean" else [1] * len(self._texts)
        return [text for text, count in zip(self._texts, counts, strict=True) for _ in range(count)]

    def ceiling(self, *, threads: int | None = None) -> float:
        """Return the mean F1 of the references, each against all the others: what one of them would get.

        Raises InputError for a single reference, which has no others.
        """
        del threads
        if len(self) == 1:
            raise InputError(
                "a ceiling needs two references or more; this set has one, which has no others to be compared with"
            )
        shape = (len(self._texts), len(self._texts))
        precision, recall = np.zeros(shape), np.zeros(shape)
        filled = np.ix_(self._filled, self._filled)
        precision[filled], recall[filled] = match(self._packed, self._packed)
        f1 = self._finished(self._texts, precision, recall).f1
        # One of each reference is taken away from what it is compared with.
        left = np.tile(self._counts, (len(f1), 1)) - np.eye(len(f1), dtype=np.int64)
        if self._metric.aggregate == "max":
            scores = np.where(left > 0, f1, -np.inf).max(axis=1)
        else:
            scores = (f1 * left).sum(axis=1) / (len(self) - 1)
        scores = self._metric.rescaled(2, scores)
        return math.fsum((scores * self._counts).tolist()) / len(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to the directory `path`, for `refsim.load`; complete or not at all.

        A compiled set under that name is replaced. Raises InputError where something else is there, and OSError
        where writing fails.
        """
        import torch  # noqa: PLC0415  it is loaded by now
        from safetensors.torch import save  # noqa: PLC0415  comes with transformers

        rows = self._vectors
        tensors = {"vectors": torch.cat(rows).cpu(), "lengths": torch.tensor(list(map(len, rows)))}
        idf = self._metric.idf
        if isinstance(idf, Idf):
            tensors |= {"idf.pieces": torch.from_numpy(idf.pieces), "idf.counts": torch.from_numpy(idf.counts)}
        header = _header(self._metric, len(self))
        write_set(path, header, self._texts, self.weights, {VECTORS: save(tensors)})


def _nothing(metric: BERTScore) -> torch.Tensor:
    """Return the vectors (0, D) of no text, of the type that the metric keeps and where its model is."""
    import torch  # noqa: PLC0415  as above

    kind = torch.float32 if metric.dtype == "float32" else torch.float16
    return torch.empty(0, metric.encoder.width, dtype=kind, device=metric.encoder.device)


def _unpickled(metric: BERTScore, texts: list[str], counts: list[int], arrays: list[Any]) -> BERTScorer:
    import torch  # noqa: PLC0415  as above

    return BERTScorer(metric, texts, counts, list(map(torch.from_numpy, arrays)))


def fixed(metric: BERTScore, references: Sequence[str]) -> BERTScore:
    """Return the metric with everything fixed that depends on references or files."""
    if metric.needs_corpus:
        metric = metric.with_corpus(references)
    return replace(metric, baseline=metric.base) if isinstance(metric.baseline, str) else metric


def compile_references(metric: BERTScore, references: Sequence[str]) -> BERTScorer:
    """Return the Scorer of a metric for checked references."""
    metric = fixed(metric, references)
    texts, counts, _ = distinct(metric.prepare_references(references))
    return BERTScorer(metric, texts, counts.tolist())


def _header(metric: BERTScore, count: int) -> dict[str, Any]:
    setting, encoder, preparation = metric.setting, metric.encoder, metric.preparation
    parameters = {one.name: getattr(metric, one.name) for one in fields(metric) if one.name not in _NOT_SAVED}
    return {
        "metric": "bertscore",
        "parameters": parameters,
        "idf_documents": metric.idf.documents if isinstance(metric.idf, Idf) else None,
        "preparation": {name: getattr(preparation, name) for name in preparation.__dataclass_fields__},
        "preparation_signature": preparation.signature,
        "made_with": {
            "layer": setting.layer,
            "weights": weight_hash(setting.place),
            "tokenizer": encoder.tokenizer_hash,
            "limit": encoder.limit,
        },
        "refsim": __version__,
        "references": count,
    }


def load_embeddings(
    path: str | os.PathLike[str], header: Mapping[str, Any], texts: list[str], counts: list[int], model: str | None
) -> BERTScorer:
    """Return the Scorer of a set that was read and whose checksums are right.

    Raises CompiledSetError for contents that do not fit each other, or the model that is here.
    """
    from refsim.metrics.bertscore import BERTScore  # noqa: PLC0415  which takes this module
    from refsim.text import Preparation  # noqa: PLC0415  as above

    tensors = _read_tensors(path, header)
    try:
        parameters = _parameters(header) | ({} if model is None else {"model": model})
        documents = header["idf_documents"]
        idf = None if documents is None else _read_idf(documents, tensors)
        metric = BERTScore(**parameters, idf=idf, preparation=Preparation(**header["preparation"]))
        made_with, signature = dict(header["made_with"]), header["preparation_signature"]
    except (KeyError, TypeError, ValueError) as error:
        raise CompiledSetError(f"{path}: its header does not describe a metric ({error}); {_AGAIN}") from error
    if signature != metric.preparation.signature:
        raise CompiledSetError(
            f"{path}: its references were prepared with {signature!r}, this Python prepares candidates with "
            f"{metric.preparation.signature!r}; {_AGAIN}"
        )
    _check_model(path, metric, made_with)
    return BERTScorer(metric, texts, counts, _split(path, tensors, texts, metric))


def _parameters(header: Mapping[str, Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = {**header["parameters"]}
    # No set that was saved names a file, and none gets one read.
    if isinstance(parameters.get("baseline"), str):
        raise TypeError("its baseline is a file, not three numbers")
    return parameters


def _read_tensors(path: str | os.PathLike[str], header: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    from refsim.metrics._loading import load_torch  # noqa: PLC0415  which reports the extra that is missing

    load_torch()
    from safetensors import SafetensorError  # noqa: PLC0415  comes with transformers
    from safetensors.torch import load  # noqa: PLC0415  as above

    try:
        tensors: dict[str, torch.Tensor] = load(read_extra(path, VECTORS, header))
    except CompiledSetError:
        raise
    # safetensors checks offsets and sizes; what it passes may still be no type or shape of torch.
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        why = str(error).split("\n", 1)[0]
        raise CompiledSetError(f"{path}/{VECTORS}: cannot be read ({why}); {_AGAIN}") from error
    return tensors


def _read_idf(documents: object, tensors: Mapping[str, torch.Tensor]) -> Idf:
    pieces, counts = (tensors[f"idf.{name}"].numpy() for name in ("pieces", "counts"))
    if not isinstance(documents, int) or isinstance(documents, bool) or not 0 <= documents < 2**53:
        raise ValueError(f"idf of {documents!r} documents")
    if pieces.dtype != np.int64 or counts.dtype != np.int64 or pieces.ndim != 1 or pieces.shape != counts.shape:
        raise ValueError("idf's tables are not int64 of equal length")
    if (np.diff(pieces) <= 0).any() or (counts < 0).any() or (counts > documents).any():
        raise ValueError("idf's pieces do not rise, or counts are more than documents")
    return Idf(documents, pieces, counts)


def _check_model(path: str | os.PathLike[str], metric: BERTScore, made_with: Mapping[str, object]) -> None:
    """Raise CompiledSetError unless the model that is here is the one that the vectors come from."""
    try:
        here = _header(metric, 0)["made_with"]
    except InputError as error:
        raise InputError(f"{path}: candidates need the model that it was compiled with, and {error}") from error
    differ = [name for name in here if made_with.get(name) != here[name]]
    if differ:
        name = differ[0]
        raise CompiledSetError(
            f"{path}: its vectors come from {name} {made_with.get(name)!r}, model {metric.model} here has "
            f"{here[name]!r}; install that model, name its directory, refsim.load(path, model=...), or {_AGAIN}"
        )


def _split(
    path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor], texts: Sequence[str], metric: BERTScore
) -> list[torch.Tensor]:
    """Return the vectors of each text, checked: their number is that of its tokens, each has the length 1."""
    import torch  # noqa: PLC0415  as above

    encoder = metric.encoder
    if any(text != clean(text) for text in texts):
        raise CompiledSetError(f"{path}: a reference has outer white space or half a surrogate pair; {_AGAIN}")
    tokens = encoder.tokenise(texts)
    expected = [len(one.ids) if text else 0 for text, one in zip(texts, tokens, strict=True)]
    vectors, lengths = tensors.get("vectors"), tensors.get("lengths")
    if (
        vectors is None
        or lengths is None
        or lengths.dtype != torch.int64
        or lengths.tolist() != expected
        or vectors.dtype != _nothing(metric).dtype
        or tuple(vectors.shape) != (sum(expected), encoder.width)
    ):
        shape = f"({sum(expected)}, {encoder.width})"
        raise CompiledSetError(f"{path}/{VECTORS}: expected vectors {shape}, one for each token of the texts; {_AGAIN}")
    if len(vectors) and not bool(((vectors.float().norm(dim=1) - 1).abs() < 1e-2).all()):  # noqa: PLR2004  16 bits round
        raise CompiledSetError(f"{path}/{VECTORS}: vectors are not of length 1; {_AGAIN}")
    return list(torch.split(vectors, expected))
