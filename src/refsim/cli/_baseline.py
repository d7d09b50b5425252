"""`refsim baseline fit`: text in, what unrelated texts score out; `show` such a file; `list` the published.

files  --readers.read_texts-->  lines  --metrics._baseline.fit_baseline-->  Baseline  -->  FILE, table
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from refsim._columns import json_for
from refsim._numbers import whole_number
from refsim._printable import printable
from refsim.cli._options import INPUT, MEASURE, OUTPUT, option, path_or_stdin
from refsim.cli._report import note
from refsim.errors import InputError
from refsim.output.files import check_output
from refsim.output.progress import Progress
from refsim.readers import read_texts

if TYPE_CHECKING:
    from refsim.metrics._baseline import Baseline

_COMMON = 10_000


def baseline(  # noqa: PLR0913  an option is an argument
    action: Annotated[Literal["fit", "show", "list"], Parameter(help="fit, show a file, or list the published.")],
    *texts: Annotated[str, Parameter(help="fit: files of texts, one a line; - is standard input. show: the file.")],
    format: Annotated[  # noqa: A002  what users call it
        str | None, option(INPUT, "text, tsv, csv, jsonl, parquet. Else by name and content.", "--format", "-f")
    ] = None,
    column: Annotated[str | None, option(INPUT, "The column of texts, in TSV, CSV, JSONL, Parquet.")] = None,
    model: Annotated[
        str | None, option(MEASURE, "minilm (the default), e5-small-q4, a directory, a hub's name.")
    ] = None,
    layer: Annotated[str, option(MEASURE, "A layer's number. Default: all of them.")] = "all",
    lang: Annotated[str | None, option(MEASURE, "The texts' language; list: of this language alone.")] = None,
    dtype: Annotated[Literal["float32", "float16", "bfloat16"], option(MEASURE, "The type of numbers.")] = "float32",
    device: Annotated[str, option(MEASURE, "auto, cpu, cuda, cuda:0, mps.")] = "auto",
    pairs: Annotated[int, option(MEASURE, "How many random pairs.")] = 1_000_000,
    seed: Annotated[int, option(MEASURE, "The pairs are the same for the same seed.")] = 0,
    output: Annotated[str | None, option(OUTPUT, "fit: the file to write, as mine.json.", "--output", "-o")] = None,
    json: Annotated[bool, option(OUTPUT, "Print JSON, not a table.")] = False,
) -> None:
    """Fit the mean scores of random pairs of texts, layer by layer: the 0 of rescaled scores.

    Used by: refsim score -m "bertscore(model=...,rescale=True,baseline=FILE)". Empty lines and repeats are left out.
    """
    if action == "list":
        _list(texts, lang, model, json=json)
    elif action == "show":
        _show_file(texts, json=json)
    else:
        which = _which_layer(layer)
        _check_fit(texts, output, pairs, seed)
        metric = _metric(model=model or "minilm", layer=which, lang=lang, dtype=dtype, device=device)
        # Files of text need not be equally long: one after the other.
        lines = read_texts([path_or_stdin(name) for name in texts], format=format, field=column)
        found = _fit(metric, lines, pairs, seed, every_layer=which == "auto")
        _write(str(output), found, json=json)


def _which_layer(given: str) -> int | Literal["auto"]:
    number = whole_number(given)
    if given != "all" and (number is None or number < 0):
        raise InputError(f"--layer {given}: expected a number from 0 on, or all")
    return "auto" if number is None else number


def _check_fit(texts: Sequence[str], output: str | None, pairs: int, seed: int) -> None:
    if not texts:
        raise InputError("baseline fit: expected one or more files of texts, or - for standard input")
    if output is None:
        raise InputError("baseline fit: where does it go? give -o FILE, as -o mine.json")
    check_output(output, texts, also=[Path(output).suffix.lower()])
    for name, value, least in (("pairs", pairs, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"--{name} {value}: expected a whole number from {least} on")


def _metric(**parameters: Any) -> Any:  # noqa: ANN401  a BERTScore, whose module is loaded late
    from refsim.metrics.bertscore import BERTScore  # noqa: PLC0415  a command that only fails needs no model

    return BERTScore(**parameters)


def _fit(metric: Any, lines: Sequence[str], pairs: int, seed: int, *, every_layer: bool) -> "Baseline":  # noqa: ANN401  as above
    from refsim.metrics._baseline import fit_baseline  # noqa: PLC0415  as above

    with Progress("scoring", unit="pairs") as progress:
        return fit_baseline(metric, lines, pairs=pairs, seed=seed, every_layer=every_layer, progress=progress.done_of)


def _write(output: str, found: "Baseline", *, json: bool) -> None:
    from refsim.metrics._baseline import write_baseline  # noqa: PLC0415  as above

    write_baseline(output, found)
    _print(found, output, json=json)
    if found.texts < _COMMON:
        note(
            f"{found.texts:,} different texts are few; a baseline of {_COMMON:,} or more varies less from text to text"
        )
    note(f"wrote {output}")


def _show_file(texts: Sequence[str], *, json: bool) -> None:
    from refsim.metrics._baseline import read_baseline  # noqa: PLC0415  as above

    if len(texts) != 1:
        raise InputError(f"baseline show: expected one file, not {len(texts)}")
    _print(read_baseline(texts[0]), texts[0], json=json)


def _print(found: "Baseline", path: str, *, json: bool) -> None:
    if json:
        sys.stdout.write(json_for(sys.stdout, found.record()) + "\n")
        return
    lang = f", lang {found.lang}" if found.lang else ""
    lines = [
        f"model {found.model}, weights {found.weights or 'not known'}, {found.dtype}{lang}",
        f"{found.pairs:,} pairs of {found.texts:,} texts, seed {found.seed}",
        "",
        "layer  precision  recall      F1  +-",
    ]
    for layer, (precision, recall, f1) in found.rows.items():
        error = found.errors[layer]
        told = "-" if error is None else f"{error:.5f}"
        lines.append(f"{layer:>5}  {precision:>9.4f}  {recall:>6.4f}  {f1:>6.4f}  {told}")
    only = next(iter(found.rows)) if len(found.rows) == 1 else None
    use = str(_metric(model=found.model, layer=only, dtype=found.dtype, rescale=True, baseline=path))
    lines += ["", "use it with", f"  {use}"]
    sys.stdout.write("\n".join(map(printable, lines)) + "\n")


def _list(texts: Sequence[str], lang: str | None, model: str | None, *, json: bool) -> None:
    from refsim.metrics._baseline import published_baselines  # noqa: PLC0415  as above

    if texts:
        raise InputError(f"baseline list takes no file; to see what is in one: refsim baseline show {texts[0]}")
    rows = [
        (language, name, layers)
        for language, models in published_baselines().items()
        for name, layers in models.items()
        if lang in (None, language) and model in (None, name)
    ]
    if not rows:
        raise InputError(
            f"no baseline is published for lang {lang or 'any'}, model {model or 'any'}; "
            "fit one: refsim baseline fit TEXT --model MODEL -o FILE"
        )
    if json:
        told = [dict(zip(("lang", "model", "layers"), row, strict=True)) for row in rows]
        sys.stdout.write(json_for(sys.stdout, told) + "\n")
        return
    for language, name, layers in rows:
        sys.stdout.write(f"{language:<7} layers 0 to {layers - 1:<3} {name}\n")
