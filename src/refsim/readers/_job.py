"""Job: what `read` was asked for; and what files and rows in memory do alike with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from refsim.errors import InputError
from refsim.readers import _join
from refsim.readers._presets import Preset
from refsim.segments import Assembler, Batch, Chunk, Fields, Keys, Lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from refsim.readers._open import Target

    Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What `read` was asked for, with the preset's own wishes filled in."""

    references: Sequence[Target]
    format: str | None
    reference_format: str | None
    fields: Fields
    reference_field: str | None
    on: str | None
    num_candidates: int | None
    samples: bool
    systems: Sequence[str] | None
    header: bool
    on_missing: Literal["error", "skip"]
    need_references: bool
    batch_size: int
    progress: Progress | None
    preset: Preset = field(default_factory=Preset)
    keep_target: bool = False

    def assembler(
        self, lookup: Lookup | None, keys: Keys, skipped: list[str], system: str, *, moses: bool
    ) -> Assembler:
        """Return what makes batches of the chunks of one file."""
        return Assembler(
            fields=self.fields,
            system=system,
            lookup=lookup,
            need_references=self.need_references,
            samples=self.samples or moses,
            on_missing=self.on_missing,
            keys=keys,
            skipped=skipped,
        )

    def lookup(self) -> _join.ByKey | _join.ByLine | None:
        """Read the files of references, if rows take theirs from files."""
        if not self.references:
            return None
        if self.fields.references is not None and not self.preset.fields.references:
            raise InputError(
                f"references are both a field ({self.fields.references!r}) and a file; name a field of the file with "
                "reference_field (--reference-field)"
            )
        names = ", ".join(str(getattr(one, "name", one)) for one in self.references)
        form, name = self.reference_format, self.reference_field
        if self.on is None:
            return _join.ByLine(_join.read_lists(self.references, format=form, field=name, header=self.header), names)
        left, _, right = self.on.partition("=")
        table = _join.read_references(self.references, on=right or left, format=form, field=name, header=self.header)
        return _join.ByKey(table, names, left)

    def batches(self, assembler: Assembler, chunk: Chunk) -> Iterator[Batch]:
        """Yield the batches of a chunk; n-best rows give many times as many rows."""
        changed = self.preset.change(chunk, assembler.system, self.keep_target) if self.preset.change else chunk
        yield from self.pieces(assembler.batch(changed))

    def pieces(self, batch: Batch) -> Iterator[Batch]:
        """Yield a batch in pieces of at most the size asked for."""
        if len(batch) <= self.batch_size:
            yield batch
            return
        for start in range(0, len(batch), self.batch_size):
            yield batch.slice(start, start + self.batch_size)
