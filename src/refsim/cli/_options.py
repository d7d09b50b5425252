"""The options that commands share, in groups, and what they become: arguments for readers and metrics.

Input        -->  readers.read(...)
Measure      -->  {"charsim(form=base)": Charsim(form="base")}
References that are a file or a column: `split_references` decides, and asks where both would do.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from refsim.cli import STDIN
from refsim.errors import InputError
from refsim.metrics import make_metrics, metric_has_unit, metric_name, metric_parameters, parse_metric

if TYPE_CHECKING:
    from refsim.metric import Metric

INPUT = Group("Input", sort_key=1)
COLUMNS = Group("Columns, by name or dotted selector", sort_key=2)
MEASURE = Group("Metric", sort_key=3)
PREPARATION = Group("Preparation of candidates and references", sort_key=4)
OUTPUT = Group("Output", sort_key=5)

_COLUMN = "column:"
_TABLES = frozenset({".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet"})
_TEXTS = frozenset({".txt", ".text", ".hyp", ".ref", ".nbest"})
_COMPRESSED = frozenset({".gz", ".bz2", ".xz", ".zst"})

Form = Literal["main", "base", "median"]


def option(group: Group, text: str, *names: str) -> Parameter:
    """Return what cyclopts must know of an option: its group, its line of help, its names if not the parameter's."""
    return Parameter(name=names or None, group=group, help=text, negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Which columns of TSV, CSV, JSONL and Parquet hold what."""

    candidate: Annotated[str | None, option(COLUMNS, "The text to score, as in filtered_resps.0.")] = None
    id: Annotated[str | None, option(COLUMNS, "The item, the same for all systems.")] = None
    system: Annotated[str | None, option(COLUMNS, "Who wrote the candidate.")] = None
    sample: Annotated[str | None, option(COLUMNS, "Which of several outputs of a system.")] = None
    source: Annotated[str | None, option(COLUMNS, "What the system was given.")] = None
    group: Annotated[str | None, option(COLUMNS, "What belongs together: document, question.")] = None
    human: Annotated[str | None, option(COLUMNS, "A score given by people.")] = None
    lang: Annotated[str | None, option(COLUMNS, "The language.")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How files become rows."""

    format: Annotated[
        str | None,
        option(
            INPUT,
            "text, moses, tsv, csv, jsonl, json, parquet, pfgen, lm-eval, comet-json. Else by name and content.",
            "--format",
            "-f",
        ),
    ] = None
    on: Annotated[
        str | None, option(INPUT, "The column by which rows find their references; left=right if names differ.")
    ] = None
    reference_format: Annotated[str | None, option(INPUT, "The format of the references file.")] = None
    reference_field: Annotated[str | None, option(INPUT, "The column of text in the references file.")] = None
    num_candidates: Annotated[int | None, option(INPUT, "Text: so many candidate lines for each reference.")] = None
    samples: Annotated[bool, option(INPUT, "Number rows of the same item and system; else they are an error.")] = False
    name: Annotated[
        list[str] | None, option(INPUT, "A system's name, once for each file. Default: the file's name.", "--name")
    ] = None
    no_header: Annotated[bool, option(INPUT, "TSV, CSV: the first line is a row; columns go by number.")] = False
    on_missing: Annotated[
        Literal["error", "skip"], option(INPUT, "What a null text does: error, or skip, which lists such rows.")
    ] = "error"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PreparationOptions:
    """What is done to texts before characters are counted: refsim.Preparation, by default nothing."""

    extract: Annotated[
        list[str] | None,
        option(
            PREPARATION,
            "Take the answer out of the candidate: after:MARK, until:MARK, line:PREFIX, regex:PATTERN. Repeatable.",
        ),
    ] = None
    no_extract: Annotated[
        Literal["keep", "empty", "error"] | None,
        option(PREPARATION, "What a candidate without such an answer becomes."),
    ] = None
    unicode: Annotated[Literal["NFC", "NFD", "NFKC", "NFKD"] | None, option(PREPARATION, "Unicode form.")] = None
    casefold: Annotated[bool | None, option(PREPARATION, "Make upper and lower case the same.")] = None
    whitespace: Annotated[
        Literal["keep", "strip", "collapse", "remove"] | None, option(PREPARATION, "What becomes of white space.")
    ] = None
    unit: Annotated[Literal["codepoint", "grapheme"] | None, option(PREPARATION, "What counts as a character.")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CharsimOptions:
    """The parameters of charsim as options of their own."""

    form: Annotated[Form | None, option(MEASURE, "charsim's average over references.")] = None
    max_order: Annotated[int | None, option(MEASURE, "charsim up to this order, not every order.")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BERTScoreOptions:
    """The parameters of BERTScore as options of their own."""

    model: Annotated[
        str | None, option(MEASURE, "bertscore's model: minilm, e5-small-q4, a directory, a hub's name.")
    ] = None
    layer: Annotated[
        int | Literal["auto"] | None,
        option(MEASURE, "bertscore's layer, from 0, the embeddings; auto: two thirds of the depth. Default: tuned."),
    ] = None
    model_lang: Annotated[
        str | None, option(MEASURE, "The texts' language for bertscore: its model by default, its baseline.")
    ] = None
    idf: Annotated[bool | None, option(MEASURE, "bertscore: weigh tokens by how few references have them.")] = None
    rescale: Annotated[bool | None, option(MEASURE, "bertscore: scale so that unrelated texts score about 0.")] = None
    baseline: Annotated[str | None, option(MEASURE, "What --rescale takes: a file of refsim baseline fit.")] = None
    long_text: Annotated[
        Literal["truncate", "window", "error"] | None, option(MEASURE, "bertscore: what a model cannot take at once.")
    ] = None
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16", "int8"] | None,
        option(MEASURE, "bertscore's arithmetic; int8 is the fastest on a CPU, and not quite the same."),
    ] = None
    device: Annotated[str | None, option(MEASURE, "Where bertscore's model runs: auto, cpu, cuda, mps.")] = None


# What a command has where no option of a group is given.
AS_BERTSCORE = BERTScoreOptions()
AS_INPUT = InputOptions()
AS_COLUMNS = ColumnOptions()
AS_CHARSIM = CharsimOptions()
AS_PREPARATION = PreparationOptions()


def settings(*options: object) -> dict[str, object]:
    """Return what was set among options, by name: those that were left out are None, and are not there."""
    given: dict[str, object] = {}
    for option in options:
        given |= dataclasses.asdict(option) if dataclasses.is_dataclass(option) and not isinstance(option, type) else {}
    return {name: value for name, value in given.items() if value is not None}


def pick_metrics(
    names: Sequence[str], charsim: CharsimOptions, bertscore: BERTScoreOptions, preparation: PreparationOptions
) -> "dict[str, Metric]":
    """Return the metrics of --metric, with the options as their parameters; charsim if none is named.

    An option of one metric goes to those that have it; what is done to texts must be done for all.
    """
    names = names or ["charsim"]
    given = settings(charsim) | bertscore_parameters(bertscore)
    known = {name: metric_parameters(name) for name in names}
    if bertscore.model is None and not any("model" in parameters for parameters in known.values()):
        given.pop("model", None)  # nobody asked for it: it comes with the language
    for option in given:
        if not any(option in parameters for parameters in known.values()):
            shown = {"lang": "model_lang"}.get(option, option).replace("_", "-")
            raise InputError(f"--{shown}: none of {', '.join(names)} has it; name a metric that does")
    if preparation.unit is not None and not any(metric_has_unit(name) for name in names):
        raise InputError(f"--unit: {metric_name(names[0])} counts no characters; leave it out, or name charsim")
    return make_metrics(
        [
            parse_metric(name, {key: value for key, value in given.items() if key in known[name]} | prepared)
            for name in names
            for prepared in [_prepared(name, preparation)]
        ]
    )


def bertscore_parameters(options: BERTScoreOptions) -> dict[str, object]:
    """Return the options as BERTScore's parameters. A language other than English has the model for many languages."""
    given = settings(options)
    lang = given.pop("model_lang", None)
    if lang is not None:
        given["lang"] = lang
        english = str(lang).replace("_", "-").split("-")[0].lower() == "en"
        given.setdefault("model", "minilm" if english else "e5-small-q4")
    if "idf" in given:
        given["idf"] = "references"
    return given


def _prepared(name: str, preparation: PreparationOptions) -> dict[str, object]:
    """Return what is done to texts before a metric; the unit of counting is for those that count characters."""
    prepared = settings(preparation)
    if not metric_has_unit(name):
        prepared.pop("unit", None)
    return prepared


def pick_charsim(charsim: CharsimOptions, preparation: PreparationOptions) -> Any:  # noqa: ANN401  a Charsim, whose module is loaded late
    """Return charsim with the options as its parameters."""
    return parse_metric("charsim", settings(charsim, preparation))


def path_or_stdin(name: str) -> str:
    """Return "-" for standard input, and other names as they are."""
    return "-" if name == STDIN else name


def target(names: Sequence[str]) -> str | list[str]:
    """Return files as `readers.read` takes them: one by itself, several in a list."""
    paths = [path_or_stdin(name) for name in names]
    return paths[0] if len(paths) == 1 else paths


def reading(
    candidates: Sequence[str], options: InputOptions, columns: ColumnOptions, references: Sequence[str]
) -> dict[str, Any]:
    """Return the arguments of `readers.read` that the options stand for."""
    from refsim.readers import Fields  # noqa: PLC0415  a command that only fails needs no reader

    files, fields = split_references(references, on=options.on, table=_is_table(candidates, options.format))
    return {
        "references": [path_or_stdin(name) for name in files] or None,
        "fields": Fields(**settings(columns), references=(fields[0] if len(fields) == 1 else fields) or None),  # type: ignore[arg-type]  # all are strings
        "format": options.format,
        "reference_format": options.reference_format,
        "reference_field": options.reference_field,
        "on": options.on,
        "num_candidates": options.num_candidates,
        "samples": options.samples,
        "systems": options.name,
        "header": not options.no_header,
        "on_missing": options.on_missing,
    }


def split_references(values: Sequence[str], *, on: str | None, table: bool | None) -> tuple[list[str], list[str]]:
    """Return the files and the columns among the values of --references; `table` says if candidates have columns.

    With --on, and where candidates are lines of text, references are files. Otherwise a value that looks like a
    file or is there as one is a file, others are columns; what could be both is an error that says how to write it.
    """
    files, columns = [], []
    for value in values:
        if value.startswith(_COLUMN):
            columns.append(value.removeprefix(_COLUMN))
        elif on is not None or _is_file(value, table=table):
            files.append(value)
        else:
            columns.append(value)
    if files and columns:
        raise InputError(
            f"--references: {files[0]} is a file and {columns[0]} a column; expected one kind, "
            f"a file written as ./{files[0]}, a column as {_COLUMN}{columns[0]}"
        )
    return files, columns


def _is_file(value: str, *, table: bool | None) -> bool:
    if value == STDIN or "/" in value or _ending(value) in _TABLES | _TEXTS:
        return True
    if Path(value).exists():
        if table:
            raise InputError(
                f"--references {value}: there is a file of that name, and candidates have columns; "
                f"write ./{value} for the file, {_COLUMN}{value} for the column"
            )
        return True
    if table is False:
        raise InputError(f"--references {value}: there is no such file")
    return False


def _is_table(candidates: Sequence[str], format_: str | None) -> bool | None:
    """Say if the candidates have columns; None if only their content can tell."""
    if format_ is not None:
        return format_ not in {"text", "moses"}
    endings = {_ending(name) for name in candidates}
    if endings & _TABLES:
        return True
    return False if endings <= _TEXTS else None


def _ending(name: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    while suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
