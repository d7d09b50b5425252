"""Compiled references in a directory: one set, or a set for each key, and the metric that scores against them.

    references         --Scorer.save-->  DIR: one compiled set
    {key: references}  --save_sets-->    DIR: sets.json, and the compiled sets 0, 1, 2, ...
    DIR  --open_compiled-->  CompiledReferences, a metric like any other, so that run.stream needs no other loop

sets.json: {"refsim_sets": 1, "on": the column of keys, "metric": its signature, "sets": {key: directory}}.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim._atomic import replacing_directory, resolved
from refsim.errors import CompiledSetError, InputError, RefsimError
from refsim.metric import Stats, Total
from refsim.metrics._scorer import save_references
from refsim.metrics._sets import load
from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from refsim.metrics._alignment import BERTVerdict
    from refsim.metrics._embeddings import BERTScorer
    from refsim.metrics._scorer import CharsimScorer
    from refsim.metrics._verdict import Language, Verdict
    from refsim.metrics.bertscore import BERTScore
    from refsim.segments import Batch
    from refsim.text import Preparation

    AnyScorer = CharsimScorer | BERTScorer

_INDEX: Final = "sets.json"
_VERSION: Final = 1
# 37 sets of up to 3,000 answers take about 0.6 GB. With less than all of them kept, rows in the order of the items
# would load every set again in every batch, at 0.15 s each.
_BYTES_KEPT: Final = 2 * 2**30


def save_sets(
    sets: Mapping[str, Sequence[str]],
    path: str | os.PathLike[str],
    metric: Charsim | BERTScore,
    *,
    on: str,
    done: Callable[[int, int], None] | None = None,
) -> None:
    """Prepare the references of each key and write all sets to the directory `path`, complete or not at all.

    `on` is the column that holds the keys, in the references and, unless told otherwise, in candidates. idf weighs by
    the references of all sets. `done` is told how many of how many sets are written. Sets that stand under that name
    are replaced, anything else is not.
    """
    if not sets:
        raise InputError(f"no value in the column {on!r}; expected references with one or more")
    if not isinstance(metric, Charsim):
        from refsim.metrics._embeddings import fixed  # noqa: PLC0415  it is loaded with such a metric

        metric = fixed(metric, [text for references in sets.values() for text in references])
    with _replacing_directory(Path(path)) as directory:
        # Numbers, for a key may hold what no file system takes.
        names = {key: str(i) for i, key in enumerate(sets)}
        for i, (key, references) in enumerate(sets.items(), start=1):
            save_set(metric, references, directory / names[key])
            if done is not None:
                done(i, len(sets))
        index = {"refsim_sets": _VERSION, "on": on, "metric": metric.signature, "sets": names}
        (directory / _INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def save_set(metric: Charsim | BERTScore, references: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Compile one list of references and write it to the directory `path`, as `Scorer.save` does."""
    if isinstance(metric, Charsim):
        save_references(metric, references, path)
        return
    metric.compile_quietly(references).save(path)


def open_compiled(path: str | os.PathLike[str], *, on: str | None = None, column: str = "") -> CompiledReferences:
    """Return the metric that scores against the set, or the sets, in a directory.

    `on` is what the user calls the column of keys, by default as the sets were compiled; `column` is what a batch
    calls it, if that is another name. Raises CompiledSetError for a directory that holds neither, InputError for
    `on` with a single set.
    """
    directory = Path(path)
    index = directory / _INDEX
    if index.exists():
        content = _read_index(index)
        paths = {key: directory / name for key, name in content["sets"].items()}
        on = on or content["on"]
        return CompiledReferences(directory, on, column or on, paths)
    if on is not None:
        raise InputError(f"{directory}: holds one compiled set, for all rows; leave --on {on} out")
    return CompiledReferences(directory, None, "", {"": directory})


@dataclass(frozen=True)
class CompiledReferences:
    """A metric whose references are compiled sets: one for all rows, or for each row the set of its key.

    `on` is the column of keys, None for a single set, and `column` what batches call it; `paths` has the directory
    of each set. Sets are loaded when the first row needs them.
    """

    directory: Path
    on: str | None
    column: str
    paths: Mapping[str, Path] = field(repr=False)
    _loaded: OrderedDict[str, CharsimScorer | BERTScorer] = field(
        default_factory=OrderedDict, repr=False, compare=False
    )
    _ceilings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _metrics: dict[str, Charsim | BERTScore] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Return the short name of the metric that the sets were compiled for."""
        return str(self._metric)

    @property
    def preparation(self) -> Preparation:
        """What is done to candidates, as it was to the references."""
        return self._metric.preparation

    @property
    def signature(self) -> str:
        """The signature of the metric; of a single set with the digest of its references."""
        return self._metric.signature if self.on is not None else self._scorer("").signature

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row per segment: its scores against the set of its key."""
        found: NDArray[np.float64] | None = None
        for key, rows in self._rows_by_key(batch).items():
            part = self._scorer(key).score_rows([batch.candidates[i] for i in rows], threads=threads)
            if found is None:
                found = np.empty((len(batch), part.shape[1]))
            found[rows] = part
        return Stats(np.empty((0, 1)) if found is None else found)

    def finish(self, stats: Stats) -> Mapping[str, NDArray[np.float64]]:
        """Return the metric's scores (S,) by their names, the headline first."""
        return self._metric.finish(stats)

    def finish_total(self, total: Total) -> Mapping[str, float]:
        """Return the means of the segments' scores by the same names."""
        return self._metric.finish_total(total)

    def ceilings(self, batch: Batch, *, threads: int | None = None) -> NDArray[np.float64]:
        """Return what the set of each row scores among itself (S,), worked out once a set; NaN for sets of one."""
        ceilings = np.empty(len(batch))
        for key, rows in self._rows_by_key(batch).items():
            if key not in self._ceilings:
                scorer = self._scorer(key)
                self._ceilings[key] = scorer.ceiling(threads=threads) if len(scorer) > 1 else float("nan")
            ceilings[rows] = self._ceilings[key]
        return ceilings

    def notices(self, batch: Batch) -> dict[str, list[int]]:
        """Return the rows of which the metric's model has something to say, if it has one."""
        return self._metric.notices(batch) if hasattr(self._metric, "notices") else {}

    def judge_segment(self, batch: Batch, i: int, *, language: Language = "en") -> Verdict | BERTVerdict:
        """Return the verdict on one row of a batch, against the set of its key."""
        key = "" if self.on is None else str(batch.column(self.column)[i])
        return self._scorer(key).judge(batch.candidates[i], language=language)

    @property
    def _metric(self) -> Charsim | BERTScore:
        return self._scorer(next(iter(self.paths))).metric if not self._metrics else self._metrics["first"]

    def _scorer(self, key: str) -> AnyScorer:
        if key in self._loaded:
            self._loaded.move_to_end(key)
            return self._loaded[key]
        scorer: AnyScorer = load(self.paths[key])
        first = self._metrics.setdefault("first", scorer.metric)
        if scorer.metric != first:
            raise CompiledSetError(
                f"{self.paths[key]}: compiled for {scorer.metric}, other sets of {self.directory} for {first}; "
                "compile the references again"
            )
        self._loaded[key] = scorer
        while len(self._loaded) > 1 and sum(one.nbytes for one in self._loaded.values()) > _BYTES_KEPT:
            self._loaded.popitem(last=False)
        return scorer

    def _rows_by_key(self, batch: Batch) -> dict[str, list[int]]:
        if self.on is None:
            return {"": list(range(len(batch)))}
        rows: dict[str, list[int]] = {}
        for i, value in enumerate(batch.column(self.column)):
            key = value if isinstance(value, str) else str(value)
            if key not in self.paths:
                raise InputError(
                    f"{batch.place(i)}: {self.on} is {value!r}, for which {self.directory} has no compiled set; "
                    f"it has {len(self.paths):,}, the first for {next(iter(self.paths))!r}"
                )
            rows.setdefault(key, []).append(i)
        return rows


def _read_index(index: Path) -> dict[str, Any]:
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CompiledSetError(f"{index}: cannot be read ({error}); compile the references again") from error
    if not (
        isinstance(content, dict)
        and content.get("refsim_sets") == _VERSION
        and isinstance(content.get("on"), str)
        and isinstance(content.get("sets"), dict)
        and content["sets"]
        # A number, and so nothing that leads out of the directory.
        and all(isinstance(name, str) and name.isdecimal() for name in content["sets"].values())
    ):
        raise CompiledSetError(f"{index}: no index of sets, version {_VERSION}; compile the references again")
    return content


@contextmanager
def _replacing_directory(path: Path) -> Iterator[Path]:
    """Make a directory that takes the name `path` when the block ends without an error, and is removed otherwise."""
    # Where the name leads, for "new/.." is what is here already.
    final = resolved(path)
    entries = {entry.name for entry in final.iterdir()} if final.is_dir() else set()
    if final.exists() and not (final / _INDEX).is_file() and not (final.is_dir() and not entries):
        raise InputError(f"{path}: exists and holds no compiled sets; give another name, or remove it first")
    others = sorted(name for name in entries if name != _INDEX and not name.isdecimal())
    if others:
        raise InputError(f"{path}: holds {others[0]!r} beside compiled sets; give another name, or remove it first")
    try:
        with replacing_directory(final) as fresh:
            yield fresh
    except OSError as error:
        raise RefsimError(f"{path}: cannot be written: {error.strerror or error}") from error
