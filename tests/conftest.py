"""Hypothesis profiles, and the fixture through which tests reach shared data.

HYPOTHESIS_PROFILE=thorough make test     forty times as many examples, new ones in every run
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# No deadline: the first example compiles patterns and fills caches, and CI machines pause.
_QUIET = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
settings.register_profile(
    "default", max_examples=50, derandomize=True, database=None, deadline=None, suppress_health_check=_QUIET
)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Models are never fetched in a test: they are where `refsim models install` has put them, or the test is skipped.
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture
def shared_data() -> Callable[[str], Path]:
    """Return `shared_data(name)`, which gives a path of shared data or skips the test."""
    return shared.shared_data
