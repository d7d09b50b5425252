"""Keys: (id, system, sample) names a row, so none may come twice; or repeats that have no number get one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.segments._batch import Places

# A place is kept as one int, file number and line, because a text for each of 10 million rows would be 1 GB.
LINE_BITS = 44


@dataclass(slots=True)
class Keys:
    """The keys seen so far, over all files: memory grows with the number of rows, which is the price of the check."""

    names: list[str] = field(default_factory=list)
    seen: dict[tuple[str, str, int], int] = field(default_factory=dict)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def number(self, ids: Sequence[str], systems: Sequence[str]) -> list[int]:
        """Return how often each (id, system) has come before."""
        samples = []
        for key in zip(ids, systems, strict=True):
            samples.append(self.counts[key])
            self.counts[key] += 1
        return samples

    def check(
        self, ids: Sequence[str], systems: Sequence[str], samples: Sequence[int], places: Places, *,
        numbered: bool = False,
    ) -> None:  # fmt: skip
        """Raise if a key comes again; the message names both places. `numbered`: the samples are the user's own."""
        if not self.names or self.names[-1] != places.name:
            self.names.append(places.name)
        high = (len(self.names) - 1) << LINE_BITS
        keys = list(zip(ids, systems, samples, strict=True))
        if len(set(keys)) < len(keys) or not self.seen.keys().isdisjoint(keys):
            for row, key in enumerate(keys):
                if key in self.seen:
                    self._raise_again(key, places, row, numbered=numbered)
                self.seen[key] = high | places.numbers[row]
        self.seen.update(zip(keys, (high | number for number in places.numbers), strict=True))

    def _raise_again(self, key: tuple[str, str, int], places: Places, row: int, *, numbered: bool) -> None:
        first = self.seen[key]
        name, number = self.names[first >> LINE_BITS], first & (1 << LINE_BITS) - 1
        in_same = name == places.name and places.form == "{}:{}"
        where = f"on line {number}" if in_same else places.form.format(name, number)
        sample = f", sample {key[2]}" if key[2] or numbered else ""
        hint = "give each a number of its own" if numbered else "number repeats with --samples"
        raise InputError(
            f"{places[row]}: id {key[0]!r}, system {key[1]!r}{sample} again (first {where}); {hint}, or rename"
        )
