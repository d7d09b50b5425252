"""Every way of asking for a score gives the same bits, and those are the definition's; on both kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import strategies
from entry_points import check_row, check_row_outside, interpreted_kernel
from refsim import Charsim
from refsim.metrics._cache import cache as cache_of_sets

if TYPE_CHECKING:
    from refsim.metrics.charsim import Form


metrics = st.builds(Charsim, form=strategies.forms, max_order=strategies.max_orders)


@settings(max_examples=settings().max_examples * 4)
@given(metric=metrics, row=strategies.rows())
@example(metric=Charsim(), row=("", [""]))
@example(metric=Charsim(form="base"), row=("", ["", ""]))
@example(metric=Charsim(form="base"), row=("", ["", "a"]))
@example(metric=Charsim(form="median"), row=("", ["", "", "abc"]))
@example(metric=Charsim(form="base"), row=("aa", ["aa", "a", "aa", "", "b"]))
@example(metric=Charsim(max_order=2), row=("\0^$", ["$^\0", "^", "$", "\U0010ffff"]))
def test_every_entry_point_agrees_with_the_definition(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """One call, a batch, threads, a compiled set, a matrix, a support give the oracle's value, and equal bits."""
    check_row(metric, *row)


@given(metric=metrics, candidate=strategies.texts(), references=strategies.references())
def test_every_entry_point_agrees_on_unrelated_texts(metric: Charsim, candidate: str, references: list[str]) -> None:
    """Texts over different alphabets, which share little or nothing."""
    check_row(metric, candidate, references)


@settings(max_examples=settings().max_examples // 2)  # each costs 0.2 s
@given(metric=metrics, row=strategies.rows())
@example(metric=Charsim(form="base"), row=("", ["a", "a", ""]))
@example(metric=Charsim(form="base"), row=("\ud800a", ["\udfff\ud800", ""]))
@example(metric=Charsim(form="median"), row=("a\u2028b\x85\r", ["\r\n", "\x0c", " "]))
def test_files_commands_and_processes_agree(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """A saved set, a stream, an evaluation, the command line and another process give the bits of one call."""
    check_row_outside(metric, *row)


@given(metric=metrics, row=strategies.rows())
@example(metric=Charsim(form="base"), row=("aa", ["aa", "a", "aa", "", "b"]))
def test_the_interpreted_kernel_gives_the_same_bits(metric: Charsim, row: tuple[str, list[str]]) -> None:
    """The same source run as Python agrees with the definition everywhere, and with the compiled one to the bit."""
    with interpreted_kernel():
        interpreted = check_row(metric, *row)
    assert metric.score(*row) == interpreted


@pytest.mark.parametrize("form", strategies.FORMS)
@pytest.mark.parametrize("text", strategies.SENTENCES)
def test_sentences_everywhere(form: Form, text: str) -> None:
    """Real sentences against one another, through every entry point."""
    metric = Charsim(form=form)
    references = [other[:24] for other in strategies.SENTENCES if other[:2] != text[:2]]
    check_row(metric, text[:24], references)
    check_row_outside(metric, text[:24], [text[3:27], *references])


def test_threads_of_the_caller_share_metrics_and_what_is_kept() -> None:
    """Eight threads score the same and other rows at once, as a server does: the bits of one thread."""
    metrics_ = [Charsim(form=form) for form in strategies.FORMS]
    rows = [
        (metric, text, strategies.SENTENCES[: k + 1])
        for metric in metrics_
        for k in range(5)
        for text in strategies.SENTENCES
    ]
    expected = [metric.score(text, references) for metric, text, references in rows]
    cache_of_sets.clear()
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(metric.score, text, references) for metric, text, references in rows * 8]
        assert [future.result() for future in futures] == expected * 8


def test_a_small_cache_changes_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one set, or none, what is kept is dropped again and again."""
    expected = [Charsim().score(text, strategies.SENTENCES) for text in strategies.SENTENCES]
    for limit in (0, 20_000):
        monkeypatch.setattr(cache_of_sets, "limit", limit)
        cache_of_sets.clear()
        for _ in range(3):
            assert [Charsim().score(text, strategies.SENTENCES) for text in strategies.SENTENCES] == expected
            Charsim(form="median").score("a", strategies.SENTENCES)
