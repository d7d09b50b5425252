"""Texts on their way to a metric: preparation, and strings as arrays of code points.

    texts  --Preparation-->  prepared texts  --code_points-->  codes (total,), offsets (texts + 1,)
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def code_points(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the code points of all texts in one array (total,), and offsets (len(texts) + 1,).

    Text i is `codes[offsets[i]:offsets[i + 1]]`. Lone surrogates are kept as ordinary code points.
    """
    # One join and one encode: no Python object per character, and the codec writes at memory speed.
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    offsets = np.fromiter(accumulate(map(len, texts), initial=0), dtype=np.int64, count=len(texts) + 1)
    return codes, offsets
