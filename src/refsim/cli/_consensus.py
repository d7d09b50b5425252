"""`refsim consensus`: n-best lists in, each ranked by how far its candidates agree, the best first.

file  --readers.read-->  batches  --analysis.select-->  ranked lists  -->  table, JSON lines, or a file
"""

import json as jsonlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from refsim._atomic import replacing
from refsim._columns import Columns, json_for, json_lines
from refsim.analysis.select import Ranked, gather_lists, rank_by_consensus
from refsim.cli._options import (
    AS_CHARSIM,
    AS_COLUMNS,
    AS_INPUT,
    AS_PREPARATION,
    MEASURE,
    OUTPUT,
    CharsimOptions,
    ColumnOptions,
    InputOptions,
    PreparationOptions,
    option,
    path_or_stdin,
    pick_charsim,
    reading,
    target,
)
from refsim.cli._report import note, note_not_extracted, note_skipped
from refsim.errors import InputError
from refsim.extraction import describe_markers
from refsim.output.files import check_output, row_file
from refsim.output.progress import Progress
from refsim.readers import read
from refsim.run import find_answers

if TYPE_CHECKING:
    from refsim.segments import Batch
    from refsim.text import Preparation


def consensus(  # noqa: PLR0913  an option is an argument
    *nbest: Annotated[str, Parameter(required=True, help="Files of n-best lists; - is standard input.")],
    inputs: InputOptions = AS_INPUT,
    columns: ColumnOptions = AS_COLUMNS,
    support: Annotated[
        list[str] | None,
        option(MEASURE, "A file, or a column, of texts to agree with instead of the other candidates."),
    ] = None,
    leave_in: Annotated[bool, option(MEASURE, "Let a candidate count for itself too.")] = False,
    charsim: CharsimOptions = AS_CHARSIM,
    preparation: PreparationOptions = AS_PREPARATION,
    top: Annotated[int | None, option(OUTPUT, "Keep the best so many of each list.")] = None,
    output: Annotated[
        str | None,
        option(OUTPUT, "Write .jsonl, .tsv, .parquet, or .txt: the texts, a line each.", "--output", "-o"),
    ] = None,
    json: Annotated[bool, option(OUTPUT, "Print a line of JSON for each candidate, not a table.")] = False,
    threads: Annotated[int | None, option(OUTPUT, "Default: REFSIM_THREADS, or every core.")] = None,
) -> None:
    """Rank the candidates of each item by how far they agree (minimum Bayes risk): the best first.

    A candidate that stands alone has nothing to agree with: it is kept, with rank 1 and no score.
    """
    if top is not None and top < 1:
        raise InputError(f"--top {top}: expected a number from 1 on")
    if leave_in and support:
        raise InputError("--leave-in with --support: a candidate is no part of the support; leave one of them out")
    if output is not None:
        check_output(output, [*nbest, *(support or ())], also=[".txt"])
    metric = pick_charsim(charsim, preparation)
    arguments = reading(nbest, inputs, columns, support or ()) | {"need_references": bool(support)}
    with (
        Progress("reading") as progress,
        read(target(nbest), progress=progress.reading, **arguments) as reader,
    ):
        answers = _Answers(metric.preparation)
        lists = gather_lists(answers.looked_for(progress.counting(reader)), use_support=bool(support))
        skipped = list(reader.skipped)
    if not lists:
        note_skipped(skipped)
        raise InputError(f"{', '.join(map(path_or_stdin, nbest))}: no candidate; expected one or more")
    ranked: list[list[Ranked]] = []
    with Progress("ranking", unit="lists") as progress:
        for one in rank_by_consensus(
            lists, metric, leave_one_out=not leave_in, use_support=bool(support), threads=threads
        ):
            ranked.append(one[:top])
            progress.done_of(len(ranked), len(lists))
    _emit(ranked, str(metric), metric.signature, output=output, json=json)
    _tell(ranked, skipped, output)
    answers.tell()


class _Answers:
    """Looks at candidates as they are read: where there is no answer, and where nobody takes one out."""

    def __init__(self, preparation: "Preparation") -> None:
        self._preparation = preparation
        self._missed: list[str] = []
        self._markers: Counter[str] = Counter()
        self._rows = 0

    def looked_for(self, batches: "Iterable[Batch]") -> "Iterator[Batch]":
        """Yield the batches as they are."""
        for batch in batches:
            missed, markers = find_answers(batch, [self._preparation])
            self._missed += missed
            self._markers.update(markers)
            self._rows += len(batch)
            yield batch

    def tell(self) -> None:
        """Say on stderr what was seen."""
        note_not_extracted(self._missed)
        if self._markers:
            note(describe_markers(self._markers, self._rows))


def _emit(ranked: Sequence[Sequence[Ranked]], label: str, signature: str, *, output: str | None, json: bool) -> None:
    if output is not None and output.lower().endswith(".txt"):
        _write_texts(ranked, output)
    elif output is not None:
        with row_file(output) as rows:
            for one in ranked:
                rows.write(_columns(one, label, signature))
    if json:
        for one in ranked:
            for line in json_lines(_columns(one, label, signature)):
                sys.stdout.write(json_for(sys.stdout, jsonlib.loads(line)) + "\n")
    elif output is None:
        from refsim.output.tables import print_candidates  # noqa: PLC0415  rich takes 50 ms, and JSON needs none

        print_candidates(signature, ranked, sys.stdout)


def _columns(ranked: Sequence[Ranked], label: str, signature: str) -> Columns:
    return {
        "id": [row.id for row in ranked],
        "system": [row.system for row in ranked],
        "sample": [row.sample for row in ranked],
        "rank": [row.rank for row in ranked],
        f"{label}.consensus": [row.score for row in ranked],
        "candidate": [row.candidate for row in ranked],
        f"{label}.signature": [signature for _ in ranked],
    }


def _write_texts(ranked: Sequence[Sequence[Ranked]], output: str) -> None:
    with replacing(output) as file:
        for row in _rows(ranked):
            if "\n" in row.candidate:
                raise InputError(
                    f"{output}: id {row.id!r}, sample {row.sample} has a line break, and a line holds one text; "
                    "write .jsonl, .tsv or .parquet instead"
                )
            file.write(row.candidate.encode("utf-8", "surrogatepass") + b"\n")


def _rows(ranked: Sequence[Sequence[Ranked]]) -> Iterator[Ranked]:
    for one in ranked:
        yield from one


def _tell(ranked: Sequence[Sequence[Ranked]], skipped: Sequence[str], output: str | None) -> None:
    alone = sum(one[0].score is None for one in ranked)
    if alone:
        have = "has" if alone == 1 else "have"
        note(f"{alone:,} of {len(ranked):,} items {have} one candidate: kept, without a score")
    note_skipped(skipped)
    if output is not None:
        note(f"wrote {output}")
