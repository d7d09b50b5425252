"""The metrics that people compare with, through the libraries that their fields use; nothing is computed anew.

    bleu, chrf, chrf++, ter                      sacrebleu      _sacrebleu.py
    rouge, rouge1, rouge2, rougeL, rougeLsum     rouge-score    _rouge.py, _tokenisers.py
    meteor                                       nltk           _meteor.py
    char-f1                                      RapidFuzz      _char_f1.py

What each of them needs and how it reads texts: docs/metrics.md. The extra `peers` brings the libraries.
"""

from __future__ import annotations

from refsim.metrics._char_f1 import CharF1
from refsim.metrics._meteor import METEOR
from refsim.metrics._rouge import ROUGE
from refsim.metrics._sacrebleu import BLEU, CHRF, TER

__all__ = ["BLEU", "CHRF", "METEOR", "ROUGE", "TER", "CharF1"]
