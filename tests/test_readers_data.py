"""Real data, where it is there: every row is read, joined and counted as its README says."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path  # noqa: TC003  # used by annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from reading import rows
from refsim.readers import Fields, read, read_references, read_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    Data = Callable[[str], Path]


def test_pfgen_is_joined_with_its_references(shared_data: Data) -> None:
    """10,656 answers, 83 of them empty, 37 lists of 1,000 to 3,000 references which rows share."""
    batches = list(read(shared_data("pfgen"), format="pfgen"))
    texts = [text for batch in batches for text in batch.candidates]
    assert (len(texts), texts.count(""), max(map(len, texts))) == (10_656, 83, 1_789)
    lists = {id(one): one for batch in batches for one in batch.references}
    assert (len(lists), sum(map(len, lists.values()))) == (37, 92_000)
    assert {len(one) for one in lists.values()} == {1000, 2000, 3000}
    assert len({name for batch in batches for name in batch.systems}) == 48


def test_pfgen_needs_no_preset(shared_data: Data) -> None:
    """Its usual names and a key are enough."""
    folder = shared_data("pfgen")
    found = rows(folder / "outputs.jsonl.gz", references=folder / "references.parquet", on="question_id")
    assert len(found) == 10_656


def test_each_question_of_pfgen_has_its_references(shared_data: Data) -> None:
    """As many as the questions' own file counts."""
    table = read_references(shared_data("pfgen/references.parquet"), on="question_id")
    with gzip.open(shared_data("pfgen/questions.jsonl.gz"), "rt") as lines:
        counts = {one["question_id"]: sum(one["n_references"].values()) for one in map(json.loads, lines)}
    assert {key: len(texts) for key, texts in table.items()} == {key: counts[key] for key in table}


def test_nbest_lists_give_a_row_each(shared_data: Data) -> None:
    """60 lists, joined with the references of their question."""
    source = shared_data("nbest/nbest.jsonl.gz")
    found = rows(source, references=shared_data("pfgen/references.parquet"), on="question_id")
    with gzip.open(source, "rt") as lines:
        lists = [json.loads(line)["candidates"] for line in lines]
    assert [row.candidate for row in found] == [text for one in lists for text in one]
    assert len({row.id for row in found}) == len(lists) == 60
    assert [row.sample for row in found] == [number for one in lists for number in range(len(one))]


def test_moses_lists_give_a_row_each(shared_data: Data) -> None:
    """25 lists of 20, the first candidates of the n-best file with white space runs made one space."""
    found = rows(shared_data("nbest/moses.nbest.txt"), need_references=False)
    assert [(row.id, row.sample) for row in found] == [(str(one), n) for one in range(25) for n in range(20)]
    lists = rows(shared_data("nbest/nbest.jsonl.gz"), need_references=False)
    assert [row.candidate for row in found] == [" ".join(row.candidate.split()) for row in lists if row.sample < 20][
        :500
    ]


def test_summeval_is_joined_on_its_segments(shared_data: Data) -> None:
    """66 documents, 16 systems, 11 references which the systems share."""
    folder = shared_data("summeval")
    batches = list(read(folder / "segments.jsonl.gz", references=folder / "documents.jsonl.gz", on="segment_id"))
    assert sum(map(len, batches)) == 1_056
    assert {len(texts) for batch in batches for texts in batch.references} == {11}
    assert len({id(texts) for batch in batches for texts in batch.references}) == 66
    assert len({name for batch in batches for name in batch.systems}) == 16
    assert all(score is not None for batch in batches for score in batch.column("human"))


@pytest.mark.parametrize(("name", "count", "most"), [("bagel", 262, 18), ("sfhot", 604, 3810)])
def test_d2t_keeps_repeated_references(shared_data: Data, name: str, count: int, most: int) -> None:
    """Thousands of repeats are thousands of references."""
    found = rows(shared_data(f"d2t-multiref/{name}.jsonl.gz"))
    assert len(found) == count
    assert max(len(row.references) for row in found) == most
    assert {row.system for row in found} >= {"nlg"}


def test_plaintext_pairs_lines(shared_data: Data) -> None:
    """10 lines with two references, 3,004 with one."""
    folder = shared_data("plaintext")
    found = rows(folder / "hyps.txt", references=[folder / "refs.txt", folder / "refs2.txt"])
    assert [len(row.references) for row in found] == [2] * 10
    expected = (folder / "refs2.txt").read_bytes().decode().split("\n")[:10]
    assert [row.references[1] for row in found] == expected
    assert len(rows(folder / "hyps_long.txt", references=folder / "refs_long.txt")) == 3_004


@pytest.mark.parametrize(("pair", "target"), [("he-en", "en"), ("en-ja", "ja")])
def test_wmt23_systems_are_read_in_step(shared_data: Data, pair: str, target: str) -> None:
    """As many systems and references as the folder's own list says; every line as it stands there, less a mark."""
    folder = shared_data("wmt23-text")
    facts = json.loads((folder / "systems.json").read_text())[pair]
    files = sorted(folder.glob(f"{pair}.hyp.*.{target}"))
    references = sorted(folder.glob(f"{pair}.ref.*.{target}"))
    found = rows(files, references=references, systems=[one.name.split(".", 2)[2][: -len(target) - 1] for one in files])
    lines = files[0].read_bytes().decode("utf-8-sig").removesuffix("\n").split("\n")
    assert len(found) == len(lines) * len(files)
    assert [row.candidate for row in found[:: len(files)]] == lines
    assert {len(row.references) for row in found} == {len(references)}
    assert len(files) == len(facts["systems"])


def test_texts_in_many_scripts_are_read_as_json_reads_them(shared_data: Data) -> None:
    """42 declarations of human rights, scored against themselves, paragraph by paragraph."""
    source = shared_data("udhr/udhr-main.jsonl.gz")
    found = rows(source, fields=Fields(id="code", candidate="paragraphs", references="paragraphs"))
    with gzip.open(source, "rt") as lines:
        texts = [json.loads(line)["paragraphs"] for line in lines]
    assert len(texts) == 42
    assert [row.candidate for row in found] == [text for one in texts for text in one]
    assert found[0].references == tuple(texts[0])


def test_awkward_strings_survive_every_text_format(shared_data: Data) -> None:
    """7,023 emoji, clusters and normalisation cases, in JSONL and, where the format can hold them, text and TSV."""
    source = shared_data("unicode/unicode.jsonl.gz")
    with gzip.open(source, "rt", newline="\n") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    found = rows(source, fields=Fields(candidate="text", references="text"))
    assert [row.candidate for row in found] == texts
    assert len(texts) == 7_023
    lines_of = [text for text in texts if not set(text) & set("\n\t") and not text.endswith("\r")]
    assert len(lines_of) > 6_900
    content = "".join(f"{text}\n" for text in lines_of)
    assert read_texts(io.BytesIO(content.encode()), format="text") == lines_of
    table = "candidate\tref\n" + "".join(f"{text}\tx\n" for text in lines_of)
    assert [row.candidate for row in rows(io.BytesIO(table.encode()), format="tsv")] == lines_of


@pytest.mark.parametrize("name", ["war-and-peace.en.txt", "wagahai-wa-neko.ja.txt"])
def test_whole_books_are_lines_or_one_text(shared_data: Data, name: str) -> None:
    """Line by line, and as one string of JSON."""
    path = shared_data(f"longdoc/{name}")
    book = path.read_bytes().decode()
    assert read_texts(path) == book.removesuffix("\n").split("\n")
    (row,) = rows(io.BytesIO(json.dumps({"candidate": book, "ref": book}).encode()), format="jsonl")
    assert row.candidate == book
