"""Real data, where it is there: thousands of references, near copies, repeats, whole books, every script."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from oracles import charsim as oracle
from refsim import Charsim
from refsim.readers import read
from refsim.run import evaluate
from shared import shared_data

if TYPE_CHECKING:
    from pathlib import Path

    from refsim.metrics.charsim import Form


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_pfgen_against_its_published_totals() -> None:
    """All groups of a question merged: 10,656 answers, the 83 empty ones 0, and models ranked as docs/pfgen.md says."""
    folder = shared_data("pfgen")
    references: dict[str, list[str]] = defaultdict(list)
    for row in pq.read_table(folder / "references.parquet").to_pylist():
        references[row["question_id"]].append(row["answer"])
    assert {len(texts) for texts in references.values()} == {1000, 2000, 3000}
    answers = rows(folder / "outputs.jsonl.gz")
    lists = [references[row["question_id"]] for row in answers]
    scores = Charsim().score_batch([row["answer"] for row in answers], lists)
    empty = [not row["answer"] for row in answers]
    assert (len(scores), sum(empty), scores[empty].tolist()) == (10_656, 83, [0.0] * 83)
    published = {(row["model"], row["mode"]): row["published_total"] for row in rows(folder / "models.jsonl.gz")}
    by_model: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, score in zip(answers, scores.tolist(), strict=True):
        by_model[row["model"], row["mode"]].append(score)
    means = [np.mean(by_model[model]) for model in published]
    totals = list(published.values())
    assert np.corrcoef(means, totals)[0, 1] == pytest.approx(0.931, abs=5e-4)  # Pearson
    ranks = np.argsort(np.argsort([means, totals], axis=1), axis=1)
    assert np.corrcoef(ranks[0], ranks[1])[0, 1] == pytest.approx(0.955, abs=5e-4)  # Spearman
    ceilings = [Charsim().compile(texts).ceiling() for texts in references.values()]
    assert np.mean(ceilings) == pytest.approx(0.252, abs=5e-4)


@pytest.mark.parametrize("form", ["main", "base", "median"])
def test_pfgen_small_enough_for_the_definition(form: Form) -> None:
    """Answers against the first three references equal the oracle."""
    folder = shared_data("pfgen")
    references = [row["answer"] for row in pq.read_table(folder / "references.parquet").slice(0, 3).to_pylist()]
    for row in rows(folder / "outputs.jsonl.gz")[:3]:
        expected = float(oracle.score(row["answer"], references, form))
        assert abs(Charsim(form=form).score(row["answer"], references) - expected) < 1e-12


def test_lists_of_candidates() -> None:
    """60 n-best lists: consensus of each equals a call each."""
    for row in rows(shared_data("nbest/nbest.jsonl.gz"))[:12]:
        candidates = row["candidates"]
        ranked = Charsim().consensus(candidates)
        for place in (0, len(candidates) // 2):
            others = candidates[:place] + candidates[place + 1 :]
            assert ranked[place] == Charsim().score(candidates[place], others)


def test_summaries_with_eleven_references_joined_by_document() -> None:
    """16 systems of 66 documents, and a ceiling."""
    folder = shared_data("summeval")
    batches = read(folder / "segments.jsonl.gz", references=folder / "documents.jsonl.gz", on="segment_id")
    results = evaluate(batches, metrics=["charsim"])
    table = results.systems.to_pandas()
    assert len(table) == 16
    assert set(table["n"] if "n" in table else table["count"]) == {66}


def test_references_that_repeat_thousands_of_times() -> None:
    """Weights give what the list written out gives."""
    for row in sorted(rows(shared_data("d2t-multiref/sfhot.jsonl.gz")), key=lambda row: -len(row["references"]))[:5]:
        candidate, references = row["candidate"], row["references"]
        assert len(set(references)) < len(references)
        few = references[:40]
        assert Charsim().score(candidate, few) == pytest.approx(float(oracle.score(candidate, few)), rel=0, abs=1e-12)
        assert Charsim().compile(references).score(candidate) == Charsim().score(candidate, references * 2)


def test_whole_books() -> None:
    """A book equals itself, and a changed copy scores below it, higher the less is changed."""
    for name in ("war-and-peace.en.txt", "wagahai-wa-neko.ja.txt"):
        book = (shared_data("longdoc") / name).read_text(encoding="utf-8")
        changed = [book[:place] + "#" * size + book[place + size :] for place, size in ((500, 1), (500, 5000))]
        scores = Charsim().score_batch([book, *changed], [book] * 3)
        assert scores[0] == 1.0 > scores[1] > scores[2] > 0


def test_every_script_and_every_awkward_string() -> None:
    """Each text scores 1 against itself; neighbours have one value in a batch, a matrix and a compiled set."""
    texts = ["\n".join(row["paragraphs"])[:3000] for row in rows(shared_data("udhr/udhr-main.jsonl.gz"))]
    strings = [row["text"] for row in rows(shared_data("unicode/unicode.jsonl.gz"))]
    metric = Charsim()
    assert set(metric.score_batch(texts + strings, texts + strings).tolist()) == {1.0}
    batch = metric.score_batch(texts[1:], texts[:-1])
    assert np.diagonal(metric.score_matrix(texts[1:], texts[:-1])).tolist() == batch.tolist()
    assert [metric.compile([old]).score(new) for old, new in pairwise(texts)] == batch.tolist()


def test_the_missing_list_of_a_real_question_names_the_answer() -> None:
    """pfgen-bench Q01: what a thousand references share and an answer lacks, 22 times, is at its top."""
    columns = pq.read_table(shared_data("pfgen") / "references.parquet", columns=["question_id", "answer"]).to_pydict()
    pairs = zip(columns["question_id"], columns["answer"], strict=True)
    references = [answer for question, answer in pairs if question == "Q01"]
    answer = "12時間です。時計の長針は12時間で1周し、短針は1時間で1周します。そのため、1日に1度ずつ重なります。"
    missing = Charsim().explain(answer, references).missing
    assert [(one.text, one.count) for one in missing] == [
        ("時計の長針と短針が1日に重なる回数は", 724),
        ("重なる回数は22回です。", 577),
        ("22回です。長針", 570),
        ("24時間", 567),
        ("1日に2", 529),
        ("、長針", 615),
        ("長針が", 533),
        ("は、", 578),
    ]
    assert all(one.count == sum(one.text in reference for reference in references) for one in missing)
    assert "回数は22回" in Charsim().judge(answer, references).reason
