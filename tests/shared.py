"""Where real data lies when it is there: ../shared/data and ../shared/golden, seen from the project's root.

The data is no part of the project: it is large, and some of it must not be passed on. A test that wants
it is skipped, with the reason, where it is absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = (ROOT.parent / "shared" / "data", ROOT.parent / "shared" / "golden")


def shared_data(name: str) -> Path:
    """Return the path of a shared file or folder, "pfgen" or "nbest/x.tsv"; skip the running test if it is absent."""
    for place in PLACES:
        if (place / name).exists():
            return place / name
    return pytest.skip(f"shared data {name!r} is not on this machine")
