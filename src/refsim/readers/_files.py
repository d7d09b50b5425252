"""Files -> batches: plain text in step, tables one after the other; opened here, and closed whatever happens."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, cast

from refsim.errors import InputError
from refsim.readers import _join
from refsim.readers._detect import detect
from refsim.readers._lines import batched, lines
from refsim.readers._open import Input, labels
from refsim.readers._tables import chunks
from refsim.readers._text import parallel
from refsim.segments import Batch, Chunk, Keys, as_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.readers._job import Job
    from refsim.readers._open import Target
    from refsim.readers._text import Run


def from_files(targets: list[Target], job: Job, skipped: list[str]) -> Iterator[Batch]:
    """Yield the batches of files, one a system unless their rows name it."""
    with ExitStack() as opened:
        sources = [_opened(target, opened) for target in targets]
        kinds = [job.format or detect(one) for one in sources]
        names = _names(sources, job)
        if "text" in kinds:
            _check_all_text(sources, kinds)
            made = _text(dict(zip(names, sources, strict=True)), job, opened)
        else:
            made = _tables(sources, kinds, names, job, skipped)
        known = [one.size for one in sources if one.size is not None]
        total = sum(known) if len(known) == len(sources) else None
        for batch in made:
            yield batch
            if job.progress:
                job.progress(sum(one.done for one in sources), total)


def _opened(target: Target, opened: ExitStack) -> Input:
    source = Input(target)
    opened.callback(source.close)
    return source


def _check_all_text(sources: list[Input], kinds: list[str]) -> None:
    for source, kind in zip(sources, kinds, strict=True):
        if kind != "text":
            text = sources[kinds.index("text")].name
            raise InputError(f"{text} is plain text, {source.name} is {kind}; if both are one, say which with --format")


def _names(sources: list[Input], job: Job) -> Sequence[str]:
    if job.systems is None:
        return labels(sources)
    names = as_list(job.systems)
    if names is None or len(names) != len(sources) or not all(isinstance(name, str) for name in names):
        raise InputError(f"systems={job.systems!r}; one name for each of {len(sources)} files is expected")
    if len(set(names)) < len(names):
        raise InputError(f"systems={names!r}; each name once is expected")
    return cast("list[str]", names)


def _text(systems: dict[str, Input], job: Job, opened: ExitStack) -> Iterator[Batch]:
    if job.on is not None:
        raise InputError(f"on={job.on!r}: plain text has no fields to join on; line n goes with line n")
    if job.need_references and not job.references:
        raise InputError(f"{next(iter(systems.values())).name} is plain text; give files of references (--references)")
    references: dict[str, Iterator[Run]] = {}
    for target in job.references:
        one = _opened(target, opened)
        kind = job.reference_format or detect(one)
        # The same file may be given twice; each time its lines count as references.
        name = one.name if one.name not in references else f"{one.name} (again, number {len(references) + 1})"
        if kind in ("text", "moses"):
            references[name] = batched(lines(one), job.batch_size)
        else:
            rows = _join.rows_of(one, kind, job.reference_field, header=job.header)
            references[name] = _in_runs(rows, job.batch_size)
    return parallel(systems, references, job.batch_size, job.num_candidates or 1)


def _in_runs(rows: Iterator[tuple[Chunk, list[list[str]]]], size: int) -> Iterator[list[list[str]]]:
    lists = chain.from_iterable(texts for _, texts in rows)
    while run := list(islice(lists, size)):
        yield run


def _tables(
    sources: list[Input], kinds: list[str], names: Sequence[str], job: Job, skipped: list[str]
) -> Iterator[Batch]:
    if job.num_candidates is not None:
        raise InputError(f"num_candidates={job.num_candidates} is for plain text; {sources[0].name} is {kinds[0]}")
    keys, lookup = Keys(), job.lookup()
    for source, kind, name in zip(sources, kinds, names, strict=True):
        if isinstance(lookup, _join.ByLine):
            lookup.numbered, lookup.used = kind == "moses", 0
        assembler = job.assembler(lookup, keys, skipped, name, moses=kind == "moses")
        for chunk in chunks(source, kind, job.batch_size, job.fields, header=job.header):
            yield from job.batches(assembler, chunk)
        if isinstance(lookup, _join.ByLine):
            lookup.check_all_used(source.name)
