"""What the tests of readers share: write a file, read its rows, take the message of the error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from refsim import InputError
from refsim.readers import read

if TYPE_CHECKING:
    from refsim.segments import Segment


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, texts as UTF-8 without change of line ends."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def jsonl(*objects: object) -> str:
    """Return objects as JSON lines."""
    return "".join(f"{json.dumps(one)}\n" for one in objects)


def rows(source: Any, **options: Any) -> list[Segment]:  # noqa: ANN401  # what `read` takes
    """Return all rows."""
    return [segment for batch in read(source, **options) for segment in batch]


def pairs(source: Any, **options: Any) -> list[tuple[str, tuple[str, ...]]]:  # noqa: ANN401  # as above
    """Return candidate and references of each row."""
    return [(row.candidate, row.references) for row in rows(source, **options)]


def failure(source: Any, **options: Any) -> str:  # noqa: ANN401  # as above
    """Return the message with which reading fails, without the folder."""
    with pytest.raises(InputError) as caught:
        rows(source, **options)
    first = source[0] if isinstance(source, list) and source else source
    return str(caught.value).replace(f"{first.parent}/", "") if isinstance(first, Path) else str(caught.value)
