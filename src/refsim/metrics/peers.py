"""The metrics that people compare with, through the libraries that their fields use; nothing is computed anew.

    bleu, chrf, chrf++, ter    sacrebleu      _sacrebleu.py

What each of them needs and how it reads texts: docs/metrics.md. The extra `peers` brings the libraries.
"""

from __future__ import annotations

from refsim.metrics._sacrebleu import BLEU, CHRF, TER

__all__ = ["BLEU", "CHRF", "TER"]
