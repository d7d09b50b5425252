"""Saved compiled sets: whole or absent, equal when loaded, and nothing but an error when they are damaged.

REFSIM_FUZZ_SECONDS=600 pytest tests/test_store.py     mutates longer, with a new seed; default 10 s
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import refsim
from refsim import Charsim, CharsimScorer, CompiledSetError, InputError, Preparation
from refsim.metrics import _store

if TYPE_CHECKING:
    from collections.abc import Callable

REFERENCES = ["the cat sat", "the cat sat", "a cat", "", "\ud800^$\0", "é日本👩‍👩‍👧"]
CANDIDATES = ["the cat", "", "日本 cat", "\ud800", "the cat sat"]
SECONDS = os.environ.get("REFSIM_FUZZ_SECONDS")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return where a small set stands."""
    path = tmp_path / "set"
    Charsim(form="base").compile(REFERENCES).save(path)
    return path


@pytest.mark.parametrize("form", ["main", "base", "median"])
@pytest.mark.parametrize("unit", ["codepoint", "grapheme"])
def test_a_loaded_set_is_the_saved_one(form: Any, unit: Any, tmp_path: Path) -> None:  # noqa: ANN401  literals
    """Metric, scores, ceiling, signature and hash."""
    metric = Charsim(form=form, max_order=7, preparation=Preparation(unit=unit, casefold=True))
    scorer = metric.compile(REFERENCES)
    scorer.save(tmp_path / "set")
    loaded = refsim.load(tmp_path / "set")
    assert (loaded, hash(loaded), loaded.signature) == (scorer, hash(scorer), scorer.signature)
    assert loaded.score_batch(CANDIDATES).tolist() == scorer.score_batch(CANDIDATES).tolist()
    assert loaded.ceiling() == scorer.ceiling()
    assert loaded.metric == metric


def test_order_of_references_does_not_matter_to_equality() -> None:
    """Repeats do."""
    metric = Charsim()
    assert metric.compile(["a", "b", "a"]) == metric.compile(["b", "a", "a"])
    assert metric.compile(["a", "b", "a"]) != metric.compile(["b", "b", "a"])


def test_scorers_go_to_other_processes() -> None:
    """A spawned process gives the same scores, also with a table of clusters."""
    scorer = Charsim(preparation=Preparation(unit="grapheme")).compile(REFERENCES)
    assert pickle.loads(pickle.dumps(scorer)) == scorer  # noqa: S301  our own bytes
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(scorer.score_batch, CANDIDATES).result().tolist() == scorer.score_batch(CANDIDATES).tolist()


def test_a_set_takes_the_place_of_a_set(saved: Path) -> None:
    """And leaves nothing else behind."""
    Charsim().compile(["new"]).save(saved)
    assert refsim.load(saved) == Charsim().compile(["new"])
    assert [path.name for path in saved.parent.iterdir()] == ["set"]


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch], ids=["a directory", "a file"])
def test_nothing_else_is_replaced(make: Callable[[Path], None], tmp_path: Path) -> None:
    """A directory or a file that is no compiled set stays as it is."""
    make(tmp_path / "mine")
    with pytest.raises(InputError, match=r"mine: exists and is not a compiled set"):
        Charsim().compile(["a"]).save(tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_failed_save_leaves_what_was_there(
    failure: Any,  # noqa: ANN401  an exception or its class
    saved: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The old set, and no half of the new one."""
    calls = []

    def fail(_: int) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((KeyboardInterrupt, OSError)):
        Charsim().compile(["new"]).save(saved)
    assert refsim.load(saved) == Charsim(form="base").compile(REFERENCES)
    assert [path.name for path in saved.parent.iterdir()] == ["set"]


@pytest.mark.parametrize("name", ["header.json", "texts.bin", "counts.bin"])
def test_a_missing_file_is_named(name: str, saved: Path) -> None:
    """Each is needed."""
    (saved / name).unlink()
    with pytest.raises(CompiledSetError, match=name):
        refsim.load(saved)


def test_other_unicode_tables_are_an_error(saved: Path) -> None:
    """References prepared by one version of Unicode do not meet candidates prepared by another."""
    metric = Charsim(preparation=Preparation(unicode="NFC"))
    metric.compile(["é"]).save(saved)
    rewrite(saved, lambda header: header.update(preparation_signature="unicode=NFC[1.1.0]"))
    with pytest.raises(CompiledSetError, match=r"prepared with 'unicode=NFC\[1\.1\.0\]'"):
        refsim.load(saved)


def rewrite(path: Path, change: Callable[[dict[str, Any]], object], files: dict[str, bytes] | None = None) -> None:
    """Change a header, and files, and make every checksum right again, as an attacker would."""
    header = json.loads((path / "header.json").read_bytes())
    for name, data in (files or {}).items():
        (path / name).write_bytes(data)
        header["sha256"][name] = hashlib.sha256(data).hexdigest()
    change(header)
    header["header_sha256"] = _store._header_digest(header)  # noqa: SLF001
    (path / "header.json").write_text(json.dumps(header))


def raw(rows: list[list[int]]) -> bytes:
    """Return whole numbers as the bytes of counts.bin."""
    return np.array(rows, "<i8").tobytes()


ONE = len("".join(dict.fromkeys(REFERENCES)))


@pytest.mark.parametrize(
    "files",
    [
        {"counts.bin": b""},
        {"counts.bin": raw([[ONE, 1]])[:-3]},
        {"counts.bin": raw([[ONE]])},
        {"counts.bin": raw([[-1, 1], [ONE + 1, 1]])},
        {"counts.bin": raw([[ONE, 0]])},
        {"counts.bin": raw([[ONE - 1, 1]])},
        {"counts.bin": raw([[2**62, 1], [2**62, 1], [2**62, 1], [2**62 + ONE, 1]])},
        {"counts.bin": raw([[ONE, 2**62]])},
        {"counts.bin": raw([[ONE, 2**31]])},
        {"counts.bin": raw([[ONE, 1], [0, 1], [0, 1]])},
        {"texts.bin": b"\xff\xfe"},
        {"texts.bin": b""},
    ],
)
def test_hostile_files_with_right_checksums_are_errors(files: dict[str, bytes], saved: Path) -> None:
    """Lengths, repeats, shapes and encodings that no set has."""
    rewrite(saved, lambda _: None, files)
    with pytest.raises(CompiledSetError):
        refsim.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "bleu"},
        {"metric": None},
        {"parameters": {"form": "other"}},
        {"parameters": {"form": "main", "max_order": True}},
        {"parameters": {"form": ["main"]}},
        {"parameters": {"threads": 3}},
        {"parameters": []},
        {"parameters": None},
        {"preparation": {"unit": "word"}},
        {"preparation": {"extract": "x"}},
        {"preparation": 7},
        {"version": 2},
        {"version": "1"},
        {"format": "x"},
        {"sha256": []},
        {"sha256": {}},
        {"preparation_signature": None},
    ],
)
def test_hostile_headers_with_right_checksums_are_errors(change: dict[str, Any], saved: Path) -> None:
    """Types and values that no header has."""
    rewrite(saved, lambda header: header.update(change))
    with pytest.raises(CompiledSetError):
        refsim.load(saved)


def check(path: Path, expected: CharsimScorer) -> None:
    """A set loads as what its files say, or not at all."""
    try:
        loaded = refsim.load(path)
    except CompiledSetError:
        return
    texts = [
        text for text, weight in zip(loaded.references, loaded.weights, strict=True) for _ in range(min(weight, 9))
    ]
    if loaded != expected and all(weight < 9 for weight in loaded.weights):
        fresh = loaded.metric.compile(texts)
        assert loaded.score_batch(CANDIDATES).tolist() == fresh.score_batch(CANDIDATES).tolist()
    scores = loaded.score_batch(CANDIDATES)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_mutated_sets_are_errors_or_right(saved: Path, tmp_path: Path) -> None:
    """Flipped, cut, swapped bytes, with the checksums left and with the checksums made right."""
    seed = time.time_ns() if SECONDS else 7
    rng = random.Random(seed)  # noqa: S311  no secret
    expected = refsim.load(saved)
    original = {path.name: path.read_bytes() for path in saved.iterdir()}
    victim = tmp_path / "victim"
    end = time.monotonic() + float(SECONDS or 10)
    while time.monotonic() < end:
        shutil.rmtree(victim, ignore_errors=True)
        victim.mkdir()
        name = rng.choice(sorted(original))
        data = bytearray(original[name])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at : at + rng.choice([0, 1, 1, 8])] = rng.choice(
                [b"", b"\0", b"\xff" * 8, rng.randbytes(1), b"9", b"-"]
            )
            if not data:
                break
        for other, content in original.items():
            (victim / other).write_bytes(bytes(data) if other == name else content)
        try:
            if name != "header.json":
                if rng.random() < 0.7:
                    rewrite(victim, lambda _: None, {name: bytes(data)})
            else:
                rewrite(victim, lambda _: None)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        try:
            check(victim, expected)
        except Exception as error:
            error.add_note(f"seed {seed}, file {name}: {bytes(data)!r}")
            raise


@pytest.mark.parametrize("name", ["header.json", "texts.bin", "counts.bin"])
def test_a_pipe_in_place_of_a_file_is_an_error(name: str, saved: Path) -> None:
    """Reading it would wait for ever."""
    (saved / name).unlink()
    os.mkfifo(saved / name)
    with pytest.raises(CompiledSetError, match=name):
        refsim.load(saved)


def test_a_deep_header_is_an_error(saved: Path) -> None:
    """Whatever the depth at which reading or hashing it gives up."""
    text = (saved / "header.json").read_text()
    for depth in (500, 980, 990, 995, 5000):
        (saved / "header.json").write_text(text.rstrip()[:-1] + f', "z": {"[" * depth}{"]" * depth}}}')
        with pytest.raises(CompiledSetError):
            refsim.load(saved)


def test_an_interrupt_between_the_renames_restores_the_old_set(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is never left empty."""
    rename = Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if str(self).endswith(".tmp"):
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Charsim().compile(["new"]).save(saved)
    assert refsim.load(saved) == Charsim(form="base").compile(REFERENCES)
    assert [path.name for path in saved.parent.iterdir()] == ["set"]


def test_what_lies_beside_a_set_is_not_removed(saved: Path) -> None:
    """A directory that holds something of the user's is not replaced."""
    (saved / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        Charsim().compile(["new"]).save(saved)
    assert (saved / "notes.txt").read_text() == "mine"


def test_a_link_keeps_pointing_to_the_set(saved: Path) -> None:
    """What it points to is replaced."""
    link = saved.with_name("link")
    link.symlink_to(saved)
    Charsim().compile(["new"]).save(link)
    assert link.is_symlink()
    assert refsim.load(saved) == Charsim().compile(["new"])
