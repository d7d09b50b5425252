"""Texts that make a careless automaton slow or wrong: right answers on them, small and large.

Time and memory on these are measured in benchmarks/charsim.py; here the answers are compared with closed
forms, with windows counted as slices, and between ways that share little: pairs, compiled sets, matrices.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from oracles import charsim as oracle
from refsim import Charsim
from refsim.metrics._kernel import kernel

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form


FORMS: tuple[Form, ...] = ("main", "base", "median")
# Interpreted, the kernel takes some 10 us a character: enough to be right, not to be large.
SCALE = 1 if kernel.compiled() else 20


def fibonacci(length: int) -> str:
    """Return the beginning of the Fibonacci word abaababa…: it repeats at all scales."""
    shorter, longer = "a", "ab"
    while len(longer) < length:
        shorter, longer = longer, longer + shorter
    return longer[:length]


def thue_morse(length: int) -> str:
    """Return the beginning of the Thue-Morse word abbabaab…: no piece of it stands three times in a row."""
    return "".join("ab"[i.bit_count() % 2] for i in range(length))


def alphabet_trap(times: int) -> str:
    """Return many texts in which the landings of one state come in the worst order for an insertion sort."""
    return "abcdefghijklmnopqrst#" * times + "klmnopqrst#" * times


def edited(rng: random.Random, text: str, alphabet: str) -> str:
    """Return a text with one place changed."""
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(alphabet) + text[place + 1 :]


def near_identical(count: int, length: int, seed: int = 1) -> list[str]:
    """Return copies of one random text, each with one character changed: samples of one model."""
    rng = random.Random(seed)  # noqa: S311
    alphabet = "abcdefgh"
    text = "".join(rng.choices(alphabet, k=length))
    return [edited(rng, text, alphabet) for _ in range(count)]


def agree(candidate: str, references: list[str], form: Form = "main", max_order: int | None = None) -> float:
    """Assert that pairs or lists, compiled sets and matrices give the same bits, and return the score."""
    metric = Charsim(form=form, max_order=max_order)
    score = metric.score(candidate, references)
    assert metric.score_batch(["a", candidate], [["b"], references])[1] == score
    assert metric.compile(references).score_batch([candidate])[0] == score
    if len(references) == 1:
        assert metric.score_matrix([candidate, "a"], [*references, "ab"])[0, 0] == score
        assert metric.score(references[0], [candidate]) == score
    return score


WORDS = {
    "one letter": ("a" * 90, "a" * 70),
    "Fibonacci": (fibonacci(90), fibonacci(144)[50:]),
    "Thue-Morse": (thue_morse(96), thue_morse(128)[30:]),
    "both words": (fibonacci(80), thue_morse(80)),
    "alphabet": ("abcdefghijklmnopqrst", alphabet_trap(3)),
    "an x before each": (
        "".join("x" + chr(i) for i in range(0x4E00, 0x4E20)),
        "".join("x" + chr(i) for i in range(0x4E10, 0x4E38)),
    ),
    "squares": ("ab" * 40, "ba" * 45),
    "period with a break": ("aab" * 25, "aab" * 12 + "c" + "aab" * 14),
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("form", FORMS)
def test_hard_words_against_counted_windows(name: str, form: Form) -> None:
    """About a hundred characters, every order, alone and as one of several references."""
    candidate, reference = WORDS[name]
    for references in ([reference], [reference, candidate[:-1], reference, "a"]):
        score = agree(candidate, references, form)
        assert score == pytest.approx(oracle.score_by_slices(candidate, references, form), rel=0, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 3), (500, 499), (100_000, 33_333), (200_000, 1)])
def test_one_letter_repeated_has_a_closed_form(form: Form, n: int, m: int) -> None:
    """Of a^n and a^m, m <= n: up to order m all windows of the shorter are shared, beyond it 2m."""
    n, m = max(1, n // SCALE), max(1, m // SCALE)
    order = np.arange(1, n + 1, dtype=np.float64)
    overlap = np.where(order <= m, m + order - 1, 2 * m) if m < n else n + order - 1
    rho = overlap / (n + order - 1)
    expected = float(np.sum(rho / order) / np.sum(1 / order))
    assert agree("a" * n, ["a" * m], form) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        (fibonacci(60_000 // SCALE), fibonacci(80_000 // SCALE)[11:]),
        (thue_morse(60_000 // SCALE), thue_morse(1 << 16)[: 50_000 // SCALE]),
        (alphabet_trap(2_000 // SCALE), "abcdefghijklmnopqrst"),
        ("abcdefghijklmnopqrst", alphabet_trap(2_000 // SCALE)),
        ("a" * (50_000 // SCALE) + "b", "a" * (60_000 // SCALE)),
    ],
    ids=["Fibonacci", "Thue-Morse", "alphabet", "alphabet, swapped", "one letter, and another"],
)
def test_long_hard_words_agree_between_ways(candidate: str, reference: str) -> None:
    """Tens of thousands of characters: pair, compiled, matrix and swapped give the same bits, and 1 with themselves."""
    assert 0.0 < agree(candidate, [reference]) < 1.0
    assert agree(candidate, [candidate]) == 1.0
    first = agree(candidate, [reference], max_order=4)
    assert first == pytest.approx(oracle.score_by_slices(candidate, [reference], "main", 4), rel=0, abs=1e-12)


def test_a_state_with_many_edges() -> None:
    """After x come 20,000 different characters: the low orders are countable, and all ways agree on the rest."""
    count = 20_000 // SCALE
    letters = [chr(0x10000 + i) for i in range(count)]
    candidate = "".join("x" + c for c in letters)
    reference = "".join("x" + c for c in letters[::2] + letters[1::2])
    assert agree(candidate, [candidate]) == 1.0
    assert 0.0 < agree(candidate, [reference]) < 1.0
    orders = Charsim(max_order=4).per_order(candidate, [reference])
    assert orders.tolist() == [oracle.overlap(candidate, reference, n) / (2 * count + n - 1) for n in range(1, 5)]


def test_hard_texts_in_a_batch_disturb_no_other_row() -> None:
    """Rows that need more room than was set aside, between ordinary ones: the bits of one call each."""
    count = 4_000 // SCALE
    crowded = "".join("x" + chr(0x4E00 + i) for i in range(count))
    candidates = ["the cat", crowded, "on the mat", crowded[::-1], "", "a" * 500]
    references = ["the hat", crowded[2:] + "x", "on a mat", crowded + crowded[: count // 2], "x", "a" * 400 + "b"]
    scores = Charsim().score_batch(candidates, references)
    alone = [
        Charsim().score(candidate, [reference]) for candidate, reference in zip(candidates, references, strict=True)
    ]
    assert scores.tolist() == alone


@pytest.mark.parametrize("form", FORMS)
def test_near_identical_sets_against_counted_windows(form: Form) -> None:
    """Forty copies of 60 characters, one edit each: exact, for a copy, for the text of another set, for a part."""
    references = near_identical(40, 60)
    for candidate in (references[3], near_identical(1, 60, seed=2)[0], references[0][:30]):
        score = agree(candidate, references, form)
        assert score == pytest.approx(oracle.score_by_slices(candidate, references, form), rel=0, abs=1e-12)


def test_large_near_identical_sets_are_the_mean_of_their_pairs() -> None:
    """With all lengths equal the set's score is the mean of its pairs', which a matrix counts in another way."""
    references = near_identical(600 // SCALE, 100)
    candidates = near_identical(20 // (1 if SCALE == 1 else 5), 100, seed=1)
    pairs = Charsim().score_matrix(candidates, references)
    for form in FORMS:
        scorer = Charsim(form=form).compile(references)
        assert scorer.score_batch(candidates).tolist() == pytest.approx(pairs.mean(axis=1).tolist(), rel=0, abs=1e-12)
    assert pairs[0, 0] == 1.0
    assert pairs[1, 2] == Charsim().score(candidates[1], [references[2]])
