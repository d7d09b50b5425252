"""The one loop: batches in, scores out; in memory or as a stream.

    batches  --stream-->  SegmentScores, one per batch  --Tally-->  Systems
                                  +--------- evaluate --------->  Results: both, kept

A stream holds one batch at a time and, per system, an exact total: memory does not grow with the input. The
ceiling of a list of references is worked out once, however many segments and systems share the list.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim.errors import InputError
from refsim.extraction import count_markers, describe_markers
from refsim.metric import Stats, Total
from refsim.metrics import make_metrics
from refsim.results import NOTICES, Results, Segments, SegmentScores, Systems, SystemScore, sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from refsim.metric import Metric, Scorer
    from refsim.segments import Batch
    from refsim.text import Preparation

# A number and a digest each: at most some 20 MB, while an item's rows from many systems may lie far apart.
_CEILINGS_KEPT: Final = 100_000


def evaluate(
    source: Any,  # noqa: ANN401  what refsim.readers.read takes: paths, rows, frames, tables, batches
    metrics: Sequence[str | Metric] | str | Metric = ("charsim",),
    *,
    threads: int | None = None,
    ceilings: bool = True,
    **reading: Any,  # noqa: ANN401  the options of refsim.readers.read
) -> Results:
    """Score all segments of a source with each metric, and keep every score.

    `source` and `reading` are as in `refsim.readers.read`: a path, several, rows, a DataFrame, batches. `ceilings`
    also works out what each list of references scores among itself. Raises InputError for input that cannot be scored.
    """
    from refsim.readers import read  # noqa: PLC0415  so that a stream of batches needs no reader

    tally, labelled = Tally(), make_metrics(metrics)
    with read(source, **reading) as reader:
        batches = list(reader) if needs_corpus(labelled.values()) else reader
        scored = stream(batches, list(labelled.values()), threads=threads, ceilings=ceilings)
        parts = [tally.add(part) for part in scored]
    if tally.markers:
        described = describe_markers(tally.markers, sum(map(len, parts)), "Preparation(extract=[{!r}])")
        warnings.warn(f"chat-markers: {described}", ChatMarkersWarning, stacklevel=2)
    for name, rows in tally.notices.items():
        _warn_of(name, rows, sum(map(len, parts)))
    skipped, missed = tuple(reader.skipped), tuple(tally.not_extracted)
    return Results(tally.systems(), Segments(parts), skipped, missed, dict(tally.notices))


def _warn_of(name: str, rows: Sequence[str], count: int) -> None:
    from refsim.metrics.bertscore import TextWarning, TruncatedWarning  # noqa: PLC0415  it is loaded if it told this

    slug, what = NOTICES[name]
    told = what.format(f"{len(rows):,} of {count:,} rows")
    warnings.warn(f"{slug}: {told}", TruncatedWarning if name == "truncated" else TextWarning, stacklevel=3)


def stream(
    batches: Iterable[Batch],
    metrics: Sequence[str | Metric] | str | Metric = ("charsim",),
    *,
    threads: int | None = None,
    ceilings: bool = True,
) -> Iterator[SegmentScores]:
    """Yield the scores of each batch as it comes, holding one batch at a time.

    A `Tally` turns them into the scores of systems; order and size of batches change nothing, to the last bit.
    """
    labelled = make_metrics(metrics)
    if isinstance(batches, Sequence):
        labelled = with_corpus(labelled, batches)
    signatures = {label: metric.signature for label, metric in labelled.items()}
    tops = {label: _Ceilings(metric, threads) for label, metric in labelled.items()} if ceilings else {}
    # Two that differ in other settings miss the same answers; in order, for a set has another in each process.
    preparing = [metric.preparation for metric in labelled.values() if hasattr(metric, "preparation")]
    preparations = list({(one.extract, one.no_extract): one for one in preparing}.values())
    for batch in batches:
        not_extracted, markers = find_answers(batch, preparations)
        stats = {label: metric.measure(batch, threads=threads) for label, metric in labelled.items()}
        scores: dict[str, NDArray[np.float64]] = {}
        for label, metric in labelled.items():
            for i, (name, values) in enumerate(metric.finish(stats[label]).items()):
                scores[f"{label}.{name}" if i else label] = values
        top = {label: ceiling.of_batch(batch) for label, ceiling in tops.items()}
        notices = _notices(labelled, batch)
        yield SegmentScores(batch, labelled, stats, scores, top, signatures, not_extracted, markers, notices)


def _notices(metrics: Mapping[str, Metric], batch: Batch) -> dict[str, list[str]]:
    """Return the places of rows of which a model has something to say, by what it is."""
    rows: dict[str, set[int]] = {}
    for metric in metrics.values():
        if hasattr(metric, "notices"):
            for name, found in metric.notices(batch).items():
                rows.setdefault(name, set()).update(found)
    return {name: [batch.place(i) for i in sorted(found)] for name, found in rows.items()}


def needs_corpus(metrics: Iterable[Metric]) -> bool:
    """Return whether a metric must see all references of a run before it can score the first row."""
    return any(getattr(metric, "needs_corpus", False) for metric in metrics)


def with_corpus(metrics: Mapping[str, Metric], batches: Iterable[Batch]) -> dict[str, Metric]:
    """Return the metrics by their labels, those that weigh by all references of a run with these."""
    waiting = [label for label, metric in metrics.items() if needs_corpus([metric])]
    if not waiting:
        return dict(metrics)
    # One reading for all of them, and of a file two in all.
    texts = list(_references_once(batches))
    return {
        label: metric.with_corpus(texts) if label in waiting else metric  # type: ignore[attr-defined]
        for label, metric in metrics.items()
    }


def _references_once(batches: Iterable[Batch]) -> Iterator[str]:
    """Yield the references of each item once: they repeat from system to system, which makes them no more frequent."""
    seen: set[int] = set()
    for batch in batches:
        for key, references in zip(batch.ids, batch.references, strict=True):
            # 8 bytes an item, not its name; one in 10**9 runs of 10**5 items meets two with one hash.
            known = hash((key, *references))
            if known not in seen:
                seen.add(known)
                yield from references


def find_answers(batch: Batch, preparations: Sequence[Preparation]) -> tuple[list[str], Counter[str]]:
    """Return the places of candidates without an answer to extract, and the markers that nobody extracts, counted.

    Raises InputError for the first such place if a preparation asks for that, and where a pattern takes too long.
    """
    if not any(one.extract for one in preparations):
        return [], count_markers(batch.candidates)
    return [text for preparation in preparations for text in _not_extracted(preparation, batch)], Counter()


def _not_extracted(preparation: Preparation, batch: Batch) -> list[str]:
    """Tell the candidates without an answer, by their places; raise InputError for the first if that is asked for."""
    whys = preparation.not_extracted(batch.candidates, batch.place)
    missed = [f"{batch.place(i)}: extract {why}" for i, why in whys.items()]
    if missed and preparation.no_extract == "error":
        raise InputError(f"{missed[0]}; mend the row, or choose keep or empty for no_extract")
    return missed


class ChatMarkersWarning(UserWarning):
    """Candidates hold think blocks or chat markers, and they are scored as text."""


class Tally:
    """The totals of systems, fed with the scores of batches: exact, so that any order gives the same bits."""

    def __init__(self) -> None:
        """Start with no system at all."""
        self._metrics: Mapping[str, Metric] = {}
        self._asked = False
        self._totals: dict[tuple[str, str], Total] = {}
        self._tops: dict[tuple[str, str], Total] = {}
        self._below: dict[tuple[str, str], Total] = {}
        self._langs: dict[str, set[str | None]] = {}
        self.not_extracted: list[str] = []
        self.markers: Counter[str] = Counter()
        self.notices: dict[str, list[str]] = {}

    def add(self, part: SegmentScores) -> SegmentScores:
        """Add the scores of a batch, and return them."""
        self._metrics = part.metrics
        self._asked = bool(part.ceilings)
        self.not_extracted += part.not_extracted
        self.markers.update(part.markers)
        for name, rows in part.notices.items():
            self.notices.setdefault(name, []).extend(rows)
        langs = part.batch.column("lang")
        for system, places in _rows_by_system(part.batch.systems):
            self._langs.setdefault(system, set()).update(langs[i] for i in places.tolist())
            for label, stats in part.stats.items():
                _add(self._totals, (label, system), stats.rows[places])
                tops = part.ceilings[label][places] if label in part.ceilings else np.empty(0)
                known = ~np.isnan(tops)
                _add(self._tops, (label, system), tops[known, np.newaxis])
                _add(self._below, (label, system), stats.rows[places][known] if len(known) else stats.rows[:0])
        return part

    def systems(self) -> Systems:
        """Return the scores of all systems so far: by metric in the order given, the best system first."""
        rows = [self._system(label, system) for label, system in self._totals]
        order = list(self._metrics)
        # Equal means stay in the order of the input, for sorting is stable.
        best = {
            label: 1 if getattr(metric, "higher_is_better", True) else -1 for label, metric in self._metrics.items()
        }
        return Systems(sorted(rows, key=lambda row: (order.index(row.metric), -row.mean * best[row.metric])))

    def _system(self, label: str, system: str) -> SystemScore:
        metric, total, top = self._metrics[label], self._totals[label, system], self._tops[label, system]
        return SystemScore(
            system=system,
            metric=label,
            signature=sign(metric, self._langs[system]),
            count=total.count,
            scores=metric.finish_total(total),
            ceiling=top.mean()[0] if top.count else None,
            ceiling_count=top.count,
            no_ceiling=None if top.count else self._why_no_ceiling(metric),
            of_ceiling=self._of_ceiling(metric, self._below[label, system], top),
        )

    def _of_ceiling(self, metric: Metric, below: Total, top: Total) -> float | None:
        """Return the mean of the segments that have a ceiling over that ceiling; None without one, or where it is 0."""
        if not top.count or not top.mean()[0]:
            return None
        return next(iter(metric.finish_total(below).values())) / top.mean()[0]

    def _why_no_ceiling(self, metric: Metric) -> str:
        if not self._asked:
            return "not asked for"
        return "no segment has two references" if _has_ceilings(metric) else f"{metric} has no such thing"


class _Ceilings:
    """The ceiling of each segment's references under one metric, worked out once per distinct list."""

    def __init__(self, metric: Metric, threads: int | None) -> None:
        self._metric = metric
        self._threads = threads
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._last: dict[tuple[str, ...], float] = {}

    def of_batch(self, batch: Batch) -> NDArray[np.float64]:
        """Return the ceilings (S,) of a batch; NaN for a segment without two references."""
        if hasattr(self._metric, "ceilings"):
            ceilings: NDArray[np.float64] = self._metric.ceilings(batch, threads=self._threads)
            return ceilings
        if not _has_ceilings(self._metric):
            return np.full(len(batch), np.nan)
        # Rows joined by a key share one list object, from batch to batch. A tuple of the last batch is found by the
        # hashes that its texts keep: 10 times as fast as the digest, by which lists of all batches are known.
        seen: dict[int, float] = {}
        current: dict[tuple[str, ...], float] = {}
        references = batch.references
        # Backwards, for what a model made of the last rows of the batch is what it still keeps.
        for texts in reversed(references):
            if id(texts) not in seen:
                key = tuple(texts)
                known = self._last.get(key)
                seen[id(texts)] = current[key] = self._of_list(texts) if known is None else known
        self._last = current
        return np.fromiter((seen[id(texts)] for texts in references), np.float64, count=len(references))

    def _of_list(self, references: Sequence[str]) -> float:
        if len(references) < 2:  # noqa: PLR2004  one text has no other to be compared with
            return float("nan")
        key = _digest(references)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        # What there is to say of the texts is said of rows, not of each list of references.
        compiling = getattr(self._metric, "compile_quietly", None) or self._metric.compile  # type: ignore[attr-defined]
        scorer: Scorer = compiling(references, threads=self._threads)
        ceiling = self._known[key] = scorer.ceiling(threads=self._threads)
        if len(self._known) > _CEILINGS_KEPT:
            self._known.popitem(last=False)
        return ceiling


def _has_ceilings(metric: Metric) -> bool:
    return hasattr(metric, "ceilings") or hasattr(metric, "compile")


def _digest(texts: Sequence[str]) -> bytes:
    # Their number and lengths say where each text ends. One join and one encode: thousands cost as much as one text.
    sizes = np.array([len(texts), *map(len, texts)], np.int64)
    digest = hashlib.blake2b(sizes.tobytes(), digest_size=16)
    digest.update("".join(texts).encode("utf-8", "surrogatepass"))
    return digest.digest()


def _rows_by_system(systems: Sequence[str]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    rows: dict[str, list[int]] = {}
    for i, system in enumerate(systems):
        rows.setdefault(system, []).append(i)
    for system, indices in rows.items():
        yield system, np.array(indices, dtype=np.int64)


def _add(totals: dict[tuple[str, str], Total], key: tuple[str, str], rows: NDArray[np.float64]) -> None:
    total = Stats(rows).total()
    totals[key] = totals[key] + total if key in totals else total
