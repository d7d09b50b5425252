"""Scores with what they are scores of: per segment, per system, each with its signature.

    run.stream  -->  SegmentScores, one per batch  --+-->  Segments: a table of rows
                                                     +-->  Systems: a table of systems, exact means

Both tables come out as .to_pandas(), .to_arrow(), .to_parquet(path) and .to_jsonl(path). Every number has the
signature of its metric beside it: two numbers compare only if their signatures are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from refsim._atomic import replacing
from refsim._columns import json_lines, to_arrow

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from refsim._columns import Columns
    from refsim.metric import Metric, Stats
    from refsim.segments import Batch

_KEYS = ("id", "system", "sample")
_OPTIONAL = ("source", "group", "human", "lang")

# What models have to say of rows, and the slugs under which docs/messages.md tells more.
NOTICES: Final = {
    "truncated": ("text-truncated", "a text was cut at the model's limit in {}"),
    "surrogates": ("lone-surrogate", "half a surrogate pair was read as U+FFFD in {}"),
    "uncovered": ("script-uncovered", "more than a fifth of a text is of scripts that the model hardly knows in {}"),
    "unsegmented": ("text-unsegmented", "a text without spaces between words was split at spaces in {}"),
    "weightless": ("idf-weightless", "idf weighs no piece of a text, so that all count alike, in {}"),
}


def sign(metric: Metric, langs: Collection[str | None]) -> str:
    """Return the signature of a metric's scores of texts in these languages: few metrics read each in its own way."""
    if hasattr(metric, "signature_of"):
        return str(metric.signature_of(sorted(langs, key=str)))
    return metric.signature


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """The scores of one batch of S segments under some metrics, which go by their labels.

    `stats` has the rows of statistics and `signatures` the signature of each metric, by its label; `scores` has
    the scores (S,) by column: the label for a metric's headline, "label.name" for its other scores. `ceilings`
    has, by label, what each segment's references score among themselves (S,): NaN where there are not two.
    `not_extracted` tells candidates in which there was no answer to extract, `markers` how many hold chat markers
    that nobody extracts; `notices` tells rows of which a model has something to say, by the keys of `NOTICES`.
    """

    batch: Batch
    metrics: Mapping[str, Metric]
    stats: Mapping[str, Stats]
    scores: Mapping[str, NDArray[np.float64]]
    ceilings: Mapping[str, NDArray[np.float64]]
    signatures: Mapping[str, str]
    not_extracted: Sequence[str] = ()
    markers: Mapping[str, int] = field(default_factory=dict)
    notices: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of segments S."""
        return len(self.batch)

    def columns(self) -> Columns:
        """Return the key, the scores, the input's other columns, the candidate, and the signatures, as lists (S,).

        The references stay out: they repeat from system to system, and there may be thousands in a row.
        """
        columns: Columns = {name: list(self.batch.column(name)) for name in _KEYS}
        columns |= {name: values.tolist() for name, values in self.scores.items()}
        last: Columns = {"candidate": list(self.batch.candidates)}
        last |= {f"{label}.signature": self._signed(label) for label in self.signatures}
        for given, values in self._carried():
            name = given
            # A file that was scored before has such columns: the old numbers stay, under another name.
            while name in columns or name in last:
                name = f"input.{name}"
            columns[name] = values
        return columns | last

    def _signed(self, label: str) -> list[str]:
        """Return the signature of each row: of a metric that reads each in its language, that for this one."""
        metric, langs = self.metrics[label], self.batch.column("lang")
        if not hasattr(metric, "signature_of"):
            return [self.signatures[label]] * len(self)
        known = {lang: sign(metric, {lang}) for lang in set(langs)}
        return [known[lang] for lang in langs]

    def _carried(self) -> Iterator[tuple[str, list[Any]]]:
        for name in _OPTIONAL:
            values = list(self.batch.column(name))
            if any(value is not None for value in values):
                yield name, values
        for name, values in self.batch.extra.items():
            yield name, list(values)


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One system under one metric: `scores` by name, headline first, over `count` segments.

    `ceiling` is the mean of what the references of those segments score among themselves, over the
    `ceiling_count` segments that have two or more; without any it is None, and `no_ceiling` says why. `of_ceiling` is
    the mean score of the same segments divided by it: 1 is as good as a reference, and None cannot be had.
    """

    system: str
    metric: str
    signature: str
    count: int
    scores: Mapping[str, float]
    ceiling: float | None
    ceiling_count: int
    no_ceiling: str | None = None
    of_ceiling: float | None = None

    @property
    def mean(self) -> float:
        """The headline score of the system."""
        return next(iter(self.scores.values()))

    def record(self) -> dict[str, Any]:
        """Return the row as a dictionary: the headline as "mean", the other scores by their names."""
        others = dict(list(self.scores.items())[1:])
        return {
            "system": self.system,
            "metric": self.metric,
            "count": self.count,
            "mean": self.mean,
            **others,
            "ceiling": self.ceiling,
            "ceiling_count": self.ceiling_count,
            "of_ceiling": self.of_ceiling,
            "signature": self.signature,
        }


class _Table:
    """What both tables have in common: they come as chunks of columns."""

    def _chunks(self) -> Iterator[Columns]:
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """Return the table as a pyarrow Table."""
        return to_arrow(self._chunks())

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame; pandas must be installed."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a Parquet file, which takes its name when it is complete."""
        import pyarrow.parquet as pq  # noqa: PLC0415  pyarrow takes 0.1 s to load, and many results need no file

        with replacing(path) as file:
            pq.write_table(self.to_arrow(), file)

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the table as JSON lines, which take their name when they are complete."""
        with replacing(path) as file:
            for columns in self._chunks():
                file.writelines(json_lines(columns))


@dataclass(frozen=True)
class Segments(_Table):
    """All segments with their scores, in the order of the input."""

    parts: Sequence[SegmentScores]

    def __len__(self) -> int:
        """Return the number of segments."""
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[SegmentScores]:
        """Yield the scores batch by batch."""
        return iter(self.parts)

    def _chunks(self) -> Iterator[Columns]:
        return (part.columns() for part in self.parts)


@dataclass(frozen=True)
class Systems(_Table):
    """The systems under each metric: metrics in the order given, within each the best system first."""

    rows: Sequence[SystemScore]

    def __len__(self) -> int:
        """Return the number of rows: systems times metrics."""
        return len(self.rows)

    def __iter__(self) -> Iterator[SystemScore]:
        """Yield the rows in their order."""
        return iter(self.rows)

    def __getitem__(self, system: str) -> SystemScore:
        """Return the row of a system under the first metric."""
        for row in self.rows:
            if row.system == system:
                return row
        raise KeyError(system)

    def by_metric(self) -> dict[str, list[SystemScore]]:
        """Return the rows of each metric, by its label."""
        groups: dict[str, list[SystemScore]] = {}
        for row in self.rows:
            groups.setdefault(row.metric, []).append(row)
        return groups

    def _chunks(self) -> Iterator[Columns]:
        records = [row.record() for row in self.rows]
        names = dict.fromkeys(name for record in records for name in record)
        yield {name: [record.get(name) for record in records] for name in names}


@dataclass(frozen=True)
class Results:
    """What an evaluation gives: the tables `systems` and `segments`, and what was left out on the way.

    `skipped` tells rows that could not be read as they should, `not_extracted` those without an answer to extract,
    `notices` those of which a model has something to say, by the keys of `NOTICES`.
    """

    systems: Systems
    segments: Segments
    skipped: Sequence[str] = ()
    not_extracted: Sequence[str] = ()
    notices: Mapping[str, Sequence[str]] = field(default_factory=dict)
