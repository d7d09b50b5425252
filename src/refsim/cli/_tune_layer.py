"""`refsim tune-layer`: human scores in, each layer's agreement with them out, the best marked.

files  --readers.read-->  rows with a human score  --score_layers-->  PRF (L + 1, S)  --analysis.layers-->  table, SVG
"""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from refsim._columns import json_for
from refsim.analysis.layers import STATISTICS, Statistic, Tuning, tune
from refsim.cli._options import (
    AS_COLUMNS,
    AS_INPUT,
    INPUT,
    MEASURE,
    OUTPUT,
    ColumnOptions,
    InputOptions,
    option,
    path_or_stdin,
    reading,
    target,
)
from refsim.cli._report import note, note_notices, note_skipped
from refsim.errors import InputError
from refsim.output.files import check_output
from refsim.output.progress import Progress
from refsim.readers import read
from refsim.segments import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from refsim.metrics.bertscore import BERTScore

# So few that a bar moves, so many that texts of like lengths find each other.
_ROWS = 256
_LISTED = "text-truncated|lone-surrogate|script-uncovered|idf-weightless"


def tune_layer(  # noqa: PLR0913  an option is an argument
    *data: Annotated[
        str, Parameter(required=True, help="Files with candidates and human scores; - is standard input.")
    ],
    references: Annotated[
        list[str] | None,
        option(INPUT, "A file of references, or the column that holds them. May be repeated.", "--references", "-r"),
    ] = None,
    inputs: InputOptions = AS_INPUT,
    columns: ColumnOptions = AS_COLUMNS,
    by: Annotated[
        str | None, option(INPUT, "A column of groups, as language pairs: correlate in each, then average.")
    ] = None,
    model: Annotated[str, option(MEASURE, "minilm, e5-small-q4, a directory, a hub's name.")] = "minilm",
    lang: Annotated[str | None, option(MEASURE, "The language, for --model published.", "--model-lang")] = None,
    idf: Annotated[bool, option(MEASURE, "Weigh pieces by how few of the references hold them.")] = False,
    dtype: Annotated[Literal["float32", "float16", "bfloat16"], option(MEASURE, "The type of numbers.")] = "float32",
    device: Annotated[str, option(MEASURE, "auto, cpu, cuda, cuda:0, mps.")] = "auto",
    statistic: Annotated[Statistic, option(OUTPUT, "By which the best is chosen.")] = "pearson",
    json: Annotated[bool, option(OUTPUT, "Print JSON, not a table.")] = False,
    plot: Annotated[str | None, option(OUTPUT, "Write the curves to FILE.svg.")] = None,
) -> None:
    """Find the layer of a model whose BERTScore agrees best with people.

    Rows without a human score are left out. The scores are not rescaled, which would change no correlation of F1 much
    and none of precision and recall at all.
    """
    from refsim.metrics.bertscore import BERTScore  # noqa: PLC0415  a command that only fails needs no model

    if plot is not None:
        _check_plot(plot, [*data, *(references or ())])
    metric = BERTScore(
        model=model, layer="auto", lang=lang, idf="references" if idf else None, dtype=dtype, device=device
    )
    arguments = reading(data, inputs, columns, references or ())
    with Progress("reading") as progress, read(target(data), progress=progress.reading, **arguments) as reader:
        batches = list(progress.counting(reader))
        skipped = list(reader.skipped)
    rows = _judged(batches, data, columns.human or "human")
    groups = None if by is None else [str(value) for value in rows.column(by)]
    if idf:
        metric = metric.with_corpus(text for row in rows.references for text in row)
    tuning = tune(_score(metric, rows), rows.column("human"), groups, statistic)
    best = replace(metric, layer=tuning.best.layer)
    _show(tuning, rows, by, best, json=json)
    if plot is not None:
        from refsim.output.layers import write_chart  # noqa: PLC0415  as the table

        write_chart(plot, tuning, f"{model}: {len(rows):,} rows")
        note(f"wrote {plot}")
    _tell(metric, rows, sum(map(len, batches)), tuning, skipped)


def _check_plot(plot: str, inputs: Sequence[str]) -> None:
    """Raise for a name that is no SVG file, or without what draws one, before the work begins."""
    from refsim.output.layers import load_converter  # noqa: PLC0415  as above

    if not plot.lower().endswith(".svg"):
        raise InputError(f"--plot {plot}: expected a name that ends in .svg")
    check_output(plot, inputs, also=[".svg"])
    load_converter()


def _judged(batches: Sequence[Batch], data: Sequence[str], column: str) -> Batch:
    """Return the rows with a human score as one batch."""
    names = ", ".join(map(path_or_stdin, data))
    if not batches:
        raise InputError(f"{names}: no row; expected rows with candidates, references and human scores")
    whole = Batch.concat(batches)
    judged = [place for place, score in enumerate(whole.column("human")) if score is not None]
    if not judged:
        raise InputError(
            f"{names}: no row has a human score, looked for in column {column!r}; name the column with --human"
        )
    return whole.take(judged)


def _score(metric: "BERTScore", rows: Batch) -> "list[NDArray[np.float64]]":
    """Return precision, recall and F1, each (L + 1, S)."""
    import numpy as np  # noqa: PLC0415  with the metric

    parts = []
    with Progress("scoring") as progress, warnings.catch_warnings():
        # Such rows are listed at the end.
        warnings.filterwarnings("ignore", _LISTED)
        for start in range(0, len(rows), _ROWS):
            part = rows.slice(start, start + _ROWS)
            parts.append(metric.score_layers(part.candidates, part.references))
            progress.done_of(start + len(part), len(rows))
    return [np.concatenate(values, axis=1) for values in zip(*parts, strict=True)]


def _show(tuning: Tuning, rows: Batch, by: str | None, best: "BERTScore", *, json: bool) -> None:
    if json:
        sys.stdout.write(json_for(sys.stdout, _record(tuning, rows, by, best)) + "\n")
        return
    from refsim.output.layers import print_layers  # noqa: PLC0415  rich takes 50 ms, and JSON needs none

    about = f"agreement of BERTScore with people, {len(rows):,} rows"
    if by is not None:
        about += f", mean over {len(tuning.groups)} groups ({by})"
    print_layers(tuning, [best.signature, about], str(best), sys.stdout)


def _record(tuning: Tuning, rows: Batch, by: str | None, best: "BERTScore") -> dict[str, Any]:
    return {
        "rows": len(rows),
        "by": by,
        "statistic": tuning.statistic,
        "statistics": list(STATISTICS),
        "layers": [row.record() for row in tuning.rows],
        "groups": [group.record() for group in tuning.groups],
        "left_out": tuning.left_out,
        "best": tuning.best.record(),
        "use": str(best),
        "signature": best.signature,
    }


def _tell(metric: "BERTScore", rows: Batch, read_rows: int, tuning: Tuning, skipped: Sequence[str]) -> None:
    if without := read_rows - len(rows):
        note(f"{without:,} of {read_rows:,} rows have no human score, and are left out")
    for name, reason in tuning.left_out.items():
        note(f"group {name!r} is left out: {reason}")
    note_skipped(skipped)
    note_notices({"truncated": [rows.place(i) for i in metric.too_long(rows)]})
