"""`refsim explain` and `refsim score --worst`: texts, rows of files, and what each slip is answered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from commands import on_terminal, run
from refsim.metrics.charsim import Charsim
from refsim.text import Preparation

CAT = "the dog sat on the mat"
REFERENCES = ["the cat sat on the mat", "a cat sat down on the mat"]
ROWS = [
    {"id": "1", "system": "A", "candidate": CAT, "references": REFERENCES},
    {"id": "1", "system": "B", "candidate": "the cat", "references": REFERENCES},
    {"id": "2", "system": "A", "candidate": "two", "references": ["two words"]},
    {"id": "2", "system": "B", "candidate": "two words", "references": ["two words"]},
]
SAMPLES = [
    {"id": "1", "system": "A", "sample": 0, "candidate": "the cat", "references": REFERENCES},
    {"id": "1", "system": "A", "sample": 1, "candidate": "a cat sat", "references": REFERENCES},
    {"id": "1", "system": "B", "sample": 1, "candidate": "a mat", "references": REFERENCES},
    {"id": "1", "system": "B", "sample": 2, "candidate": "a map", "references": REFERENCES},
    {"id": "1", "system": "C", "sample": 0, "candidate": "a hat", "references": REFERENCES},
]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a folder of its own, with rows in files."""
    monkeypatch.chdir(tmp_path)
    write("rows.jsonl", ROWS)
    write("samples.jsonl", SAMPLES)


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def told(*arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    """Run `explain ... --json` and return what it prints."""
    done = run("explain", *arguments, "--json", stdin=stdin)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def error(*arguments: str, stdin: bytes = b"") -> str:
    """Run a command that must end with code 2 and one line on stderr, and return that line."""
    done = run(*arguments, stdin=stdin)
    assert done.code == 2, (done.out, done.err)
    assert done.out == ""
    assert done.err.startswith("refsim: error: ")
    assert done.err.count("\n") == 1
    return done.err


# Texts


def test_texts_are_explained() -> None:
    """JSON has all that Python has, and the sentence."""
    metric = Charsim()
    expected = metric.explain(CAT, REFERENCES).to_dict()
    assert told(CAT, *REFERENCES) == expected | {"reason": metric.judge(CAT, REFERENCES).reason}


def test_options_are_those_of_the_metric() -> None:
    """Form, orders, preparation, share and language."""
    metric = Charsim(form="base", max_order=3, preparation=Preparation(casefold=True))
    found = told(
        *(CAT.upper(), *REFERENCES, "--form", "base", "--max-order", "3", "--casefold"),
        *("--share", "1", "--language", "ja"),
    )
    expected = metric.explain(CAT.upper(), REFERENCES, share=1).to_dict()
    assert found == expected | {"reason": metric.judge(CAT.upper(), REFERENCES, language="ja").reason}
    assert found["signature"] == metric.signature


def test_another_text_is_set_against_the_candidate() -> None:
    """The change comes with it."""
    found = told(CAT, *REFERENCES, "--against", "the cat")
    assert found["change"]["score"] == pytest.approx(found["score"] - found["against"]["score"])
    assert found["against"]["candidate"] == "the cat"


@pytest.mark.parametrize("data", ["the dog\nsat\n", "the dog\nsat\r\n", "the dog\nsat", "\ufeffthe dog\nsat\n"])
def test_a_text_may_come_from_standard_input(data: str) -> None:
    """Whole, less its last line break."""
    assert told("-", *REFERENCES, stdin=data.encode())["candidate"] == "the dog\nsat"
    assert told("x", "-", stdin=data.encode())["supporters"][0]["text"] == "the dog\nsat"


def test_a_text_may_begin_with_a_dash() -> None:
    """Behind a lone --; and it may be empty."""
    assert told_last("--", "-5 degrees", "-4 degrees")["candidate"] == "-5 degrees"
    assert told("", "x")["score"] == 0


def told_last(*arguments: str) -> dict[str, Any]:
    done = run("explain", "--json", *arguments)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_compiled_references_explain_a_text() -> None:
    """As the references themselves do."""
    Path("refs.txt").write_text("".join(f"{text}\n" for text in REFERENCES))
    assert run("compile", "refs.txt", "-o", "refs.refsim").code == 0
    assert told(CAT, "--compiled", "refs.refsim") == told(CAT, *REFERENCES)


def test_a_name_of_a_file_is_a_text_and_that_is_said() -> None:
    """Who means the file's rows reads how."""
    done = run("explain", "rows.jsonl", "x")
    assert done.code == 0
    assert done.err == (
        "refsim: rows.jsonl: taken as a text, though there is a file of that name; --id names a row of files\n"
    )


# Rows of files


def test_a_row_is_found_by_id_and_system() -> None:
    """It is explained against its own references, and the view says which row it is."""
    assert told("rows.jsonl", "--id", "1", "--system", "A") == told(CAT, *REFERENCES)
    done = run("explain", "rows.jsonl", "--id", "1", "--system", "A")
    assert done.out.splitlines()[:2] == [Charsim().signature, "id 1  system A  sample 0  rows.jsonl:1"]


def test_a_row_may_be_set_against_that_of_another_system() -> None:
    """Both are named by their systems."""
    found = told("rows.jsonl", "--id", "1", "--system", "A", "--against", "B")
    assert found == told(CAT, *REFERENCES, "--against", "the cat")
    done = run("explain", "rows.jsonl", "--id", "1", "--system", "A", "--against", "B")
    assert done.out.splitlines()[1] == (
        "id 1  system A  sample 0  rows.jsonl:1  against system B  sample 0  rows.jsonl:2"
    )
    assert "change by order  A less B" in done.out


def test_samples_are_told_apart() -> None:
    """By number; the other system's row is that of the same sample, or its only one, or its only other one."""
    found = told("samples.jsonl", "--id", "1", "--system", "A", "--sample", "1", "--against", "B")
    assert (found["candidate"], found["against"]["candidate"]) == ("a cat sat", "a mat")
    found = told("samples.jsonl", "--id", "1", "--system", "A", "--sample", "1", "--against", "C")
    assert found["against"]["candidate"] == "a hat"
    done = run("explain", "samples.jsonl", "--id", "1", "--system", "A", "--sample", "0", "--against", "A")
    assert "sample 0 less sample 1" in done.out


def test_lines_of_text_are_rows_by_their_number() -> None:
    """With files of references, as in score."""
    Path("hyp.txt").write_text(f"x\n{CAT}\n")
    Path("ref.txt").write_text(f"y\n{REFERENCES[0]}\n")
    assert told("hyp.txt", "-r", "ref.txt", "--id", "2") == told(CAT, REFERENCES[0])


def test_columns_have_options_of_their_own() -> None:
    """For --id and --system say which row."""
    rows = [{"doc": 7, "model": "m", "try": 3, "output": CAT, "gold": REFERENCES}]
    write("other.jsonl", rows)
    found = told(
        *("other.jsonl", "--id", "7", "--system", "m", "--sample", "3", "--id-column", "doc", "-r", "gold"),
        *("--system-column", "model", "--sample-column", "try", "--candidate", "output"),
    )
    assert found == told(CAT, *REFERENCES)


def test_references_may_be_joined_by_key() -> None:
    """From another file."""
    write("answers.jsonl", [{"id": "a", "q": "1", "candidate": CAT}, {"id": "b", "q": "2", "candidate": CAT}])
    write("questions.jsonl", [{"q": "2", "references": ["x"]}, {"q": "1", "references": REFERENCES}])
    found = told("answers.jsonl", "--id", "a", "-r", "questions.jsonl", "--on", "q")
    assert found == told(CAT, *REFERENCES)


def test_a_row_finds_its_compiled_set() -> None:
    """By its key; the only one if there is one; a key without a set is an error with the place."""
    write("questions.jsonl", [{"q": "1", "references": REFERENCES}, {"q": "2", "references": ["x"]}])
    write("answers.jsonl", [{"id": i, "q": q, "candidate": CAT} for i, q in (("a", "1"), ("b", "3"))])
    assert run("compile", "questions.jsonl", "--on", "q", "-o", "q.refsim").code == 0
    assert told("answers.jsonl", "--id", "a", "--compiled", "q.refsim") == told(CAT, *REFERENCES)
    assert "answers.jsonl:2: q is '3', for which q.refsim has no compiled set" in error(
        "explain", "answers.jsonl", "--id", "b", "--compiled", "q.refsim"
    )
    assert "q.refsim: has a set for each q; explain a row of a file with --id" in error(
        "explain", CAT, "--compiled", "q.refsim"
    )
    Path("refs.txt").write_text("".join(f"{text}\n" for text in REFERENCES))
    assert run("compile", "refs.txt", "-o", "refs.refsim").code == 0
    assert told("answers.jsonl", "--id", "b", "--compiled", "refs.refsim") == told(CAT, *REFERENCES)


# Slips


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x"], "a candidate without references; give them behind it"),
        (["x", "--against", "y"], "a candidate without references"),
        (["-", "-"], "'-' is given twice; standard input can be read once"),
        (["-", "x", "--against", "-"], "'-' is given twice"),
        (["x", "y", "--system", "A"], "--system is for a row of a file: say which with --id"),
        (["x", "y", "-r", "ref.txt"], "--references is for a row of a file"),
        (["x", "y", "--format", "tsv"], "--format is for a row of a file"),
        (["x", "y", "--id-column", "q"], "--id-column is for a row of a file"),
        (["x", "y", "--share", "0"], "share is 0.0; expected a number above 0 and at most 1"),
        (["x", "y", "--max-order", "0"], "max_order is 0"),
        (["x", "--compiled", "nowhere"], "nowhere"),
        (["x", "--compiled", "nowhere", "--form", "base"], "--form with --compiled"),
        (["x", "y", "--compiled", "nowhere"], "references with --compiled, which has its own"),
        (["rows.jsonl", "--id", "1", "--compiled", "nowhere", "-r", "x"], "--references with --compiled"),
        (["rows.jsonl", "--id", "9"], "rows.jsonl: no row with id '9' among 4; the first ids are '1', '2'"),
        (["rows.jsonl", "--id", "1"], "id '1': 2 rows; choose with --system one of A, B"),
        (["rows.jsonl", "--id", "1", "--system", "C"], "system C: no such row; choose with --system one of A, B"),
        (["rows.jsonl", "--id", "1", "--system", "A", "--sample", "4"], "no such row; choose with --sample one of 0"),
        (["rows.jsonl", "--id", "1", "--system", "A", "--against", "A"], "--against A: id '1' has no other row of"),
        (["rows.jsonl", "--id", "1", "--system", "A", "--against", "C"], "no other row of that system; it has B"),
        (["samples.jsonl", "--id", "1", "--system", "A"], "system A: 2 rows; choose with --sample one of 0, 1"),
        (
            ["samples.jsonl", "--id", "1", "--system", "A", "--sample", "0", "--against", "B"],
            "--against B: id '1' has 2 rows of that system",
        ),
        (["nowhere.jsonl", "--id", "1"], "nowhere.jsonl"),
        (["x", "y", "--language", "de"], "language"),
        ([], "explain"),
    ],
)
def test_a_slip_is_one_line_that_says_what_to_do(arguments: list[str], message: str) -> None:
    """With exit code 2 and nothing on stdout."""
    assert message in error("explain", *arguments)


def test_standard_input_must_be_text() -> None:
    """The byte is named."""
    assert "-: byte 3 is no UTF-8" in error("explain", "-", "x", stdin=b"ab\xff")


# Output


def test_a_pipe_gets_no_colours_and_whole_lines() -> None:
    """Whatever length they have."""
    long = "a long text " * 200
    done = run("explain", long, long.replace("long", "short"))
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert any(line.replace("[", "").replace("]", "").strip() == long.strip() for line in done.out.splitlines())


def test_a_terminal_gets_colours_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal that is no test's own."""
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    shown = on_terminal("explain", CAT, *REFERENCES, columns=70, keep_escapes=True)
    assert "\x1b[38;5;231;48;5;88m" in shown
    shown = on_terminal("explain", CAT, *REFERENCES, "--against", "the cat", columns=70)
    assert max(map(cell_len, shown.splitlines())) <= 70


def test_help_shows_each_option_and_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns, none without a word."""
    monkeypatch.setenv("COLUMNS", "80")
    done = run("explain", "--help")
    assert (done.code, done.err) == (0, "")
    assert max(map(cell_len, done.out.splitlines())) <= 80
    assert "refsim explain answers.tsv --id q1 --system A --against B" in done.out
    assert all(line.strip("│ ").count("  ") >= 1 for line in done.out.splitlines() if line.startswith("│ -"))


# The lowest rows


def worst(*arguments: str) -> list[dict[str, Any]]:
    done = run("score", *arguments, "--json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["worst"]
    return rows


def test_the_lowest_rows_come_with_their_reasons() -> None:
    """The lowest first, with place, id, system and the sentence; all of them if there are no more."""
    scores = {row["candidate"]: Charsim().score(str(row["candidate"]), list(row["references"])) for row in ROWS}
    found = worst("rows.jsonl", "--worst", "2")
    lowest = sorted(ROWS, key=lambda row: scores[row["candidate"]])[:2]
    assert [row["score"] for row in found] == [scores[row["candidate"]] for row in lowest]
    assert [(row["id"], row["system"]) for row in found] == [(row["id"], row["system"]) for row in lowest]
    assert [row["place"] for row in found] == [f"rows.jsonl:{ROWS.index(row) + 1}" for row in lowest]
    assert found[0]["reason"] == Charsim().judge(str(lowest[0]["candidate"]), list(lowest[0]["references"])).reason
    assert len(worst("rows.jsonl", "--worst", "9")) == 4


def test_of_equal_rows_the_first_are_the_lowest() -> None:
    """In the order of the input, over batches."""
    write("many.jsonl", [{"id": str(i), "candidate": "x", "references": ["xy"]} for i in range(3000)])
    assert [row["id"] for row in worst("many.jsonl", "--worst", "3")] == ["0", "1", "2"]


def test_the_lowest_rows_stand_below_the_table() -> None:
    """A row's figures, and its sentence below them."""
    done = run("score", "rows.jsonl", "--worst", "1")
    lines = done.out.splitlines()
    assert lines[-3:-1] == ["the lowest", lines[-2]]
    assert lines[-2].split()[1:3] == ["rows.jsonl:2", "1"]
    assert lines[-1].strip().startswith("Scores 0.")


def test_the_lowest_rows_of_compiled_sets_have_reasons_too() -> None:
    """Against the set of each row."""
    write("questions.jsonl", [{"q": "1", "references": REFERENCES}, {"q": "2", "references": ["x"]}])
    write("answers.jsonl", [{"id": i, "q": q, "candidate": CAT} for i, q in (("a", "1"), ("b", "2"))])
    assert run("compile", "questions.jsonl", "--on", "q", "-o", "q.refsim").code == 0
    found = worst("answers.jsonl", "--compiled", "q.refsim", "--worst", "1")
    assert (found[0]["id"], found[0]["reason"]) == ("b", Charsim().judge(CAT, ["x"]).reason)
    assert found[0]["score"] == 0


def test_a_number_of_lowest_rows_is_positive() -> None:
    """Anything else is a slip."""
    assert "--worst 0" in error("score", "rows.jsonl", "--worst", "0")
