"""What is written in a format is read back: Hypothesis, one round trip a format, in batches of any size."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from reading import pairs
from refsim.readers import read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    Rows = Sequence[tuple[str, Sequence[str]]]

# Characters that readers are known to stumble over are drawn as often as all others together.
AWKWARD = st.sampled_from("\t\r\n\f\v\0\x1c\x85\u2028\ufeff,\"'\\|{[あ😀e\u0301 ")
CHARACTER = AWKWARD | st.characters(exclude_categories=["Cs"])
ANY = st.text(CHARACTER | st.characters(categories=["Cs"]), max_size=12)
UNICODE = st.text(CHARACTER, max_size=12)
SIZE = st.integers(1, 5)


def without(banned: str) -> st.SearchStrategy[str]:
    """Draw texts that a format can hold."""
    return st.text(CHARACTER.filter(lambda char: char not in banned), max_size=12)


def rows_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, list[str]]]]:
    """Draw candidates, each with one to three references."""
    return st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), max_size=12)


def same(rows: Rows) -> list[tuple[str, tuple[str, ...]]]:
    """Return rows as `pairs` returns them."""
    return [(candidate, tuple(references)) for candidate, references in rows]


def read_back(content: str | bytes, **options: Any) -> list[tuple[str, tuple[str, ...]]]:  # noqa: ANN401  # of `read`
    """Return the rows of a file with this content."""
    return pairs(io.BytesIO(content if isinstance(content, bytes) else content.encode()), **options)


@given(st.lists(without("\n").filter(lambda line: not line.endswith("\r"))), SIZE, st.sampled_from(["\n", "\r\n"]))
def test_text(texts: list[str], size: int, end: str) -> None:
    """Any text without a newline, with either line end; a mark at the very start of a file is no text."""
    content = "\ufeff" + "".join(text + end for text in texts)
    assert read_texts(io.BytesIO(content.encode()), format="text") == texts
    assert read_back(content, format="text", need_references=False, batch_size=size) == [(text, ()) for text in texts]


@given(rows_of(without("\n\t\r")), SIZE, st.sampled_from(["\n", "\r\n"]))
def test_tsv(rows: Rows, size: int, end: str) -> None:
    """Any text without tabs and line ends; rows as long as they are."""
    lines = ["candidate\tref1\tref2\tref3", *("\t".join((candidate, *references)) for candidate, references in rows)]
    assert read_back("".join(line + end for line in lines), format="tsv", batch_size=size) == same(rows)


@given(rows_of(UNICODE), SIZE, st.sampled_from(["\n", "\r\n"]))
def test_csv(rows: Rows, size: int, end: str) -> None:
    """Any text at all, as Python's csv module writes it."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["candidate", "ref1", "ref2", "ref3"], *([candidate, *refs] for candidate, refs in rows)])
    assert read_back(stream.getvalue(), format="csv", batch_size=size) == same(rows)


@given(rows_of(without('"\n\r,')), SIZE)
def test_csv_without_quotes(rows: Rows, size: int) -> None:
    """Cells that need no quotes have none."""
    lines = ["candidate,ref1,ref2,ref3", *(",".join((candidate, *references)) for candidate, references in rows)]
    assert read_back("".join(f"{line}\n" for line in lines), format="csv", batch_size=size) == same(rows)


@given(rows_of(ANY), SIZE, st.booleans())
def test_jsonl(rows: Rows, size: int, ascii_only: bool) -> None:  # noqa: FBT001  # Hypothesis passes it by name
    """Any text; lone surrogates as escapes."""
    made = [{"candidate": candidate, "references": references} for candidate, references in rows]
    content = "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in made)
    if not ascii_only:
        content = "".join(char if not 0xD800 <= ord(char) < 0xE000 else f"\\u{ord(char):04x}" for char in content)
    assert read_back(content, format="jsonl", batch_size=size) == same(_joined(rows))


@given(rows_of(ANY), SIZE, st.none() | st.integers(0, 3), st.booleans())
def test_json(rows: Rows, size: int, indent: int | None, named: bool) -> None:  # noqa: FBT001  # as above
    """An array, or an object of arrays, in any layout."""
    made = [{"candidate": candidate, "references": references} for candidate, references in rows]
    content = json.dumps({"a\ud800": made} if named else made, indent=indent)
    assert read_back(content, format="json", batch_size=size) == same(_joined(rows))


def _joined(rows: Rows) -> Rows:
    """Join surrogates that stand next to each other, as JSON does: it cannot write them apart."""

    def join(text: str) -> str:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") if text else text

    return [(join(candidate), [join(one) for one in references]) for candidate, references in rows]


@given(rows_of(UNICODE), SIZE, st.integers(1, 4))
def test_parquet(rows: Rows, size: int, group: int) -> None:
    """Any text, over row groups of any size."""
    table = pa.table(
        {
            "candidate": pa.array([candidate for candidate, _ in rows], pa.string()),
            "references": pa.array([references for _, references in rows], pa.list_(pa.string())),
        }
    )
    stream = io.BytesIO()
    pq.write_table(table, stream, row_group_size=group)
    assert read_back(stream.getvalue(), batch_size=size) == same(rows)


@given(st.lists(st.lists(without("\n\r|").map(lambda text: text.strip(" ")), min_size=1, max_size=3)), SIZE)
def test_moses(lists: list[list[str]], size: int) -> None:
    """Any text without bars and without spaces around it."""
    lines = [f"{number} ||| {text} ||| f= 1 ||| 0\n" for number, texts in enumerate(lists) for text in texts]
    found = read_back("".join(lines), format="moses", need_references=False, batch_size=size)
    assert found == [(text, ()) for texts in lists for text in texts]


@given(st.lists(without("\n\r")), st.integers(1, 4), SIZE)
def test_flat_lists(texts: list[str], each: int, size: int) -> None:
    """N candidates a reference, in order."""
    texts = texts[: len(texts) - len(texts) % each]
    refs = [str(number) for number in range(len(texts) // each)]
    content = "".join(f"{text}\n" for text in texts)
    references = io.BytesIO("".join(f"{text}\n" for text in refs).encode())
    options = {"format": "text", "reference_format": "text", "num_candidates": each, "batch_size": size}
    found = read_back("\ufeff" + content, references=references, **options)
    assert found == [(text, (refs[row // each],)) for row, text in enumerate(texts)]


@given(rows_of(ANY), SIZE)
def test_compressed(rows: Rows, size: int) -> None:
    """A compressed file is the file."""
    content = "".join(json.dumps({"candidate": one, "references": list(refs)}) + "\n" for one, refs in rows)
    packed = gzip.compress(content.encode())
    assert read_back(packed, format="jsonl", batch_size=size) == same(_joined(rows))
