"""What an explanation costs beside the score: one pair, a thousand references, two books. Writes benchmarks/explain.md.

python benchmarks/explain.py    prints the table, and writes the page
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import _texts
from _harness import Job, Row, at_most, in_fresh_process, limit, machine, measure_growth, paired, sides, spread, table
from _texts import Run

from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refsim.metrics._explain import Explanation

METRIC = Charsim()
PAGE_FILE = Path(__file__).with_suffix(".md")
_BOOK = 1_000_000
_PAGE = """# Explanations: benchmark

Made by `python benchmarks/explain.py`; do not edit. Texts: {origin}.

Machine: {machine}

Both sides run in one process and alternate, after one repeat that is dropped; ratios are taken within a repeat; the
table shows their median, and in brackets the lowest and the highest. CPU time; the row in milliseconds is wall time.
*Everything* is parts, orders, support, missing strings and supporters. Every repeat has texts that no earlier one had.

{table}"""


def everything(told: Explanation) -> Explanation:
    """Ask for all that is worked out late."""
    told.parts, told.orders, told.support, told.missing, told.supporters  # noqa: B018  asking is what works it out
    return told


def pairs(run: Run) -> Iterator[Row]:
    """One pair a call."""

    def setup(repeat: int, *, whole: bool) -> tuple[Job, Job]:
        candidates, references = run.sentences(300, 500_000 + 1000 * whole + repeat)
        rows = list(zip(candidates, references, strict=True))
        if whole:
            return (
                Job(lambda: [everything(METRIC.explain(c, [r])) for c, r in rows], len(rows)),
                Job(lambda: [METRIC.score(c, [r]) for c, r in rows], len(rows)),
            )
        return (
            Job(lambda: [METRIC.explain(c, [r]).parts for c, r in rows], len(rows)),
            Job(lambda: [METRIC.score(c, [r]) for c, r in rows], len(rows)),
        )

    timing = paired(lambda repeat: setup(repeat, whole=False), run.repeats(15), time.process_time)
    yield at_most("one pair of about 115 characters: `explain` with its parts", 5, timing, "`score`", "a call")
    timing = paired(lambda repeat: setup(repeat, whole=True), run.repeats(15), time.process_time)
    yield Row("the same, everything", "–", spread(timing.times_the_cost), None, sides(timing, "a call"))  # noqa: RUF001


def thousand(run: Run) -> Iterator[Row]:
    """A thousand references, compiled."""
    references = run.corpus.sets[0]
    scorer = METRIC.compile(references)
    everything(scorer.explain(references[0]))
    spent = []
    for repeat in range(run.repeats(9)):
        answers = run.answers(20, 600_000 + repeat)
        start = time.perf_counter()
        for answer in answers:
            everything(scorer.explain(answer))
        spent.append(1e3 * (time.perf_counter() - start) / len(answers))
    yield limit("pfgen Q01, K = 1,000, everything", 5, "ms a candidate", spent)


def books() -> Iterator[Row]:
    """Two books of a million characters."""
    quarter, whole = (in_fresh_process(Path(__file__), "book", str(size)) for size in (_BOOK // 4, _BOOK))
    yield limit("two books of 1,000,000 characters, everything", 20, "s", [whole["seconds"]])
    per_character = [run["growth"] / 2 / size for run, size in ((quarter, _BOOK // 4), (whole, _BOOK))]
    yield limit(
        "the same, peak memory a character of both texts: at the size over that at a quarter of it",
        1.5, "times", [per_character[1] / per_character[0]], f"{per_character[0]:.0f} and {per_character[1]:.0f} bytes",
    )  # fmt: skip


def main() -> None:
    """Run all rows, print the page and write it."""
    if sys.argv[1:2] == ["book"]:
        text = _texts.load_book()[: int(sys.argv[2])]
        changed = _texts.changed_copy(text, 1)
        import json  # noqa: PLC0415  in the process that measures memory

        sys.stdout.write(json.dumps(measure_growth(lambda: everything(METRIC.explain(changed, [text])))) + "\n")
        return
    described = machine(("refsim", "numpy"))
    run = Run(_texts.load(), quick=False)
    rows = [*pairs(run), *thousand(run), *books()]
    page = _PAGE.format(origin=run.corpus.origin, machine=described, table=table(rows))
    sys.stdout.write(page)
    PAGE_FILE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
