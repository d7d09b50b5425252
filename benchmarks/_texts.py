"""What the benchmark scores: real texts where they are there, generated ones elsewhere, and the growth traps.

The real texts are English newswire translations with their references, pfgen-bench's questions with
1,000 model answers each, and a novel of a million characters; they lie beside the project, not in it.
Without them a seeded sampler makes texts of about the same length and likeness, and the page says so.
`touch` makes a text new by one replaced character, so that no repeat meets a text of an earlier one.
"""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import gzip
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
_LENGTHS = range(70, 171)  # lines of this length average 115 characters
_SETS = ("Q01", "Q02", "Q08", "Q09", "Q10", "Q28", "Q30", "Q33")  # the questions with 1,000 references
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True)
class Corpus:
    """Pairs (candidate, reference), sets of 1,000 references, answers to the first set's question, a book."""

    origin: str
    pairs: list[tuple[str, str]]
    sets: list[list[str]]
    answers: list[str]
    book: str


def seeded(seed: int) -> random.Random:
    """Return a source of repeatable choices."""
    return random.Random(seed)  # noqa: S311  (texts to be measured, no secrets)


def touch(text: str, rng: random.Random) -> str:
    """Replace one character by another one of the same text (or by a letter)."""
    at = rng.randrange(len(text))
    new = text[rng.randrange(len(text))]
    if new == text[at]:
        new = rng.choice([letter for letter in "etaoin" if letter != text[at]])
    return f"{text[:at]}{new}{text[at + 1 :]}"


def touched(texts: Iterable[str], seed: int) -> list[str]:
    """Return every text with one replaced character, new for every seed."""
    rng = seeded(seed)
    return [touch(text, rng) for text in texts]


def changed_copy(text: str, seed: int, share: float = 0.02) -> str:
    """Return the text with a share of its positions replaced by characters drawn from it."""
    rng = seeded(seed)
    characters = list(text)
    for at in rng.sample(range(len(text)), round(len(text) * share)):
        characters[at] = text[rng.randrange(len(text))]
    return "".join(characters)


def near_identical(count: int, length: int, seed: int) -> list[str]:
    """Return copies of one random string of lower-case letters, each with one place replaced."""
    rng = seeded(seed)
    base = "".join(rng.choices(_ALPHABET, k=length))
    return [touch(base, rng) for _ in range(count)]


def load_book(data: Path = DATA) -> str:
    """Return the book alone, so that a process measuring memory has held nothing else."""
    try:
        return (data / "longdoc" / "war-and-peace.en.txt").read_text(encoding="utf-8")
    except OSError:
        return load(data).book


def load(data: Path = DATA) -> Corpus:
    """Return the real texts if all of them can be read, else generated ones."""
    try:
        return _read(data)
    except (OSError, ImportError) as reason:
        return _generate(type(reason).__name__)


def _read(data: Path) -> Corpus:
    import pyarrow.parquet as pq  # noqa: PLC0415  (only for the real texts)

    plain = data / "plaintext"
    candidates, references = (
        (plain / name).read_text(encoding="utf-8").split("\n") for name in ("hyps_long.txt", "refs_long.txt")
    )
    pairs = [
        (candidate, reference)
        for candidate, reference in zip(candidates, references, strict=True)
        if len(candidate) in _LENGTHS and len(reference) in _LENGTHS
    ]
    sets: dict[str, list[str]] = {question: [] for question in _SETS}
    columns = pq.read_table(data / "pfgen" / "references.parquet", columns=["question_id", "answer"]).to_pydict()
    for question, answer in zip(columns["question_id"], columns["answer"], strict=True):
        if question in sets:
            sets[question].append(answer)
    with gzip.open(data / "pfgen" / "outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    answers = dict.fromkeys(row["answer"] for row in rows if row["question_id"] == _SETS[0] and row["answer"])
    origin = "English newswire sentences, pfgen-bench's questions with 1,000 references, War and Peace"
    return Corpus(origin, pairs, list(sets.values()), list(answers), load_book(data))


def _generate(reason: str) -> Corpus:
    rng = seeded(1)
    words = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.choice((2, 3, 4, 5, 6, 7, 9)))) for _ in range(3000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]

    def sentence(length: int) -> str:
        text = " ".join(rng.choices(words, weights, k=length // 3))[:length]
        return f"{text.strip().capitalize()}."

    def answer_set(size: int) -> list[str]:
        phrases = [[sentence(rng.randrange(6, 14)) for _ in range(8)] for _ in range(10)]
        return ["".join(rng.choice(options) for options in phrases) for _ in range(size)]

    references = [sentence(rng.randrange(70, 160)) for _ in range(1500)]
    pairs = [(changed_copy(reference, seed, 0.3), reference) for seed, reference in enumerate(references)]
    first, *others = (answer_set(1280 if question == _SETS[0] else 1000) for question in _SETS)
    book = "\n".join(sentence(115) for _ in range(9000))[:1_000_000]
    origin = f"**generated** texts, for the real ones could not be read ({reason})"
    return Corpus(origin, pairs, [first[:1000], *others], first[1000:], book)


# --- what one run draws from them ---------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """The texts, and how much work is to be done on them."""

    corpus: Corpus
    quick: bool

    def repeats(self, full: int) -> int:
        """Return the number of repeats."""
        return 2 if self.quick else full

    def sentences(self, count: int, seed: int) -> tuple[list[str], list[str]]:
        """Return `count` candidates and their references, new for every seed."""
        pairs = seeded(seed).sample(self.corpus.pairs, count)
        return touched((c for c, _ in pairs), seed), touched((r for _, r in pairs), seed + 1)

    def answers(self, count: int, seed: int) -> list[str]:
        """Return distinct answers to the first set's question, new for every seed."""
        known = self.corpus.answers
        found: dict[str, None] = {}
        for turn in range(2 * count):
            if len(found) >= count:
                break
            found.update(dict.fromkeys(touched(known, 1000 * seed + turn)))
        return list(found)[:count]


# --- growth traps: size -> (candidate, reference) ------------------------------------------------


def _one_letter(size: int) -> tuple[str, str]:
    return "a" * size, "a" * (size - 1)


def _window(word: str, size: int) -> tuple[str, str]:
    # Two windows of one infinite word share long factors everywhere, and are not equal.
    start = size // 3
    return word[:size], word[start : start + size]


def _fibonacci(size: int) -> tuple[str, str]:
    last, word = "a", "ab"
    while len(word) < 2 * size:
        last, word = word, word + last
    return _window(word, size)


def _thue_morse(size: int) -> tuple[str, str]:
    word = "a"
    swap = str.maketrans("ab", "ba")
    while len(word) < 2 * size:
        word += word.translate(swap)
    return _window(word, size)


def _two_landings(size: int) -> tuple[str, str]:
    # a..t lands in one state of the alphabet with length 20, then k..t in the same one with length 10.
    long, short = _ALPHABET[:20] + "#", _ALPHABET[10:20] + "#"
    times = size // (len(long) + len(short))
    return long * times + short * times, _ALPHABET


def _many_edges(size: int) -> tuple[str, str]:
    symbols = [chr(code) for code in range(0x100, sys.maxunicode) if code not in _SURROGATES][: size // 2]
    reference = "".join(f"x{symbol}" for symbol in symbols)
    seeded(1).shuffle(symbols)
    return "".join(f"x{symbol}" for symbol in symbols), reference


_MILLION = (62_500, 250_000, 1_000_000)
TRAPS: dict[str, tuple[tuple[int, int, int], Callable[[int], tuple[str, str]]]] = {
    "one letter, `a…a` against one fewer": (_MILLION, _one_letter),
    "two windows of the Fibonacci word": (_MILLION, _fibonacci),
    "two windows of the Thue–Morse word": (_MILLION, _thue_morse),
    "`(a..t#)…(k..t#)…` against the alphabet": ((40_000, 160_000, 640_000), _two_landings),
    "the alphabet against `(a..t#)…(k..t#)…`": (
        (40_000, 160_000, 640_000),
        lambda size: (_ALPHABET, _two_landings(size)[0]),
    ),
    "`x` before every one of up to 500,000 characters": (_MILLION, _many_edges),
}
