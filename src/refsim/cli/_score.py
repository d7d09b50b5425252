"""`refsim score`: candidates and references in, a table of systems out, and a file of every segment if asked for.

files  --readers.read-->  batches  --run.stream-->  scores  --Tally-->  table, or JSON
                                                      +-->  --per-segment FILE
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Parameter

from refsim._columns import json_text
from refsim.cli._options import (
    AS_CHARSIM,
    AS_COLUMNS,
    AS_INPUT,
    AS_PREPARATION,
    INPUT,
    MEASURE,
    OUTPUT,
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
from refsim.cli._report import note, note_skipped
from refsim.compiled import open_compiled
from refsim.errors import InputError
from refsim.metric import Metric
from refsim.output.files import check_output, row_file
from refsim.output.progress import Progress
from refsim.readers import read
from refsim.results import Systems
from refsim.run import Tally, stream


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
    compiled: Annotated[str | None, option(MEASURE, "Score against what refsim compile wrote there.")] = None,
    preparation: PreparationOptions = AS_PREPARATION,
    per_segment: Annotated[
        str | None, option(OUTPUT, "Write each row with its scores: .jsonl, .tsv or .parquet.")
    ] = None,
    json: Annotated[bool, option(OUTPUT, "Print JSON instead of the table.")] = False,
    no_ceiling: Annotated[bool, option(OUTPUT, "Leave out what references score among themselves.")] = False,
    threads: Annotated[int | None, option(OUTPUT, "Default: REFSIM_THREADS, or every core.")] = None,
) -> None:
    """Score candidates against references: a table with a row for each system, the best first."""
    if per_segment is not None:
        check_output(per_segment, [*candidates, *(references or ())])
    metrics: Sequence[Metric]
    if compiled is None:
        metrics = list(pick_metrics(metric or (), charsim, preparation).values())
        arguments = reading(candidates, inputs, columns, references or ())
    else:
        _refuse_beside_compiled(references, metric, settings(charsim, preparation))
        # A batch has no column of the user's name for what it took as the id, say; it has a group.
        against = open_compiled(compiled, on=inputs.on, column="group")
        metrics = [against]
        columns = _with_key(columns, against.on)
        arguments = reading(candidates, replace(inputs, on=None), columns, ()) | {"need_references": False}
    systems, skipped = _run(candidates, arguments, metrics, per_segment, threads=threads, ceilings=not no_ceiling)
    _show(systems, skipped, json=json)
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
    *,
    threads: int | None,
    ceilings: bool,
) -> tuple[Systems, Sequence[str]]:
    """Score batch by batch, writing rows as they come; return the systems and the rows left out."""
    tally = Tally()
    with (
        row_file(per_segment) if per_segment is not None else nullcontext() as rows,
        Progress("scoring") as progress,
        read(target(candidates), progress=progress.reading, **arguments) as reader,
    ):
        for part in stream(reader, metrics, threads=threads, ceilings=ceilings):
            tally.add(part)
            if rows is not None:
                rows.write(part.columns())
            progress.advance(len(part))
        skipped = list(reader.skipped)
        if not reader.rows:
            note_skipped(skipped)
            raise InputError(f"{', '.join(map(path_or_stdin, candidates))}: no row to score; expected one or more")
    return tally.systems(), skipped


def _show(systems: Systems, skipped: Sequence[str], *, json: bool) -> None:
    if json:
        records = [row.record() for row in systems]
        sys.stdout.write(json_text({"systems": records, "skipped": {"count": len(skipped), "rows": skipped}}) + "\n")
    else:
        from refsim.output.tables import print_systems  # noqa: PLC0415  rich takes 50 ms, and JSON needs none

        print_systems(systems, sys.stdout)
    note_skipped(skipped)
