"""One memory measurement in a process of its own: `_memory.py book SIZE` or `_memory.py near COUNT LENGTH`.

Prints one JSON object: CPU seconds, growth of the resident peak in bytes, characters of all texts.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import _texts
from _harness import measure_growth

from refsim.metrics.charsim import Charsim

if TYPE_CHECKING:
    from collections.abc import Callable


def _book(size: int) -> tuple[Callable[[], object], int]:
    book = _texts.load_book()[:size]
    copy = _texts.changed_copy(book, 1)
    return lambda: Charsim().score(book, [copy]), len(book) + len(copy)


def _near(count: int, length: int) -> tuple[Callable[[], object], int]:
    texts = _texts.near_identical(count, length, 1)
    return lambda: Charsim().compile(texts, threads=1), count * length


def main() -> None:
    """Measure what the command line names."""
    work = {"book": _book, "near": _near}[sys.argv[1]]
    call, characters = work(*map(int, sys.argv[2:]))
    # Loads the kernel and whatever is imported late, so that only the work itself is measured.
    Charsim().score("warm", ["worm"])
    print(json.dumps({**measure_growth(call), "characters": characters}))


if __name__ == "__main__":
    main()
