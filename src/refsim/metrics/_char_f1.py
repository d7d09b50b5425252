"""char-f1 through RapidFuzz: two measures of Japanese benchmarks that go by this one name, in [0, 1].

    token-sort    NFKC, then token_sort_ratio: words at spaces, sorted; 1 minus insertions and deletions / both lengths
    ratio         the same of the texts as they are, nothing sorted, nothing normalised

Of several references the best counts. Neither is an F-measure of characters as a bag, which the name suggests.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from refsim.metrics._peer import Peer, check_choice, check_preparation, load, version_of
from refsim.text import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class CharF1(Peer):
    """char-f1, 0 to 1: `variant` "token-sort" (after NFKC) or "ratio"; of several references the best.

    Raises InputError for other values.
    """

    variant: str = "token-sort"
    preparation: Preparation = field(default_factory=Preparation)

    name: ClassVar[str] = "char-f1"

    def __post_init__(self) -> None:
        """Check the parameters once."""
        check_choice("variant", self.variant, ("token-sort", "ratio"))
        check_preparation(self.name, self.preparation)

    def _library(self) -> list[str]:
        form = [f"NFKC[{unicodedata.unidata_version}]"] if self.variant == "token-sort" else []
        return [self.variant, *form, version_of(self.name, "RapidFuzz"), "references:best"]

    def _rows(
        self, candidates: Sequence[str], references: Sequence[Sequence[str]], langs: Sequence[str | None]
    ) -> list[list[float]]:
        del langs
        fuzz = load(self.name, "rapidfuzz.fuzz", "RapidFuzz")
        ratio = fuzz.token_sort_ratio if self.variant == "token-sort" else fuzz.ratio
        return [
            [max(ratio(self._form(candidate), self._form(text)) for text in texts) / 100]
            for candidate, texts in zip(candidates, references, strict=True)
        ]

    def _form(self, text: str) -> str:
        return unicodedata.normalize("NFKC", text) if self.variant == "token-sort" else text
