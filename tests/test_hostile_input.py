"""What careless or hostile callers bring beside files: names with escapes, closed streams, wrong types, patterns."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refsim
from commands import run
from refsim._printable import percent, printable
from refsim.cli._app import _show_warning
from refsim.cli._report import note_skipped
from refsim.errors import InputError
from refsim.metrics._baseline import fit_baseline
from refsim.output.tables import print_systems
from refsim.readers import Fields, read_texts
from refsim.results import Systems, SystemScore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ESCAPES = "\x1b[2J\r\x9b1A\u202e\u2066\x07\x00\u2028\ud800"


# Terminals


def test_names_are_escaped_on_stderr(tmp_path: Path) -> None:
    """No name of a file clears the screen or turns the line."""
    done = run("score", tmp_path / "a\x1b[2J\r\x9b\u202e.txt", "-r", tmp_path / "b.txt")
    assert done.code == 2
    assert r"a\x1b[2J\r\x9b\u202e.txt" in done.err
    assert printable(done.err.rstrip("\n")) == done.err.rstrip("\n")


def test_ids_and_systems_in_errors_are_escaped(tmp_path: Path) -> None:
    """Rows are anyone's, and messages quote them."""
    path = tmp_path / "in.tsv"
    path.write_text("id\tcandidate\tref1\n1\x1b[2J\ta\tb\n1\x1b[2J\ta\tb\n", encoding="utf-8")
    done = run("explain", path, "--id", "1\x1b[2J", "--system", "\u202esys")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


@pytest.mark.parametrize("tell", [lambda: note_skipped([ESCAPES]), lambda: _show_warning(ESCAPES)])
def test_notes_and_warnings_are_escaped(tell: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is said on stderr goes through one function."""
    tell()  # type: ignore[operator]
    said = capsys.readouterr().err
    assert r"\x1b[2J\r\x9b1A\u202e\u2066\x07\x00\u2028\ud800" in said
    assert all(printable(line) == line for line in said.rstrip("\n").split("\n"))


def test_what_is_no_threat_stays_as_it_is() -> None:
    """Joined emoji, accents and scripts from right to left are names like others."""
    names = "👩\u200d🦰 é e\u0301 החתול 日本語 a\\b"
    assert printable(names) == names


# Closed streams


def shell(command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which "$@" is refsim, started as users do, with these arguments."""
    words = [sys.executable, "-m", "refsim", *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command}", "sh", *words],
        capture_output=True, encoding="utf-8", env=environment, check=False,
    )  # fmt: skip


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Return the name of a file of one line."""
    path = tmp_path / "a.txt"
    path.write_text("a cat\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["score"], ["score", "--json"]])
@pytest.mark.parametrize(
    ("redirection", "message"),
    [(">&-", "standard output: is closed"), (">/dev/full", "output: No space left on device")],
)
def test_a_closed_output_is_an_error(arguments: list[str], redirection: str, message: str, text: Path) -> None:
    """One line and code 2: what was asked for could not be said."""
    files: list[str | Path] = [text, "-r", text] if arguments[0] == "score" else []
    done = shell(f'"$@" {redirection}', *arguments, *files)
    assert (done.returncode, done.stderr) == (2, f"refsim: error: {message}\n")


def test_a_closed_output_that_is_not_needed_is_none(text: Path, tmp_path: Path) -> None:
    """`refsim compile ... >&-` writes its directory, and no file of it takes the place of standard output."""
    done = shell('"$@" >&- <&-', "compile", text, "-o", tmp_path / "set")
    assert done.returncode == 0, done.stderr
    assert run("score", text, "--compiled", tmp_path / "set").code == 0


def test_a_closed_stderr_leaves_the_exit_code(text: Path, tmp_path: Path) -> None:
    """A table is printed, an error is its code, and a message goes into no file that was opened last."""
    assert shell('"$@" 2>&-', "score", text, "-r", text).returncode == 0
    done = shell('"$@" 2>&-', "score", tmp_path / "none.txt", "-r", text)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    rows = tmp_path / "rows.jsonl"
    assert shell('"$@" 2>&- <&-', "score", text, "-r", text, "--per-segment", rows).returncode == 0
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize("command", ["score", "explain"])
def test_a_closed_input_is_an_error(command: str, text: Path) -> None:
    """To read from it is; not to need it is none."""
    done = shell('"$@" <&-', command, "-", *(["-r"] * (command == "score")), text)
    assert done.returncode == 2
    assert "is closed" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell('"$@" <&-', "score", text, "-r", text).returncode == 0


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"], ["--version"]])
def test_help_for_a_reader_that_is_gone_is_a_closed_pipe(arguments: list[str]) -> None:
    """`refsim --help | head -1`: 141 as for any program in a pipe, and no traceback."""
    done = shell('(sleep 0.2; exec "$@") | exec true', *arguments)
    assert (done.returncode, done.stderr) == (141, "")


# Patterns


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("(" * 3000 + "a" + ")" * 3000, "nested too deeply"), (r"\p{50d<aUp$", "no regular expression")],
)
def test_a_pattern_that_cannot_be_read_is_an_error(pattern: str, message: str) -> None:
    """From whatever depth of the parser it comes; a long one is not repeated whole."""
    with pytest.raises(InputError, match=message) as raised:
        refsim.Preparation(extract=[f"regex:{pattern}"])
    assert len(str(raised.value)) < 300


# Arguments and results


@pytest.mark.parametrize("wrong", [{"at_least": 2.0}, {"at_least": "0.5"}, {"language": "de"}])
def test_judging_no_rows_checks_its_arguments(wrong: dict[str, Any]) -> None:
    """A mistake is found on the first day, not on the first row."""
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        refsim.Charsim().judge_batch([], [], **wrong)


ROWS = [{"id": "1", "candidate": "a", "references": ["b"]}]
WHOLE: dict[str, Callable[[Any], object]] = {
    "batch_size": lambda wrong: refsim.read(ROWS, batch_size=wrong),
    "num_candidates": lambda wrong: refsim.read("a.txt", num_candidates=wrong),
    "threads": lambda wrong: refsim.evaluate(ROWS, threads=wrong),
    "max_order": lambda wrong: refsim.Charsim(max_order=wrong),
    "top_k": lambda wrong: refsim.Charsim().score_matrix(["a"], ["b"], top_k=wrong),
    "share": lambda wrong: refsim.Charsim().explain("a", ["b"], share=wrong),
    "at_least": lambda wrong: refsim.Charsim().judge("a", ["b"], wrong),
    r"weights\[0\]": lambda wrong: refsim.Charsim().consensus(["a", "b"], weights=[wrong, 1]),
    "pairs": lambda wrong: fit_baseline(refsim.BERTScore(), ["a", "b"], pairs=wrong),
    "seed": lambda wrong: fit_baseline(refsim.BERTScore(), ["a", "b"], seed=wrong),
    "batch_tokens": lambda wrong: refsim.BERTScore(batch_tokens=wrong),
    "layer": lambda wrong: refsim.BERTScore(layer=wrong),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("wrong", ["2", -1, True, [1], 1j, float("nan"), b"2"])
def test_what_is_no_number_is_named(name: str, wrong: Any) -> None:  # noqa: ANN401
    """Digits between quotes are no number to code, and True is none either: an InputError with the argument's name."""
    with pytest.raises(InputError, match=name):
        WHOLE[name](wrong)


NAMES: dict[str, Callable[[Any], object]] = {
    "format": lambda wrong: refsim.read(ROWS, format=wrong),
    "on_missing": lambda wrong: refsim.read(ROWS, on_missing=wrong),
    "on is": lambda wrong: refsim.read(ROWS, references="a.txt", on=wrong),
    "reference_field": lambda wrong: refsim.read(ROWS, reference_field=wrong),
    "fields": lambda wrong: refsim.read(ROWS, fields=wrong),
    "progress": lambda wrong: refsim.read(ROWS, progress=wrong),
    "candidate is": lambda wrong: Fields(candidate=wrong),
    "references is": lambda wrong: Fields(references=[wrong]),
    "field is": lambda wrong: read_texts("a.txt", field=wrong),
    "path is": refsim.load,
    "metric": lambda wrong: refsim.evaluate(ROWS, wrong),
    "rows": lambda wrong: refsim.Batch.from_rows([wrong]),
    "candidates": lambda wrong: refsim.Batch.from_lists(candidates=wrong),
    "extra": lambda wrong: refsim.Batch.from_lists(candidates=["a"], extra=wrong),
    "frame": refsim.Batch.from_pandas,
    "table": refsim.Batch.from_arrow,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [1, 2.5, b"a", {1: 2}, [None]])
def test_arguments_of_another_type_are_named(name: str, wrong: Any) -> None:  # noqa: ANN401
    """An InputError at the call, not a TypeError from somewhere inside."""
    with pytest.raises(InputError, match=name):
        NAMES[name](wrong)


def test_more_rows_than_a_machine_counts_are_all_rows() -> None:
    """A batch of any size is one batch."""
    assert [len(batch) for batch in refsim.read(ROWS, batch_size=10**30)] == [1]


@pytest.mark.parametrize("wrong", [None, 1, b"a", ["a"], float("nan")])
def test_what_is_no_text_is_named(wrong: Any) -> None:  # noqa: ANN401
    """Wherever a text is taken, with what was found."""
    explanation = refsim.Charsim().explain("a cat", ["the cat"])
    extracting = refsim.Preparation(extract=["after:x"])
    folding = refsim.Preparation(casefold=True)
    for call in (
        lambda: explanation.held(wrong),
        lambda: explanation.scorer.holders(wrong),
        lambda: extracting.not_extracted(["a", wrong]),
        lambda: extracting.apply_candidates(["a", wrong]),
        lambda: folding.apply(["a", wrong]),
    ):
        with pytest.raises(InputError, match="expected a str"):
            call()


@pytest.mark.parametrize("wrong", [None, 1, "one text"])
def test_what_is_no_list_of_texts_is_named(wrong: Any) -> None:  # noqa: ANN401
    """A bare text would be taken apart into its characters."""
    extracting, folding = refsim.Preparation(extract=["after:x"]), refsim.Preparation(casefold=True)
    for call in (extracting.not_extracted, extracting.apply_candidates, folding.apply_candidates, folding.apply):
        with pytest.raises(InputError, match="expected a list of strings"):
            call(wrong)


def test_a_dictionary_of_an_explanation_is_the_callers_own() -> None:
    """To change all of it, down to the last list, changes nothing in the explanation."""
    explanation = refsim.Charsim().explain("a cat sat", ["the cat sat on", "the cat"], against="a dog")
    before = repr(explanation.to_dict())

    def spoil(value: object) -> None:
        inner = list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
        for one in inner:
            spoil(one)
        if isinstance(value, dict | list):
            value.clear()

    spoil(explanation.to_dict())
    assert repr(explanation.to_dict()) == before
    assert explanation.parts.score == explanation.score


# Figures


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from([0, 1]))
def test_only_all_reads_100_percent(part: int, whole: int, digits: int) -> None:
    """And only nothing reads 0 %; any other share is rounded."""
    share = min(part, whole) / whole
    shown = percent(share, digits)
    assert (float(shown.strip("<>%")) == 100 and ">" not in shown) == (share == 1)
    assert (float(shown.strip("<>%")) == 0) == (share == 0)
    assert abs(float(shown.strip("<>%")) / 100 - share) <= 10**-digits / 100 + 1e-9


def test_shares_next_to_all_and_nothing() -> None:
    """Sums of floats that miss 1 by a rounding are all; a score above the ceiling is more than all."""
    found = [percent(share) for share in (0.999, 0.0004, 1.0, 0.0, 1 - 1e-16, 1.001, 0.5)]
    assert found == [">99%", "<1%", "100%", "0%", "100%", ">100%", "50%"]
    assert [percent(share, 1) for share in (0.9999, 0.0004, 0.999)] == [">99.9%", "<0.1%", "99.9%"]


def test_sentences_do_not_round_to_all_or_nothing() -> None:
    """In either language: 1.00 and 0.00 are said of nothing else, no threshold is -0.00, no length is none."""
    metric = refsim.Charsim()
    nearly = metric.judge("ab" * 3000, ["ab" * 3001])
    assert nearly.reason.startswith("Scores 0.9997: most is lost to shortness (0.0003)")
    assert metric.judge("ab" * 3000, ["ab" * 3001], language="ja").reason.startswith(
        "スコア0.9997:失点の最大の原因は短さ(0.0003)"
    )
    assert metric.judge("ab", ["ab"], -0.0).reason == "Scores 1.00, at least 0.00: it equals its reference."
    assert "at least 0.99)" not in metric.judge("ab", ["ab"], 0.999).reason
    assert metric.judge("ab", ["ab"], 0.999).reason.startswith("Scores 1.000, at least 0.999:")
    assert "the references have 0.02 characters on average" in metric.judge("xy", [""] * 99 + ["ab"]).reason


def test_a_ceiling_nearly_reached_is_not_reached() -> None:
    """The table says 100% of what reaches all of it."""
    row = SystemScore("s", "charsim", "charsim", 2, {"charsim": 0.4996}, 0.5, 2, of_ceiling=0.9992)
    out = io.StringIO()
    print_systems(Systems([row]), out)
    assert ">99%" in out.getvalue()
