"""`refsim compile`: the work on references done once, and saved for `refsim score --compiled`.

file  --readers.read_texts------->  one list     --compile-->  DIR: one compiled set
      --readers.read_references-->  lists by key --compile-->  DIR: a set for each key
"""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from refsim.cli._options import (
    AS_BERTSCORE,
    AS_CHARSIM,
    AS_PREPARATION,
    INPUT,
    MEASURE,
    OUTPUT,
    BERTScoreOptions,
    CharsimOptions,
    PreparationOptions,
    option,
    path_or_stdin,
    pick_metrics,
)
from refsim.cli._report import note
from refsim.compiled import save_set, save_sets
from refsim.errors import InputError
from refsim.output.progress import Progress
from refsim.readers import read_references, read_texts


def compile(  # noqa: A001, PLR0913  the command's name; an option is an argument
    *references: Annotated[str, Parameter(required=True, help="Files of references: of text, a line is one.")],
    output: Annotated[str, option(OUTPUT, "The directory to write.", "--output", "-o")],
    format: Annotated[  # noqa: A002  the option's name
        str | None, option(INPUT, "text, tsv, csv, jsonl, json, parquet.", "--format", "-f")
    ] = None,
    field: Annotated[str | None, option(INPUT, "The column of text: a name or dotted selector.")] = None,
    on: Annotated[str | None, option(INPUT, "Compile a set for each value of this column.")] = None,
    no_header: Annotated[bool, option(INPUT, "TSV, CSV: the first line is a row; columns go by number.")] = False,
    metric: Annotated[str, option(MEASURE, "What to compile for: charsim, bertscore.", "--metric", "-m")] = "charsim",
    charsim: CharsimOptions = AS_CHARSIM,
    bertscore: BERTScoreOptions = AS_BERTSCORE,
    preparation: PreparationOptions = AS_PREPARATION,
) -> None:
    """Compile references once; refsim score --compiled DIR then scores against them.

    With --on, references.parquet becomes a set for each question, and refsim score --compiled DIR --on question_id
    finds the set of each row. Form and preparation are those of the set.
    """
    made: Any
    (made,) = pick_metrics([metric], charsim, bertscore, preparation).values()
    if not hasattr(made, "compile"):
        raise InputError(f"--metric {metric}: it compiles no references; expected charsim or bertscore")
    paths = [path_or_stdin(name) for name in references]
    if on is None:
        texts = read_texts(paths, format=format, field=field, header=not no_header)
        _warn_of(made, texts)
        save_set(made, texts, output)
        note(f"compiled {len(texts):,} references to {output}: {made.signature}")
        return
    lists = read_references(paths, on=on, format=format, field=field, header=not no_header)
    _warn_of(made, [text for texts in lists.values() for text in texts])
    with Progress("compiling", unit="sets") as progress:
        save_sets(lists, output, made, on=on, done=progress.done_of)
    count = sum(map(len, lists.values()))
    note(f"compiled {count:,} references in {len(lists):,} sets to {output}: {made.signature}")


def _warn_of(metric: Any, texts: Sequence[str]) -> None:  # noqa: ANN401  a metric; not all have models
    """Say once what there is to say of all references, not set by set."""
    if hasattr(metric, "warn_of"):
        metric.warn_of(texts, texts)
