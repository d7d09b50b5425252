"""Texts and reference lists for Hypothesis: small alphabets, where everything overlaps, and real sentences, edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form

# Sentences of one meaning in three scripts; edits of them are what references look like.
SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "A quick brown dog jumped over a lazy fox!",
    "the cat sat on the mat, the cat sat on the hat",
    "吾輩は猫である。名前はまだ無い。",
    "吾輩は猫だ。名前はまだない。",
    "החתול ישב על השטיח ואכל דג.",
]

_ALPHABETS = (
    "ab",
    "abc",
    # What might stand for a boundary, an end of text, or an unused symbol inside a kernel.
    "a^$\0\x01\uffff\U0010ffff\ue000",
    "\ud800\udc00\udfffa😀",
    "e\u0301é👩\u200d🦰 \r\n",
)


@st.composite
def _edited(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SENTENCES))
    start, stop = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    # Each way of cutting keeps at most 50 characters, for the oracle is slow on purpose.
    cut = draw(st.sampled_from([text[start:stop], text[:start] + text[stop:], text[start:] + text[:start]]))
    return cut[:30]


def texts(max_size: int = 10) -> st.SearchStrategy[str]:
    """Return texts over one small alphabet each, over all code points, or edited sentences."""
    small = [st.text(st.sampled_from(alphabet), max_size=max_size) for alphabet in _ALPHABETS]
    return st.one_of(*small, st.text(st.characters(), max_size=4), _edited())


@st.composite
def references(draw: st.DrawFn, max_size: int = 5) -> list[str]:
    """Return one to `max_size` references, some of them repeated, as in real sets."""
    distinct = draw(st.lists(texts(), min_size=1, max_size=max_size))
    return draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=max_size))


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Return a candidate and its references over one alphabet, so that they do overlap."""
    text = draw(st.sampled_from([*(st.text(st.sampled_from(a), max_size=10) for a in _ALPHABETS), _edited()]))
    candidate = draw(text)
    distinct = draw(st.lists(text | st.just(candidate), min_size=1, max_size=4))
    return candidate, draw(st.lists(st.sampled_from(distinct), min_size=1, max_size=6))


FORMS: tuple[Form, ...] = ("main", "base", "median")

forms = st.sampled_from(FORMS)
max_orders = st.none() | st.integers(1, 12)
