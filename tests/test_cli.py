"""The commands in this process: what each option does, and what each slip is answered with."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from commands import run
from refsim._version import __version__
from refsim.cli._options import split_references
from refsim.errors import InputError
from refsim.metrics.charsim import Charsim
from refsim.text import Preparation

HYP = ["The cat sat.", "A dog ran."]
REF1 = ["The cat sat down.", "The dog ran."]
REF2 = ["A cat was sitting.", "A dog was running."]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a folder of its own, with three text files and a JSONL file."""
    monkeypatch.chdir(tmp_path)
    for name, lines in {"hyp.txt": HYP, "ref1.txt": REF1, "ref2.txt": REF2}.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines))
    write("rows.jsonl", [{"id": str(i), "system": "S", "candidate": HYP[i], "references": refs()[i]} for i in range(2)])


def refs() -> list[list[str]]:
    return [list(pair) for pair in zip(REF1, REF2, strict=True)]


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def records(*arguments: str, stdin: bytes = b"") -> list[dict[str, Any]]:
    """Run `score ... --json` and return the systems."""
    done = run("score", *arguments, "--json", stdin=stdin)
    assert done.code == 0, done.err
    systems: list[dict[str, Any]] = json.loads(done.out)["systems"]
    return systems


def mean(metric: Charsim, candidates: list[str] = HYP, references: list[list[str]] | None = None) -> float:
    scores = metric.score_batch(candidates, references or refs())
    return float(scores.mean())


def segments(name: str = "out.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def error(*arguments: str, stdin: bytes = b"") -> str:
    """Run a command that must end with code 2 and one line on stderr, and return that line."""
    done = run(*arguments, stdin=stdin)
    assert done.code == 2, (done.out, done.err)
    assert done.out == ""
    assert done.err.startswith("refsim: error: ")
    assert done.err.count("\n") == 1
    return done.err


# What is scored


def test_a_text_file_is_scored_line_by_line() -> None:
    """The system is named after its file; the table has signature, headings and a row."""
    done = run("score", "hyp.txt", "-r", "ref1.txt", "-r", "ref2.txt")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == Charsim().signature
    assert lines[1].split() == ["system", "n", "mean", "ceiling", "reached"]
    assert lines[2].split()[:3] == ["hyp", "2", f"{mean(Charsim()):.4f}"]


def test_several_files_are_several_systems() -> None:
    """The best first, each with the same references."""
    assert [row["system"] for row in records("hyp.txt", "ref1.txt", "-r", "ref1.txt")] == ["ref1", "hyp"]


def test_systems_can_be_named() -> None:
    """In the order of the files."""
    found = records("hyp.txt", "ref1.txt", "-r", "ref1.txt", "--name", "mine", "--name", "theirs")
    assert [row["system"] for row in found] == ["theirs", "mine"]


@pytest.mark.parametrize("source", ["rows.jsonl", "-"])
def test_rows_have_their_references(source: str) -> None:
    """From a file or from standard input."""
    (row,) = records(source, stdin=Path("rows.jsonl").read_bytes())
    assert (row["system"], row["count"], row["mean"]) == ("S", 2, mean(Charsim()))


def test_lines_come_from_standard_input_too() -> None:
    """Text against a file of references."""
    (row,) = records("-", "-r", "ref1.txt", "--format", "text", stdin=Path("hyp.txt").read_bytes())
    assert row["mean"] == mean(Charsim(), references=[[text] for text in REF1])


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_are_read(ending: str, compress: Any) -> None:  # noqa: ANN401  a function of bytes
    """And their system's name has neither ending."""
    Path(f"hyp.txt.{ending}").write_bytes(compress(Path("hyp.txt").read_bytes()))
    assert [row["system"] for row in records(f"hyp.txt.{ending}", "-r", "ref1.txt")] == ["hyp"]


def test_references_may_be_a_column_by_selector() -> None:
    """Candidate, references and id by name or dotted selector."""
    rows = [{"doc_id": i, "resps": [HYP[i]], "doc": {"refs": refs()[i]}} for i in range(2)]
    write("samples.jsonl", rows)
    found = records("samples.jsonl", "--candidate", "resps.0", "--references", "doc.refs", "--id", "doc_id")
    assert found[0]["mean"] == mean(Charsim())


def test_references_may_be_several_columns() -> None:
    """Each named once."""
    write("rows.jsonl", [{"id": "1", "out": "a", "gold": "a", "silver": "b"}])
    (row,) = records("rows.jsonl", "--candidate", "out", "-r", "gold", "-r", "silver")
    assert row["mean"] == Charsim().score("a", ["a", "b"])


def test_references_may_be_joined_by_a_key() -> None:
    """From another file, whose text field can be named."""
    write("answers.jsonl", [{"id": "1", "question_id": "q2", "answer": "a", "candidate": "a"}])
    write("references.jsonl", [{"question_id": "q1", "gold": "b"}, {"question_id": "q2", "gold": "a"}])
    arguments = ("answers.jsonl", "-r", "references.jsonl", "--on", "question_id", "--reference-field", "gold")
    assert records(*arguments)[0]["mean"] == 1.0


def test_the_format_of_references_can_be_told() -> None:
    """Where the name does not tell."""
    Path("gold").write_text('{"reference": "x"}\n{"reference": "y"}\n')
    (row,) = records("hyp.txt", "-r", "./gold", "--reference-format", "jsonl")
    assert row["mean"] == mean(Charsim(), references=[["x"], ["y"]])


def test_other_columns_can_be_named() -> None:
    """System, sample, source, group, human and lang."""
    write("x.jsonl", [{"i": "1", "by": "S", "k": 3, "src": "s", "doc": "d", "z": 0.5, "l": "en", "h": "a", "ref": "a"}])
    columns = ["--id", "i", "--system", "by", "--sample", "k", "--source", "src", "--group", "doc", "--human", "z"]
    done = run("score", "x.jsonl", "--candidate", "h", *columns, "--lang", "l", "--per-segment", "out.jsonl")
    assert done.code == 0, done.err
    expected = {"id": "1", "system": "S", "sample": 3, "source": "s", "group": "d", "human": 0.5, "lang": "en"}
    assert segments()[0] | expected == segments()[0]


def test_several_candidates_go_with_a_reference() -> None:
    """Flat n-best text, numbered as samples."""
    Path("nbest.txt").write_text("a\nb\nc\nd\n")
    done = run("score", "nbest.txt", "-r", "ref1.txt", "--num-candidates", "2", "--per-segment", "out.jsonl")
    assert done.code == 0, done.err
    assert [row["sample"] for row in segments()] == [0, 1, 0, 1]


def test_repeated_rows_are_an_error_unless_they_are_samples() -> None:
    """The message says how to number them."""
    write("x.jsonl", [{"id": "1", "candidate": "a", "reference": "a"}] * 2)
    assert "--samples" in error("score", "x.jsonl")
    assert records("x.jsonl", "--samples")[0]["count"] == 2


def test_a_file_without_header_has_columns_by_number() -> None:
    """The first row is a row."""
    Path("x.tsv").write_text("a\tb\ta\nc\td\tc\n")
    (row,) = records("x.tsv", "--no-header")
    assert (row["count"], row["mean"]) == (2, 0.5)


def test_a_null_is_an_error_or_is_skipped_and_listed() -> None:
    """The number and the place of what was left out, on stderr and in JSON."""
    write(
        "x.jsonl", [{"id": "1", "candidate": None, "reference": "a"}, {"id": "2", "candidate": "a", "reference": "a"}]
    )
    assert "x.jsonl:1" in error("score", "x.jsonl")
    done = run("score", "x.jsonl", "--on-missing", "skip")
    assert done.err.startswith("refsim: skipped 1 row:\n  x.jsonl:1: ")
    skipped = json.loads(run("score", "x.jsonl", "--on-missing", "skip", "--json").out)["skipped"]
    assert (skipped["count"], len(skipped["rows"])) == (1, 1)


def test_of_many_skipped_rows_the_first_are_listed() -> None:
    """A screen is not flooded; JSON has them all."""
    write("x.jsonl", [{"id": str(i), "candidate": None if i else "a", "reference": "a"} for i in range(80)])
    done = run("score", "x.jsonl", "--on-missing", "skip")
    assert done.err.startswith("refsim: skipped 79 rows:\n")
    assert done.err.endswith("  ... and 29 more; --json lists them all\n")


@pytest.mark.parametrize("lines", ["", '{"id": "1", "candidate": null, "reference": "a"}\n'])
def test_no_row_at_all_is_an_error(lines: str) -> None:
    """A table of nothing would look like a result."""
    Path("x.jsonl").write_text(lines)
    done = run("score", "x.jsonl", "--format", "jsonl", "--on-missing", "skip", "--per-segment", "out.jsonl")
    assert done.code == 2
    assert "x.jsonl: no row to score" in done.err
    assert not Path("out.jsonl").exists()


def test_formats_of_known_programs_are_read() -> None:
    """The references of pfgen, the targets of lm-eval, the segments of comet-json."""
    write("outputs.jsonl", [{"question_id": "Q1", "model": "M", "trial": 0, "answer": "ab"}])
    pq.write_table(pa.table({"question_id": ["Q1", "Q1"], "answer": ["ab", "abc"]}), "references.parquet")
    (row,) = records("outputs.jsonl", "--format", "pfgen")
    assert (row["system"], row["mean"]) == ("M", Charsim().score("ab", ["ab", "abc"]))
    write("samples.jsonl", [{"doc_id": 0, "filtered_resps": ["ab"], "target": "ab"}])
    assert records("samples.jsonl", "-f", "lm-eval")[0]["mean"] == 1.0
    Path("comet.json").write_text(json.dumps({"sys.txt": [{"src": "x", "mt": "ab", "ref": "ab", "COMET": 0.9}]}))
    assert [(row["system"], row["mean"]) for row in records("comet.json", "-f", "comet-json")] == [("sys.txt", 1.0)]


# How it is measured


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        (["--form", "base"], Charsim(form="base")),
        (["--max-order", "3"], Charsim(max_order=3)),
        (["-m", "charsim(form=median)"], Charsim(form="median")),
        (["--metric", "charsim(form=base)", "--max-order", "2"], Charsim(form="base", max_order=2)),
        (["--unicode", "NFKC"], Charsim(preparation=Preparation(unicode="NFKC"))),
        (["--casefold"], Charsim(preparation=Preparation(casefold=True))),
        (["--whitespace", "remove"], Charsim(preparation=Preparation(whitespace="remove"))),
        (["--unit", "grapheme"], Charsim(preparation=Preparation(unit="grapheme"))),
    ],
)
def test_an_option_is_a_parameter_of_the_metric(options: list[str], metric: Charsim) -> None:
    """The number and the signature are those of the metric in Python."""
    (row,) = records("rows.jsonl", *options)
    assert (row["mean"], row["signature"]) == (mean(metric), metric.signature)


def test_several_metrics_give_several_rows() -> None:
    """In the order given."""
    found = records("rows.jsonl", "-m", "charsim(form=base)", "-m", "charsim")
    assert [row["metric"] for row in found] == ["charsim(form=base)", "charsim"]


def test_the_ceiling_can_be_left_out() -> None:
    """It costs as much as scoring the references."""
    assert records("rows.jsonl")[0]["ceiling"] is not None
    assert records("rows.jsonl", "--no-ceiling")[0]["ceiling"] is None


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_change_no_number(threads: str) -> None:
    """But they are taken."""
    assert records("rows.jsonl", "--threads", threads)[0]["mean"] == mean(Charsim())


# What is written


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "parquet"])
def test_every_segment_can_be_written(ending: str) -> None:
    """Key, score, candidate and signature, in the format that the name ends in."""
    done = run("score", "rows.jsonl", "--per-segment", f"out.{ending}")
    assert done.err == f"refsim: wrote out.{ending}\n"
    scores = Charsim().score_batch(HYP, refs()).tolist()
    if ending == "parquet":
        assert pq.read_table("out.parquet")["charsim"].to_pylist() == scores
    elif ending == "jsonl":
        assert [row["charsim"] for row in segments()] == scores
    else:
        header, *rows = [line.split("\t") for line in Path("out.tsv").read_text().splitlines()]
        assert header == ["id", "system", "sample", "charsim", "candidate", "charsim.signature"]
        assert [float(row[3]) for row in rows] == scores


def test_a_written_file_can_be_scored_again() -> None:
    """Its rows keep their columns; only the references stay out."""
    run("score", "rows.jsonl", "--per-segment", "out.tsv")
    assert records("out.tsv", "-r", "ref1.txt")[0]["count"] == 2


def test_an_older_file_is_replaced() -> None:
    """As by other tools that are given a name to write."""
    Path("out.jsonl").write_text("old")
    run("score", "rows.jsonl", "--per-segment", "out.jsonl")
    assert len(segments()) == 2


def test_an_input_is_not_replaced() -> None:
    """The slip of a name costs no data."""
    before = Path("rows.jsonl").read_bytes()
    assert "is an input of this command" in error("score", "rows.jsonl", "--per-segment", "rows.jsonl")
    assert Path("rows.jsonl").read_bytes() == before


# Compiled sets


@pytest.mark.parametrize("options", [[], ["--form", "base", "--casefold"], ["--max-order", "2"]])
def test_a_compiled_set_has_references_form_and_preparation(options: list[str]) -> None:
    """Scoring against it is scoring against the file it was compiled from."""
    done = run("compile", "ref1.txt", "ref2.txt", "-o", "set", *options)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("refsim: compiled 4 references to set: charsim")
    write("all.jsonl", [{"id": str(i), "candidate": HYP[i], "references": REF1 + REF2} for i in range(2)])
    (plain,) = records("all.jsonl", *options)
    (compiled,) = records("hyp.txt", "--compiled", "set")
    assert (compiled["mean"], compiled["ceiling"], compiled["metric"]) == (
        plain["mean"],
        plain["ceiling"],
        plain["metric"],
    )
    assert compiled["signature"].startswith(plain["signature"] + "|references:4,sha256:")


def test_references_are_compiled_from_a_column() -> None:
    """By its name in JSON lines, or by number without a header."""
    write("refs.jsonl", [{"x": {"y": "a"}}, {"x": {"y": "b"}}])
    assert run("compile", "refs.jsonl", "--field", "x.y", "-o", "set").err.startswith("refsim: compiled 2 references")
    Path("refs.data").write_text("1\ta\n2\tb\n")
    done = run("compile", "refs.data", "--format", "tsv", "--no-header", "--field", "2", "-o", "set2")
    assert done.err.startswith("refsim: compiled 2 references"), done.err


def test_a_set_for_each_key() -> None:
    """Rows find theirs by the column that the sets were compiled with, or by another."""
    write("refs.jsonl", [{"q": "1", "text": "a"}, {"q": "1", "text": "ab"}, {"q": "2", "text": "c"}])
    assert "compiled 3 references in 2 sets" in run("compile", "refs.jsonl", "--on", "q", "-o", "sets").err
    write("answers.jsonl", [{"id": "1", "q": "2", "candidate": "c"}, {"id": "2", "q": "1", "candidate": "a"}])
    expected = (1 + Charsim().score("a", ["a", "ab"])) / 2
    assert records("answers.jsonl", "--compiled", "sets")[0]["mean"] == expected
    write("others.jsonl", [{"id": "1", "question": {"id": "2"}, "candidate": "c"}])
    assert records("others.jsonl", "--compiled", "sets", "--on", "question.id")[0]["mean"] == 1.0


@pytest.mark.parametrize(
    "options", [["--form", "base"], ["--casefold"], ["-m", "charsim"], ["-r", "ref1.txt"], ["--max-order", "1"]]
)
def test_what_a_compiled_set_has_is_not_asked_for_again(options: list[str]) -> None:
    """Even where it is the same: it could be another the next time."""
    run("compile", "ref1.txt", "-o", "set")
    message = error("score", "hyp.txt", "--compiled", "set", *options)
    assert "with --compiled: the compiled set has its references, metric and preparation" in message


def test_sets_by_key_take_the_group() -> None:
    """Another group beside the key is an error; the key itself is none."""
    write("refs.jsonl", [{"q": "1", "text": "a"}])
    write("answers.jsonl", [{"id": "1", "q": "1", "doc": "d", "candidate": "a"}])
    run("compile", "refs.jsonl", "--on", "q", "-o", "sets")
    assert "--group doc: the sets are found by q" in error(
        "score", "answers.jsonl", "--compiled", "sets", "--group", "doc"
    )
    assert records("answers.jsonl", "--compiled", "sets", "--group", "q")[0]["mean"] == 1.0


# Consensus


@pytest.fixture
def nbest() -> str:
    """Return the name of a file of two lists, one of a single candidate."""
    write(
        "nbest.jsonl",
        [{"id": "x", "candidates": ["a dog", "the cat sat", "the cat"]}, {"id": "y", "candidates": ["z"]}],
    )
    return "nbest.jsonl"


def consensus(*arguments: str) -> list[dict[str, Any]]:
    done = run("consensus", *arguments, "--json")
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_lists_are_ranked_best_first(nbest: str) -> None:
    """A candidate alone is kept, with rank 1 and no score, and counted."""
    done = run("consensus", nbest)
    assert done.err == "refsim: 1 of 2 items has one candidate: kept, without a score\n"
    assert done.out.splitlines()[1].split() == ["id", "rank", "score", "sample", "candidate"]
    rows = consensus(nbest)
    scores = Charsim().consensus(["a dog", "the cat sat", "the cat"])
    assert [(row["id"], row["rank"], row["sample"]) for row in rows] == [
        ("x", 1, 2),
        ("x", 2, 1),
        ("x", 3, 0),
        ("y", 1, 0),
    ]
    assert [row["charsim.consensus"] for row in rows] == [scores[2], scores[1], scores[0], None]
    assert rows[0]["charsim.signature"] == Charsim().signature


@pytest.mark.parametrize(
    ("options", "metric", "leave_one_out"),
    [
        (["--form", "base"], Charsim(form="base"), True),
        (["--leave-in"], Charsim(), False),
        (["--max-order", "2", "--casefold"], Charsim(max_order=2, preparation=Preparation(casefold=True)), True),
    ],
)
def test_options_of_consensus(nbest: str, options: list[str], metric: Charsim, leave_one_out: bool) -> None:  # noqa: FBT001
    """Each is a parameter of the metric or of its method."""
    expected = metric.consensus(["a dog", "the cat sat", "the cat"], leave_one_out=leave_one_out)
    found = {row["sample"]: row[f"{metric}.consensus"] for row in consensus(nbest, *options) if row["id"] == "x"}
    assert found == dict(enumerate(expected.tolist()))


def test_only_the_best_are_kept(nbest: str) -> None:
    """So many of each list."""
    assert [row["rank"] for row in consensus(nbest, "--top", "2")] == [1, 2, 1]


def test_the_support_may_be_another_file(nbest: str) -> None:
    """Joined by a key, as references are; then a candidate alone has a score."""
    write("support.jsonl", [{"id": "x", "text": "a dog"}, {"id": "y", "text": "z"}])
    rows = consensus(nbest, "--support", "support.jsonl", "--on", "id", "--top", "1")
    assert [(row["candidate"], row["charsim.consensus"]) for row in rows] == [("a dog", 1.0), ("z", 1.0)]


def test_lists_of_text_and_moses_are_ranked() -> None:
    """Flat lines, or lines with bars."""
    Path("flat.txt").write_text("a\nab\nabc\nabcd\n")
    assert [row["sample"] for row in consensus("flat.txt", "--num-candidates", "2")] == [0, 1, 0, 1]
    Path("moses.txt").write_text("0 ||| a b ||| f ||| -1\n0 ||| a c ||| f ||| -2\n")
    assert [row["candidate"] for row in consensus("moses.txt", "--format", "moses")] == ["a b", "a c"]


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "parquet"])
def test_ranked_lists_can_be_written(nbest: str, ending: str) -> None:
    """With rank, score and signature; then no table is printed."""
    done = run("consensus", nbest, "--output", f"out.{ending}")
    assert (done.out, done.err.splitlines()[-1]) == ("", f"refsim: wrote out.{ending}")
    if ending == "parquet":
        assert pq.read_table("out.parquet")["rank"].to_pylist() == [1, 2, 3, 1]
    else:
        assert len(Path(f"out.{ending}").read_text().splitlines()) == 4 + (ending == "tsv")


def test_the_best_texts_can_be_written_alone(nbest: str) -> None:
    """One a line, to be scored like any system."""
    run("consensus", nbest, "--top", "1", "-o", "best.txt")
    assert Path("best.txt").read_text() == "the cat\nz\n"


def test_a_text_with_a_line_break_is_no_line() -> None:
    """Lines would no longer fit the items."""
    write("nbest.jsonl", [{"id": "x", "candidates": ["a\nb", "c"]}])
    assert "write .jsonl, .tsv or .parquet instead" in error("consensus", "nbest.jsonl", "-o", "best.txt")
    assert not Path("best.txt").exists()


# Slips


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scor"], 'Unknown command "scor". Did you mean "score"?'),
        (["score"], "CANDIDATES requires an argument"),
        (["consensus"], "NBEST requires an argument"),
        (["compile", "ref1.txt"], "--output requires an argument"),
        (["score", "rows.jsonl", "--frm", "base"], "Unknown option: --frm. Did you mean --form?"),
        (["score", "rows.jsonl", "--form", "bas"], 'Invalid value "bas" for --form.'),
        (["score", "rows.jsonl", "--threads", "two"], 'unable to convert "two" into int'),
        (["score", "rows.jsonl", "--threads", "0"], "threads is 0; expected"),
        (["score", "rows.jsonl", "--max-order", "0"], "max_order is 0; expected"),
        (["score", "rows.jsonl", "-m", "charsm"], "no metric is called 'charsm'; did you mean charsim?"),
        (["score", "rows.jsonl", "-m", "charsim", "-m", "charsim"], "charsim is given twice"),
        (["score", "rows.jsonl", "--format", "yaml"], "yaml"),
        (["score", "nothing.txt", "-r", "ref1.txt"], "nothing.txt: No such file or directory"),
        (["score", "hyp.txt", "-r", "nothing"], "--references nothing: there is no such file"),
        (["score", "rows.jsonl", "-r", "nothing.txt"], "nothing.txt"),
        (["score", "rows.jsonl", "-r", "nocolumn"], "rows.jsonl:1: no field 'nocolumn' for references"),
        (["score", "rows.jsonl", "-r", "./ref1.txt", "-r", "gold"], "ref1.txt is a file and gold a column"),
        (["score", "rows.jsonl", "--per-segment", "out.csv"], "expected a name that ends in .jsonl, .tsv, .parquet"),
        (["score", "hyp.txt", "--compiled", "nothing"], "nothing/header.json"),
        (["score", "hyp.txt"], "hyp.txt"),
        (["compile", "rows.jsonl", "--field", "nofield", "-o", "set"], "nofield"),
        (["compile", "ref1.txt", "-o", "."], "is not a compiled set"),
        (["consensus", "rows.jsonl", "--top", "0"], "--top 0: expected a number from 1 on"),
        (["consensus", "hyp.txt", "--leave-in", "--support", "ref1.txt"], "--leave-in with --support"),
        (["consensus", "hyp.txt", "-o", "hyp.txt"], "is an input of this command"),
    ],
)
def test_a_slip_is_one_line_and_code_2(arguments: list[str], message: str) -> None:
    """No traceback, no frame, nothing on standard output; the line says what to do."""
    assert message in error(*arguments)


def test_a_name_that_is_file_and_perhaps_column_is_asked_back() -> None:
    """With both ways to write it, and both work."""
    Path("gold").write_text("x\ny\n")
    write("rows.jsonl", [{"id": str(i), "candidate": HYP[i], "gold": HYP[i]} for i in range(2)])
    assert "write ./gold for the file, column:gold for the column" in error("score", "rows.jsonl", "-r", "gold")
    assert records("rows.jsonl", "-r", "column:gold")[0]["mean"] == 1.0
    assert records("rows.jsonl", "-r", "./gold")[0]["mean"] < 0.5


@pytest.mark.parametrize(
    ("value", "on", "table", "is_file"),
    [
        ("doc.refs", None, True, False),
        ("refs.jsonl", None, True, True),
        ("refs.txt.gz", None, True, True),
        ("dir/refs", None, True, True),
        ("refs", "key", True, True),
        ("column:refs.txt", "key", True, False),
        ("ref1.txt", None, False, True),
        ("refs", None, None, False),
    ],
)
def test_files_and_columns_are_told_apart(value: str, on: str | None, table: bool | None, is_file: bool) -> None:  # noqa: FBT001
    """By --on, by how the value looks, by what is there."""
    files, columns = split_references([value], on=on, table=table)
    assert (files, columns) == (([value], []) if is_file else ([], [value.removeprefix("column:")]))


def test_a_text_candidate_has_no_columns() -> None:
    """A name that is no file there can only be a slip."""
    with pytest.raises(InputError, match="there is no such file"):
        split_references(["refs"], on=None, table=False)


# Help and version


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "score"]])
def test_the_version_is_told(arguments: list[str]) -> None:
    """By the fast way, and by the framework's."""
    assert run(*arguments).out == f"refsim {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["score", "--help"], ["compile", "-h"], ["consensus", "--help"]])
def test_help_fits_80_columns(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """For the program and for each command, with examples."""
    monkeypatch.setenv("COLUMNS", "80")
    done = run(*arguments)
    assert (done.code, done.err) == (0, "")
    assert max(map(cell_len, done.out.splitlines())) <= 80
    assert done.out.endswith("\n")
    assert ("refsim consensus nbest.jsonl --top 1 -o best.txt" in done.out) == ("consensus" in arguments)


def test_every_option_has_its_line_of_help() -> None:
    """None is there without a word."""
    for command in ("score", "compile", "consensus"):
        for line in run(command, "--help").out.splitlines():
            if line.startswith("│ -"):
                assert line.strip("│ ").count("  ") >= 1, line


def test_options_of_a_metric_go_to_those_that_have_them() -> None:
    """--form belongs to charsim, and --model to bertscore; where nobody has an option it is an error."""
    write("rows.jsonl", [{"id": "1", "candidate": "a", "references": ["a"]}])
    done = run("score", "rows.jsonl", "--model", "minilm")
    assert done.code == 2
    assert "--model: none of charsim has it; name a metric that does" in done.err
    done = run("score", "rows.jsonl", "-m", "bertscore", "--unit", "grapheme")
    assert done.code == 2
    assert "--unit: bertscore counts no characters" in done.err
    done = run("score", "rows.jsonl", "-m", "charsim", "-m", "bertscore", "--form", "base", "--model", "nowhere/none/x")
    assert done.code == 2
    assert "no parameter 'form'" not in done.err
