"""Readers: files, standard input and rows in memory -> an iterator of Batch.

    path, "-", file object
        _open.py       bytes, decompressed by their first bytes; how far the file is read
        _lines.py      bytes -> lines of text; where a byte is not UTF-8
        _detect.py     which format
        _delimited.py  _json.py  _parquet.py  _text.py    format -> chunks of columns
        _presets.py    what known programs write: pfgen, lm-eval, comet-json
        _join.py       references from another file, by key or by line
    -> segments: chunks -> checked batches
    -> _read.py        one stream of batches over all files

Nothing is read whole that can be streamed; references that are joined by key are the one exception.
"""

from refsim.readers._join import read_references, read_texts
from refsim.readers._presets import FORMATS
from refsim.readers._read import Reader, read
from refsim.segments import Fields

__all__ = ["FORMATS", "Fields", "Reader", "read", "read_references", "read_texts"]
