"""Tables as they stand on a terminal and in a pipe, compared with golden files in tests/golden/output."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from commands import agrees_with_golden, on_terminal, run
from refsim.output.tables import print_systems
from refsim.results import Systems, SystemScore

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {
    "english": ["good", "a much longer name of a system that translates/and-has-a-path-in-it/checkpoint-000123000"],
    "japanese": [
        "良い翻訳システム",
        "余計な説明を付け加える長い名前の翻訳システムその二の改良版の三番目の候補となるもの",
    ],
    "hebrew": ["מערכת טובה", "מערכת שמוסיפה הסברים ארוכים מאוד לכל תרגום ותרגום שהיא מפיקה בכל פעם"],
}
TEXTS = ["the cat sat on the mat", "the cat"]
NBEST = {
    "english": ["It may rain tomorrow, so you had better take an umbrella with you when you go out.", "It may rain."],
    "japanese": [
        "明日は雨が降るかもしれないので、出かけるときには傘を持って行ったほうがよいでしょう。",
        "明日は雨かも。",
    ],
    "hebrew": ["ייתכן שמחר יירד גשם, ולכן כדאי לקחת מטרייה כשיוצאים מהבית בבוקר או בערב.", "ייתכן שיירד גשם."],
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def systems_file(folder: Path, names: list[str]) -> Path:
    rows = [
        {"id": str(i), "system": name, "candidate": text, "references": ["the cat sat on the mat", "a cat sat"]}
        for name, text in zip(names, TEXTS, strict=True)
        for i in range(1200)
    ]
    return write(folder / "rows.jsonl", rows)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("language", NAMES)
def test_a_table_fits_the_terminal(tmp_path: Path, language: str, columns: int) -> None:
    """Long names fold, wide characters count as two columns, numbers stay whole and aligned."""
    shown = on_terminal("score", systems_file(tmp_path, NAMES[language]), columns=columns)
    assert max(map(cell_len, shown.splitlines())) <= columns
    assert agrees_with_golden(f"systems-{language}-{columns}.txt", shown)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("language", NBEST)
def test_candidates_are_cut_at_the_edge_of_the_terminal(tmp_path: Path, language: str, columns: int) -> None:
    """Ranks and scores are what the table is for: texts end in an ellipsis."""
    nbest = write(tmp_path / "nbest.jsonl", [{"id": language, "candidates": [*NBEST[language], NBEST[language][0]]}])
    shown = on_terminal("consensus", nbest, columns=columns)
    assert max(map(cell_len, shown.splitlines())) <= columns
    assert agrees_with_golden(f"candidates-{language}-{columns}.txt", shown)


def test_in_a_pipe_a_row_is_a_line(tmp_path: Path) -> None:
    """However long a name is, and without colours or marks."""
    done = run("score", systems_file(tmp_path, NAMES["hebrew"]))
    assert len(done.out.splitlines()) == 4
    assert all(name in done.out for name in NAMES["hebrew"])
    assert "\x1b" not in done.out
    assert "\u200e" not in done.out
    assert agrees_with_golden("systems-pipe.txt", done.out)


def test_a_pipe_shows_candidates_whole(tmp_path: Path) -> None:
    """Cut texts are for the eye only."""
    nbest = write(tmp_path / "nbest.jsonl", [{"id": "1", "candidates": NBEST["english"]}])
    assert NBEST["english"][0] in run("consensus", nbest).out


def test_colours_are_for_terminals_alone(tmp_path: Path) -> None:
    """A terminal shows headings bold."""
    rows = systems_file(tmp_path, NAMES["english"])
    assert "\x1b[1m" in on_terminal("score", rows, keep_escapes=True)


def test_a_name_from_right_to_left_does_not_move_the_numbers(tmp_path: Path) -> None:
    """A mark before them ends its direction, on each line of a folded name, where a terminal would else swap them."""
    shown = on_terminal("score", systems_file(tmp_path, NAMES["hebrew"]), columns=60)
    assert [line.count("\u200e1,200") for line in shown.splitlines()[2:]] == [1, 1, 0, 0]


def test_a_name_cannot_move_the_cursor(tmp_path: Path) -> None:
    """Control characters, line separators, turned directions and lone surrogates are shown as escapes."""
    name = "a\x1b[2J\n\u2028\u202e\ud800b"
    done = run("score", write(tmp_path / "x.jsonl", [{"id": "1", "system": name, "candidate": "a", "reference": "a"}]))
    assert done.out.splitlines()[2].split()[0] == r"a\x1b[2J\n\u2028\u202e\ud800b"


def test_a_name_is_no_markup(tmp_path: Path) -> None:
    """Square brackets and colons mean nothing."""
    name = "[bold]:smile:[/x]"
    done = run("score", write(tmp_path / "x.jsonl", [{"id": "1", "system": name, "candidate": "a", "reference": "a"}]))
    assert done.out.splitlines()[2].split()[0] == name


def test_several_metrics_are_several_tables(tmp_path: Path) -> None:
    """Each has its signature above it."""
    rows = systems_file(tmp_path, ["A", "B"])
    assert agrees_with_golden("two-metrics.txt", run("score", rows, "-m", "charsim", "-m", "charsim(form=base)").out)


def test_notes_say_what_a_ceiling_stands_on(tmp_path: Path) -> None:
    """Fewer segments than the mean, or none at all."""
    rows = [
        {"id": "1", "system": "A", "candidate": "a", "references": ["a", "b"]},
        {"id": "2", "system": "A", "candidate": "a", "references": ["a"]},
        {"id": "2", "system": "B", "candidate": "a", "references": ["a"]},
    ]
    assert agrees_with_golden("notes.txt", run("score", write(tmp_path / "x.jsonl", rows)).out)


def test_scores_beside_the_headline_have_their_names() -> None:
    """A metric of three scores has three columns."""
    row = SystemScore("A", "m", "m|x", 3, {"f1": 0.5, "precision": 0.25, "recall": 1.0}, None, 0, "m has no such thing")
    file = io.StringIO()
    print_systems(Systems([row]), file)
    assert file.getvalue().splitlines() == [
        "m|x",
        "system  n    mean  precision  recall  ceiling  reached",
        "A       3  0.5000     0.2500  1.0000        \N{EN DASH}        \N{EN DASH}",
        "\N{EN DASH} no ceiling: m has no such thing",
    ]
