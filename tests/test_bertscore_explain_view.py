"""BERTScore's explanations as they stand on a terminal and in a pipe, compared with files in tests/golden/alignment.

NAME.json: pieces, partners and cosines that minilm and e5-small-q4 gave  -->  an explanation  -->  screens
"""

from __future__ import annotations

import io
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from commands import GOLDEN, agrees_with_golden
from refsim.metrics._alignment import Alignment, BERTExplanation, Side, judge
from refsim.metrics._matching import PRF
from refsim.output.alignment import print_alignment

ALIGNMENT = GOLDEN.parent / "alignment"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
NAMES = ["english", "japanese", "hebrew", "emoji"]
Row = tuple[int, int, int, float]


class Terminal(io.StringIO):
    """A file that says that it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test the same terminal, whatever the one is that tests run on."""
    for name in ("NO_COLOR", "COLORTERM", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def side(text: str, rows: list[Row], *, cut: bool = False) -> Side:
    """Return a side of pieces, (start, stop, partner, cosine) each, that weigh alike."""
    count = len(rows)
    spans = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    partners = np.array([row[2] for row in rows], np.int64)
    cosines = np.array([row[3] for row in rows], np.float64)
    return Side(text, spans, partners, cosines, np.full(count, 1 / max(1, count)), cut)


def explanation(sides: list[tuple[Side, Side]], aggregate: str = "max", **metric: Any) -> BERTExplanation:  # noqa: ANN401
    """Return an explanation made up of these sides, by a metric that has no model."""
    alignments = []
    for candidate, reference in sides:
        p, r = candidate.score, reference.score
        equal = candidate.text == reference.text
        scores = PRF(1.0, 1.0, 1.0) if equal else PRF(p, r, 2 * p * r / (p + r) if p + r else 0.0)
        alignments.append(Alignment(candidate, reference, scores, equal))
    table = np.array([one.scores for one in alignments])
    highest = aggregate == "max"
    p, r, f1 = table.argmax(axis=0).tolist()
    scores = PRF(*(table.max(axis=0) if highest else table.mean(axis=0)).tolist())
    made: Any = SimpleNamespace(**{"signature": "bertscore(golden)", "rescale": False, **metric})
    texts = [reference.text for _, reference in sides]
    return BERTExplanation(made, sides[0][0].text, texts, scores, alignments, (p, r, f1) if highest else None)


def golden(name: str, count: int | None = None, aggregate: str = "max") -> BERTExplanation:
    """Return the explanation in NAME.json, with so many of its references."""
    pairs = json.loads((ALIGNMENT / f"{name}.json").read_text(encoding="utf-8"))[:count]
    sides = [[side(one[which]["text"], one[which]["pieces"]) for which in ("candidate", "reference")] for one in pairs]
    return explanation([(candidate, reference) for candidate, reference in sides], aggregate)


def show(  # noqa: PLR0913  what is shown, and on what
    told: BERTExplanation, *, columns: int = 80, colour: bool = False, file: io.StringIO | None = None,
    language: Any = "en", title: tuple[str, ...] = (),  # noqa: ANN401  en or ja
) -> str:  # fmt: skip
    """Return what a terminal of so many columns shows; or what is written to another file."""
    file = Terminal() if file is None else file
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        if not colour:
            patch.setenv("NO_COLOR", "1")
        print_alignment(told, judge(told, None, language).reason, file, title=title)
    shown = file.getvalue()
    return shown if colour else ESCAPES.sub("", shown)


def width(shown: str) -> int:
    return max(map(cell_len, ESCAPES.sub("", shown).splitlines()))


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", NAMES)
def test_a_screen_is_as_it_was_looked_at(name: str, columns: int, *, colour: bool) -> None:
    """It fits the width; with colours words are shaded, without them bracketed."""
    language = "ja" if name == "japanese" else "en"
    shown = show(golden(name), columns=columns, colour=colour, language=language, title=("id 1", "a.tsv:2"))
    assert width(shown) <= columns
    assert agrees_with_golden(f"{name}-{columns}-{'colour' if colour else 'plain'}.txt", shown, ALIGNMENT)


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_shows_texts_whole(name: str) -> None:
    """Each on one line, bracketed, without an escape."""
    shown = show(golden(name), file=io.StringIO(), colour=True)
    assert "\x1b" not in shown
    assert agrees_with_golden(f"{name}-pipe.txt", shown, ALIGNMENT)


def test_colours_and_brackets_mark_the_same_words() -> None:
    """Red is what stands in square brackets."""
    plain, colour = (show(golden("english"), columns=120, colour=one) for one in (False, True))
    bracketed = re.findall(r"\[([^].]+)\]", plain[plain.index("candidate ") : plain.index("costs most")])
    red = re.findall(
        r"\x1b\[38;5;231;48;5;88m([^\x1b]+)", colour[colour.index("candidate") : colour.index("costs most")]
    )
    assert " ".join(bracketed) == " ".join(word for word in red if not word.startswith(" below"))


def test_one_reference_has_no_table_of_references() -> None:
    shown = show(golden("english", 1))
    assert "references" not in shown
    assert "number" not in shown


def test_each_reference_has_its_figures() -> None:
    """The best first, with stars where the score comes from; of many those that it comes from, and how many more."""
    shown = show(golden("english"))
    rows = [line.split()[:4] for line in shown.splitlines() if re.match(r" +\d+ +\d\.\d{4}", line)]
    scores = [one.scores for one in golden("english").alignments]
    assert [row[0] for row in rows] == ["3", "1", "2"]
    assert [row[1:] for row in rows][1] == [f"{value:.4f}" for value in scores[0]]
    assert rows[0][1:] == [f"{value:.4f}*" for value in scores[2]]
    assert "the score is their mean" in show(golden("english", aggregate="mean"))
    assert "*" not in show(golden("english", aggregate="mean"))
    many = explanation([
        (side("a b", [(0, 1, 0, p), (2, 3, 0, p)]), side(f"b{i}", [(0, 1, 1, r)]))
        for i, (p, r) in enumerate([(0.99, 0.1), *[(0.5, 0.5)] * 9, (0.1, 0.99)])
    ])  # fmt: skip
    shown = show(many)
    assert "0.9900*" in shown
    assert shown.count("*") == 4
    assert "and 3 more" in shown


def test_partners_that_are_marks_are_named() -> None:
    """In the table of costs, never as a tokenizer writes them."""
    told = explanation([(side("a cat", [(0, 1, -1, 0.2), (2, 5, 0, 0.9)]), side("the cat", [(4, 7, 1, 0.9)]))])
    assert re.search(r"^  a +\(mark\) +0\.2000  0\.5000  0\.4000    89%$", show(told), re.MULTILINE)


def test_a_rescaled_score_says_what_its_losses_are() -> None:
    """They are those before rescaling, and a bar is never shorter than nothing."""
    pair = side("a cat", [(0, 1, 0, 0.2), (2, 5, 0, 0.9)]), side("the cat", [(4, 7, 1, 0.9)])
    told = explanation([pair, pair], rescale=True)
    told = BERTExplanation(told.metric, told.candidate, told.references, PRF(-0.25, 0.5, -1.0), told.alignments, None)
    shown = show(told)
    assert "precision  -0.2500  ──" in shown
    assert "0.4500 is lost in all, 1 - precision of reference 1 before rescaling" in shown
    assert "the score is their mean, before rescaling" in shown


def test_what_was_not_read_is_told() -> None:
    """How far the model read, and nothing behind it is marked."""
    cut = side("a cat that sat on the mat", [(0, 1, 0, 0.2), (2, 5, 0, 0.9)], cut=True)
    told = explanation([(cut, side("the cat", [(4, 7, 1, 0.9)]))], encoder=SimpleNamespace(limit=4))
    shown = show(told)
    assert "the model's 4 tokens end after 5 characters; the rest is not read" in shown
    assert "[a] cat that sat on the mat" in shown


def test_nothing_costs_anything_where_texts_are_equal_or_empty() -> None:
    """Then there are no tables; an empty text says so."""
    equal = side("the cat", [(0, 3, 0, 1.0), (4, 7, 1, 1.0)])
    assert "costs" not in show(explanation([(equal, equal)]))
    shown = show(explanation([(side("", []), side("the cat", [(0, 3, -1, 0.0), (4, 7, -1, 0.0)]))]))
    assert "(empty)" in shown
    assert "[the] [cat]" in shown
    assert "costs" not in shown


def test_a_long_text_does_not_flood_the_terminal() -> None:
    """Its beginning and where it is worst."""
    text = "word " * 5000
    rows: list[Row] = [(5 * i, 5 * i + 4, 0, 0.1 if i == 4000 else 0.9) for i in range(5000)]
    told = explanation([(side(text, rows), side("word", [(0, 4, 0, 0.9)]))])
    shown = show(told)
    assert len(shown.splitlines()) < 60
    assert "left out" in shown
    assert "[word]" in shown
    assert text.strip() in re.sub(r"[][{}]", "", show(told, file=io.StringIO()))


def test_an_output_without_unicode_gets_bars_of_ascii() -> None:
    class Latin(Terminal):
        encoding = "ascii"

    assert not set("━─╸") & set(show(golden("english"), file=Latin()))


def test_a_text_cannot_move_the_cursor() -> None:
    """Controls are escapes, in texts and in tables."""
    told = explanation([(side("a\x1b[2J b", [(0, 6, 0, 0.1), (7, 8, 0, 0.9)]), side("x\x1b", [(0, 2, 0, 0.1)]))])
    for file in (None, io.StringIO()):
        shown = show(told, colour=True, file=file)
        assert r"a\x1b[2J" in shown
        assert r"x\x1b" in shown
        assert "\x1b[2J" not in shown


pieces = st.lists(st.tuples(st.text(max_size=6), st.booleans(), st.floats(0, 1)), max_size=8)


def sided(parts: list[tuple[str, bool, float]], others: int) -> Side:
    """Return a side of these pieces, with a space behind some."""
    rows: list[Row] = []
    text = ""
    for i, (piece, space, cosine) in enumerate(parts):
        rows.append((len(text), len(text) + len(piece), i % (others + 1) - 1, cosine))
        text += piece + " " * space
    return side(text, rows)


@given(left=pieces, right=pieces, columns=st.integers(60, 130), colour=st.booleans())
def test_any_texts_fit_the_terminal(left: Any, right: Any, columns: int, *, colour: bool) -> None:  # noqa: ANN401
    """Whatever is in them, and whatever the model makes of it."""
    told = explanation([(sided(left, len(right)), sided(right, len(left)))])
    assert width(show(told, columns=columns, colour=colour)) <= columns
