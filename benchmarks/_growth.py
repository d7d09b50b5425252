"""The rows about growth: time and memory of long texts, near-identical sets, and the traps at three sizes."""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import _texts
from _harness import Job, Row, at_most, figure, in_fresh_process, limit, paired, seconds, stopwatch

from refsim.metrics.charsim import Charsim, CharsimScorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _texts import Run

METRIC = Charsim()
MEMORY = Path(__file__).with_name("_memory.py")
# A linear method gets slower per character as it leaves the caches, up to about three times; a quadratic
# one would be as many times slower as the text is longer, 16 here.
_CACHES = 8


def growth(run: Run) -> Iterator[Row]:
    """A book against a changed copy, and one letter repeated."""
    book = run.corpus.book

    def job(size: int, seed: int) -> Job:
        # The text starts elsewhere in every repeat where there is room; the changed copy is always new.
        start = (seed * 9973) % (len(book) - size + 1)
        candidate = book[start : start + size]
        reference = _texts.changed_copy(candidate, seed)
        return Job(lambda: METRIC.score(candidate, [reference]))

    def letters(seed: int) -> Job:
        candidate, reference = "a" * 1_000_000, "a" * (1_000_000 - seed)
        return Job(lambda: METRIC.score(candidate, [reference]))

    repeats = run.repeats(5)
    work = "book against a changed copy, 1,000,000 characters"
    small = paired(lambda i: (job(1_000_000, 2 * i + 1), job(100_000, 2 * i + 2)), repeats)
    yield at_most(work, 30, small, "at 100,000")
    middle = paired(lambda i: (job(1_000_000, 2 * i + 101), job(250_000, 2 * i + 102)), repeats)
    yield at_most(work, 10, middle, "at 250,000")
    same = paired(lambda i: (letters(i + 1), job(1_000_000, i + 200)), run.repeats(3))
    yield at_most("`a` × 1,000,000 against one to four fewer", 3, same, "the book")
    sizes = (100_000,) if run.quick else (100_000, 1_000_000)
    values = [in_fresh_process(MEMORY, "book", str(size)) for size in sizes]
    each = [value["growth"] / value["characters"] for value in values]
    absolute = "; ".join(f"{figure(value)} at {size:,}" for value, size in zip(each, sizes, strict=True))
    yield limit("book, peak memory per character of both texts", 100, "bytes", each[-1:], absolute)


def near(run: Run) -> Iterator[Row]:
    """Sets of copies with one edit each: the hard case of an exact method."""
    repeats = 1 if run.quick else 3
    small = [in_fresh_process(MEMORY, "near", "3000", "100") for _ in range(repeats)]
    work = "near-identical, 3,000 × 100 characters, one edit each"
    yield limit(f"{work}: compile", 1, "s", [value["seconds"] for value in small])
    yield limit(f"{work}: peak memory", 250, "bytes a character", [v["growth"] / v["characters"] for v in small])
    length = 300 if run.quick else 1000
    large = in_fresh_process(MEMORY, "near", "1000", str(length))
    work = f"near-identical, 1,000 × {length:,} characters"
    yield limit(f"{work}: compile", 20, "s", [large["seconds"]])
    yield limit(f"{work}: peak memory", 600, "MB", [large["growth"] / 1e6])


def traps(run: Run) -> Iterator[Row]:
    """Texts on which a careless implementation is quadratic, each at three sizes."""
    for name, (sizes, make) in _texts.TRAPS.items():
        spent = []
        for size in (size // 4 if run.quick else size for size in sizes):
            candidate, reference = make(size)
            METRIC.score("warm", ["worm"])
            job = Job(lambda c=candidate, r=reference: METRIC.score(c, [r]), size)  # type: ignore[misc]
            spent.append((size, stopwatch(job, time.process_time)))
        yield _trap_row(name, "character", spent)
    yield _near_row(3000, 100)
    yield _near_row(1000, 300 if run.quick else 1000)


def _near_row(count: int, length: int) -> Row:
    """Show what compiling texts of one edit each costs at three lengths, and a new such text against the longest."""
    spent: list[tuple[int, float]] = []
    for size in (length // 4, length // 2, length):
        texts = _texts.near_identical(count + 20, size, size)
        kept: list[CharsimScorer] = []
        job = Job(lambda t=texts[:count], k=kept: k.append(METRIC.compile(t, threads=1)))  # type: ignore[misc]
        spent.append((size, stopwatch(job, time.process_time)))
    new = texts[count:]
    candidate = stopwatch(Job(lambda: kept[0].score_batch(new, threads=1), len(new)), time.process_time)
    shown = ", ".join(f"{size:,}: {seconds(value)}" for size, value in spent)
    exponent = math.log(spent[-1][1] / spent[0][1]) / math.log(spent[-1][0] / spent[0][0])
    return Row(
        f"trap: {count:,} near-identical texts, compiled, by length",
        "– (the square, by construction)",
        f"length to the power {exponent:.2f}",
        None,
        f"{shown}; a new candidate at {length:,}: {seconds(candidate)}",
    )


def _trap_row(name: str, unit: str, spent: list[tuple[int, float]]) -> Row:
    """Show the cost per unit at each size; a quadratic method would multiply it by 16."""
    ratio = spent[-1][1] / spent[0][1]
    times = spent[-1][0] / spent[0][0]
    shown = ", ".join(f"{size:,}: {seconds(value)}" for size, value in spent)
    goal = f"≤ {_CACHES} at {figure(times)} × the size (quadratic: {figure(times)})"
    return Row(f"trap: {name}", goal, f"{ratio:.2f} × the cost a {unit}", ratio <= _CACHES, f"{shown} a {unit}")
