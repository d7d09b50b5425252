"""References from another file, presets for what known programs write, rows in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import failure, jsonl, pairs, put, rows
from refsim.readers import Fields, read, read_references, read_texts
from refsim.segments import Batch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A file with several references a key, one a row."""
    columns = {"question_id": ["q1", "q2", "q1"], "group": ["P", "P", "S"], "answer": ["x", "y", "z"]}
    pq.write_table(pa.table(columns), tmp_path / "references.parquet")
    return tmp_path / "references.parquet"


def test_rows_of_a_key_are_collected_in_order(answers: Path) -> None:
    """Over all rows of the file."""
    assert read_references(answers, on="question_id") == {"q1": ["x", "z"], "q2": ["y"]}


def test_rows_that_share_a_key_share_one_list(tmp_path: Path, answers: Path) -> None:
    """The same object, over batches too."""
    path = put(tmp_path, "f.jsonl", jsonl(*({"id": n, "question_id": "q1", "mt": "a"} for n in range(3))))
    batches = list(read(path, references=answers, on="question_id", batch_size=2))
    assert batches[0].references == [["x", "z"]] * 2
    assert batches[0].references[0] is batches[0].references[1] is batches[1].references[0]


def test_a_key_without_references_is_an_error_with_its_line(tmp_path: Path, answers: Path) -> None:
    """And with what keys there are."""
    path = put(tmp_path, "f.jsonl", jsonl({"question_id": "q1", "mt": "a"}, {"question_id": "q9", "mt": "a"}))
    text = failure(path, references=answers, on="question_id")
    assert "f.jsonl:2: no references for question_id 'q9' in" in text
    assert "it has 'q1', 'q2'" in text


def test_the_two_files_may_call_their_key_differently(tmp_path: Path, answers: Path) -> None:
    """left=right, each a name or a dotted selector."""
    path = put(tmp_path, "f.jsonl", jsonl({"doc": {"q": "q2"}, "mt": "a"}))
    assert pairs(path, references=answers, on="doc.q=question_id") == [("a", ("y",))]


def test_keys_of_numbers_and_texts_agree(tmp_path: Path) -> None:
    """1 in JSON is "1" in TSV."""
    path = put(tmp_path, "f.tsv", "id\tmt\n1\ta\n")
    references = put(tmp_path, "r.jsonl", jsonl({"id": 1, "references": ["x", "y"]}))
    assert pairs(path, references=references, on="id") == [("a", ("x", "y"))]


def test_no_field_to_join_on_lists_what_there_is(tmp_path: Path, answers: Path) -> None:
    """In either file; plain text has none."""
    path = put(tmp_path, "f.jsonl", jsonl({"id": 1, "mt": "a"}))
    assert "no field 'question_id' to join on; found: 'id', 'mt'" in failure(path, references=answers, on="question_id")
    assert "no field 'id' to join on; found: 'question_id', 'group', 'answer'" in failure(
        path, references=answers, on="id"
    )
    text = put(tmp_path, "f.txt", "a\n")
    assert "plain text has no fields to join on" in failure(text, references=answers, on="id")
    assert "text to join on" not in failure(path, references=text, on="id")


def test_the_field_of_a_reference_file_can_be_named(tmp_path: Path) -> None:
    """By name or dotted selector; two usual names are an error."""
    path = put(tmp_path, "f.jsonl", jsonl({"id": 1, "mt": "a"}))
    references = put(tmp_path, "r.jsonl", jsonl({"id": 1, "answer": "x", "text": "y", "doc": {"t": ["z"]}}))
    assert "'answer', 'text' could each be references" in failure(path, references=references, on="id")
    assert pairs(path, references=references, on="id", reference_field="doc.t") == [("a", ("z",))]


def test_nulls_in_a_reference_file_are_errors_of_that_file(tmp_path: Path) -> None:
    """With its own line."""
    path = put(tmp_path, "f.jsonl", jsonl({"id": 1, "mt": "a"}))
    references = put(tmp_path, "r.jsonl", jsonl({"id": 1, "references": ["x", None]}))
    assert "r.jsonl:1: null in references[1]" in failure(path, references=references, on="id")


def test_without_a_key_rows_go_with_rows(tmp_path: Path) -> None:
    """Tables with text files, text files with tables; numbers of rows must agree."""
    table = put(tmp_path, "f.jsonl", jsonl({"mt": "a"}, {"mt": "b"}))
    text = put(tmp_path, "f.txt", "a\nb\n")
    lists = put(tmp_path, "r.jsonl", jsonl({"references": ["x", "y"]}, {"references": ["z"]}))
    lines = put(tmp_path, "r.txt", "v\nw\n")
    expected = [("a", ("x", "y", "v")), ("b", ("z", "w"))]
    assert pairs(table, references=[lists, lines]) == expected
    assert pairs(text, references=[lists, lines]) == expected
    assert "row 2, but" in failure(table, references=put(tmp_path, "r1", "v\n"))
    assert "has 2 rows" in failure(table, references=put(tmp_path, "r3", "u\nv\nw\n"))
    assert "r1 1; row n goes with row n" in failure(table, references=[lines, tmp_path / "r1"]).replace(
        f"{tmp_path}/", ""
    )


def test_a_file_of_references_wins_over_references_in_the_rows(tmp_path: Path) -> None:
    """Who names a file means it; the column is carried along. A field and a file at once are an error."""
    path = put(tmp_path, "f.jsonl", jsonl({"mt": "a", "references": ["x"]}))
    lines = put(tmp_path, "r.txt", "y\n")
    (row,) = rows(path, references=lines)
    assert (row.references, row.extra) == (("y",), {"references": ["x"]})
    assert "both a field ('references') and a file" in failure(
        path, references=lines, fields=Fields(references="references")
    )


def test_moses_lists_are_joined_by_their_id(tmp_path: Path) -> None:
    """The key of the reference file is named on the right."""
    path = put(tmp_path, "n.txt", "q1 ||| a ||| f\nq1 ||| b ||| f\n")
    references = put(tmp_path, "r.jsonl", jsonl({"key": "q1", "ref": "x"}))
    assert pairs(path, format="moses", references=references, on="id=key") == [("a", ("x",)), ("b", ("x",))]


def test_read_texts_gives_one_flat_list(tmp_path: Path, answers: Path) -> None:
    """Of text lines, of lists, of several files."""
    lists = put(tmp_path, "r.jsonl", jsonl({"references": ["a", "b"]}, {"references": ["c"]}))
    assert read_texts([put(tmp_path, "r.txt", "1\n2\n"), lists, answers]) == ["1", "2", "a", "b", "c", "x", "y", "z"]
    table = put(tmp_path, "r.tsv", "u\tv\n")
    assert read_texts(table, header=False, field="2") == ["v"]


# Presets


def test_pfgen_finds_its_references_beside_the_outputs(tmp_path: Path, answers: Path) -> None:
    """The folder, or the file in it."""
    made = {"question_id": "q1", "model": "m", "trial": 3, "answer": "a", "total": 0.5}
    path = put(tmp_path, "outputs.jsonl", jsonl(made))
    for source in (tmp_path, path):
        (row,) = rows(source, format="pfgen")
        assert (row.id, row.system, row.sample, row.candidate, row.references) == ("q1", "m", 3, "a", ("x", "z"))
        assert row.extra == {"total": 0.5}
    answers.unlink()
    assert "references.parquet: no such file" in failure(path, format="pfgen")
    assert "outputs.jsonl: No such file" in failure(answers.parent / "x", format="pfgen", references=path).replace(
        "x: ", "outputs.jsonl: "
    )


def sample(**changes: object) -> dict[str, object]:
    """Return a line of lm-evaluation-harness's samples_*.jsonl."""
    return {
        "doc_id": 0,
        "doc": {"question": "q", "answers": ["x", "y"]},
        "target": "x",
        "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {"until": ["\n"]}}},
        "resps": [["a."]],
        "filtered_resps": ["a"],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "1",
        "prompt_hash": "2",
        "target_hash": "3",
        "exact_match": 0.0,
    } | changes


def test_lm_eval_samples_are_read(tmp_path: Path) -> None:
    """The filtered response against the target; every other column is carried along."""
    (row,) = rows(put(tmp_path, "samples_task.jsonl", jsonl(sample())), format="lm-eval")
    assert (row.id, row.system, row.candidate, row.references) == ("0", "samples_task", "a", ("x",))
    assert row.extra["exact_match"] == 0.0


def test_each_filter_of_lm_eval_is_a_system(tmp_path: Path) -> None:
    """A document comes once a filter, and its key does not repeat."""
    made = [sample(filter="strict-match"), sample(filter="flexible-extract", filtered_resps=["b"])]
    found = rows(put(tmp_path, "s.jsonl", jsonl(*made)), format="lm-eval")
    assert [(row.system, row.candidate) for row in found] == [("s/strict-match", "a"), ("s/flexible-extract", "b")]


def test_several_responses_of_lm_eval_are_samples(tmp_path: Path) -> None:
    """Nested or not."""
    for value in (["a", "b"], [["a", "b"]]):
        found = rows(put(tmp_path, "s.jsonl", jsonl(sample(filtered_resps=value))), format="lm-eval")
        assert [(row.sample, row.candidate) for row in found] == [(0, "a"), (1, "b")]


def test_log_likelihood_samples_of_lm_eval_are_refused(tmp_path: Path) -> None:
    """They hold numbers printed as texts, which must not be scored as answers."""
    path = put(tmp_path, "s.jsonl", jsonl(sample(filtered_resps=[["-1.5", "False"], ["-2.0", "True"]])))
    assert "s.jsonl:1: filtered_resps holds log-likelihoods" in failure(path, format="lm-eval")


def test_a_printed_list_of_targets_is_not_taken_for_one_reference(tmp_path: Path) -> None:
    """The message names the way out, which works."""
    path = put(tmp_path, "s.jsonl", jsonl(sample(target="['x', 'y']")))
    assert "the printed form of a list of 2 texts" in failure(path, format="lm-eval")
    for name, expected in (("doc.answers", ("x", "y")), ("target", ("['x', 'y']",))):
        assert pairs(path, format="lm-eval", fields=Fields(references=name)) == [("a", expected)]


def test_targets_of_lm_eval_may_be_lists_but_not_numbers(tmp_path: Path) -> None:
    """A number is an index of a choice."""
    path = put(tmp_path, "s.jsonl", jsonl(sample(target=["x", "y"])))
    assert pairs(path, format="lm-eval") == [("a", ("x", "y"))]
    path = put(tmp_path, "s.jsonl", jsonl(sample(target=3)))
    assert "s.jsonl:1: target is a number (3)" in failure(path, format="lm-eval")


# Memory


def test_rows_in_memory_are_read_like_files(answers: Path) -> None:
    """Dicts, frames, tables and batches give the same rows, and join the same files."""
    made = [{"id": 1, "mt": "a", "question_id": "q1"}, {"id": 2, "mt": "b", "question_id": "q2"}]
    sources = [made, iter(made), pd.DataFrame(made), pa.Table.from_pylist(made)]
    expected = [("a", ("x", "z")), ("b", ("y",))]
    for source in sources:
        assert pairs(source, references=answers, on="question_id", batch_size=1) == expected
    batch = Batch.from_rows(made, Fields(references="question_id"))
    assert [row.place for row in rows(batch)] == ["rows[0]", "rows[1]"]
    assert list(read([batch, batch])) == [batch, batch]
    assert [row.candidate for row in rows(batch.to_arrow())] == ["a", "b"]


def test_faults_of_rows_in_memory_are_named_as_python_indexes_them() -> None:
    """Over batches too."""
    made = [{"mt": "a", "ref": "x"}, {"mt": None, "ref": "x"}]
    assert "rows[1]: null in 'mt'" in failure(made, batch_size=1)
    assert "rows[0] is the text 'a'; a dict is expected" in failure(iter(["a"]))
    assert "candidates is a number (5)" in failure(5)
    assert "candidates is an object" in failure({"mt": ["a"]})
    assert rows([]) == []
