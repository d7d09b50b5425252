"""Columns of anything -> checked columns of texts.

    Chunk: name -> values (rows of a file, a frame, dicts)
        bind        which column plays which part
        drop        rows with a null, where asked for; an error otherwise
        references  from columns, or looked up in another file
        expand      a list of candidates becomes one row each, sample = 0, 1, ...
        keys        (id, system, sample) must not come again
    -> Batch

A whole chunk goes through each step; nothing here is done row by row unless something is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from refsim.errors import InputError
from refsim.segments import _checks
from refsim.segments._batch import Batch, Places
from refsim.segments._checks import MISSING
from refsim.segments._fields import OPTIONAL, Binding, Fields, bind, listed
from refsim.segments._keys import Keys
from refsim.segments._references import from_columns as references_from_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.segments._chunk import Chunk, Lookup


@dataclass(slots=True)
class Assembler:
    """Makes batches of the chunks of one file; `keys` and `skipped` may be shared by several."""

    fields: Fields = field(default_factory=Fields)
    system: str = ""
    lookup: Lookup | None = None
    need_references: bool = True
    samples: bool = False
    on_missing: Literal["error", "skip"] = "error"
    keys: Keys = field(default_factory=Keys)
    skipped: list[str] = field(default_factory=list)
    binding: Binding | None = None
    lists: bool | None = None

    def batch(self, chunk: Chunk) -> Batch:
        """Return the batch of a chunk; an n-best chunk gives more rows than it has."""
        binding = self._bind(chunk)
        candidates = chunk.pick(binding.parts["candidate"])
        faults = self._missing_candidates(chunk, binding, candidates)
        references = None
        if self.lookup is None and binding.references:
            references = references_from_columns(chunk, binding, faults)
        if faults:
            rows = self._drop(chunk, faults)
            chunk, candidates = chunk.take(rows), [candidates[row] for row in rows]
            references = None if references is None else [references[row] for row in rows]
        ids = self._ids(chunk, binding)
        if self.lookup is not None:
            references = self.lookup.find(chunk, ids)
        if references is None:
            references = [[]] * len(chunk)
        return self._keyed(self._rows(chunk, binding, ids, candidates, references), binding)

    def _bind(self, chunk: Chunk) -> Binding:
        place, names = chunk.places[0], list(chunk.columns)
        own = self.lookup is None
        self.binding = bind(names, self.fields, place, before=self.binding, own_references=own)
        if "candidate" not in self.binding.parts:
            raise InputError(f"{place}: no candidate; found: {listed(names)}; say which field it is with --candidate")
        if own and self.need_references and not self.binding.references:
            raise InputError(
                f"{place}: no references; found: {listed(names)}; "
                "say which field holds them, or which file, with --references"
            )
        return self.binding

    def _missing_candidates(self, chunk: Chunk, binding: Binding, candidates: Sequence[object]) -> dict[int, str]:
        """Return what is wrong with the rows that have no candidate, and see once whether candidates are lists."""
        if self.lists is None:
            first = next((value for value in candidates if not _checks.is_null(value)), None)
            self.lists = _checks.as_list(first) is not None
        if set(map(type, candidates)) <= {str, list}:
            return {}
        name, faults = str(binding.parts["candidate"]), {}
        for row, value in enumerate(candidates):
            if value is MISSING and chunk.ragged:
                cells = sum(column[row] is not MISSING for column in chunk.columns.values())
                raise InputError(f"{chunk.places[row]}: {cells} cells, too few to hold the candidate (column {name!r})")
            if _checks.is_null(value):
                faults[row] = f"{chunk.places[row]}: {_checks.describe(value)} in {name!r} (candidate)"
        return faults

    def _drop(self, chunk: Chunk, faults: dict[int, str]) -> list[int]:
        """Return the rows to keep, if rows may be left out at all."""
        if self.on_missing == "error":
            raise InputError(f"{faults[min(faults)]}; --on-missing skip leaves such rows out and counts them")
        self.skipped += [faults[row] for row in sorted(faults)]
        return [row for row in range(len(chunk)) if row not in faults]

    @staticmethod
    def _ids(chunk: Chunk, binding: Binding) -> list[str]:
        if selector := binding.parts.get("id"):
            return _checks.labels(chunk.pick(selector), f"{str(selector)!r} (id)", chunk.places)
        return [str(row + 1) for row in chunk.rows]

    def _rows(
        self, chunk: Chunk, binding: Binding, ids: list[str], candidates: Sequence[object], references: list[list[str]]
    ) -> Batch:
        size, places, parts = len(chunk), chunk.places, binding.parts
        what = f"{str(parts['candidate'])!r} (candidate)"
        systems, samples = [self.system] * size, [0] * size
        if "system" in parts:
            systems = _checks.labels(chunk.pick(parts["system"]), "system", places)
        if "sample" in parts:
            samples = _checks.whole_numbers(chunk.pick(parts["sample"]), "sample", places)
        optional = {part: _checks.optional(part, chunk.pick(parts[part]), places) for part in OPTIONAL if part in parts}
        extra = {name: _nulled(column) for name, column in chunk.columns.items() if name not in binding.columns}
        if not self.lists:
            texts = _checks.texts(candidates, what, places)
            return Batch(texts, references, ids, systems, samples, optional, extra, places)
        lists = _lists_of_texts(candidates, what, places)
        batch = Batch([""] * size, references, ids, systems, samples, optional, extra, places)
        batch = batch.take([row for row, texts in enumerate(lists) for _ in texts])
        if "sample" in parts:
            _refuse_one_number(lists, samples, str(parts["sample"]), places)
        else:
            batch = replace(batch, samples=[number for texts in lists for number in range(len(texts))])
        return replace(batch, candidates=list(chain.from_iterable(lists)))

    def _keyed(self, batch: Batch, binding: Binding) -> Batch:
        """Number the repeats, or refuse them. Rows named by number alone cannot repeat and are not remembered."""
        numbered = "sample" in binding.parts
        if self.samples and not numbered:
            return replace(batch, samples=self.keys.number(batch.ids, batch.systems))
        if isinstance(batch.places, Places) and not binding.parts.keys().isdisjoint(("id", "system", "sample")):
            self.keys.check(batch.ids, batch.systems, batch.samples, batch.places, numbered=numbered)
        return batch


def _nulled(column: Sequence[object]) -> list[object]:
    return [None if value is MISSING else value for value in column]


def _lists_of_texts(values: Sequence[object], what: str, places: Sequence[str]) -> list[list[str]]:
    made = []
    for row, value in enumerate(values):
        texts = _checks.as_list(value)
        if texts is None:
            raise InputError(f"{places[row]}: {what} is {_checks.describe(value)}; earlier rows have a list there")
        if not texts:
            raise InputError(f"{places[row]}: {what} is an empty list; at least one candidate is expected")
        made.append([_checks.text_of(text, f"{what}[{index}]", places[row]) for index, text in enumerate(texts)])
    return made


def _refuse_one_number(lists: list[list[str]], samples: list[int], name: str, places: Sequence[str]) -> None:
    """Raise for a list of several candidates with one sample number for all."""
    for row, texts in enumerate(lists):
        if len(texts) > 1:
            raise InputError(
                f"{places[row]}: {len(texts)} candidates in one list, and one number ({samples[row]} in {name!r}) for "
                "all of them; give each a row of its own, or rename the column, so that they are numbered by place"
            )


def from_columns(chunk: Chunk, fields: Fields | None = None) -> Batch:
    """Return the batch of a chunk that stands for itself."""
    assembler = Assembler(fields=fields or Fields())
    return assembler.batch(chunk) if len(chunk) else Batch([], [], [], [], [], {}, {}, chunk.places)
