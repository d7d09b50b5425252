"""Batches: made of lists, dicts, frames and tables; sliced, joined, turned into Arrow and back."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refsim import InputError
from refsim.segments import Batch, Fields

if TYPE_CHECKING:
    from collections.abc import Callable

# Surrogates included: JSON can hold them.
TEXT = st.text(st.characters(exclude_categories=()), max_size=8)


def message(make: Callable[[], Any]) -> str:
    """Return the message of the error that a call raises."""
    with pytest.raises(InputError) as caught:
        make()
    return str(caught.value)


def test_importing_segments_and_readers_loads_no_arrow() -> None:
    """Whoever scores lists of strings does not pay for a column store."""
    code = "import refsim.segments, refsim.readers, sys; print({'pyarrow', 'pandas', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_segment_is_a_row_of_a_batch() -> None:
    """All parts of a row, its other columns and its place."""
    row = {"id": 7, "system": "a", "sample": 2, "candidate": "x", "references": ["y", "z"]}
    row |= {"source": "s", "group": 3, "human": 0.5, "lang": "ja", "note": [1]}
    segment = Batch.from_rows([row]).segment(0)
    assert (segment.id, segment.system, segment.sample) == ("7", "a", 2)
    assert (segment.candidate, segment.references) == ("x", ("y", "z"))
    assert (segment.source, segment.group, segment.human, segment.lang) == ("s", "3", 0.5, "ja")
    assert (segment.extra, segment.place) == ({"note": [1]}, "rows[0]")


def test_columns_are_had_by_the_name_of_their_part() -> None:
    """Optional columns that are absent are None in each row, an unknown name is an error."""
    batch = Batch.from_lists(candidates=["a", "b"], references=["x", "y"], humans=[1, None], extra={"n": [1, 2]})
    assert batch.column("candidate") == ["a", "b"]
    assert batch.column("human") == [1.0, None]
    assert batch.column("group") == [None, None]
    assert batch.column("n") == [1, 2]
    assert "no column 'm'" in message(lambda: batch.column("m"))


def test_ids_are_row_numbers_where_none_are_given() -> None:
    """The first row is number 1, as in files."""
    assert Batch.from_lists(candidates=["a", "b"], references=["x", "y"]).ids == ["1", "2"]


def test_slices_and_picks_keep_shared_references_shared() -> None:
    """Rows that share references share one list object, whatever is done to the batch."""
    shared = ["x"]
    batch = Batch.from_lists(candidates=["a", "b", "c"], references=[shared, ["y"], shared])
    picked = Batch.concat([batch.take([2, 0]), batch.slice(0, 1)])
    assert picked.candidates == ["c", "a", "a"]
    assert picked.references[0] is picked.references[1] is picked.references[2]
    assert [picked.place(row) for row in range(3)] == ["candidates[2]", "candidates[0]", "candidates[0]"]


def test_concatenation_fills_columns_that_only_some_have() -> None:
    """A batch without human scores has None in its rows."""
    one = Batch.from_lists(candidates=["a"], references=["x"], humans=[2.0], extra={"n": [1]})
    other = Batch.from_lists(candidates=["b"], references=["x"])
    both = Batch.concat([one, other])
    assert (both.column("human"), both.extra) == ([2.0, None], {"n": [1, None]})


def test_a_batch_can_be_sent_to_another_process() -> None:
    """Pickle gives back equal rows."""
    batch = Batch.from_lists(candidates=["a", "\ud800"], references=[["x"], ["y", "z"]])
    assert list(pickle.loads(pickle.dumps(batch))) == list(batch)  # noqa: S301  # our own bytes


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3), st.none() | st.floats(allow_nan=False), TEXT)))
def test_arrow_gives_back_every_row(drawn: list[tuple[str, list[str], float | None, str]]) -> None:
    """Batch to Arrow and back is the identity, for lone surrogates, NUL and empty texts too."""
    batch = Batch.from_lists(
        candidates=[one[0] for one in drawn],
        references=[one[1] for one in drawn],
        humans=[one[2] for one in drawn],
        sources=[one[3] for one in drawn],
        extra={"mixed": [one[2] if index % 2 else one[3] for index, one in enumerate(drawn)]},
    )
    assert list(Batch.from_arrow(batch.to_arrow())) == list(batch)


def test_arrow_holds_shared_references_once() -> None:
    """1,000 rows with the same 1,000 references take the memory of one list, and share it again when read back."""
    shared = ["some reference"] * 1000
    table = Batch.from_lists(candidates=["a"] * 1000, references=[shared] * 1000).to_arrow()
    assert table.nbytes < 200_000
    back = Batch.from_arrow(table)
    assert back.references[0] == shared
    assert back.references[0] is back.references[999]


def test_columns_that_others_add_to_the_table_of_a_batch_are_carried() -> None:
    """Under their names, beside the extras that were there; a part that is added is that part."""
    table = Batch.from_lists(candidates=["a", "b"], references=["x", "y"], extra={"n": [1, 2]}).to_arrow()
    table = table.append_column("length", pa.array([3, None])).append_column("human", pa.array([0.5, 1.0]))
    batch = Batch.from_arrow(table)
    assert batch.extra == {"n": [1, 2], "length": [3, None]}
    assert batch.column("human") == [0.5, 1.0]
    assert list(Batch.from_arrow(batch.to_arrow())) == list(batch)


def test_what_does_not_go_with_the_table_of_a_batch_is_an_error() -> None:
    """Two columns for one name, a column taken away, and texts that are none."""
    table = Batch.from_lists(candidates=["a"], references=["x"], extra={"n": [1]}).to_arrow()
    number = table.schema.get_field_index("candidate")
    for changed, expected in (
        (table.append_column("n", pa.array([2])), "both 'n' and 'extra.n'"),
        (table.append_column("id", pa.array(["2"])), "two columns of the table have one name"),
        (table.drop_columns(["place", "sample"]), "lacks 'sample', 'place'"),
        (table.set_column(number, "candidate", pa.array([None], pa.string())), "rows[0]: candidate is null"),
        (table.set_column(number, "candidate", pa.array([1])), "rows[0]: candidate is a number (1)"),
        (table.append_column("source", pa.array([0.5])), "rows[0]: source is a number (0.5)"),
    ):
        assert expected in message(lambda changed=changed: Batch.from_arrow(changed))  # type: ignore[misc]  # as above


def test_arrow_tables_of_others_are_read_by_their_usual_names() -> None:
    """Lists, strings and integers as Arrow has them."""
    table = pa.table({"segment_id": [1, 2], "hyp": ["a", "b"], "refs": [["x", "y"], ["z"]], "score": [0.1, 0.2]})
    batch = Batch.from_arrow(table)
    assert (batch.ids, batch.candidates, batch.references) == (["1", "2"], ["a", "b"], [["x", "y"], ["z"]])
    assert batch.extra == {"score": [0.1, 0.2]}


def test_frames_of_pandas_are_read_by_their_usual_names() -> None:
    """Strings, lists and numbers as pandas has them."""
    frame = pd.DataFrame({"mt": ["a", "b"], "ref1": ["x", "y"], "ref2": ["z", None], "human": [1, float("nan")]})
    batch = Batch.from_pandas(frame)
    assert (batch.candidates, batch.references, batch.column("human")) == (["a", "b"], [["x", "z"], ["y"]], [1.0, None])


def test_what_pandas_has_for_nothing_is_null_in_carried_columns() -> None:
    """NaN, NA and NaT are no values, and no texts such as "<NA>" either; infinity is a number."""
    frame = pd.DataFrame({"candidate": ["a", "b"], "reference": ["x", "y"], "n": [1, float("nan")]})
    frame["when"] = pd.Series([pd.NaT, pd.Timestamp("2026-01-01")])
    frame["many"] = pd.Series([pd.NA, 2], dtype="Int64")
    frame["far"] = [float("inf"), 0.0]
    extra = Batch.from_pandas(frame).extra
    assert (extra["n"], extra["many"], extra["far"]) == ([1.0, None], [None, 2], [float("inf"), 0.0])
    assert extra["when"][0] is None


def test_a_missing_value_in_a_frame_names_row_and_column() -> None:
    """NaN, None and NA in the candidate are no text."""
    for value in (None, float("nan"), pd.NA):
        frame = pd.DataFrame({"candidate": pd.Series(["a", value], dtype=object), "reference": ["x", "y"]})
        text = message(lambda frame=frame: Batch.from_pandas(frame))  # type: ignore[misc]  # lambda with a default
        assert text.startswith("rows[1]: ")
        assert "'candidate'" in text


def test_two_columns_of_one_name_are_refused() -> None:
    """A frame may have them, a row cannot."""
    frame = pd.DataFrame([["a", "x", "y"]], columns=["candidate", "reference", "reference"])
    assert "one name" in message(lambda: Batch.from_pandas(frame))


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ({"candidates": "abc", "references": ["x"] * 3}, "candidates is the text 'abc'; a list is expected"),
        ({"candidates": ["a"], "references": "x"}, "references is the text 'x'"),
        ({"candidates": ["a"], "references": ["x", "y", "z"]}, "references has 3 entries, candidates 1"),
        ({"candidates": ["a", None], "references": ["x", "y"]}, "candidates[1] is null"),
        ({"candidates": ["a", 5], "references": ["x", "y"]}, "candidates[1] is a number (5)"),
        ({"candidates": [b"a"], "references": ["x"]}, "candidates[0] is bytes"),
        ({"candidates": [float("nan")], "references": ["x"]}, "candidates[0] is NaN"),
        ({"candidates": ["a", "b"], "references": [["x"], ["y", None]]}, "references[1][1] is null"),
        ({"candidates": ["a"], "references": [[]]}, "references[0] is empty"),
        ({"candidates": ["a"], "references": [5]}, "references[0] is a number (5)"),
        ({"candidates": ["a", "b"], "references": ["x", "y"], "ids": ["1", "1"]}, "candidates[1]: id '1'"),
        ({"candidates": ["a"], "references": ["x"], "ids": [True]}, "ids[0] is true"),
        ({"candidates": ["a"], "references": ["x"], "humans": ["good"]}, "humans[0] is the text 'good'"),
        ({"candidates": ["a"], "references": ["x"], "samples": [0.5]}, "samples[0] is a number (0.5)"),
    ],
)
def test_faults_in_lists_are_named_as_python_indexes_them(lists: dict[str, Any], expected: str) -> None:
    """The message starts with the list and the index."""
    assert message(lambda: Batch.from_lists(**lists)).startswith(expected)


def test_the_own_name_of_a_part_wins_over_usual_names() -> None:
    """`candidate` is the candidate even beside `answer`, which is carried along."""
    batch = Batch.from_rows([{"candidate": "a", "answer": "b", "references": ["x"], "target": "y"}])
    assert (batch.candidates, batch.references) == (["a"], [["x"]])
    assert batch.extra == {"answer": ["b"], "target": ["y"]}


def test_two_usual_names_for_one_part_are_an_error_that_lists_them() -> None:
    """To guess the candidate would be to guess the score."""
    text = message(lambda: Batch.from_rows([{"prediction": "a", "answer": "b", "ref": "x"}]))
    assert "'prediction', 'answer' could each be candidate; say which with --candidate" in text


def test_named_fields_win_over_everything() -> None:
    """What the user names is taken, also by dotted selectors, and what is not there lists what is."""
    row = {"candidate": "a", "references": ["x"], "doc": {"refs": ["y", "z"], "out": [["b"]]}, "a.b": "c"}
    batch = Batch.from_rows([row], Fields(candidate="doc.out.0.0", references="doc.refs", source="a.b"))
    assert (batch.candidates, batch.references, batch.column("source")) == (["b"], [["y", "z"]], ["c"])
    assert "no field 'nope' for candidate; found: 'candidate', 'references', 'doc', 'a.b'" in message(
        lambda: Batch.from_rows([row], Fields(candidate="nope"))
    )


def test_selectors_that_break_off_find_nothing() -> None:
    """A way that is not there in a row is a missing candidate, not an empty one."""
    made: list[dict[str, object]] = [{"doc": {"out": "a"}, "ref": "x"}, {"doc": {}, "ref": "x"}]
    assert "rows[1]: nothing in 'doc.out'" in message(lambda: Batch.from_rows(made, Fields(candidate="doc.out")))


def test_columns_may_be_series() -> None:
    """Faults in them are named like those in lists."""
    texts: Any = pd.Series(["a", "b"], index=[7, 8])
    holes: Any = pd.Series(["a", float("nan")], dtype=object)
    batch = Batch.from_lists(candidates=texts, references=holes.map(lambda text: [str(text)]))
    assert (batch.candidates, batch.references) == (["a", "b"], [["a"], ["nan"]])
    assert "candidates[1] is NaN" in message(lambda: Batch.from_lists(candidates=holes, references=["x", "y"]))


def test_numpy_strings_are_texts() -> None:
    """A subclass of str becomes a plain str."""
    import numpy as np  # noqa: PLC0415  # the one test that needs it

    batch = Batch.from_lists(candidates=[np.str_("a")], references=[[np.str_("x")]])
    assert type(batch.candidates[0]) is str
    assert type(batch.references[0][0]) is str
