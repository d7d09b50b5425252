"""What adapters over other libraries share: checked arguments, prepared texts, rows, and names.

    candidates, references  --check_rows, Preparation-->  texts (S,)  --the library, row by row-->  rows (S, F)
                                                                         finish: names, the headline first

No number comes from here. A metric gives `_columns`, what its rows hold, and `_rows`, which asks the library.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from refsim._version import __version__
from refsim.errors import InputError, MissingExtra
from refsim.metric import Stats, Total
from refsim.metrics._arguments import check_references, check_rows, check_text
from refsim.metrics._languages import check_lang
from refsim.metrics._threads import thread_count
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from refsim.segments import Batch


class Peer:
    """The calls of a metric whose rows come from another library, or from rules of another project, one at a time."""

    preparation: Preparation
    name: ClassVar[str]
    higher_is_better: ClassVar[bool] = True

    def __str__(self) -> str:
        """Return the short name with what is not default, as `parse_metric` reads it."""
        told = [*self._told(), *([] if self.preparation.is_default else [self.preparation.signature])]
        return f"{self._short_name}({','.join(told)})" if told else self._short_name

    @property
    def _short_name(self) -> str:
        return self.name

    def _told(self) -> list[str]:
        """Return the parameters that are not default, as they are written."""
        return [
            write_parameter(one.name, getattr(self, one.name))
            for one in dataclasses.fields(self)  # type: ignore[arg-type]  # each metric is a dataclass
            if one.name not in self._untold and getattr(self, one.name) != one.default
        ]

    @property
    def _untold(self) -> tuple[str, ...]:
        return ("preparation",)

    @property
    def signature(self) -> str:
        """Everything that a number depends on; numbers compare only where these are equal."""
        return "|".join([str(self), *self._library(), f"refsim:{__version__}"])

    def _library(self) -> Sequence[str]:
        """Return what the library's numbers depend on beside the parameters."""
        return ()

    @property
    def _columns(self) -> tuple[str, ...]:
        """The names of the scores, the headline first."""
        return (self.name,)

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> Sequence[Sequence[float]]:
        """Return one row of statistics for each candidate with its references, all prepared."""
        raise NotImplementedError

    def score(self, candidate: str, references: Sequence[str]) -> float:
        """Return the score of one candidate against its references, a list of one or more strings."""
        return float(self.score_batch([check_text(candidate, "candidate")], [check_references(references)])[0])

    def score_batch(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]], *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return scores (S,): `references[i]`, a string or a list of strings, belongs to `candidates[i]`.

        `threads` is there for every metric alike; the libraries run on one. Raises InputError as charsim does.
        """
        return next(iter(self.finish(self._stats(candidates, references, None, threads)).values()))

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row of statistics per segment; a column `lang` of the batch says in which language it is."""
        langs = [check_lang(lang, f"{batch.place(i)}: lang") for i, lang in enumerate(batch.column("lang"))]
        self._check_langs(batch, langs)
        return self._stats(batch.candidates, batch.references, langs, threads)

    def _check_langs(self, batch: Batch, langs: Sequence[str | None]) -> None:
        """Raise InputError for a row in a language for which the metric is not made."""

    def _stats(
        self, candidates: object, references: object, langs: Sequence[str | None] | None, threads: int | None
    ) -> Stats:
        thread_count(threads)
        texts, singles, lists = check_rows(candidates, references)
        rows = lists or [[text] for text in singles or ()]
        prepared: dict[int, Sequence[str]] = {}
        for row in rows:
            if id(row) not in prepared:  # a list that many rows share is prepared once, and stays one object
                prepared[id(row)] = self.preparation.apply(row)
        found = self._rows(
            self.preparation.apply_candidates(texts), [prepared[id(row)] for row in rows], langs or [None] * len(texts)
        )
        return Stats(np.array(found, np.float64).reshape(len(texts), self._width))

    @property
    def _width(self) -> int:
        return len(self._columns)

    def finish(self, stats: Stats) -> dict[str, NDArray[np.float64]]:
        """Return the scores (S,) by name, the headline first."""
        return {name: stats.rows[:, i] for i, name in enumerate(self._columns)}

    def finish_total(self, total: Total) -> dict[str, float]:
        """Return the means of the segments' scores by name, the headline first."""
        return dict(zip(self._columns, total.mean(), strict=True))


def write_parameter(name: str, value: object) -> str:
    """Return "name=value" as `parse_metric` reads it back; a flag that is set is its name alone."""
    if value is True:
        return name
    if isinstance(value, tuple):
        value = "+".join(map(str, value))
    if isinstance(value, str):
        from refsim.metrics import read_value  # noqa: PLC0415  the registry stands above the metrics

        return f"{name}={value}" if read_value(value) == value else f'{name}="{value}"'
    return f"{name}={str(value).lower() if value is False else value}"


def load(feature: str, module: str, package: str | None = None) -> Any:  # noqa: ANN401  a module
    """Return a module of the extra `peers`, or raise MissingExtra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(feature, package or error.name or module, "peers") from error


def version_of(feature: str, package: str) -> str:
    """Return "package:version" of what is installed, or raise MissingExtra."""
    try:
        return f"{package}:{version(package)}"
    except ImportError as error:
        raise MissingExtra(feature, package, "peers") from error


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise InputError unless the value is one of the choices, of the same type."""
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise InputError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")


def check_flags(metric: object, *names: str) -> None:
    """Raise InputError unless these parameters are True or False."""
    for name in names:
        check_choice(name, getattr(metric, name), (True, False))


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise InputError unless the value is a whole number in these bounds."""
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; expected a whole number from {least} to {most}")


def check_number(name: str, value: object, least: float, most: float) -> None:
    """Raise InputError unless the value is a number in these bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; expected a number from {least:g} to {most:g}")


def check_preparation(metric: str, preparation: object) -> None:
    """Raise InputError for what is no Preparation, and for one whose unit this metric has no use for."""
    if not isinstance(preparation, Preparation):
        raise InputError(f"preparation is {preparation!r}; expected a refsim.Preparation")
    if preparation.unit != "codepoint":
        raise InputError(f"unit is {preparation.unit!r}; {metric} counts by units of its own, so leave it out")
