"""What bert-score 0.3.13 offers, run by refsim: its names, arguments, shapes and types, refsim's values.

    from refsim.compat.bert_score import score, BERTScorer      the one import that changes
    refsim.compat.bert_score.install()                          other packages' `import bert_score` finds this then

What is otherwise than there, and why: docs/bert-score-users.md.
"""

from __future__ import annotations

import csv
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._version import __version__ as _refsim_version
from refsim.compat._modules import VERSION, install_modules
from refsim.errors import InputError, RefsimError
from refsim.metrics._models import baseline, published_default, tuned_layers
from refsim.metrics.bertscore import PRF, BERTScore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    import torch

    References = Sequence[str] | Sequence[Sequence[str]]
    Scores = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

__version__ = VERSION

__all__ = ["BERTScorer", "__version__", "install", "plot_example", "score"]

_COLUMNS: Final = ["LAYER", "P", "R", "F"]


class _Models(dict[str, str]):
    """The model of each language; those without one of their own have the multilingual one."""

    def __missing__(self, lang: str) -> str:
        return published_default(lang)


lang2model: Final = _Models({lang: published_default(lang) for lang in ("en", "zh", "tr", "en-sci")})
model2layers: Final = dict(tuned_layers())


def score(  # noqa: PLR0913, PLR0917  the published signature
    cands: Sequence[str],
    refs: References,
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,  # noqa: FBT001, FBT002  as there, and below
    idf: bool | dict[int, float] = False,  # noqa: FBT001, FBT002
    device: object = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,  # noqa: FBT001, FBT002
    lang: str | None = None,
    return_hash: bool = False,  # noqa: FBT001, FBT002
    rescale_with_baseline: bool = False,  # noqa: FBT001, FBT002
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,  # noqa: FBT001, FBT002
) -> Any:  # noqa: ANN401  two shapes, by an argument
    """Return precision, recall and F1, float32 tensors (N,), of all layers (L + 1, N); with `return_hash` also a hash.

    `refs` has a string or a list of strings for each candidate, and the best reference counts. `idf` weighs by the
    references of this call. Raises InputError, a ValueError, for lists of different lengths and other wrong input.
    """
    if isinstance(idf, dict):
        raise InputError("idf is a dict; give idf=True, or weights by BERTScorer(idf=True, idf_sents=...)")
    scorer = BERTScorer(
        model_type, num_layers, batch_size, nthreads, all_layers, idf, None, device, lang, rescale_with_baseline,
        baseline_path, use_fast_tokenizer,
    )  # fmt: skip
    if idf:
        _say(verbose, "preparing IDF dict...")
        start = time.perf_counter()
        scorer.compute_idf(list(_flat(refs)))
        _say(verbose, f"done in {time.perf_counter() - start:.2f} seconds")
    return scorer.score(cands, refs, verbose, batch_size, return_hash)


class BERTScorer:
    """A model with its settings, loaded once, as the published class of that name."""

    def __init__(  # noqa: PLR0913, PLR0917  the published signature
        self,
        model_type: str | None = None,
        num_layers: int | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,  # noqa: FBT001, FBT002  as there
        idf: bool = False,  # noqa: FBT001, FBT002
        idf_sents: Sequence[str] | None = None,
        device: object = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,  # noqa: FBT001, FBT002
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Take the published arguments; `batch_size`, `nthreads` and `use_fast_tokenizer` change nothing here."""
        if model_type is None and lang is None:
            raise InputError("model_type and lang are None; give one of them, such as lang='en'")
        if rescale_with_baseline and lang is None:
            raise InputError("rescale_with_baseline is True but lang is None; give the baseline's language")
        self.batch_size, self.nthreads, self.all_layers = batch_size, nthreads, all_layers
        self.baseline_path = baseline_path
        self.use_custom_baseline = baseline_path is not None
        self._lang, self._use_fast_tokenizer = lang, use_fast_tokenizer
        self._rescale = rescale_with_baseline
        self._model_type = lang2model[lang.lower()] if model_type is None and lang is not None else str(model_type)
        self._weighs = bool(idf)
        self._metric = BERTScore(
            model=self._model_type,
            layer=num_layers,
            # The published code says nothing of scripts, and `lang` may stand beside any model.
            lang=None if lang is None else lang.lower(),
            device="auto" if device is None else str(device),
        )
        self._num_layers = self._metric.chosen_layer
        self._baselines: PRF | None = None
        self._counted = False
        if idf_sents is not None:
            self.compute_idf(idf_sents)

    @property
    def lang(self) -> str | None:
        """The language that was given."""
        return self._lang

    @property
    def idf(self) -> bool:
        """Whether pieces are weighed by idf."""
        return self._weighs

    @property
    def model_type(self) -> str:
        """The model's name or directory."""
        return self._model_type

    @property
    def num_layers(self) -> int:
        """The layer that is compared."""
        return self._num_layers

    @property
    def rescale_with_baseline(self) -> bool:
        """Whether scores are rescaled."""
        return self._rescale

    @property
    def use_fast_tokenizer(self) -> bool:
        """What was given; the tokenizer is a fast one in any case."""
        return self._use_fast_tokenizer

    @property
    def baseline_vals(self) -> torch.Tensor:
        """The baseline as a float32 tensor (3,), of all layers (L + 1, 1, 3)."""
        import torch  # noqa: PLC0415  seconds to load

        return torch.from_numpy(np.stack(list(self._base()), axis=-1)).float()

    @property
    def hash(self) -> str:
        """Model, layer, idf, versions and rescaling in one string, which says refsim."""
        return get_hash(
            self.model_type, self.num_layers, self.idf, self.rescale_with_baseline, self.use_custom_baseline,
            self.use_fast_tokenizer,
        )  # fmt: skip

    def compute_idf(self, sents: Sequence[str]) -> None:
        """Count the pieces of a corpus, which weighs all later calls."""
        if self._counted:
            warnings.warn("idf-replaced: the weights counted before are replaced", IdfReplacedWarning, stacklevel=2)
        self._metric = replace(self._metric, idf=self._metric.fit_idf(sents))
        self._counted = True

    def score(
        self,
        cands: Sequence[str],
        refs: References,
        verbose: bool = False,  # noqa: FBT001, FBT002  as there
        batch_size: int = 64,
        return_hash: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:  # noqa: ANN401  as above
        """Return what `score` does, with this model and these weights."""
        del batch_size
        if self.idf and not self._counted:
            raise InputError("idf is True, and no weights are counted; give idf_sents, or call compute_idf first")
        metric = self._metric if self.idf else replace(self._metric, idf=None)
        _say(verbose, "calculating scores...")
        # Loaded before the clock starts, as there.
        _ = metric.encoder
        start = time.perf_counter()
        found = metric.score_layers(cands, refs) if self.all_layers else metric.score_batch(cands, refs)
        if self.rescale_with_baseline:
            bases = self._base()
            # A side without any text scores 0 before and after.
            found = PRF(*(np.where(v == 0, 0, (v - b) / (1 - b)) for v, b in zip(found, bases, strict=True)))
        spent = time.perf_counter() - start
        count = sum(1 for _ in _flat(refs))
        _say(verbose, f"done in {spent:.2f} seconds, {count / max(spent, 1e-9):.2f} sentences/sec")
        out = _tensors(found)
        return (out, self.hash) if return_hash else out

    def plot_example(self, candidate: str, reference: str, fname: str = "") -> Any:  # noqa: ANN401  a tensor (T, U)
        """Draw the cosines of the pieces of two texts with matplotlib, save the drawing if named, and return them."""
        cosines, pieces, others = self._cosines(candidate, reference)
        title = "Similarity Matrix"
        if self.rescale_with_baseline:
            base = float(np.asarray(self._base().f1).ravel()[-1])
            cosines = (cosines - base) / (1 - base)
            title += " (after Rescaling)"
        _draw(cosines, pieces, others, title, fname)
        return cosines

    def _cosines(self, candidate: str, reference: str) -> tuple[torch.Tensor, list[str], list[str]]:
        metric, names, rows = replace(self._metric, idf=None), [], []
        prepared = [*metric.prepare_candidates([candidate]), *metric.prepare_references([reference])]
        tokens = metric.encoder.tokenise(prepared)
        for text, one, vectors in zip(prepared, tokens, metric.encoder.encode(prepared, tokens), strict=True):
            rows.append(vectors[np.flatnonzero(one.plain)].float().cpu())
            names.append([text[start:stop] for (start, stop), plain in zip(one.spans, one.plain, strict=True) if plain])
        return rows[0] @ rows[1].T, *names

    def _base(self) -> PRF:
        """Return the baseline of P, R and F1: numbers, of all layers arrays (L + 1, 1)."""
        if self._baselines is None:
            layers = range(self._metric.depth + 1) if self.all_layers else [self._num_layers]
            rows = [self._base_of(layer) for layer in layers]
            columns = np.array(rows, np.float64).T[:, :, np.newaxis]
            self._baselines = PRF(*(columns if self.all_layers else columns[:, 0, 0]))
        return self._baselines

    def _base_of(self, layer: int) -> tuple[float, float, float]:
        if self.baseline_path is not None:
            return _read_baseline(self.baseline_path, layer, self._metric)
        found = baseline(self._model_type, str(self._lang), layer)
        if found is None:
            raise InputError(
                f"Baseline not Found for {self._model_type} on {self._lang}, layer {layer}; give baseline_path, a file "
                "of bert-score or of `refsim baseline fit`"
            )
        return found

    def __repr__(self) -> str:
        """Return what it is, in one line."""
        return f"{type(self).__name__}(hash={self.hash}, batch_size={self.batch_size}, nthreads={self.nthreads})"


class IdfReplacedWarning(UserWarning):
    """Weights that were counted are replaced by others."""


def plot_example(  # noqa: PLR0913, PLR0917  the published signature
    candidate: str,
    reference: str,
    model_type: str | None = None,
    num_layers: int | None = None,
    lang: str | None = None,
    rescale_with_baseline: bool = False,  # noqa: FBT001, FBT002  as there
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,  # noqa: FBT001, FBT002
    fname: str = "",
) -> None:
    """Draw the cosines of the pieces of two texts with matplotlib, and save the drawing if a file is named."""
    scorer = BERTScorer(
        model_type, num_layers, lang=lang, rescale_with_baseline=rescale_with_baseline, baseline_path=baseline_path,
        use_fast_tokenizer=use_fast_tokenizer,
    )  # fmt: skip
    scorer.plot_example(candidate, reference, fname)


def get_hash(  # noqa: PLR0913, PLR0917  the published signature
    model: str,
    num_layers: int,
    idf: object,
    rescale_with_baseline: bool,  # noqa: FBT001  as there
    use_custom_baseline: bool,  # noqa: FBT001
    use_fast_tokenizer: bool = False,  # noqa: FBT001, FBT002
) -> str:
    """Return the settings in one string, which says refsim where the published one names transformers."""
    weighed = "_idf" if idf else "_no-idf"
    found = f"{model}_L{num_layers}{weighed}_version={__version__}(refsim={_refsim_version})"
    if rescale_with_baseline:
        found += "-custom-rescaled" if use_custom_baseline else "-rescaled"
    return found + "_fast-tokenizer" * bool(use_fast_tokenizer)


def install(*, force: bool = False) -> ModuleType:
    """Let `import bert_score` find this module in the whole process, and return it as that.

    Raises InputError where the published package is imported already; with `force` it is replaced in what imports it
    from then on.
    """
    own = {"score": score, "BERTScorer": BERTScorer, "plot_example": plot_example}
    utils = {"get_hash": get_hash, "lang2model": lang2model, "model2layers": model2layers}
    return install_modules(own, utils, force=force)


def _say(verbose: bool, text: str) -> None:  # noqa: FBT001  as there
    if verbose:
        print(text)  # noqa: T201  where the published code prints it


def _flat(refs: References) -> Iterator[str]:
    for entry in refs:
        if isinstance(entry, str):
            yield entry
        else:
            yield from entry


def _tensors(found: PRF) -> Scores:
    import torch  # noqa: PLC0415  as above

    precision, recall, f1 = (torch.from_numpy(np.asarray(values, np.float64)).float() for values in found)
    return precision, recall, f1


def _read_baseline(path: str, layer: int, metric: BERTScore) -> tuple[float, float, float]:
    """Return the row of a layer: of a table LAYER,P,R,F as bert-score has them, or of a file of refsim's own."""
    try:
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123  a name, as it was given
            if file.read(1) == "{":
                return replace(metric, layer=layer, rescale=True, baseline=path).base
            file.seek(0)
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Baseline not Found at {path}: {error}; give a table LAYER,P,R,F") from error
    if not rows or rows[0] != _COLUMNS:
        raise InputError(f"{path}:1: found {','.join(rows[0]) if rows else 'nothing'}; expected LAYER,P,R,F")
    for line, row in enumerate(rows[1:], start=2):
        try:
            found, precision, recall, f1 = int(row[0]), *map(float, row[1:])
        except (ValueError, IndexError) as error:
            raise InputError(f"{path}:{line}: found {','.join(row)!r}; expected a layer and three numbers") from error
        if found == layer:
            return precision, recall, f1
    raise InputError(f"{path}: has no row of layer {layer}; it has {len(rows) - 1}")


def _draw(cosines: torch.Tensor, pieces: Sequence[str], others: Sequence[str], title: str, fname: str) -> None:
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415  no dependency of refsim
    except ImportError as error:
        raise RefsimError("plot_example needs matplotlib; pip install matplotlib") from error
    figure, axes = plt.subplots(figsize=(max(4, len(others)), max(3, len(pieces))))
    image = axes.imshow(cosines, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(others)), others, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(pieces)), pieces)
    axes.set_xlabel("Reference (tokenized)")
    axes.set_ylabel("Candidate (tokenized)")
    axes.set_title(title)
    for i, row in enumerate(cosines.tolist()):
        for j, value in enumerate(row):
            axes.text(j, i, f"{value:.3f}", ha="center", va="center", color="k" if value < 0.5 else "w")  # noqa: PLR2004
    figure.colorbar(image, ax=axes, shrink=0.8)
    figure.tight_layout()
    if fname:
        figure.savefig(fname, dpi=100)
        print("Saved figure to file: ", fname)  # noqa: T201  as there
    plt.show()
