"""Explanations as they stand on a terminal and in a pipe, compared with golden files in tests/golden/explain."""

from __future__ import annotations

import io
import re
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import strategies
from commands import GOLDEN, agrees_with_golden
from refsim._printable import printable
from refsim.metrics.charsim import Charsim
from refsim.output import shading
from refsim.output.explain import print_explanation

if TYPE_CHECKING:
    from collections.abc import Sequence

EXPLAIN = GOLDEN.parent / "explain"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

CASES = {
    "english": (
        "It may rain tomorow, so you should bring along an umbrela when leaving the house early.",
        [
            "It may rain tomorrow, so you had better take an umbrella with you when you go out.",
            "It might rain tomorrow; take an umbrella with you when you leave the house.",
            "There may be rain tomorrow, so take an umbrella when you go out.",
        ],
    ),
    "japanese": (
        "明日は雨が降るかもしれないので、出かける時には傘を持って行く方がいいです。",
        [
            "明日は雨が降るかもしれないので、出かけるときには傘を持って行ったほうがよいでしょう。",
            "明日は雨かもしれませんから、お出かけの際は傘をお持ちください。",
        ],
    ),
    "hebrew": (
        "ייתכן שמחר יירד גשם, ולכן רצוי לקחת מטריה כשיוצאים מהבית בבוקר או בערב (50%).",
        [
            "ייתכן שמחר יירד גשם, ולכן כדאי לקחת מטרייה כשיוצאים מהבית בבוקר או בערב.",
            "אולי ירד מחר גשם, כדאי לקחת מטרייה.",
        ],
    ),
    "emoji": (
        "family: 👨‍👩‍👧 flag: 🇯🇵 thumb: 👍🏽 e\u0301te\u0301\nsecond line\twith a tab",
        ["family: 👨‍👩‍👧‍👦 flag: 🇯🇵 thumb: 👍🏿 e\u0301te\u0301\nsecond line with none"],
    ),
}


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


def show(  # noqa: PLR0913  what is shown, and on what
    candidate: str, references: Sequence[str], *, against: str | None = None, columns: int = 80, colour: bool = False,
    file: io.StringIO | None = None, **options: Any,  # noqa: ANN401  of the metric, or of the view
) -> str:  # fmt: skip
    """Return what a terminal of so many columns shows of an explanation; or what is written to another file."""
    language = options.pop("language", "en")
    view = {name: options.pop(name) for name in ("title", "names") if name in options}
    scorer = Charsim(**options).compile(list(references))
    told = scorer.explain(candidate, against=against)
    file = Terminal() if file is None else file
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        if not colour:
            patch.setenv("NO_COLOR", "1")
        print_explanation(told, scorer.judge(candidate, language=language).reason, file, **view)
    shown = file.getvalue()
    return shown if colour else ESCAPES.sub("", shown)


def width(shown: str) -> int:
    return max(map(cell_len, ESCAPES.sub("", shown).splitlines()))


# Golden screens


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("language", CASES)
def test_a_screen_is_as_it_was_looked_at(language: str, columns: int, *, colour: bool) -> None:
    """It fits the width; with colours parts are shaded, without them bracketed."""
    sentence = "ja" if language == "japanese" else "en"
    shown = show(*CASES[language], columns=columns, colour=colour, language=sentence)
    assert width(shown) <= columns
    assert agrees_with_golden(f"{language}-{columns}-{'colour' if colour else 'plain'}.txt", shown, EXPLAIN)


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_two_candidates_stand_beside_each_other(columns: int, *, colour: bool) -> None:
    """Both scores, both texts, what changes; side by side where there is room."""
    candidate, references = CASES["english"]
    shown = show(
        candidate, references, against="It may rain tomorrow, so take an umbrella with you.", columns=columns,
        colour=colour, title=["id 1", "a.tsv:2"], names=["system A", "מערכת"],
    )  # fmt: skip
    assert width(shown) <= columns
    assert agrees_with_golden(f"against-{columns}-{'colour' if colour else 'plain'}.txt", shown, EXPLAIN)


@pytest.mark.parametrize("language", CASES)
def test_a_pipe_shows_texts_whole(language: str) -> None:
    """Each on one line, bracketed, without an escape, whatever the terminal could show."""
    candidate, references = CASES[language]
    shown = show(candidate, references, file=io.StringIO(), colour=True)
    assert "\x1b" not in shown
    assert printable(references[0]) in re.sub(r"[][{}\u2068\u2069]", "", shown)
    assert agrees_with_golden(f"{language}-pipe.txt", shown, EXPLAIN)


@pytest.mark.parametrize(
    ("name", "candidate", "references"),
    [
        ("empty", "", ["the cat", "a cat"]),
        ("equal", "the cat", ["the cat"]),
        ("nothing", "", [""]),
        ("foreign", "xyz", ["the cat", "the cat", "a dog"]),
        ("excess", "the cat sat on the mat and slept", ["", "the cat"]),
    ],
)
def test_what_has_no_middle_is_shown_too(name: str, candidate: str, references: list[str]) -> None:
    """Empty texts, equal ones, and those that have nothing in common."""
    assert agrees_with_golden(f"{name}.txt", show(candidate, references), EXPLAIN)


def test_the_base_form_says_for_how_many_references_a_side_binds() -> None:
    """A share stands behind the side."""
    shown = show("Tickets cost 12 euros.", ["A ticket costs 12 euros.", "Tickets", "12 euros"], form="base", columns=60)
    assert width(shown) <= 60
    assert "precision 67%" in shown


# Terminals


def test_eight_colours_are_enough() -> None:
    """A terminal without 256 colours gets those it has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        shown = show(*CASES["english"], colour=True)
    assert "\x1b[37;41m" in shown
    assert "38;5" not in shown


def test_a_dumb_terminal_has_a_width_but_no_colours() -> None:
    """Brackets stand in their place, and lines fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "dumb")
        shown = show(*CASES["english"], colour=True, columns=60)
    assert "\x1b" not in shown
    assert "[s]{hou}[l]" in shown
    assert width(shown) <= 60


def test_an_output_without_unicode_gets_bars_of_ascii() -> None:
    """Nothing of the drawing needs an escape; texts may."""

    class Latin(Terminal):
        encoding = "ascii"

    shown = show("the dog sat on the mat", ["the cat sat on the mat"], file=Latin())
    assert "###" in shown
    assert not set("█▓▒░━─╸│") & set(shown)


def test_right_to_left_is_isolated_and_begins_on_the_right() -> None:
    """Each line of it on its own, at the right edge; a name among figures too."""
    shown = show(*CASES["hebrew"], columns=60, names=["מערכת", "אחרת"], against="גשם")
    lines = [line for line in shown.splitlines() if "לקחת" in line]
    assert all(line.count("\u2068") == line.count("\u2069") == 1 for line in lines)
    assert cell_len(next(line for line in shown.splitlines() if "רצו" in line)) == 60
    assert "\u2068מערכת\u2069" in shown


def test_long_names_keep_their_ends() -> None:
    """Names of systems often begin alike, and the figures beside them must stand in their columns."""
    names = ["organisation/a-model-of-some-size-tuned", "組織/とても長い名前のシステムの二番目の改良版"]
    shown = show(*CASES["english"], against="It may rain.", names=names, columns=60)
    assert width(shown) <= 60
    assert "…some-size-tuned" in shown
    assert names[0] in show(*CASES["english"], against="It may rain.", names=names, file=io.StringIO())


def test_a_text_cannot_move_the_cursor() -> None:
    """Controls, turned directions and lone surrogates are escapes; square brackets are no markup."""
    text = "[bold]x\x1b[2J\u202e\ud800:smile:"
    shown = show(text, [text])
    assert r"[bold]x\x1b[2J\u202e\ud800:smile:" in shown


# Long texts


def book() -> tuple[str, str]:
    words = ["alpha", "beta", "gamma", "delta", "over", "under", "river", "mountain"]
    places = np.random.default_rng(5).integers(0, len(words), 170_000)
    text = " ".join(words[place] for place in places.tolist())
    return text[:500_000] + "#### another hand wrote this ####" + text[500_000:], text


def test_a_book_does_not_flood_the_terminal() -> None:
    """The beginning, where most is lost, and how much is left out: all characters are accounted for."""
    candidate, reference = book()
    shown = show(candidate, [reference], columns=80)
    assert len(shown.splitlines()) < 100
    assert "[#### another hand wrote this ####]" in shown.replace("\n  ", "")
    section = shown[shown.index("candidate ") : shown.index("\nreference")]
    left_out = [int(count.replace(",", "")) for count in re.findall(r"\.\.\. ([\d,]+) characters left out", section)]
    assert len(left_out) == 2
    lines = [line[2:] for line in section.splitlines()[2:] if line and "left out" not in line]
    assert sum(left_out) + sum(map(len, lines)) - len("[]") == len(candidate)


def test_a_pipe_gets_the_whole_book() -> None:
    """In a time that grows with its length, and nothing is cut."""
    candidate, reference = book()
    start = time.perf_counter()
    shown = show(candidate, [reference], file=io.StringIO())
    assert time.perf_counter() - start < 60
    assert candidate in re.sub(r"[][{}]", "", shown)
    assert "left out" not in shown


# Parts


@given(strategies.texts(40), st.integers(2, 30), st.booleans())
def test_lines_hold_the_text_and_fit(text: str, columns: int, brackets: bool) -> None:  # noqa: FBT001  Hypothesis's way
    """Nothing is lost or doubled; only a cluster wider than the line is longer than it."""
    levels = np.arange(len(text)) % 3
    row = shading.tokens(text, levels.astype(np.int8), brackets=brackets)
    lines = shading.wrap(row, columns)
    assert [token for line in lines for token in line.tokens] == row
    assert all(line.width == sum(token.width for token in line.tokens) for line in lines)
    assert all(line.width <= columns or len(line.tokens) == 1 for line in lines)
    if not brackets:
        assert "".join(token.text for token in row) == printable(text)


@given(strategies.texts(40), st.data())
def test_a_line_with_brackets_is_what_its_clusters_give(text: str, data: st.DataObject) -> None:
    """The way of a pipe and that of a terminal mark the same parts, and the text is there."""
    values = data.draw(st.lists(st.integers(0, 5), min_size=len(text), max_size=len(text)))
    levels = np.array(values, np.int8)
    line = shading.bracketed(text, levels)
    assert line == shading.isolated("".join(token.text for token in shading.tokens(text, levels, brackets=True)))


@given(st.lists(st.integers(0, 4), max_size=300), st.integers(1, 20), st.integers(0, 3), st.integers(1, 3))
def test_passages_are_apart_and_count_what_is_left_out(values: list[int], columns: int, head: int, places: int) -> None:
    """In order, within the text, the heaviest loss among them."""
    levels = np.array(values, np.int8)
    passages = shading.excerpt(levels, columns, head=head, places=places, lines=4)
    shown = 0
    for passage in passages:
        assert passage.start - shown == passage.left_out
        assert passage.start < passage.stop or not values
        shown = passage.stop
    assert shown <= len(values)
    assert len(passages) <= places + 1
    lost = [i for i, level in enumerate(values) if level < shading.ALL]
    assert not lost or any(passage.start <= place < passage.stop for passage in passages for place in lost)


@given(strategies.rows(), strategies.forms)
def test_any_texts_fit_the_terminal(row: tuple[str, list[str]], form: Any) -> None:  # noqa: ANN401  a form
    """Whatever is in them."""
    candidate, references = row
    assert width(show(candidate, references, against=references[0], columns=60, form=form)) <= 60


@given(strategies.rows(), strategies.forms)
def test_bands_are_the_orders_together(row: tuple[str, list[str]], form: Any) -> None:  # noqa: ANN401  a form
    """They follow each other, and what they add is the score; of changes, the difference."""
    candidate, references = row
    told = Charsim(form=form).explain(candidate, references, against=references[0])
    bands = told.orders.bands()
    assert [n for band in bands for n in range(band.first, band.last + 1)] == list(range(1, len(told.orders) + 1))
    assert sum(band.contribution for band in bands) == pytest.approx(told.score if bands else 0, abs=1e-12)
    assert sum(band.weight for band in bands) == pytest.approx(1 if bands else 0, abs=1e-12)
    assert all(0 <= band.rho <= 1 + 1e-12 for band in bands)
    assert told.change is not None
    changes = told.change.bands()
    if told.against is not None and len(told.against.orders) and bands:
        assert sum(change for _, _, change in changes) == pytest.approx(told.change.score, abs=1e-12)
    assert [abs(change) for _, _, change in changes] == sorted((abs(change) for *_, change in changes), reverse=True)


def test_held_is_what_missing_does_not_lack() -> None:
    """A reference alone is what its candidate lacks, and holds elsewhere."""
    told = Charsim().explain("the dog sat on the mat", ["the cat sat on the mat"])
    held = told.held("the cat sat on the mat")
    assert "".join(".#"[one] for one in held) == "####.#################"
    (missing,) = told.missing
    assert [i for i, one in enumerate(held) if not one] == [i for part in missing.lacking for i in range(*part)]
