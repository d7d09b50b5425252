"""charsim: how far references support a candidate, counted in character n-grams of every order.

For order n let o_i be the overlap with reference i, L lengths in n-grams:

    rho(n) = mean_i o_i(n) / max(L_t(n), mean_i L_i(n)),   charsim = sum_n rho(n)/n / H_N

    text.py: code points (C,)  ->  _automaton.py: overlaps (N,)  ->  score

That is the main form. The base form divides first and averages then, rho(n) = mean_i o_i(n) /
max(L_t(n), L_i(n)), the mean of min(precision, recall); the median form takes the median length below.
Definition, edge cases, proof of the linear-time walk: docs/charsim.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from refsim._version import __version__
from refsim.errors import CompiledSetError, InputError
from refsim.metric import Stats, Total
from refsim.metrics._arguments import as_list, check_references, check_rows, check_text, check_texts
from refsim.metrics._cache import cache
from refsim.metrics._compiled import Texts
from refsim.metrics._matrix import TopK, score_matrix
from refsim.metrics._reference_set import ReferenceSet, distinct
from refsim.metrics._rows import score_rows
from refsim.metrics._scorer import CharsimScorer
from refsim.metrics._symbols import Encoder
from refsim.metrics._threads import thread_count
from refsim.metrics._verdict import check_judging
from refsim.metrics._weights import integer_weights, own_weights
from refsim.text import Preparation

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from refsim.metrics._explain import Explanation
    from refsim.metrics._verdict import Language, Verdict
    from refsim.segments import Batch

Form = Literal["main", "base", "median"]
_FORMS = ("main", "base", "median")
_MOST_ORDERS = 2**31 - 1

# A list of references with more candidates, or more references, than these is compiled, and one that comes
# back in another call; below, an automaton a pair costs less than laying out a set (about 200 us).
_FEW_CANDIDATES, _FEW_REFERENCES = 3, 12
_FEW_SHARERS_OF_ONE = 40
# Calls with at most this many different lists look for them in the cache, and leave them there.
_FEW_LISTS = 64


@dataclass(frozen=True, kw_only=True)
class Charsim:
    """charsim with its parameters: a value, to be shared between threads, hashed and pickled.

    `form` is how several references are averaged ("main", "base" or "median"); `max_order` cuts the
    orders off at a highest one (None: all there are); `preparation` is done to every text first.
    Scores lie in [0, 1]; identical texts give exactly 1. Raises InputError for other values.
    """

    form: Form = "main"
    max_order: int | None = None
    preparation: Preparation = field(default_factory=Preparation)

    def __post_init__(self) -> None:
        """Check the parameters once."""
        if self.form not in _FORMS:
            message = f"form is {self.form!r}; expected one of {', '.join(map(repr, _FORMS))}"
            raise InputError(message)
        if self.max_order is not None and (type(self.max_order) is not int or not 1 <= self.max_order <= _MOST_ORDERS):
            message = f"max_order is {self.max_order!r}; expected a whole number from 1 to 2**31 - 1, or None"
            raise InputError(message)
        preparation: object = self.preparation
        if not isinstance(preparation, Preparation):
            message = f"preparation is {preparation!r}; expected a refsim.Preparation"
            raise InputError(message)

    def __str__(self) -> str:
        """Return the short name with what is not default: `charsim(form=base)`."""
        parts = [f"form={self.form}"] if self.form != "main" else []
        parts += [f"max_order={self.max_order}"] if self.max_order is not None else []
        parts += [self.preparation.signature] if not self.preparation.is_default else []
        return f"charsim({','.join(parts)})" if parts else "charsim"

    @property
    def signature(self) -> str:
        """Everything that a number depends on; numbers compare only where these are equal."""
        return f"{self}|refsim:{__version__}"

    def score(self, candidate: str, references: Sequence[str]) -> float:
        """Return the score of one candidate against its references, in [0, 1].

        `references` is a list of strings, one at least. Raises InputError for anything else.
        """
        text, listed = check_text(candidate, "candidate"), check_references(references)
        if len(listed) == 1:
            return float(self._score_rows([text], listed, np.array([0, 1], np.int64), threads=1)[0])
        return float(self._score_lists([text], [listed], threads=1)[0])

    def score_batch(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]], *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Return scores (S,): `references[i]`, a string or a list of strings, belongs to `candidates[i]`.

        Lists that occur more than once are compiled once. Raises InputError, with the index, for lists
        of different lengths, an empty list of references, and anything that is no string.
        """
        thread_count(threads)
        texts, singles, lists = check_rows(candidates, references)
        self.preparation.check_candidates(texts)  # here, where an index is the caller's; lists are scored in groups
        if singles is not None and not _shared_by_many(singles):
            return self._score_rows(texts, singles, np.arange(len(texts) + 1, dtype=np.int64), threads=threads)
        return self._score_lists(texts, lists or [[text] for text in singles or ()], threads=threads)

    @overload
    def score_matrix(
        self, candidates: Sequence[str], references: Sequence[str], *, top_k: None = None, threads: int | None = None
    ) -> NDArray[np.float64]: ...

    @overload
    def score_matrix(
        self, candidates: Sequence[str], references: Sequence[str], *, top_k: int, threads: int | None = None
    ) -> TopK: ...

    def score_matrix(
        self,
        candidates: Sequence[str],
        references: Sequence[str],
        *,
        top_k: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.float64] | TopK:
        """Return scores (C, R) of each candidate against each single reference.

        With `top_k`, only the best k of each row, best first, as TopK(indices (C, k), scores (C, k)):
        memory then grows with C k, not with C R; equal scores keep the order of the references.
        """
        thread_count(threads)
        if top_k is not None and (type(top_k) is not int or top_k < 1):
            message = f"top_k is {top_k!r}; expected a whole number from 1 on, or None for the whole matrix"
            raise InputError(message)
        left = self.preparation.apply_candidates(check_texts(candidates, "candidates"))
        right = self.preparation.apply(check_texts(references, "references"))
        return score_matrix(
            left, right, max_order=self.max_order, top_k=top_k, encode=Encoder(self.preparation), threads=threads
        )

    def consensus(
        self, candidates: Sequence[str], support: Sequence[str] | None = None,
        weights: Sequence[float] | None = None,
        leave_one_out: bool | None = None,  # noqa: FBT001 - the fourth argument of a published signature
        *, threads: int | None = None,
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return scores (C,) of each candidate against all the others, or against `support`.

        Exact, from one compiled set: minimum Bayes risk decoding with charsim as its utility.
        `leave_one_out` (default True) leaves the candidate itself out; with `support` it must be None. Support is
        output as candidates are, so answers are extracted from both.
        `weights` go with the references, `support` or else the candidates: whole numbers count as
        repeats, exactly (leaving one out takes one repeat away), others to 1e-12 (leaving one out takes
        the candidate's whole weight away). Raises InputError where nothing is left to compare with.
        """
        thread_count(threads)
        texts = self.preparation.apply_candidates(check_texts(candidates, "candidates"))
        _check_leave_one_out(leave_one_out, support)
        voters = texts
        if support is not None:
            voters = self.preparation.apply_candidates(check_references(support, "support"), "support[{}]".format)
        if weights is not None and self.form == "median":
            message = "the median form takes no weights, for a median of lengths has no use for them; use main or base"
            raise InputError(message)
        # Looked at more than once below, which a generator bears only as a list.
        weights = None if weights is None else as_list(weights, "weights", example="[1, 2, 0.5]")
        longest = max(map(len, [*texts, *voters]), default=0)
        whole, exact = integer_weights(weights, voters, "candidates" if support is None else "support", longest)
        own = own_weights(whole, exact=exact) if support is None and leave_one_out is not False else None
        counted = whole > 0 if weights is None else np.array([weight > 0 for weight in weights])
        # On the grid of fractional weights the others may vanish beside one, so it is these that are asked.
        left = whole.sum() - own if own is not None and exact else counted.sum() - (counted if own is not None else 0)
        if not whole.any() or np.min(left) <= 0:
            message = (
                f"consensus of {len(texts)} candidates leaves nothing to compare one of them with; "
                "give two candidates with some weight, a support, or leave_one_out=False"
            )
            raise InputError(message)
        # Without a candidate that holds most of the weight the grid of the others is too coarse.
        dominant = own is not None and not exact and 2 * own > whole.sum()
        scores = self._consensus(texts, voters, whole, own if own is None else np.where(dominant, 0, own), threads)
        if own is not None:
            for heavy in np.flatnonzero(dominant).tolist():
                others = [i for i in range(len(texts)) if i != heavy]
                shares = [float(np.asarray(weights)[i]) for i in others]
                rest = [texts[i] for i in others]
                again, _ = integer_weights(shares, rest, "candidates", longest)
                scores[heavy] = self._consensus([texts[heavy]], rest, again, None, threads)[0]
        return scores

    def _consensus(
        self, texts: Sequence[str], voters: Sequence[str], weights: NDArray[np.int64], own: NDArray[np.int64] | None,
        threads: int | None,
    ) -> NDArray[np.float64]:  # fmt: skip
        """Return scores (C,) of prepared texts against voters with integer weights, less their own."""
        unique, _, places = distinct(voters)
        sums = np.zeros(len(unique), np.int64)
        np.add.at(sums, places, weights)
        kept = np.flatnonzero(sums > 0)
        encode = Encoder(self.preparation)
        reference_set = ReferenceSet.of(self.form, Texts(*encode([unique[i] for i in kept]), sums[kept]))
        return reference_set.score(*encode(texts), max_order=self.max_order, threads=threads, own=own)

    def per_order(self, candidate: str, references: Sequence[str]) -> NDArray[np.float64]:
        """Return rho(1) .. rho(N) (N,), in [0, 1]: what each order gives before it is weighted by 1/n."""
        return self.explain(candidate, references).orders.rho

    def explain(
        self, candidate: str, references: Sequence[str], *, against: str | None = None, share: float = 0.5
    ) -> Explanation:
        """Return why the candidate scores what it does: order by order, character by character, what is missing.

        `against` is another text in the candidate's place: what it changes is explained too. `share` in (0, 1] says
        how many of the references must hold a string for it to be listed as missing. Raises InputError as `score` does.
        """
        return self._scorer(check_references(references)).explain(candidate, against=against, share=share)

    def judge(
        self, candidate: str, references: Sequence[str], at_least: float | None = None, *, language: Language = "en"
    ) -> Verdict:
        """Return the score with one sentence that says why, and whether it is `at_least` so much (in [0, 1]).

        The sentence, in English ("en") or Japanese ("ja"), names the largest loss and up to three pieces that
        the candidate lacks; it is never empty and has 300 characters at most. Raises InputError as `score` does.
        """
        return self._scorer(check_references(references)).judge(candidate, at_least, language=language)

    def judge_batch(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]], at_least: float | None = None, *,
        language: Language = "en",
    ) -> list[Verdict]:  # fmt: skip
        """Return the verdict on each candidate (S,); arguments as in `score_batch` and `judge`."""
        check_judging(at_least, language)
        texts, singles, lists = check_rows(candidates, references)
        self.preparation.check_candidates(texts)
        rows = lists or [[text] for text in singles or ()]
        verdicts: list[Verdict | None] = [None] * len(texts)
        for listed, members in _group(rows).items():
            scorer = self._scorer(list(listed))
            for i in members:
                verdicts[i] = scorer.judge(texts[i], at_least, language=language)
        return [verdict for verdict in verdicts if verdict is not None]

    def _scorer(self, references: list[str]) -> CharsimScorer:
        """Return checked references compiled: one alone is soon done, and would only push others out of the cache."""
        if len(references) == 1:
            return CharsimScorer(self, self.preparation.apply(references))
        return self.compile(references)

    def compile(self, references: Sequence[str], *, threads: int | None = None) -> CharsimScorer:
        """Return a Scorer of this metric for one fixed list of references.

        Work on the references is done once; a candidate then costs about as much as against one
        reference. Compiled sets are kept for the next call with the same references, in a cache shared with
        `score` and `score_batch` (REFSIM_CACHE_BYTES, 1 GiB). `threads` is there for every Scorer alike;
        this work runs on one.
        """
        thread_count(threads)
        texts = check_references(references)
        return cache.get((self, tuple(texts)), lambda: CharsimScorer(self, self.preparation.apply(texts)))

    def measure(self, batch: Batch, *, threads: int | None = None) -> Stats:
        """Return one row per segment: its score."""
        return Stats(self.score_batch(batch.candidates, batch.references, threads=threads).reshape(-1, 1))

    def finish(self, stats: Stats) -> dict[str, NDArray[np.float64]]:
        """Return {"charsim": scores (S,)}."""
        return {"charsim": stats.rows[:, 0]}

    def finish_total(self, total: Total) -> dict[str, float]:
        """Return {"charsim": mean of the segments' scores}."""
        return {"charsim": total.mean()[0]}

    def _score_lists(
        self, candidates: list[str], lists: list[list[str]], *, threads: int | None
    ) -> NDArray[np.float64]:
        """Return scores (S,) of checked arguments: lists that serve many are compiled, others scored row by row."""
        out = np.empty(len(candidates))
        groups = _group(lists)
        alone: list[int] = []
        for references, members in groups.items():
            scorer = self._scorer_for(references, len(members), few_lists=len(groups) <= _FEW_LISTS)
            if scorer is None:
                alone += members
            else:
                out[members] = scorer.score_batch([candidates[i] for i in members], threads=threads)
        if alone:
            alone.sort()
            offsets = np.concatenate([[0], np.cumsum([len(lists[i]) for i in alone])]).astype(np.int64)
            flat = [text for i in alone for text in lists[i]]
            out[alone] = self._score_rows([candidates[i] for i in alone], flat, offsets, threads=threads)
        return out

    def _score_rows(
        self, candidates: list[str], references: list[str], row_offsets: NDArray[np.int64], *, threads: int | None
    ) -> NDArray[np.float64]:
        return score_rows(
            list(self.preparation.apply_candidates(candidates)), list(self.preparation.apply(references)), row_offsets,
            form=self.form, max_order=self.max_order, encode=Encoder(self.preparation), threads=threads,
        )  # fmt: skip

    def _scorer_for(self, references: tuple[str, ...], candidates: int, *, few_lists: bool) -> CharsimScorer | None:
        """Return the list compiled, if it is already, or if that is less work than scoring row by row."""
        key = (self, references)
        if few_lists and len(references) > 1:
            scorer, again = cache.look_up(key)
            if scorer is not None:
                return scorer
        else:
            again = False
        if len(references) == 1:
            worth = candidates > _FEW_SHARERS_OF_ONE
        else:
            worth = again or candidates > _FEW_CANDIDATES or len(references) > _FEW_REFERENCES
        if not worth:
            return None
        return self.compile(references) if few_lists else CharsimScorer(self, self.preparation.apply(references))


def _group(rows: list[list[str]]) -> dict[tuple[str, ...], list[int]]:
    """Return the rows of each different list of references; one object for many rows is looked at once."""
    groups: dict[tuple[str, ...], list[int]] = {}
    by_object: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        members = by_object.get(id(row))
        if members is None:
            members = by_object[id(row)] = groups.setdefault(tuple(row), [])
        members.append(index)
    return groups


def _check_leave_one_out(leave_one_out: object, support: object) -> None:
    if leave_one_out is not None and not isinstance(leave_one_out, bool):
        message = f"leave_one_out is {leave_one_out!r}; expected True, False or None"
        raise InputError(message)
    if support is not None and leave_one_out is not None:
        message = f"leave_one_out is {leave_one_out} but support is given: no candidate is in it, so leave it None"
        raise InputError(message)


def _shared_by_many(references: list[str]) -> bool:
    """Return whether a text stands for more than `_FEW_SHARERS_OF_ONE` candidates, on the average."""
    count, sharers = len(references), _FEW_SHARERS_OF_ONE
    # Where so few as these all differ already, the others need not be looked at.
    return len(set(references[::sharers])) * sharers < count and len(set(references)) * sharers < count


def load_charsim(
    path: str | os.PathLike[str], header: Mapping[str, Any], texts: list[str], weights: list[int]
) -> CharsimScorer:
    """Return the Scorer of a set that was read. Raises CompiledSetError for one that other Unicode tables prepared."""
    try:
        metric = Charsim(**header["parameters"], preparation=Preparation(**header["preparation"]))
        signature = header["preparation_signature"]
    except (KeyError, TypeError, InputError) as error:
        message = f"{path}: its header does not describe a metric ({error}); compile the references again"
        raise CompiledSetError(message) from error
    if signature != metric.preparation.signature:
        message = (
            f"{path}: its references were prepared with {signature!r}, this Python prepares candidates with "
            f"{metric.preparation.signature!r}; compile the references again"
        )
        raise CompiledSetError(message)
    return CharsimScorer(metric, texts, weights)


def charsim(candidate: str, references: Sequence[str]) -> float:
    """Return the charsim of one candidate against its references, main form, in [0, 1].

    `references` is a list of strings, one at least; raises InputError for anything else.
    """
    return _MAIN.score(candidate, references)


_MAIN = Charsim()
