"""`refsim explain`: why one candidate scores what it does, for two texts or for a row of a file.

texts                                            --+-->  explanation  --output.explain-->  terminal, or JSON
files  --readers.read-->  the rows with one id  --+
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from refsim._columns import json_for
from refsim.cli import STDIN
from refsim.cli._options import (
    AS_BERTSCORE,
    AS_CHARSIM,
    AS_INPUT,
    AS_PREPARATION,
    COLUMNS,
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
from refsim.cli._report import note, note_skipped
from refsim.compiled import open_compiled
from refsim.errors import InputError
from refsim.metrics._scorer import CharsimScorer
from refsim.metrics._sets import load
from refsim.output.progress import Progress
from refsim.readers import read
from refsim.run import needs_corpus, with_corpus

if TYPE_CHECKING:
    from refsim.compiled import CompiledReferences

ROW = Group("Row of a file", sort_key=0)
_MOST_LISTED = 8
_SHARE = 0.5


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Which row of a file is explained."""

    id: Annotated[str | None, option(ROW, "The row with this id; candidates are files then, as in refsim score.")] = (
        None
    )
    system: Annotated[str | None, option(ROW, "Of this system, where several have the id.")] = None
    sample: Annotated[int | None, option(ROW, "This sample, where a system has several.")] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RowColumns:
    """Which columns hold what. The names of ids and systems are taken: --id and --system say which row."""

    candidate: Annotated[str | None, option(COLUMNS, "The text to score, as in filtered_resps.0.")] = None
    id_column: Annotated[str | None, option(COLUMNS, "The item, the same for all systems.")] = None
    system_column: Annotated[str | None, option(COLUMNS, "Who wrote the candidate.")] = None
    sample_column: Annotated[str | None, option(COLUMNS, "Which of several outputs of a system.")] = None


@dataclass(frozen=True)
class Row:
    """A row of a file, as far as an explanation needs it."""

    place: str
    system: str
    sample: int
    candidate: str
    references: Sequence[str]
    key: str


@dataclass(frozen=True)
class Source:
    """The files that hold the row, and how they are read."""

    files: Sequence[str]
    references: Sequence[str]
    inputs: InputOptions
    columns: RowColumns


@dataclass(frozen=True)
class Scoring:
    """What a candidate is scored by: a metric that references are compiled for, or what is compiled already."""

    metric: Any
    compiled: str | None


@dataclass(frozen=True)
class Subject:
    """What is explained: a candidate, what it is scored by, perhaps another candidate, and what they are called."""

    scorer: Any
    candidate: str
    against: str | None
    title: Sequence[str] = ()
    names: Sequence[str] = ()


_AS_ROW, _AS_COLUMNS = RowOptions(), RowColumns()


def explain(  # noqa: PLR0913  an option is an argument
    *texts: Annotated[
        str,
        Parameter(
            required=True,
            help="A candidate and its references, - for standard input, after -- if with a dash; with --id files.",
        ),
    ],
    row: RowOptions = _AS_ROW,
    references: Annotated[
        list[str] | None,
        option(INPUT, "With --id: a file of references, or the column that holds them.", "--references", "-r"),
    ] = None,
    inputs: InputOptions = AS_INPUT,
    columns: RowColumns = _AS_COLUMNS,
    metric: Annotated[
        str | None, option(MEASURE, "charsim, the default, or bertscore, as in refsim score.", "--metric", "-m")
    ] = None,
    charsim: CharsimOptions = AS_CHARSIM,
    bertscore: BERTScoreOptions = AS_BERTSCORE,
    compiled: Annotated[str | None, option(MEASURE, "Explain against what refsim compile wrote there.")] = None,
    preparation: PreparationOptions = AS_PREPARATION,
    against: Annotated[
        str | None, option(OUTPUT, "What another text in the candidate's place changes; with --id, a system.")
    ] = None,
    share: Annotated[
        float | None, option(OUTPUT, "charsim: missing is what this share of the references holds; 0.5.")
    ] = None,
    language: Annotated[Literal["en", "ja"], option(OUTPUT, "The language of the sentence: en or ja.")] = "en",
    json: Annotated[bool, option(OUTPUT, "Print JSON instead of the view.")] = False,
) -> None:
    """Show why a candidate scores what it does: what is held, what is missing, and what each order gives.

    With -m bertscore: the closest partner of each piece of both texts, and what each takes away from 1.
    Texts that begin with a dash stand behind a lone --.
    """
    given = settings(charsim, bertscore, preparation) | ({} if metric is None else {"metric": metric})
    if compiled is not None and given:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{named} with --compiled: the compiled set has its metric and preparation; leave it out")
    source = Source(texts, references or (), inputs, columns)
    (made,) = pick_metrics([metric or "charsim"], charsim, bertscore, preparation).values()
    if not hasattr(made, "explain"):
        raise InputError(f"--metric {metric}: it explains nothing; expected charsim or bertscore")
    scoring = Scoring(made, compiled)
    if row.id is None:
        _refuse_without_id(row, source)
        subject = _from_texts(texts, scoring, against)
    else:
        subject = _from_files(source, row, scoring, against)
    told = _explained(subject, share)
    # The sentence is the one that is given everywhere, so it is asked for without --share.
    _show(told, subject, subject.scorer.judge(subject.candidate, language=language).reason, json=json)


def _explained(subject: Subject, share: float | None) -> Any:  # noqa: ANN401  the explanation of a metric
    if isinstance(subject.scorer, CharsimScorer):
        return subject.scorer.explain(
            subject.candidate, against=subject.against, share=_SHARE if share is None else share
        )
    for name, value in (("against", subject.against), ("share", share)):
        if value is not None:
            raise InputError(f"--{name}: it is charsim's; leave it out, or explain charsim")
    return subject.scorer.explain(subject.candidate)


def _show(told: Any, subject: Subject, reason: str, *, json: bool) -> None:  # noqa: ANN401  as above
    if json:
        sys.stdout.write(json_for(sys.stdout, told.to_dict() | {"reason": reason}) + "\n")
        return
    if not isinstance(subject.scorer, CharsimScorer):
        from refsim.output.alignment import print_alignment  # noqa: PLC0415  rich takes 50 ms, and JSON needs none

        print_alignment(told, reason, sys.stdout, title=subject.title)
        return
    from refsim.output.explain import print_explanation  # noqa: PLC0415  as above

    print_explanation(told, reason, sys.stdout, title=subject.title, names=subject.names)


# Texts


def _refuse_without_id(row: RowOptions, source: Source) -> None:
    """Say that texts have no rows, columns or files, by the first option that is about these."""
    named = [name for name in ("system", "sample") if getattr(row, name) is not None]
    named += ["references"] * bool(source.references)
    named += [name for name, value in vars(source.inputs).items() if value != getattr(AS_INPUT, name)]
    named += list(settings(source.columns))
    if named:
        raise InputError(
            f"--{named[0].replace('_', '-')} is for a row of a file: say which with --id; "
            "without it a candidate and its references are given as texts"
        )


def _from_texts(texts: Sequence[str], scoring: Scoring, against: str | None) -> Subject:
    _note_files(texts)
    candidate, *references = _with_stdin([*texts, *([] if against is None else [against])])
    if against is not None:
        against = references.pop()
    if scoring.compiled is not None:
        if references:
            raise InputError("references with --compiled, which has its own; leave one of both out")
        sets = open_compiled(scoring.compiled)
        if sets.on is not None:
            raise InputError(f"{scoring.compiled}: has a set for each {sets.on}; explain a row of a file with --id")
        return Subject(load(scoring.compiled), candidate, against)
    if not references:
        raise InputError(
            "a candidate without references; give them behind it: refsim explain CANDIDATE REFERENCE..., "
            "or name a row of a file with --id"
        )
    return Subject(scoring.metric.compile(references), candidate, against)


def _note_files(texts: Sequence[str]) -> None:
    for text in texts:
        with suppress(OSError, ValueError):  # too long for a name, or no name at all
            if text and Path(text).is_file():
                note(f"{text}: taken as a text, though there is a file of that name; --id names a row of files")


def _with_stdin(texts: Sequence[str]) -> list[str]:
    """Return the texts with standard input, less its last line break, in the place of "-"."""
    if texts.count(STDIN) > 1:
        raise InputError("'-' is given twice; standard input can be read once")
    return [_read_stdin() if text == STDIN else text for text in texts]


def _read_stdin() -> str:
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return ""
    try:
        text = str(buffer.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"-: byte {error.start + 1:,} is no UTF-8; expected text in UTF-8") from error
    return text.removesuffix("\n").removesuffix("\r")


# A row of a file


def _from_files(source: Source, row: RowOptions, scoring: Scoring, against: str | None) -> Subject:
    sets = _open_sets(source, scoring)
    rows = _find_rows(source.files, str(row.id), _reading(source, sets))
    chosen = _choose([one for one in rows if _fits(one, row.system, row.sample)], rows, row)
    other = None if against is None else _choose_other(rows, chosen, against, row)
    scorer = _compiled(scoring.metric, chosen, source) if sets is None else _set_of(sets, chosen)
    title = [f"id {row.id}", f"system {chosen.system}", f"sample {chosen.sample}", chosen.place]
    if other is None:
        return Subject(scorer, chosen.candidate, None, title)
    title += [f"against system {other.system}", f"sample {other.sample}", other.place]
    return Subject(scorer, chosen.candidate, other.candidate, title, _names(chosen, other))


def _compiled(metric: Any, chosen: Row, source: Source) -> Any:  # noqa: ANN401  a metric and its Scorer
    """Return the scorer of a row, for which idf weighs by the references of all rows as it does in a run."""
    if needs_corpus([metric]):
        with read(target(source.files), **_reading(source, None)) as reader:
            (metric,) = with_corpus({"": metric}, reader).values()
    return metric.compile(chosen.references)


def _names(chosen: Row, other: Row) -> tuple[str, str]:
    """Return what two rows are called: by their systems, with their samples if it is one system."""
    if chosen.system == other.system:
        return f"sample {chosen.sample}", f"sample {other.sample}"
    return chosen.system, other.system


def _open_sets(source: Source, scoring: Scoring) -> "CompiledReferences | None":
    if scoring.compiled is None:
        return None
    if source.references:
        raise InputError("--references with --compiled: the compiled set has its references; leave one of both out")
    # A batch has no column of the user's name for what it took as the id, say; it has a group.
    return open_compiled(scoring.compiled, on=source.inputs.on, column="group")


def _reading(source: Source, sets: "CompiledReferences | None") -> dict[str, Any]:
    """Return the arguments of `readers.read`."""
    columns = source.columns
    fields = ColumnOptions(
        candidate=columns.candidate, id=columns.id_column, system=columns.system_column, sample=columns.sample_column
    )
    if sets is None:
        return reading(source.files, source.inputs, fields, source.references)
    fields, inputs = replace(fields, group=sets.on), replace(source.inputs, on=None)
    return reading(source.files, inputs, fields, ()) | {"need_references": False}


def _find_rows(files: Sequence[str], name: str, arguments: Mapping[str, Any]) -> list[Row]:
    """Return the rows with one id. Raises InputError if there is none, with some ids that there are."""
    found: list[Row] = []
    known: dict[str, None] = {}
    with Progress("reading") as progress, read(target(files), progress=progress.reading, **arguments) as reader:
        for batch in reader:
            if len(known) <= _MOST_LISTED:
                known |= dict.fromkeys(batch.ids[: 2 * _MOST_LISTED])
            found += [
                Row(
                    batch.place(i), batch.systems[i], batch.samples[i], batch.candidates[i], batch.references[i],
                    str(batch.column("group")[i]),
                )
                for i, one in enumerate(batch.ids) if one == name
            ]  # fmt: skip
        rows, skipped = reader.rows, list(reader.skipped)
    note_skipped(skipped)
    if not found:
        where = ", ".join(map(path_or_stdin, files))
        first = ", ".join(map(repr, list(known)[:_MOST_LISTED]))
        raise InputError(
            f"{where}: no row with id {name!r} among {rows:,}" + (f"; the first ids are {first}" if first else "")
        )
    return found


def _fits(row: Row, system: str | None, sample: int | None) -> bool:
    return (system is None or row.system == system) and (sample is None or row.sample == sample)


def _choose(fitting: Sequence[Row], rows: Sequence[Row], given: RowOptions) -> Row:
    """Return the only row. Raises InputError, with the choices there are, for none or several."""
    if len(fitting) == 1:
        return fitting[0]
    asked = "".join(f", {name} {value}" for name in ("system", "sample") if (value := getattr(given, name)) is not None)
    what = f"id {given.id!r}{asked}: {len(fitting):,} rows" if fitting else f"id {given.id!r}{asked}: no such row"
    choices = fitting or [row for row in rows if row.system == given.system] or rows
    systems = list(dict.fromkeys(row.system for row in choices))
    if len(systems) > 1 or given.system not in {None, *systems}:
        raise InputError(f"{what}; choose with --system one of {_listed(systems)}")
    raise InputError(f"{what}; choose with --sample one of {_listed([str(row.sample) for row in choices])}")


def _listed(values: Sequence[str]) -> str:
    more = f", and {len(values) - _MOST_LISTED:,} more" if len(values) > _MOST_LISTED else ""
    return ", ".join(values[:_MOST_LISTED]) + more


def _choose_other(rows: Sequence[Row], chosen: Row, system: str, given: RowOptions) -> Row:
    """Return the row of the other system: its only one, or the one of the same sample."""
    others = [row for row in rows if row.system == system and row is not chosen]
    if len(others) > 1:
        others = [row for row in others if row.sample == chosen.sample] or others
    if len(others) == 1:
        return others[0]
    if others:
        raise InputError(
            f"--against {system}: id {given.id!r} has {len(others):,} rows of that system, none of them with sample "
            f"{chosen.sample}; choose with --sample, for both, one of {_listed([str(row.sample) for row in others])}"
        )
    there = _listed(list(dict.fromkeys(row.system for row in rows if row is not chosen))) or "no other"
    raise InputError(f"--against {system}: id {given.id!r} has no other row of that system; it has {there}")


def _set_of(sets: "CompiledReferences", row: Row) -> Any:  # noqa: ANN401  what the set was compiled for
    """Return the compiled set of a row."""
    key = "" if sets.on is None else row.key
    if key not in sets.paths:
        raise InputError(
            f"{row.place}: {sets.on} is {key!r}, for which {sets.directory} has no compiled set; "
            f"it has {len(sets.paths):,}, the first for {next(iter(sets.paths))!r}"
        )
    return load(sets.paths[key])
