"""The demonstration: its data is sound, its systems differ as they should, and it runs."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import refsim
from refsim import demo
from refsim.demo.markdown import bar, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = demo.read_rows("demo.jsonl")
NBEST = demo.read_rows("nbest.jsonl")
SYSTEMS = {"good", "padded", "terse"}
SCRIPTS = {"en": ("LATIN",), "ja": ("HIRAGANA", "KATAKANA", "CJK"), "he": ("HEBREW",)}


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def items() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in ROWS:
        found.setdefault(row["id"], []).append(row)
    return found


def means(rows: list[dict[str, Any]]) -> dict[str, float]:
    scores = refsim.Charsim().score_batch([row["candidate"] for row in rows], [row["references"] for row in rows])
    mean = {}
    for system in SYSTEMS:
        own = [score for row, score in zip(rows, scores, strict=True) if row["system"] == system]
        mean[system] = sum(own) / len(own)
    return mean


@pytest.mark.parametrize("name", demo.DATA_NAMES)
def test_data_is_composed_text_that_ends_in_a_newline(name: demo.DataName) -> None:
    """Files are UTF-8 in NFC, without a BOM, and no text has white space around it."""
    text = demo.read_text(name)
    assert text.endswith("\n")
    assert "\ufeff" not in text
    assert unicodedata.is_normalized("NFC", text)
    for row in demo.read_rows(name):
        for value in row.values():
            assert all(part == part.strip() for part in texts(value))


def test_every_item_has_three_systems_and_the_same_references_in_each() -> None:
    """About forty items; a key (id, system) occurs once."""
    assert 36 <= len(items()) <= 44
    assert len({(row["id"], row["system"]) for row in ROWS}) == len(ROWS)
    for rows in items().values():
        assert {row["system"] for row in rows} == SYSTEMS
        for name in ("references", "source", "lang", "group", "task"):
            assert all(row[name] == rows[0][name] for row in rows)


def test_an_item_has_three_to_eight_references_and_none_twice() -> None:
    """Nor do two systems give the same answer, or an empty one."""
    for rows in items().values():
        references = rows[0]["references"]
        assert 3 <= len(references) == len(set(references)) <= 8
        assert len({row["candidate"] for row in rows}) == 3
        assert all(texts([*references, rows[0]["source"], *(row["candidate"] for row in rows)]))


def test_the_languages_are_balanced_and_written_in_their_scripts() -> None:
    """Twelve items or more in each language; a text holds its script, or no letters at all ("100 °C", "366")."""
    counts = Counter(rows[0]["lang"] for rows in items().values())
    assert set(counts) == set(SCRIPTS)
    assert min(counts.values()) >= 12
    for row in [*ROWS, *NBEST]:
        for text in texts([row.get("candidate", ""), *row.get("candidates", []), *row["references"]]):
            names = [unicodedata.name(character) for character in text if character.isalpha()]
            assert not names or any(name.startswith(SCRIPTS[row["lang"]]) for name in names), text


def test_the_data_has_what_makes_text_hard() -> None:
    """Digits, emoji, vowel points, and Latin letters inside Japanese and Hebrew."""
    whole = demo.read_text("demo.jsonl")
    assert any(character.isdigit() for character in whole)
    assert any(ord(character) > 0xFFFF for character in whole)
    assert "\u05b8" in whole, "qamats"
    assert "Wi-Fiに" in whole
    assert "ה־PDF" in whole


def test_an_nbest_list_has_six_to_eight_candidates_and_none_twice() -> None:
    """About eight lists in the three languages."""
    assert len({row["id"] for row in NBEST}) == len(NBEST) == 8
    assert {row["lang"] for row in NBEST} == set(SCRIPTS)
    for row in NBEST:
        assert 6 <= len(row["candidates"]) == len(set(row["candidates"])) <= 8
        assert 2 <= len(row["references"]) == len(set(row["references"]))


@pytest.mark.parametrize("lang", SCRIPTS)
def test_good_scores_above_padded_and_terse_in_every_language(lang: str) -> None:
    """Too long and too short both cost."""
    mean = means([row for row in ROWS if row["lang"] == lang])
    assert mean["good"] > 1.5 * mean["padded"]
    assert mean["good"] > 1.5 * mean["terse"]


def test_text_is_shown_as_it_is_and_changes_nothing_around_it() -> None:
    """Markup is escaped, direction controls and line ends are made visible, joiners stay."""
    assert shown("a|b") == "\u2068a\\|b\u2069"
    assert shown("<b>*x*</b> & `y`") == "\u2068&lt;b&gt;\\*x\\*&lt;/b&gt; &amp; \\`y\\`\u2069"
    assert shown("\u2069\u202e\n\ud800") == "\u2068\\\\u2069\\\\u202e\\\\u000a\\\\ud800\u2069"
    assert shown("👩‍🍳 שָׁלוֹם") == "\u2068👩‍🍳 שָׁלוֹם\u2069"


def test_a_table_has_as_many_cells_in_every_line() -> None:
    """A column of numbers is aligned to the right."""
    assert table(["a", "n"], [["x", "1"]], numbers=[1]) == "| a | n |\n| --- | ---: |\n| x | 1 |\n"


@pytest.mark.parametrize(("score", "drawn"), [(0.0, ""), (0.5, "████"), (0.55, "████▍"), (1.0, "████████")])
def test_a_bar_is_as_long_as_its_score(score: float, drawn: str) -> None:
    assert bar(score) == drawn


def test_the_demonstration_runs_and_leaves_a_report(tmp_path: Path) -> None:
    """It prints the commands it runs; scores per segment, the consensus and the report stand in the folder."""
    command = [sys.executable, "-m", "refsim.demo", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "$ refsim score out/demo.jsonl" in done.stdout
    lines = (tmp_path / "out" / "segments.jsonl").read_text(encoding="utf-8").splitlines()
    segments = {(row["id"], row["system"]): row for row in map(json.loads, lines)}
    assert len(segments) == len(ROWS)
    scores = refsim.Charsim().score_batch([row["candidate"] for row in ROWS], [row["references"] for row in ROWS])
    assert [segments[row["id"], row["system"]]["charsim"] for row in ROWS] == scores.tolist()

    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    for section in ("Systems by language", "lowest segments", "Small slips", "Consensus"):
        assert section in report
    for row in NBEST:
        best = row["candidates"][int(refsim.Charsim().consensus(row["candidates"]).argmax())]
        assert f"**{shown(best)}**" in report
    widths = {line.replace("\\|", "").count("|") for line in report.splitlines() if line.startswith("| ")}
    assert widths <= {4, 5, 6}


@pytest.mark.parametrize("arguments", [["--help"], ["one", "two"]])
def test_the_demonstration_says_how_it_is_called(arguments: list[str], tmp_path: Path) -> None:
    """A word that cannot be a folder makes none."""
    command = [sys.executable, "-m", "refsim.demo", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage:")
    assert not list(tmp_path.iterdir())
