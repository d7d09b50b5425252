"""Choosing among candidates: each list ranked by how far its members agree (minimum Bayes risk).

    batches  --by (id, system)-->  lists of candidates  --metric.consensus-->  ranked, best first

The rows of an item may lie far apart, as when a model ran over all items once for each sample; so a list is
complete only at the end of the input, and all candidates are held until then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from refsim.segments import Batch


class ConsensusMetric(Protocol):
    """A metric that can score candidates against one another."""

    def consensus(
        self,
        candidates: Sequence[str],
        support: Sequence[str] | None = None,
        *,
        leave_one_out: bool | None = True,
        threads: int | None = None,
    ) -> NDArray[np.float64]:
        """Return the score (C,) of each candidate against all the others, or against the support."""
        ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate and its rank in its list, from 1; `score` is None for one that stands alone."""

    id: str
    system: str
    sample: int
    rank: int
    score: float | None
    candidate: str


@dataclass(slots=True)
class CandidateList:
    """The candidates of one item and system, in the order of the input, with their support if there is one."""

    id: str
    system: str
    candidates: list[str] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    support: list[str] = field(default_factory=list)
    place: str = ""


def gather_lists(batches: Iterable[Batch], *, use_support: bool = False) -> list[CandidateList]:
    """Return the lists of candidates, in the order in which their items and systems first come up.

    With `use_support` all rows of a list must have the same support. Raises InputError, with the place, for others.
    """
    lists: dict[tuple[str, str], CandidateList] = {}
    for batch in batches:
        for i, key in enumerate(zip(batch.ids, batch.systems, strict=True)):
            if key not in lists:
                lists[key] = CandidateList(*key, support=batch.references[i], place=batch.place(i))
            if use_support and batch.references[i] != lists[key].support:
                raise InputError(
                    f"{batch.place(i)}: id {key[0]!r} has another support than in {lists[key].place}; expected one and "
                    "the same for all candidates of a list"
                )
            lists[key].candidates.append(batch.candidates[i])
            lists[key].samples.append(batch.samples[i])
    return list(lists.values())


def rank_by_consensus(
    lists: Iterable[CandidateList],
    metric: ConsensusMetric,
    *,
    leave_one_out: bool = True,
    use_support: bool = False,
    threads: int | None = None,
) -> Iterator[list[Ranked]]:
    """Yield each list with the best candidate first; candidates of equal score stay in the order of the input.

    With `use_support` a candidate is scored against the support of its list, otherwise against the other candidates
    (and itself, unless `leave_one_out`). A candidate alone has nothing to agree with: rank 1, score None.
    """
    for one in lists:
        if use_support and not one.support:
            raise InputError(f"{one.place}: id {one.id!r} has no support text; expected one or more")
        if len(one.candidates) == 1 and leave_one_out and not use_support:
            yield [Ranked(one.id, one.system, one.samples[0], 1, None, one.candidates[0])]
            continue
        if use_support:
            scores = metric.consensus(one.candidates, one.support, leave_one_out=None, threads=threads)
        else:
            scores = metric.consensus(one.candidates, leave_one_out=leave_one_out, threads=threads)
        order = sorted(range(len(scores)), key=lambda i, scores=scores: -scores[i])  # type: ignore[misc]
        yield [
            Ranked(one.id, one.system, one.samples[i], rank, float(scores[i]), one.candidates[i])
            for rank, i in enumerate(order, start=1)
        ]
