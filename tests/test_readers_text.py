r"""Plain text: what ends a line, which bytes are refused, files in step, n-best lists, compressed files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from typing import TYPE_CHECKING, Any

import pytest

from reading import failure, pairs, put, rows
from refsim.readers import read, read_texts

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_line_n_of_the_candidates_goes_with_line_n_of_each_reference_file(tmp_path: Path) -> None:
    """Two reference files give two references."""
    hyp, one, two = (
        put(tmp_path, name, text) for name, text in (("h.txt", "a\nb\n"), ("r", "c\nd\n"), ("q", "e\nf\n"))
    )
    assert pairs(hyp, references=[one, two]) == [("a", ("c", "e")), ("b", ("d", "f"))]


def test_rows_of_text_files_are_named_by_file_and_line(tmp_path: Path) -> None:
    """The id is the number of the line, the system the file's name without known endings."""
    row = rows(put(tmp_path, "en.hyp.best.txt", "a\nb"), references=put(tmp_path, "r.txt", "c\nd"))[1]
    assert (row.id, row.system, row.sample) == ("2", "en.hyp.best", 0)
    assert row.place.endswith("en.hyp.best.txt:2")


def test_several_systems_are_read_in_step_and_share_references(tmp_path: Path) -> None:
    """Rows of one line stand together and hold the same list object."""
    files = [put(tmp_path, f"{name}.txt", f"{name}1\n{name}2\n") for name in "ab"]
    (batch,) = read(files, references=put(tmp_path, "r.txt", "x\ny\n"))
    assert batch.candidates == ["a1", "b1", "a2", "b2"]
    assert (batch.systems, batch.ids) == (["a", "b", "a", "b"], ["1", "1", "2", "2"])
    assert batch.references[0] is batch.references[1]


def test_systems_can_be_named(tmp_path: Path) -> None:
    """One name a file, each once."""
    files, reference = [put(tmp_path, name, "a\n") for name in ("x", "y")], put(tmp_path, "r", "b\n")
    assert [row.system for row in rows(files, references=reference, systems=["one", "two"])] == ["one", "two"]
    assert "one name for each of 2 files" in failure(files, references=reference, systems=["one"])
    assert "each name once" in failure(files, references=reference, systems=["one", "one"])


def test_files_of_one_name_in_two_folders_are_two_systems(tmp_path: Path) -> None:
    """Where file names agree the folders tell systems apart; the very same file twice is an error."""
    for name in "ab":
        (tmp_path / name).mkdir()
    files = [put(tmp_path / name, "out.txt", "x\n") for name in "ab"]
    systems = [row.system for row in rows(files, references=put(tmp_path, "r", "y\n"))]
    assert [name[-5:] for name in systems] == ["a/out", "b/out"]
    assert "given twice" in failure([files[0], files[0]], references=put(tmp_path, "r", "y\n"))


@pytest.mark.parametrize("size", [1, 2, 1024])
def test_files_of_different_length_are_an_error_with_both_lengths(tmp_path: Path, size: int) -> None:
    """Nothing is cut short, wherever the batches end."""
    hyp, ref = put(tmp_path, "h.txt", "a\nb\nc\n"), put(tmp_path, "r.txt", "a\nb\n" + "c\n" * 9)
    text = failure(hyp, references=ref, batch_size=size)
    assert "h.txt has 3 lines" in text
    assert "r.txt 11" in text


def test_a_second_system_that_is_shorter_is_named(tmp_path: Path) -> None:
    """The message names the file that differs."""
    files = [put(tmp_path, "a.txt", "1\n2\n"), put(tmp_path, "b.txt", "1\n")]
    text = failure(files, references=put(tmp_path, "r.txt", "1\n2\n"))
    assert "a.txt has 2 lines" in text
    assert "b.txt 1;" in text


def test_plain_text_without_references_says_so(tmp_path: Path) -> None:
    """The next step is in the message; where no references are needed, rows have none."""
    hyp = put(tmp_path, "h.txt", "a\n")
    assert "give files of references" in failure(hyp)
    assert pairs(hyp, need_references=False) == [("a", ())]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\f", "\v", "\r", "\x1c", "\x1d", "\x1e", "\0"])
def test_only_newlines_end_lines(tmp_path: Path, char: str) -> None:
    """Other separators, and a lone carriage return, are text."""
    text = f"a{char}b\n{char}\n"
    assert pairs(put(tmp_path, "h", text), references=put(tmp_path, "r", "x\ny\n"))[0][0] == f"a{char}b"
    assert read_texts(put(tmp_path, "h", text.replace("\n", "\r\n"))) == [f"a{char}b", char]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\n", ["a\r"]),
        (b"a\r", ["a\r"]),
        (b"a \t\n", ["a \t"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", ["\ufeffa"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb", None),
    ],
)
def test_ends_of_lines_and_files(tmp_path: Path, content: bytes, expected: list[str] | None) -> None:
    """A final newline starts no line, blanks stay, a byte order mark is removed at the very start alone."""
    path = put(tmp_path, "f", content)
    if expected is None:
        assert "f:1: the file ends in the middle of a character (byte 0)" in failure(path, need_references=False)
    else:
        assert read_texts(path) == expected


def test_a_byte_that_is_not_utf8_is_named_by_line_and_offset(tmp_path: Path) -> None:
    """Line and byte, whatever stands before it."""
    text = failure(put(tmp_path, "f.txt", b"\xef\xbb\xbfa\n\xe3\x81\x82\nb\xffc\n"), need_references=False)
    assert "f.txt:3: byte 10 is 0xFF" in text


def test_a_bad_byte_far_into_a_file_is_named_by_line_and_offset(tmp_path: Path) -> None:
    """Offsets go on over the pieces in which a file is read."""
    good = "あいう\n" * 100_000
    text = failure(put(tmp_path, "f.txt", good.encode() + b"a\xc3(\n"), need_references=False)
    assert f"f.txt:100001: byte {len(good.encode()) + 1} is 0xC3" in text


def test_a_file_that_ends_inside_a_character_says_so(tmp_path: Path) -> None:
    """That is a file cut short, not one in another encoding."""
    text = failure(put(tmp_path, "f.txt", "a\nあ".encode()[:-1]), need_references=False)
    assert "f.txt:2: the file ends in the middle of a character (byte 2)" in text


def test_utf16_is_recognised(tmp_path: Path) -> None:
    """The message says what to do."""
    text = failure(put(tmp_path, "f.txt", "abc\n".encode("utf-16")), need_references=False)
    assert "looks like UTF-16; convert the file to UTF-8" in text


def test_encoded_surrogates_are_not_utf8(tmp_path: Path) -> None:
    """CESU-8 is refused in files; JSON escapes are the way to write lone surrogates."""
    assert "0xED" in failure(put(tmp_path, "f.txt", b"\xed\xa0\x80\n"), need_references=False)


def test_ten_megabytes_on_one_line_are_one_text(tmp_path: Path) -> None:
    """The line spans many pieces and comes out whole."""
    line = "あa" * 2_500_000
    assert pairs(put(tmp_path, "h.txt", line), references=put(tmp_path, "r.txt", line)) == [(line, (line,))]


def test_flat_lists_give_each_reference_line_its_candidates(tmp_path: Path) -> None:
    """N candidate lines a reference line, numbered 0 to N - 1."""
    hyp, ref = put(tmp_path, "h", "a\nb\nc\nd\n"), put(tmp_path, "r", "x\ny\n")
    found = [(row.id, row.sample, row.candidate, row.references) for row in rows(hyp, references=ref, num_candidates=2)]
    assert found == [("1", 0, "a", ("x",)), ("1", 1, "b", ("x",)), ("2", 0, "c", ("y",)), ("2", 1, "d", ("y",))]


@pytest.mark.parametrize("size", [1, 1024])
def test_flat_lists_of_the_wrong_length_say_what_was_found(tmp_path: Path, size: int) -> None:
    """Both files, both numbers of lines, and how many candidates go with a line."""
    hyp, ref = put(tmp_path, "h.txt", "a\n" * 7), put(tmp_path, "r.txt", "x\ny\n")
    text = failure(hyp, references=ref, num_candidates=3, batch_size=size)
    assert "h.txt has 7 lines" in text
    assert "r.txt 2, and 3 candidates go with each line of it" in text
    assert "no whole number of lists of 3" in failure(hyp, need_references=False, num_candidates=3, batch_size=size)


MOSES = "0 ||| a b  ||| f= 1 ||| -0.5\n0 |||  ||| f= 2 ||| -1\n1 ||| c ||| f= 3 ||| -2 ||| 0-0\n"


def test_moses_lists_are_recognised_whatever_the_ending(tmp_path: Path) -> None:
    """Ids are numbers of reference lines from 0; repeats are numbered; features are carried along."""
    found = rows(put(tmp_path, "n.txt", MOSES), references=put(tmp_path, "r.txt", "x\ny\n"))
    assert [(row.id, row.sample, row.candidate, row.references[0]) for row in found] == [
        ("0", 0, "a b", "x"),
        ("0", 1, "", "x"),
        ("1", 0, "c", "y"),
    ]
    assert found[2].extra == {"features": "f= 3", "score": "-2 ||| 0-0"}


def test_a_moses_id_without_a_reference_line_is_an_error(tmp_path: Path) -> None:
    """Too few references, or too many, are both told."""
    path = put(tmp_path, "n.txt", MOSES)
    assert "n.txt:3: id '1', but" in failure(path, references=put(tmp_path, "r.txt", "x\n"))
    assert "has 2 rows" in failure(path, references=put(tmp_path, "r.txt", "x\ny\nz\n"))


def test_a_line_that_is_no_moses_line_is_an_error(tmp_path: Path) -> None:
    """The message shows what a line has to look like."""
    text = failure(put(tmp_path, "n.txt", MOSES + "oops\n"), need_references=False)
    assert "n.txt:4: no '|||'; 'id ||| text ||| ...' is expected" in text


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_compressed_files_are_known_by_their_first_bytes(tmp_path: Path, pack: Callable[[bytes], Any]) -> None:
    """The name says nothing; concatenated streams are one file, as with cat."""
    content = "".join(f"line {number}\n" for number in range(50_000)).encode()
    assert read_texts(put(tmp_path, "f.txt", pack(content))) == content.decode().splitlines()
    assert read_texts(put(tmp_path, "f.txt", pack(b"a\n") + pack(b"") + pack(b"b\n"))) == ["a", "b"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_damaged_or_cut_compressed_files_are_errors_that_name_the_file(
    tmp_path: Path, pack: Callable[[bytes], Any]
) -> None:
    """Cut anywhere, or with other bytes behind, a file is never read as a shorter one."""
    whole = pack(b"some text\n" * 1000)
    for part in (whole[:-1], whole[: len(whole) // 2], whole + b"garbage", whole + pack(b"more\n")[:-2]):
        path = put(tmp_path, "f.txt", part)
        text = failure(path, need_references=False)
        assert "f.txt: damaged or cut" in text


def test_standard_input_is_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of standard input say so in messages."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    (batch,) = read("-", references=put(tmp_path, "r", "x\ny\n"))
    assert (batch.candidates, batch.systems[0], batch.place(1)) == (["a", "b"], "stdin", "<stdin>:2")


def test_standard_input_can_be_read_once(tmp_path: Path) -> None:
    """For candidates or for references."""
    assert "'-' is given twice" in failure("-", references="-")
    assert "'-' is given twice" in failure([put(tmp_path, "f", "a\n"), "-"], references=["-"])


def test_open_files_are_read_and_left_open(tmp_path: Path) -> None:
    """Binary files are; text files are refused, for their line ends are lost already."""
    stream = io.BytesIO(gzip.compress(b"a\n"))
    assert pairs(stream, references=put(tmp_path, "r", "x\n")) == [("a", ("x",))]
    assert not stream.closed
    assert "'rb'" in failure(io.StringIO("a\n"), need_references=False)


@pytest.mark.parametrize("name", ["absent.txt", ".", "nul\0byte"])
def test_a_file_that_cannot_be_opened_is_an_input_error(tmp_path: Path, name: str) -> None:
    """With its name and the reason."""
    assert failure(tmp_path / name, need_references=False)


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    """Compressed bytes are counted, since their total is known."""
    seen: list[tuple[int, int | None]] = []
    path = put(tmp_path, "f.txt", gzip.compress(b"some text\n" * 5000))
    for _ in read(path, need_references=False, progress=lambda done, total: seen.append((done, total))):
        pass
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_reader_left_early_closes_its_files(tmp_path: Path) -> None:
    """Open files are warnings in tests, hence errors."""
    path = put(tmp_path, "f.txt", "a\n" * 5000)
    with read(path, need_references=False, batch_size=10) as reader:
        assert len(next(reader)) == 10
        assert reader.rows == 10


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"format": "xml"}, "format='xml'; one of text, moses,"),
        ({"reference_format": "pfgen"}, "reference_format='pfgen'"),
        ({"on_missing": "drop"}, "on_missing='drop'"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"num_candidates": 0}, "num_candidates=0"),
        ({"on": "id"}, "name it with references"),
    ],
)
def test_wrong_options_are_refused_at_the_call(options: dict[str, Any], expected: str) -> None:
    """Before any file is opened."""
    assert expected in failure("absent.txt", **options)


@pytest.mark.parametrize("start", ["BZh", "BZh9", "BZh9 is a text", "BZh91AY", "BZh01AY&SY", "\x1f", "(\n"])
def test_a_text_that_begins_as_packed_files_do_is_a_text(tmp_path: Path, start: str) -> None:
    """Bzip2 is told by the mark of its first block, too."""
    files = [put(tmp_path, name, f"{start}\nb\n") for name in ("a.txt", "b.txt")]
    assert [row.candidate for row in rows(files[0], references=files[1])] == f"{start}\nb".split("\n")


@pytest.mark.parametrize("level", range(1, 10))
def test_bzip2_of_every_level_and_of_nothing_is_told(tmp_path: Path, level: int) -> None:
    """The mark of an empty file's first block is that of the end."""
    content = put(tmp_path, "f.txt", bz2.compress(b"a\n", level))
    assert [row.candidate for row in rows(content, references=content)] == ["a"]
    empty = put(tmp_path, "e.txt", bz2.compress(b"", level))
    assert rows(empty, references=empty) == []
