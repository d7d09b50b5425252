r"""Unicode's property White_Space, code point by code point.

`str.isspace` and the \s of `re` also take the separators U+001C to U+001F, which are controls. The set has not
changed since Unicode 6.3.
"""

from __future__ import annotations

import re
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
WHITE_SPACE_RUN: Final = re.compile(f"[{re.escape(WHITE_SPACE)}]+")
