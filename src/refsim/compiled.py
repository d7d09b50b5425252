"""Compiled references in a directory: one set, or a set for each key, and the metric that scores against them.

    references       --save_set-->   DIR: a compiled set, as Scorer.save writes it
    {key: references} --save_sets--> DIR: sets.json, and the compiled sets 0, 1, 2, ...
    DIR  --open_compiled-->  CompiledReferences, a metric like any other, so run.stream needs no other loop

sets.json: {"refsim_sets": 1, "on": the column of keys, "sets": {key: directory}}.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsim.errors import CompiledSetError, InputError, RefsimError
from refsim.metric import Stats, Total
from refsim.metrics.charsim import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from refsim.metrics.charsim import Charsim
    from refsim.metrics._scorer import CharsimScorer
    from refsim.segments import Batch

_INDEX: Final = "sets.json"
_VERSION: Final = 1


def save_set(references: Sequence[str], path: str | os.PathLike[str], metric: Charsim) -> None:
    """Compile the references and write the set to the directory `path`."""
    scorer = metric.compile(references)
    with _replacing_directory(path) as directory:
        scorer.save(directory)


def save_sets(
    sets: Mapping[str, Sequence[str]],
    path: str | os.PathLike[str],
    metric: Charsim,
    *,
    on: str,
    done: Callable[[int, int], None] | None = None,
) -> None:
    """Compile the references of each key and write all sets to the directory `path`.

    `on` is the column that holds the keys, in the references and as the default in candidates. `done` is told how
    many of how many sets are written.
    """
    if not sets:
        raise InputError(f"no value in the column {on!r}; expected references with one or more")
    with _replacing_directory(path) as directory:
        directory.mkdir()
        # Numbers, for a key may hold what no file system takes.
        names = {key: str(i) for i, key in enumerate(sets)}
        for i, (key, references) in enumerate(sets.items(), start=1):
            metric.compile(references).save(directory / names[key])
            if done is not None:
                done(i, len(sets))
        index = {"refsim_sets": _VERSION, "on": on.rpartition("=")[2], "sets": names}
        (directory / _INDEX).write_text(json.dumps(index, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def open_compiled(path: str | os.PathLike[str], *, on: str | None = None) -> CompiledReferences:
    """Return the metric that scores against the set, or the sets, in a directory.

    `on` is the column of candidates that holds the keys, by default the one that the sets were compiled with.
    Raises CompiledSetError for a directory that holds neither, InputError for `on` with a single set.
    """
    directory = Path(path)
    index = directory / _INDEX
    if not index.exists():
        if on is not None:
            raise InputError(f"{directory}: holds one compiled set, for all rows; leave --on {on} out")
        scorer = load(directory)
        return CompiledReferences(directory, scorer.signature, str(scorer.metric), None, {None: scorer})
    content = _read_index(index)
    if not content["sets"]:
        raise CompiledSetError(f"{index}: names no set; compile the references again")
    scorers: dict[str | None, CharsimScorer] = {}
    for key, name in content["sets"].items():
        # Mapped, not read: sets of thousands of references each need not be in memory all at once.
        scorers[key] = load(directory / name, mmap=True)
    first = next(iter(scorers.values()))
    return CompiledReferences(directory, first.metric.signature, str(first.metric), on or content["on"], scorers)


@dataclass(frozen=True)
class CompiledReferences:
    """A metric whose references are compiled sets: one for all rows, or for each the set of its key."""

    directory: Path
    signature: str
    label: str
    on: str | None
    scorers: Mapping[str | None, CharsimScorer] = field(repr=False)
    _ceilings: dict[str | None, float] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Return the short name of the metric that the sets were compiled for."""
        return self.label

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row per segment: its score against the set of its key."""
        scores = np.empty(len(batch))
        for key, rows in self._rows_by_key(batch).items():
            scores[rows] = self.scorers[key].score_batch([batch.candidates[i] for i in rows], threads=threads)
        return Stats(scores.reshape(-1, 1))

    def finish(self, stats: Stats) -> Mapping[str, NDArray[np.float64]]:
        """Return {"charsim": scores (S,)}."""
        return self._metric.finish(stats)

    def finish_total(self, total: Total) -> Mapping[str, float]:
        """Return {"charsim": mean of the segments' scores}."""
        return self._metric.finish_total(total)

    def ceilings(self, batch: Batch) -> NDArray[np.float64]:
        """Return what the set of each row scores among itself (S,), worked out once a set."""
        ceilings = np.full(len(batch), np.nan)
        for key, rows in self._rows_by_key(batch).items():
            if key not in self._ceilings and len(self.scorers[key]) > 1:
                self._ceilings[key] = self.scorers[key].ceiling()
            ceilings[rows] = self._ceilings.get(key, np.nan)
        return ceilings

    @property
    def _metric(self) -> Charsim:
        return next(iter(self.scorers.values())).metric

    def _rows_by_key(self, batch: Batch) -> dict[str | None, list[int]]:
        if self.on is None:
            return {None: list(range(len(batch)))}
        rows: dict[str | None, list[int]] = {}
        for i, value in enumerate(batch.column(self.on)):
            key = value if isinstance(value, str) else str(value)
            if key not in self.scorers:
                raise InputError(
                    f"{batch.place(i)}: {self.on} is {value!r}, which has no compiled set in {self.directory}; "
                    f"there are {len(self.scorers):,}, the first is {next(iter(self.scorers))!r}"
                )
            rows.setdefault(key, []).append(i)
        return rows


def _read_index(index: Path) -> dict[str, Any]:
    try:
        content = json.loads(index.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CompiledSetError(f"{index}: cannot be read: {error}; compile the references again") from error
    if not (
        isinstance(content, dict)
        and content.get("refsim_sets") == _VERSION
        and isinstance(content.get("on"), str)
        and isinstance(content.get("sets"), dict)
        and all(isinstance(name, str) and name.isdecimal() for name in content["sets"].values())
    ):
        raise CompiledSetError(f"{index}: is no index of compiled sets of version {_VERSION}; compile the references again")
    return content


@contextmanager
def _replacing_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name for a new directory, which takes the name `path` when the block ends without an error.

    What stands under that name is replaced if it is a compiled set or an empty directory; anything else is an error,
    for a slip in a name must not cost a directory of other things.
    """
    final = Path(path).absolute()
    _check_replaceable(final, Path(path))
    temporary = final.with_name(f".{final.name}.{os.getpid()}.tmp")
    old = final.with_name(f".{final.name}.{os.getpid()}.old")
    try:
        yield temporary
        if final.exists():
            final.replace(old)
        temporary.replace(final)
    except OSError as error:
        raise RefsimError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _check_replaceable(final: Path, shown: Path) -> None:
    if not final.parent.is_dir():
        raise InputError(f"{shown}: there is no directory {shown.parent}; create it first")
    if not final.exists():
        return
    if not final.is_dir():
        raise InputError(f"{shown}: is a file; expected the name of a new directory, or of a compiled set to replace")
    if any(final.iterdir()) and not ((final / _INDEX).exists() or is_compiled_set(final)):
        raise InputError(f"{shown}: holds other things than a compiled set; choose another name")
