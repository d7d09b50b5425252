"""Files that a careless or hostile user brings: nothing is overwritten, dropped or replaced without a word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import refsim
from commands import run
from oracles import charsim as oracle
from refsim._columns import to_table, unify_schemas
from refsim._numbers import whole_number
from refsim.compiled import save_sets
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROW = {"id": "1", "candidate": "a cat", "references": ["the cat"]}


def test_an_input_is_not_overwritten_through_standard_input(tmp_path: Path) -> None:
    """`refsim score - --per-segment in.jsonl < in.jsonl` would leave nothing of the input."""
    path = write(tmp_path / "in.jsonl", [ROW])
    before = path.read_bytes()
    command = [sys.executable, "-m", "refsim", "score", "-", "--format", "jsonl", "--per-segment", str(path)]
    with path.open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is an input of this command; write to another file" in done.stderr
    assert path.read_bytes() == before


def test_a_file_in_a_directory_that_is_read_is_not_overwritten(tmp_path: Path) -> None:
    """A directory given as input is all that is in it."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = write(folder / "outputs.jsonl", [ROW])
    before = path.read_bytes()
    done = run("score", folder, "--format", "pfgen", "--per-segment", path)
    assert done.code == 2
    assert "is an input of this command" in done.err
    assert path.read_bytes() == before


def test_no_column_of_the_input_is_lost(tmp_path: Path) -> None:
    """A file that was scored before, twice, and has columns named as ours: all are carried, under other names."""
    row = {
        "id": "1", "output": "a cat", "references": ["the cat"], "candidate": "mine", "charsim": 0.25,
        "input.charsim": 0.5, "charsim.signature": "old",
    }  # fmt: skip
    target = tmp_path / "out.jsonl"
    done = run("score", write(tmp_path / "in.jsonl", [row]), "--candidate", "output", "--per-segment", target)
    assert done.code == 0, done.err
    written = json.loads(target.read_text(encoding="utf-8"))
    assert written["candidate"] == "a cat"
    assert written["input.candidate"] == "mine"
    assert {written["input.charsim"], written["input.input.charsim"]} == {0.25, 0.5}
    assert written["input.charsim.signature"] == "old"
    assert written["charsim"] == refsim.charsim("a cat", ["the cat"])


def test_support_that_differs_within_a_list_is_an_error(tmp_path: Path) -> None:
    """The support of the first row would stand for all; the message names both rows."""
    rows: list[dict[str, Any]] = [
        {"id": "1", "candidate": "a", "sup": ["x"], "sample": 0},
        {"id": "1", "candidate": "b", "sup": ["y"], "sample": 1},
    ]
    done = run("consensus", write(tmp_path / "in.jsonl", rows), "--support", "sup")
    assert done.code == 2
    assert "in.jsonl:2: id '1' has another support than in" in done.err
    assert "in.jsonl:1" in done.err


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "parquet"])
def test_numbers_that_json_lacks_are_carried(ending: str, tmp_path: Path) -> None:
    """NaN and infinities are what they were, at any depth: null, or nothing, would be another value."""
    rows = [ROW | {"id": str(i), "extra": value} for i, value in enumerate((float("nan"), float("inf"), -float("inf")))]
    target = tmp_path / f"out.{ending}"
    done = run("score", write(tmp_path / "in.jsonl", rows), "--per-segment", target)
    assert done.code == 0, done.err
    carried = [row.extra["extra"] for batch in refsim.read(target, need_references=False) for row in batch]
    assert list(map(str, carried)) == (["NaN", "Infinity", "-Infinity"] if ending == "tsv" else ["nan", "inf", "-inf"])
    nested = write(tmp_path / "nested.jsonl", [ROW | {"extra": {"loss": [float("nan")]}}])
    assert run("score", nested, "--per-segment", tmp_path / "nested.out.jsonl").code == 0
    assert '{"loss": [NaN]}' in (tmp_path / "nested.out.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("extra", "shown"),
    [
        ([{}, {}], ["{}", "{}"]),
        ([{"a": {}}, None], ['{"a": {}}', None]),
        ([2**60 + 1, 2**60 + 3], [2**60 + 1, 2**60 + 3]),
        ([json.loads("[" * 40 + "]" * 40), None], ["[" * 40 + "]" * 40, None]),
        ([2**70, 1], [str(2**70), "1"]),
    ],
)
def test_parquet_takes_whatever_a_row_carries(extra: list[Any], shown: list[Any], tmp_path: Path) -> None:
    """What Parquet has no type for is written as JSON text, with every digit."""
    rows = [ROW | {"id": str(i), "extra": value} for i, value in enumerate(extra)]
    target = tmp_path / "out.parquet"
    done = run("score", write(tmp_path / "in.jsonl", rows), "--per-segment", target)
    assert done.code == 0, done.err
    assert pq.read_table(target)["extra"].to_pylist() == shown


def test_a_whole_number_that_no_float_holds_stays_whole() -> None:
    """Where a later batch has fractions, a column of small numbers becomes floats, one of large ones text."""
    parts: list[dict[str, list[Any]]] = [{"n": [2**60 + 1], "m": [3]}, {"n": [0.5], "m": [0.5]}]
    schema = unify_schemas([to_table(part).schema for part in parts])
    assert [str(field.type) for field in schema] == ["string", "double"]
    rows = [
        {"id": "1", "candidate": "a", "references": ["a"], "n": 2**60 + 1},
        {"id": "2", "candidate": "a", "references": ["a"], "n": 0.5},
    ]
    results = [refsim.evaluate([row]) for row in rows]
    assert results[0].segments.to_arrow()["n"].to_pylist() == [2**60 + 1]


def test_a_column_name_with_half_a_character_reaches_parquet(tmp_path: Path) -> None:
    """As an escape, for Arrow's names are UTF-8."""
    target = tmp_path / "out.parquet"
    done = run("score", write(tmp_path / "in.jsonl", [ROW | {"\ud800x": 1}]), "--per-segment", target)
    assert done.code == 0, done.err
    assert "\\ud800x" in pq.read_table(target).column_names


@pytest.mark.parametrize("sample", ["--5", "9" * 5000, "\N{ARABIC-INDIC DIGIT FIVE}", "", "1.0"])
def test_a_sample_that_is_no_number_is_an_error(sample: str, tmp_path: Path) -> None:
    """With file and line, and no traceback."""
    done = run("score", write(tmp_path / "in.jsonl", [ROW | {"sample": sample}]))
    assert done.code == 2
    assert "in.jsonl:1" in done.err
    assert "a whole number is expected" in done.err


def test_numbers_that_are_none_are_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In selectors, Moses lists and the environment."""
    assert [whole_number(text) for text in ("7", "-7", "--1", "+1", "", "1 ", "9" * 19)] == [7, -7, *[None] * 5]
    done = run("score", write(tmp_path / "in.jsonl", [ROW | {"c": ["x"]}]), "--candidate", "c.--1")
    assert done.code == 2
    moses = tmp_path / "nbest.txt"
    moses.write_text("9" * 5000 + " ||| a cat ||| 0 ||| 0\n", encoding="utf-8")
    refs = tmp_path / "refs.txt"
    refs.write_text("a cat\n", encoding="utf-8")
    done = run("score", moses, "--format", "moses", "-r", refs)
    assert done.code == 2
    assert "nbest.txt:1" in done.err
    monkeypatch.setenv("REFSIM_THREADS", "9" * 5000)
    with pytest.raises(InputError, match="REFSIM_THREADS"):
        refsim.Charsim().score_batch(["a"], ["b"])


def test_sets_are_not_written_over_other_files(tmp_path: Path) -> None:
    """Replacing a directory of sets would remove what a user has put beside them."""
    place = tmp_path / "sets"
    save_sets({"q": ["a"]}, place, refsim.Charsim(), on="question")
    save_sets({"q": ["b"]}, place, refsim.Charsim(), on="question")
    (place / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds 'notes\.txt' beside compiled sets"):
        save_sets({"q": ["a"]}, place, refsim.Charsim(), on="question")
    assert (place / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["new/..", ".", "../here", "link"])
def test_the_directory_that_one_works_in_is_not_replaced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`new/..` is no new name: what it leads to is checked, and everything there stays."""
    place = tmp_path / "here"
    place.mkdir()
    (place / "thesis.txt").write_text("mine", encoding="utf-8")
    (place / "ref.txt").write_text("a b\n", encoding="utf-8")
    (place / "link").symlink_to(place)
    monkeypatch.chdir(place)
    for more in ([], ["--on", "q"]):
        done = run("compile", "ref.txt", "-o", name, *more)
        assert done.code == 2, done.err
    with pytest.raises(InputError):
        refsim.Charsim().compile(["a"]).save(name)
    with pytest.raises(InputError):
        save_sets({"q": ["a"]}, place / name, refsim.Charsim(), on="q")
    assert sorted(entry.name for entry in place.iterdir()) == ["link", "ref.txt", "thesis.txt"]


def test_a_directory_that_is_empty_but_worked_in_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be gone under the feet of whoever stands in it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="in which this process works"):
        save_sets({"q": ["a"]}, ".", refsim.Charsim(), on="q")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_not_held_up_by_a_lock() -> None:
    """Whatever thread held the cache's lock when the process was forked is not there to give it back."""
    code = """
import os, threading, refsim
from refsim.metrics._cache import cache
cache._lock.acquire()
child = os.fork()
if not child:
    os._exit(int(refsim.charsim("a cat", ["a cat", "the cat"]) == 0))
cache._lock.release()
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_two_threads_that_write_one_file_leave_a_whole_one(tmp_path: Path) -> None:
    """The later one has it: each reads 500 rows, whoever wins."""
    results = refsim.evaluate([ROW | {"id": str(i)} for i in range(500)])
    target = tmp_path / "same.jsonl"

    def write_and_count(_: int) -> int:
        results.segments.to_jsonl(target)
        return len(target.read_text(encoding="utf-8").splitlines())

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(write_and_count, range(20))) == {500}
    assert [entry.name for entry in tmp_path.iterdir()] == ["same.jsonl"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_on_every_standard_output(encoding: str, tmp_path: Path) -> None:
    """Where the stream has no Unicode, characters are escaped as JSON escapes them."""
    path = write(tmp_path / "in.jsonl", [ROW | {"system": "é😀"}])
    command = [sys.executable, "-m", "refsim", "score", str(path), "--json"]
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, check=True, env=env)
    assert json.loads(done.stdout.decode(encoding))["systems"][0]["system"] == "é😀"


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    """It leads nowhere."""
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    assert run("score", write(tmp_path / "in.jsonl", [ROW]), "--per-segment", loop).code == 2
    with pytest.raises(InputError, match="is no name of a file"):
        refsim.Charsim().compile(["a"]).save(loop)


def test_references_beside_batches_are_an_error(tmp_path: Path) -> None:
    """They would be passed over: a batch has its own."""
    (batch,) = refsim.read([ROW])
    refs = tmp_path / "r.txt"
    refs.write_text("another\n", encoding="utf-8")
    with pytest.raises(InputError, match="references is given with rows that are batches already"):
        refsim.evaluate(batch, references=str(refs))
    assert refsim.evaluate(batch).systems[""].mean > 0


def test_files_without_a_header_compile_by_number(tmp_path: Path) -> None:
    """`compile --on 1 --field 2 --no-header` takes the first line for a row."""
    path = tmp_path / "refs.tsv"
    path.write_text("q1\ta cat\nq1\tthe cat\nq2\ta dog\n", encoding="utf-8")
    done = run("compile", path, "-o", tmp_path / "sets", "--on", "1", "--field", "2", "--no-header")
    assert done.code == 0, done.err
    assert "compiled 3 references in 2 sets" in done.err


def test_a_share_of_next_to_nothing_counts_as_one() -> None:
    """Its text may be the longest, and say how many orders there are."""
    texts = ["the cat sat", "the cat", "a much longer text that the model hardly believes in"]
    found = refsim.Charsim().consensus(texts, weights=[0.7, 0.3, 1e-17])
    shares = [Fraction(0.7), Fraction(0.3), Fraction(1e-17)]
    exact = oracle.consensus(texts, weights=shares)
    assert found.tolist() == pytest.approx([float(value) for value in exact], abs=1e-9)
    assert refsim.Charsim().consensus(["", "", "a"], weights=[0.5, 0.5, 1e-20]).tolist() == pytest.approx([0, 0, 0])


def test_weights_may_come_from_anywhere_but_must_be_real_numbers() -> None:
    """A generator is read once; complex numbers and durations are none."""
    texts, shares = ["a cat", "the cat", "a dog"], [0.5, 0.25, 0.25]
    expected = refsim.Charsim().consensus(texts, weights=shares).tolist()
    assert refsim.Charsim().consensus(texts, weights=(share for share in shares)).tolist() == expected  # type: ignore[arg-type]
    assert refsim.Charsim().consensus(texts, weights=np.array(shares, np.float32)).tolist() == expected  # type: ignore[arg-type]
    for wrong in (np.complex128(1), np.timedelta64(1), True, "1", None):
        with pytest.raises(InputError, match=r"weights\[0\] is"):
            refsim.Charsim().consensus(texts, weights=[wrong, 1, 1])  # type: ignore[list-item]
