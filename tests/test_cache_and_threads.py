"""What runs beside the score: the cache of compiled references, and pieces of a batch on threads."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from refsim import Charsim, InputError
from refsim.metrics import _threads
from refsim.metrics._cache import ReferenceCache, cache
from refsim.metrics._scorer import CharsimScorer

REFERENCES = [f"reference {number} of a list" for number in range(20)]


def scorer(text: str) -> CharsimScorer:
    """Return a set of one reference."""
    return CharsimScorer(Charsim(), [text])


def test_a_set_is_compiled_once() -> None:
    """The second time it is the same object."""
    kept = ReferenceCache(2**20)
    first = kept.get("key", lambda: scorer("a"))
    assert kept.get("key", lambda: pytest.fail("compiled again")) is first


def test_the_cache_holds_its_limit_and_forgets_the_oldest() -> None:
    """What was used last stays."""
    size = scorer("aaaa").nbytes
    kept = ReferenceCache(2 * size + size // 2)
    first = kept.get("a", lambda: scorer("aaaa"))
    kept.get("b", lambda: scorer("bbbb"))
    kept.get("a", lambda: pytest.fail("compiled again"))
    kept.get("c", lambda: scorer("cccc"))
    assert kept.look_up("b")[0] is None
    assert kept.look_up("a") == (first, True)


def test_what_is_larger_than_the_cache_is_not_kept() -> None:
    """And throws nothing else out."""
    kept = ReferenceCache(scorer("a").nbytes)
    kept.get("small", lambda: scorer("a"))
    kept.get("large", lambda: scorer("a" * 1000))
    assert kept.look_up("small")[0] is not None
    assert kept.look_up("large")[0] is None


def test_repeated_calls_with_one_candidate_use_the_compiled_set() -> None:
    """Scores stay the same when the references are seen again, whether few or many."""
    for count in (2, 20):
        references = [f"{count} {text}" for text in REFERENCES[:count]]
        cache.clear()
        first = Charsim().score("reference 3 of the list", references)
        again = [Charsim().score("reference 3 of the list", list(references)) for _ in range(3)]
        assert again == [first] * 3
        assert cache.look_up((Charsim(), tuple(references)))[0] is not None


def test_changing_a_list_between_calls_changes_the_score() -> None:
    """The cache goes by the texts, not by the list that held them."""
    references = list(REFERENCES)
    before = Charsim().score("cat", references)
    references[:] = ["cat"] * 20
    assert (before < 1.0, Charsim().score("cat", references)) == (True, 1.0)


def test_many_threads_share_one_cache_and_one_scorer() -> None:
    """Every call gives the value of a call alone."""
    cache.clear()
    metric = Charsim()
    sets = [[f"{text} {number}" for text in REFERENCES] for number in range(6)]
    expected = [metric.compile(references).score("reference 7 of a set") for references in sets]
    cache.clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: metric.score("reference 7 of a set", sets[number % 6]), range(240)))
    assert found == [expected[number % 6] for number in range(240)]


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_pieces_cover_everything_once(threads: int, count: int) -> None:
    """In order, without a gap, whatever the sizes."""
    sizes = np.random.default_rng(count).integers(0, 50_000, count)
    pieces: list[tuple[int, int]] = []
    _threads.spread(lambda start, stop: pieces.append((start, stop)), sizes, threads)
    pieces.sort()
    assert (pieces[0][0], pieces[-1][1]) == (0, count)
    assert all(end == start for (_, end), (start, _) in pairwise(pieces))


def test_an_error_in_one_piece_ends_the_rest() -> None:
    """It comes out as it is, and pieces that had not begun do not begin."""
    begun = []
    gate = threading.Event()

    def work(start: int, _: int) -> None:
        begun.append(start)
        if start == 0:
            raise KeyboardInterrupt
        gate.wait(5)

    threading.Timer(0.2, gate.set).start()
    with pytest.raises(KeyboardInterrupt):
        _threads.spread(work, np.full(1000, 10_000), 2)
    assert len(begun) < 8


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", ""])
def test_the_environment_sets_threads_or_says_why_not(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """REFSIM_THREADS is a whole number from 1 on."""
    monkeypatch.setenv("REFSIM_THREADS", value)
    with pytest.raises(InputError, match="REFSIM_THREADS"):
        _threads.thread_count(None)
    monkeypatch.setenv("REFSIM_THREADS", "3")
    assert _threads.thread_count(None) == 3


def test_an_interrupt_does_not_wait_for_long_work() -> None:
    """The kernel hears no signals, so the main thread waits for another one that runs it."""
    gate, threads = threading.Event(), []

    def work() -> None:
        threads.append(threading.current_thread())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        gate.wait(60)

    with pytest.raises(KeyboardInterrupt):
        _threads.interruptible(work, 10**6)
    assert threads[0].is_alive()
    gate.set()
    threads[0].join()


def test_short_work_needs_no_other_thread() -> None:
    """To start one costs more than a short pair."""
    assert _threads.interruptible(threading.current_thread, 10) is threading.main_thread()
    assert _threads.interruptible(threading.current_thread, 10**6) is not threading.main_thread()


def test_what_long_work_raises_comes_out() -> None:
    """As from any call."""
    with pytest.raises(ZeroDivisionError):
        _threads.interruptible(lambda: 1 // 0, 10**6)


def test_a_long_pair_scores_as_parts_of_it_do() -> None:
    """Through the other thread the numbers are the same, and an explanation has them too."""
    candidate, reference = "the cat sat on the mat " * 13_000, "a dog ran under the tree " * 13_000
    long, short = Charsim(), Charsim(max_order=3)
    score = long.score(candidate, [reference])
    assert long.score_batch([candidate, "a"], [[reference], ["a"]], threads=2).tolist() == [score, 1.0]
    assert short.explain(candidate, [reference]).score == short.score(candidate, [reference])
