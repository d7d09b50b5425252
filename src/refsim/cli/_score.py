"""`refsim score`: candidates and references in, a table of systems out, and a file of every segment if asked for.

files  --readers.read-->  batches  --run.stream-->  scores  --Tally-->  table, or JSON
                                                      +-->  --per-segment FILE
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from refsim._columns import json_for
from refsim.analysis.worst import Worst, WorstRow
from refsim.cli import STDIN
from refsim.cli._options import (
    AS_BERTSCORE,
    AS_CHARSIM,
    AS_COLUMNS,
    AS_INPUT,
    AS_PREPARATION,
    INPUT,
    MEASURE,
    OUTPUT,
    BERTScoreOptions,
    CharsimOptions,
    ColumnOptions,
    InputOptions,
    PreparationOptions,
    option,
    path_or_stdin,
    pick_metrics,
    reading,
    settings,
    target,
)
from refsim.cli._report import note, note_not_extracted, note_notices, note_skipped
from refsim.compiled import open_compiled
from refsim.errors import InputError
from refsim.extraction import describe_markers
from refsim.metric import Metric
from refsim.metrics import make_metrics
from refsim.metrics._encoder import watched
from refsim.output.files import check_output, row_file
from refsim.output.progress import Progress
from refsim.readers import Reader, read
from refsim.results import Systems
from refsim.run import Tally, needs_corpus, stream, with_corpus


@dataclass(frozen=True)
class Told:
    """What a run has to tell: systems, rows left out, rows without an answer, and the lowest if they were asked for."""

    systems: Systems
    skipped: Sequence[str]
    tally: Tally
    rows: int
    worst: Sequence[WorstRow] | None

    def record(self) -> dict[str, Any]:
        """Return it as a dictionary for JSON."""
        found: dict[str, Any] = {"systems": [row.record() for row in self.systems]}
        for name, rows in (
            ("skipped", self.skipped),
            ("not_extracted", self.tally.not_extracted),
            *({"truncated": []} | self.tally.notices).items(),
        ):
            found[name] = {"count": len(rows), "rows": list(rows)}
        return found if self.worst is None else found | {"worst": [row.record() for row in self.worst]}


def score(  # noqa: PLR0913  an option is an argument
    *candidates: Annotated[str, Parameter(required=True, help="Files, one for each system; - is standard input.")],
    references: Annotated[
        list[str] | None,
        option(INPUT, "A file of references, or the column that holds them. May be repeated.", "--references", "-r"),
    ] = None,
    inputs: InputOptions = AS_INPUT,
    columns: ColumnOptions = AS_COLUMNS,
    metric: Annotated[
        list[str] | None, option(MEASURE, 'Default: charsim. Or "charsim(form=base)"; repeatable.', "--metric", "-m")
    ] = None,
    charsim: CharsimOptions = AS_CHARSIM,
    bertscore: BERTScoreOptions = AS_BERTSCORE,
    compiled: Annotated[str | None, option(MEASURE, "Score against what refsim compile wrote there.")] = None,
    preparation: PreparationOptions = AS_PREPARATION,
    per_segment: Annotated[
        str | None, option(OUTPUT, "Write each row with its scores: .jsonl, .tsv or .parquet.")
    ] = None,
    json: Annotated[bool, option(OUTPUT, "Print JSON instead of the table.")] = False,
    worst: Annotated[int | None, option(OUTPUT, "Print so many rows with the lowest scores, and why.")] = None,
    language: Annotated[Literal["en", "ja"], option(OUTPUT, "The language of --worst: en or ja.")] = "en",
    no_ceiling: Annotated[bool, option(OUTPUT, "Leave out what references score among themselves.")] = False,
    threads: Annotated[int | None, option(OUTPUT, "Default: REFSIM_THREADS, or every core.")] = None,
) -> None:
    """Score candidates against references: a table with a row for each system, the best first."""
    if per_segment is not None:
        check_output(per_segment, [*candidates, *(references or ())])
    metrics: Sequence[Metric]
    if compiled is None:
        metrics = list(pick_metrics(metric or (), charsim, bertscore, preparation).values())
        arguments = reading(candidates, inputs, columns, references or ())
    else:
        _refuse_beside_compiled(references, metric, settings(charsim, bertscore, preparation))
        # A batch has no column of the user's name for what it took as the id, say; it has a group.
        against = open_compiled(compiled, on=inputs.on, column="group")
        metrics = [against]
        columns = _with_key(columns, against.on)
        arguments = reading(candidates, replace(inputs, on=None), columns, ()) | {"need_references": False}
    if worst is not None and worst < 1:
        raise InputError(f"--worst {worst}: expected a whole number from 1 on")
    lowest = None if worst is None else Worst(worst, language)
    told = _run(candidates, arguments, metrics, per_segment, lowest, threads=threads, ceilings=not no_ceiling)
    _show(told, json=json)
    if per_segment is not None:
        note(f"wrote {per_segment}")


def _refuse_beside_compiled(
    references: Sequence[str] | None, metric: Sequence[str] | None, given: Mapping[str, object]
) -> None:
    named = [f"--{name.replace('_', '-')}" for name in given]
    named += ["--references"] * bool(references) + ["--metric"] * bool(metric)
    if named:
        raise InputError(
            f"{', '.join(named)} with --compiled: the compiled set has its references, metric and preparation; "
            "leave the option out, or compile the references again with it"
        )


def _with_key(columns: ColumnOptions, on: str | None) -> ColumnOptions:
    if on is None or columns.group == on:
        return columns
    if columns.group is not None:
        raise InputError(f"--group {columns.group}: the sets are found by {on}, which is the group then; leave it out")
    return replace(columns, group=on)


def _run(  # noqa: PLR0913  as above
    candidates: Sequence[str],
    arguments: Mapping[str, Any],
    metrics: Sequence[Metric],
    per_segment: str | None,
    worst: Worst | None,
    *,
    threads: int | None,
    ceilings: bool,
) -> Told:
    """Score batch by batch, writing rows as they come; return what there is to tell."""
    tally = Tally()
    with row_file(per_segment) if per_segment is not None else nullcontext() as rows, Progress("scoring") as progress:
        seen, reader = _open(metrics, candidates, arguments, progress)
        with reader, watched(progress.tokens):
            for part in stream(reader, seen, threads=threads, ceilings=ceilings):
                tally.add(part)
                if worst is not None:
                    worst.add(part)
                if rows is not None:
                    rows.write(part.columns())
                progress.advance(len(part))
            skipped = list(reader.skipped)
            if not reader.rows:
                note_skipped(skipped)
                raise InputError(f"{', '.join(map(path_or_stdin, candidates))}: no row to score; expected one or more")
            read_rows = reader.rows
    return Told(tally.systems(), skipped, tally, read_rows, None if worst is None else worst.rows())


def _open(
    metrics: Sequence[Metric], candidates: Sequence[str], arguments: Mapping[str, Any], progress: Progress
) -> tuple[Sequence[Metric], Reader]:
    """Return the metrics, which have seen all references if they must, and the rows to score.

    Files are read twice then; standard input, which can be read once, is kept.
    """
    reader = read(target(candidates), progress=progress.reading, **arguments)
    labelled = make_metrics(metrics)
    if not needs_corpus(labelled.values()):
        return metrics, reader
    once = STDIN in candidates or "-" in (arguments["references"] or ())
    with reader:
        batches = list(reader) if once else reader
        seen = list(with_corpus(labelled, batches).values())
    if not once:
        return seen, read(target(candidates), progress=progress.reading, **arguments)
    again = Reader(lambda _: iter(batches))
    again.skipped = reader.skipped
    return seen, again


def _show(told: Told, *, json: bool) -> None:
    if json:
        sys.stdout.write(json_for(sys.stdout, told.record()) + "\n")
    else:
        from refsim.output.tables import print_systems, print_worst  # noqa: PLC0415  rich takes 50 ms, and JSON needs none

        print_systems(told.systems, sys.stdout)
        if told.worst:
            print_worst(told.worst, sys.stdout)
    note_skipped(told.skipped)
    note_not_extracted(told.tally.not_extracted)
    note_notices(told.tally.notices)
    if told.tally.markers:
        note(describe_markers(told.tally.markers, told.rows))
