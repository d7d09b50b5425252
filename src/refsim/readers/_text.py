"""Plain text -> batches or chunks.

    parallel   line n of each candidate file goes with line n of each reference file
    flat       N candidate lines for each reference line (`num_candidates`)
    moses      id ||| text ||| features ||| score

Several systems are read in step: the rows of one line stand together, so the references they share are compiled
once, and no file is held in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.readers._lines import batched, lines
from refsim.segments import MISSING, Batch, Chunk, Places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.readers._open import Input

    Run = list[str] | list[list[str]]


def parallel(
    systems: dict[str, Input], references: dict[str, Iterator[Run]], size: int, each: int = 1
) -> Iterator[Batch]:
    """Yield batches of text files in step, `size` lines of references at a time.

    `references` are runs of `size` texts, or lists of texts, by name of file; `each` candidates go with one of them.
    """
    names = [*(one.name for one in systems.values()), *references]
    candidates: list[Iterator[Run]] = [batched(lines(one), size * each) for one in systems.values()]
    streams = [*candidates, *references.values()]
    share = [each] * len(candidates) + [1] * len(references)
    counts = [0] * len(streams)
    while True:
        runs = [next(stream, []) for stream in streams]
        counts = [count + len(run) for count, run in zip(counts, runs, strict=True)]
        if len({len(run) / of for run, of in zip(runs, share, strict=True)}) > 1 or len(runs[0]) % each:
            counts = [count + sum(map(len, stream)) for count, stream in zip(counts, streams, strict=True)]
            _raise_lengths(names, counts, share)
        if not runs[0]:
            return
        texts: list[list[str]] = runs[: len(candidates)]  # type: ignore[assignment]  # candidates are lines
        first = counts[0] // each - len(runs[0]) // each
        yield _in_step(systems, texts, _merged(runs[len(candidates) :], len(runs[0]) // each), first, each)


def _merged(runs: Sequence[Run], count: int) -> list[list[str]]:
    """Return the references of each line, from all files."""
    made: list[list[str]] = [[] for _ in range(count)]
    for run in runs:
        for texts, more in zip(made, run, strict=True):
            texts.extend([more] if isinstance(more, str) else more)
    return made


def _in_step(
    systems: dict[str, Input], texts: list[list[str]], references: list[list[str]], first: int, each: int
) -> Batch:
    """Return the rows of some lines, line by line, for each line system by system."""
    lines_ = range(len(references))
    order = [(line, system, sample) for line in lines_ for system in range(len(texts)) for sample in range(each)]
    labels, files = list(systems), [one.name for one in systems.values()]
    numbers = [(first + line) * each + sample + 1 for line, _, sample in order]
    return Batch(
        texts[0] if len(texts) == 1 else [texts[system][line * each + sample] for line, system, sample in order],
        [references[line] for line, _, _ in order],
        [str(first + line + 1) for line, _, _ in order],
        [labels[system] for _, system, _ in order],
        [sample for _, _, sample in order],
        {},
        {},
        Places(files[0], numbers)
        if len(files) == 1
        else [f"{files[system]}:{number}" for (_, system, _), number in zip(order, numbers, strict=True)],
    )


def _raise_lengths(names: Sequence[str], counts: Sequence[int], share: Sequence[int]) -> None:
    """Raise with the first file and one that does not go with it, and their numbers of lines."""
    for name, count, of in zip(names[1:], counts[1:], share[1:], strict=True):
        if count * share[0] != counts[0] * of:
            each = f", and {share[0]} candidates go with each line of it" if of != share[0] else ""
            raise InputError(f"{names[0]} has {counts[0]} lines, {name} {count}{each}; line n goes with line n")
    raise InputError(f"{names[0]} has {counts[0]} lines, which are no whole number of lists of {share[0]} candidates")


def moses(source: Input, size: int) -> Iterator[Chunk]:
    """Yield the chunks of a Moses n-best list. Spaces around a text are the format's: Moses writes `text  |||`."""
    done = 0
    for run in batched(lines(source), size):
        rows = range(done, done + len(run))
        places = Places(source.name, range(rows.start + 1, rows.stop + 1))
        columns: dict[str, list[object]] = {name: [] for name in ("id", "candidate", "features", "score")}
        for row, line in enumerate(run):
            cells: list[object] = [cell.strip(" ") for cell in line.split("|||", 3)]
            if len(cells) == 1:
                raise InputError(f"{places[row]}: no '|||'; 'id ||| text ||| ...' is expected")
            cells += [MISSING] * (len(columns) - len(cells))
            for column, cell in zip(columns.values(), cells, strict=True):
                column.append(cell)
        done = rows.stop
        yield Chunk(dict(columns), places, rows)
