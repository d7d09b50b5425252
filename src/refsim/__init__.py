"""refsim: how well generated text is supported by reference texts, per segment and per system.

    refsim.charsim("the cat sat", ["the cat sat on the mat"])     one score
    refsim.Charsim(form="base").score_batch(candidates, references)
    refsim.Charsim().compile(references).score_batch(candidates)   one fixed set, many candidates
    refsim.evaluate("systems.jsonl").systems                       files to a table

Names load what they need when they are first used; importing refsim loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from refsim._version import __version__

if TYPE_CHECKING:
    from refsim.errors import CompiledSetError, InputError, MissingExtra, RefsimError, SignatureError
    from refsim.metric import Metric, Scorer, Stats, Total
    from refsim.metrics._alignment import BERTExplanation, BERTVerdict
    from refsim.metrics._embeddings import BERTScorer
    from refsim.metrics._explain import Explanation
    from refsim.metrics._matrix import TopK
    from refsim.metrics._scorer import CharsimScorer
    from refsim.metrics._sets import load
    from refsim.metrics._verdict import Verdict
    from refsim.metrics.bertscore import PRF, BERTScore
    from refsim.metrics.charsim import Charsim, charsim
    from refsim.readers import read
    from refsim.run import evaluate, stream
    from refsim.segments import Batch, Segment
    from refsim.text import Preparation

_HOMES = {
    "refsim.errors": ("CompiledSetError", "InputError", "MissingExtra", "RefsimError", "SignatureError"),
    "refsim.metric": ("Metric", "Scorer", "Stats", "Total"),
    "refsim.metrics._alignment": ("BERTExplanation", "BERTVerdict"),
    "refsim.metrics._embeddings": ("BERTScorer",),
    "refsim.metrics._explain": ("Explanation",),
    "refsim.metrics._matrix": ("TopK",),
    "refsim.metrics._scorer": ("CharsimScorer",),
    "refsim.metrics._sets": ("load",),
    "refsim.metrics._verdict": ("Verdict",),
    "refsim.metrics.bertscore": ("PRF", "BERTScore"),
    "refsim.metrics.charsim": ("Charsim", "charsim"),
    "refsim.readers": ("read",),
    "refsim.run": ("evaluate", "stream"),
    "refsim.segments": ("Batch", "Segment"),
    "refsim.text": ("Preparation",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PRF",
    "BERTExplanation",
    "BERTScore",
    "BERTScorer",
    "BERTVerdict",
    "Batch",
    "Charsim",
    "CharsimScorer",
    "CompiledSetError",
    "Explanation",
    "InputError",
    "Metric",
    "MissingExtra",
    "Preparation",
    "RefsimError",
    "Scorer",
    "Segment",
    "SignatureError",
    "Stats",
    "TopK",
    "Total",
    "Verdict",
    "__version__",
    "charsim",
    "evaluate",
    "load",
    "read",
    "stream",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _HOME_OF:
        message = f"module 'refsim' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
