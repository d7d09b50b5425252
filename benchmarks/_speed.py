"""The rows that compare: refsim beside sacrebleu, fastchrf and RapidFuzz.

Each function yields rows of the table. One unit of work is one pair, one candidate, or the whole set,
as the row says; a peer too slow for all of the work gets a part, and its units say how much.
"""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import _texts
import fastchrf
import sacrebleu
from _harness import Job, Row, at_least, at_most, paired, seconds, spread, stopwatch
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _texts import Run

METRIC = Charsim()


def batch(run: Run) -> Iterator[Row]:
    """A batch of single pairs that share nothing."""
    chrf = sacrebleu.CHRF()

    def ours(candidates: list[str], references: list[str]) -> Job:
        lists = [[reference] for reference in references]
        return Job(lambda: METRIC.score_batch(candidates, lists, threads=1), len(candidates))

    def with_sacrebleu(repeat: int) -> tuple[Job, Job]:
        candidates, references = run.sentences(1000, 10 * repeat)
        few = list(zip(candidates, references, strict=True))[:200]
        return ours(candidates, references), Job(lambda: [chrf.sentence_score(c, [r]) for c, r in few], len(few))

    def with_fastchrf(repeat: int) -> tuple[Job, Job]:
        candidates, references = run.sentences(1000, 5000 + 10 * repeat)
        rows, columns = [[c] for c in candidates], [[r] for r in references]
        return ours(candidates, references), Job(lambda: fastchrf.pairwise_chrf(rows, columns), len(rows))

    work = "batch of single pairs, about 115 characters, nothing shared"
    repeats = run.repeats(41)
    yield at_least(work, 40, paired(with_sacrebleu, repeats), "sacrebleu `CHRF().sentence_score`", "a pair")
    yield at_least(work, 16, paired(with_fastchrf, repeats), "fastchrf `pairwise_chrf`, 1 × 1 lists", "a pair")


def one_call(run: Run) -> Iterator[Row]:
    """A call per pair, as a training loop does it."""

    def setup(repeat: int) -> tuple[Job, Job]:
        pairs = list(zip(*run.sentences(500, 10_000 + 10 * repeat), strict=True))
        return (
            Job(lambda: [METRIC.score(c, [r]) for c, r in pairs], len(pairs)),
            Job(lambda: [fastchrf.pairwise_chrf([[c]], [[r]]) for c, r in pairs], len(pairs)),
        )

    timing = paired(setup, run.repeats(15))
    yield at_least("the same pairs, one call each", None, timing, "fastchrf, one call each", "a pair")


def single(run: Run) -> Iterator[Row]:
    """One compiled reference and unrelated candidates."""

    def setup(repeat: int, *, whole: bool) -> tuple[Job, Job]:
        candidates, references = run.sentences(1001, 20_000 + 10 * repeat)
        reference, candidates = references[0], candidates[1:]
        scorer = METRIC.compile([reference], threads=1)
        # Both of RapidFuzz's ways cost the same within noise; the loop pays Python's call per pair.
        peer = (
            (lambda: cdist([reference], candidates, scorer=Levenshtein.distance, workers=1))
            if whole
            else (lambda: [Levenshtein.distance(candidate, reference) for candidate in candidates])
        )
        return Job(lambda: scorer.score_batch(candidates, threads=1), 1000), Job(peer, 1000)

    work = "compiled single reference, per unrelated candidate"
    repeats = run.repeats(61)
    loop = paired(lambda repeat: setup(repeat, whole=False), repeats)
    yield at_most(work, 4, loop, "RapidFuzz `Levenshtein.distance`", "a candidate")
    whole = paired(lambda repeat: setup(repeat + 100, whole=True), repeats)
    yield at_most(work, 4, whole, "RapidFuzz `cdist`, 1 × 1,000", "a candidate")


def matrix(run: Run) -> Iterator[Row]:
    """Every candidate against every reference alone."""
    size = 300

    def setup(repeat: int, peer: Callable[[list[str], list[str]], object]) -> tuple[Job, Job]:
        candidates, references = run.sentences(size, 30_000 + 10 * repeat)
        return (
            Job(lambda: METRIC.score_matrix(candidates, references, threads=1), size * size),
            Job(lambda: peer(candidates, references), size * size),
        )

    def levenshtein(candidates: list[str], references: list[str]) -> object:
        return cdist(candidates, references, scorer=Levenshtein.distance, workers=1)

    work = "300 × 300 matrix, per pair"
    chrf = paired(lambda i: setup(i, lambda c, r: fastchrf.pairwise_chrf([c], [r])), run.repeats(15))
    yield at_least(work, 30, chrf, "fastchrf `pairwise_chrf`", "a pair")
    yield at_least(
        work,
        2,
        paired(lambda i: setup(i + 100, levenshtein), run.repeats(41)),
        "RapidFuzz `cdist`, Levenshtein",
        "a pair",
    )


def set_main(run: Run) -> Iterator[Row]:
    """A thousand references, main form."""
    references = run.corpus.sets[0]
    scorer = METRIC.compile(references, threads=1)
    count = 1000

    def with_aggregate(repeat: int) -> tuple[Job, Job]:
        candidates = run.answers(count, repeat)
        return (
            Job(lambda: scorer.score_batch(candidates, threads=1), count),
            Job(lambda: fastchrf.aggregate_chrf([candidates], [references]), count),
        )

    def whole_job(repeat: int) -> tuple[Job, Job]:
        candidates = run.answers(count, 50 + repeat)
        fresh = _texts.touched(references, 40_000 + repeat)
        return (
            Job(lambda: METRIC.compile(fresh, threads=1).score_batch(candidates, threads=1), count),
            Job(lambda: fastchrf.aggregate_chrf([candidates], [fresh]), count),
        )

    work = "pfgen Q01, K = 1,000, main form, per distinct candidate"
    yield at_least(
        f"{work}; set compiled once, fastchrf given 1,000 candidates a call",
        25,
        paired(with_aggregate, run.repeats(15)),
        "fastchrf `aggregate_chrf`",
    )
    yield at_least(
        "the same with our compilation counted, 1,000 candidates",
        None,
        paired(whole_job, run.repeats(5)),
        "fastchrf `aggregate_chrf`",
    )
    yield _marginal(run)
    yield from _against_sacrebleu(run, work)
    yield _against_one(run)


def _marginal(run: Run) -> Row:
    """Compare with what one more candidate costs fastchrf, its work on the references set aside."""
    references = run.corpus.sets[0]
    scorer = METRIC.compile(references, threads=1)
    count, few = 1000, 10
    ratios, ours, theirs = [], [], []
    for repeat in range(run.repeats(5)):
        candidates = run.answers(count, 100 + repeat)
        mine = stopwatch(Job(lambda c=candidates: scorer.score_batch(c, threads=1), count), time.process_time)  # type: ignore[misc]
        spent = [
            stopwatch(Job(lambda c=part: fastchrf.aggregate_chrf([c], [references])), time.process_time)  # type: ignore[misc]
            for part in (candidates, candidates[:few])
        ]
        ours.append(mine)
        theirs.append((spent[0] - spent[1]) / (count - few))
        ratios.append(theirs[-1] / mine)
    absolute = f"{seconds(statistics.median(ours))}; peer {seconds(statistics.median(theirs))}"
    goal = "– (what one more candidate costs `aggregate_chrf`)"
    return Row("the same, without either side's work on the references", goal, spread(ratios), None, absolute)


def _against_sacrebleu(run: Run, work: str) -> Iterator[Row]:
    references = run.corpus.sets[0]
    scorer = METRIC.compile(references, threads=1)
    chrf = sacrebleu.CHRF()
    kept = sacrebleu.CHRF(references=[[reference] for reference in references])

    def setup(repeat: int, *, cached: bool) -> tuple[Job, Job]:
        candidates = run.answers(500, 150 + repeat)
        few = candidates[:2]
        peer = (
            (lambda: [kept.corpus_score([candidate], None) for candidate in few])
            if cached
            else (lambda: [chrf.sentence_score(candidate, references) for candidate in few])
        )
        return Job(lambda: scorer.score_batch(candidates, threads=1), len(candidates)), Job(peer, len(few))

    timing = paired(lambda repeat: setup(repeat, cached=False), run.repeats(11))
    yield at_least(work, 12_000, timing, "sacrebleu `CHRF().sentence_score`")
    timing = paired(lambda repeat: setup(repeat + 50, cached=True), run.repeats(5))
    yield at_least("the same, sacrebleu keeping its references", None, timing, "sacrebleu `CHRF(references=…)`")


def _against_one(run: Run) -> Row:
    references = run.corpus.sets[0]
    scorer = METRIC.compile(references, threads=1)

    def setup(repeat: int) -> tuple[Job, Job]:
        candidates = run.answers(1000, 250 + repeat)
        alone = METRIC.compile([references[repeat]], threads=1)
        return (
            Job(lambda: scorer.score_batch(candidates, threads=1), 1000),
            Job(lambda: alone.score_batch(candidates, threads=1), 1000),
        )

    timing = paired(setup, run.repeats(41))
    return at_most("pfgen Q01, the same candidates, K = 1,000", 3, timing, "refsim at K = 1")


def set_base(run: Run) -> Iterator[Row]:
    """A thousand references, base form."""
    references = run.corpus.sets[0]
    scorer = Charsim(form="base").compile(references, threads=1)

    def setup(repeat: int) -> tuple[Job, Job]:
        candidates = run.answers(200, 300 + repeat)
        few = candidates[:20]
        return (
            Job(lambda: scorer.score_batch(candidates, threads=1), len(candidates) * len(references)),
            Job(lambda: fastchrf.pairwise_chrf([few], [references]), len(few) * len(references)),
        )

    work = "the same, base form, per (candidate, reference)"
    yield at_least(work, 60, paired(setup, run.repeats(11)), "fastchrf `pairwise_chrf`")


def one_candidate_a_call(run: Run) -> Iterator[Row]:
    """One candidate a call against the same thousand references, as a reward does it; the cache is what counts."""
    references = run.corpus.sets[0]

    def setup(repeat: int) -> tuple[Job, Job]:
        candidates = run.answers(100, 400 + repeat)
        few = candidates[:2]
        return (
            Job(lambda: [METRIC.score(candidate, references) for candidate in candidates], len(candidates)),
            Job(lambda: [fastchrf.aggregate_chrf([[candidate]], [references]) for candidate in few], len(few)),
        )

    work = "pfgen Q01, main form, one candidate a call, the same 1,000 references each time"
    yield at_least(work, None, paired(setup, run.repeats(7)), "fastchrf `aggregate_chrf`, one call each", "a call")


def consensus(run: Run) -> Iterator[Row]:
    """Each of 1,000 candidates against the 999 others."""
    part = 50 if run.quick else 150

    def setup(repeat: int) -> tuple[Job, Job]:
        candidates = _texts.touched(run.corpus.sets[(repeat - 1) % len(run.corpus.sets)], 50_000 + repeat)
        few = _texts.seeded(repeat).sample(candidates, part)
        return (
            Job(lambda: METRIC.consensus(candidates, threads=1)),
            Job(lambda: fastchrf.pairwise_chrf([few], [candidates]), part / len(candidates)),
        )

    work = "consensus of 1,000 candidates (a pfgen question's references)"
    timing = paired(setup, run.repeats(5))
    yield at_least(work, 200, timing, f"fastchrf `pairwise_chrf`, {part} rows scaled to 1,000")
