"""Where real data lies when it is there: ../shared/data and ../shared/golden, seen from the project's root.

The data is no part of the project: it is large, and some of it must not be passed on. A test that wants
it is skipped, with the reason, where it is absent.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = (ROOT.parent / "shared" / "data", ROOT.parent / "shared" / "golden")


def shared_data(name: str) -> Path:
    """Return the path of a shared file or folder, "pfgen" or "nbest/x.tsv"; skip the running test if it is absent."""
    for place in PLACES:
        if (place / name).exists():
            return place / name
    return pytest.skip(f"shared data {name!r} is not on this machine")


@cache
def golden_rows() -> list[dict[str, Any]]:
    """Return golden rows of charsim, computed elsewhere from the definition in exact fractions; skip if absent."""
    return [json.loads(line) for line in shared_data("charsim.jsonl").read_text(encoding="utf-8").splitlines()]
