"""BERTScore against bert-score 0.3.13: pairs, the encoder alone, whole commands, 8 bits, a matrix, memory, the start.

    python benchmarks/bertscore.py [--quick] [--peer PYTHON]     prints the table and writes benchmarks/bertscore.md

`make bench-bertscore` makes the peer's environment first. Each side runs in a process of its own environment and times
its own work after the model is loaded and warm; the sides alternate, a ratio is taken within a repeat.
"""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _bert_work import THREADS
from _harness import Row, Timing, at_least, at_most, machine, seconds, spread, table

from refsim.metrics._models import locate

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data" / "wmt17-da"
PAGE_FILE = HERE / "bertscore.md"
LAYER = 6
GIB = 2**30
_MATRIX, _SYSTEMS, _CLOSE = 300, 4, 1e-5
_PAGE = """# BERTScore: benchmark

Made by `python benchmarks/bertscore.py` (`make bench-bertscore`); do not edit. Texts: {count:,} pairs of WMT17's
to-English segments, {texts:,} different texts. Model: all-MiniLM-L6-v2, layer {layer}, one directory for both sides.

Machine: {machine} Peer: {peer}. {threads} threads on both sides.

## Method

Each side runs in a process and an environment of its own, loads the model, scores two pairs to warm up, and then times
its own work (wall time); the sides alternate, a ratio is taken within each repeat, and the table shows the median of
the ratios with the lowest and the highest. bert-score has its default batch size of 64. Commands and starts are timed
from outside. The encoder's share counts the products of real tokens alone (projections, attention, feed-forward), not
padding, norms or tokenising, against the fastest of four matrix products that are timed in turns with it. The stream's
texts are put together from halves of the pairs' texts, cut to {words} words, so that no two are alike; bert-score takes
all pairs in one call, so its memory is measured on two slices and extrapolated by the straight line through them.

## Results

{table}
## Agreement

{agreement}
"""


def read_pairs() -> tuple[list[str], list[str]]:
    """Return candidates and references of all language pairs."""
    rows: list[dict[str, Any]] = []
    for path in sorted(DATA.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows += map(json.loads, file)
    return [row["candidate"] for row in rows], [row["references"][0] for row in rows]


class Bench:
    """The two environments, a folder for files, and how often to repeat."""

    def __init__(self, peer: str, folder: Path, repeats: int) -> None:
        """Take the peer's Python, where files go, and the number of repeats."""
        self.peer, self.folder, self.repeats = peer, folder, repeats
        self.given = {"model": locate("minilm").place, "layer": LAYER}

    def side(self, side: str, task: str, **given: Any) -> tuple[dict[str, float], Any]:  # noqa: ANN401  as JSON has it
        """Return what a side tells of its work, and its scores (3, ...) if it has any."""
        print(f"  {side} {task} ...", end="", flush=True)
        texts, scores = self.folder / "texts.json", self.folder / "scores.npy"
        texts.write_text(json.dumps(self.given | given), encoding="utf-8")
        scores.unlink(missing_ok=True)
        python = sys.executable if side == "refsim" else self.peer
        command = [python, str(HERE / "_bert_work.py"), side, task, str(texts), str(scores)]
        told = json.loads(_run(command).splitlines()[-1])
        print(f" {told.get('seconds', 0):.2f} s")
        return told, np.load(scores) if scores.exists() else None

    def paired(self, task: str, ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[Timing, Any, Any]:
        """Time both sides in turns, and return their last scores."""
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(self.repeats):
            told, own = self.side("refsim", task, **ours)
            times[0].append(told["seconds"])
            told, other = self.side("peer", "pairs", **theirs)
            times[1].append(told["seconds"])
        return Timing(tuple(times[0]), tuple(times[1])), own, other


def _run(command: list[str]) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(THREADS)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603  of this folder
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def wall(command: list[str]) -> float:
    """Return the wall seconds of a command."""
    start = time.perf_counter()
    _run(command)
    return time.perf_counter() - start


def one_system(bench: Bench, left: list[str], right: list[str]) -> tuple[list[Row], list[str], Any]:
    """Return the row of single pairs and that of 8 bits, what there is to say of their scores, and refsim's scores."""
    given = {"candidates": left, "references": right}
    timing, own, other = bench.paired("pairs", given, given)
    rows = [at_least("one system, float32", 1.4, timing, "bert-score")]
    off = np.abs(own - other).max(axis=0)
    far = np.flatnonzero(off > _CLOSE)
    padding = "[padding takes part](../docs/bertscore.md#agreement-with-the-published-code) in bert-score's maxima"
    near = f"P, R and F1 of {len(off) - len(far):,} pairs within {off[off <= _CLOSE].max():.1e}"
    said = [f"- Single pairs: {near}; {len(far)} more differ, where {padding}, by up to {off.max():.1e}."]
    timing, small, _ = bench.paired("pairs", given | {"dtype": "int8"}, given)
    rows.append(at_least("the same, int8", 2.5, timing, "bert-score"))
    r = float(np.corrcoef(small[2], own[2])[0, 1])
    rows.append(Row("int8: Pearson's r of F1 with float32", "≥ 0.998", f"{r:.4f}", r >= 0.998, ""))  # noqa: PLR2004
    said.append(
        f"- int8: F1 differs from float32 by {np.abs(small[2] - own[2]).mean():.4f} on average "
        f"({(small[2] - own[2]).mean():+.4f} with its sign), by {np.abs(small[2] - own[2]).max():.3f} at most."
    )
    return rows, said, own


def encoder(bench: Bench, left: list[str], right: list[str]) -> Row:
    """Return the row of the encoder alone."""
    told = [bench.side("refsim", "encoder", candidates=left, references=right)[0] for _ in range(bench.repeats)]
    shares = [100 * one["share"] for one in told]
    rate, matrix = (statistics.median(one[name] for one in told) / 1e9 for name in ("rate", "matrix"))
    absolute = f"{rate:.0f} of {matrix:.0f} GFLOP/s"
    reached = statistics.median(shares) >= 67  # noqa: PLR2004  what is to be reached
    work = "the encoder alone, share of the machine's matrix rate"
    return Row(work, "≥ 67 %", f"{spread(shares)} %", reached, absolute)


def commands(bench: Bench, left: list[str], right: list[str]) -> Row:
    """Return the row of four systems over the same references, as whole commands."""
    reference, systems = bench.folder / "reference.txt", []
    reference.write_text("\n".join(right) + "\n", encoding="utf-8")
    for k in range(_SYSTEMS):
        path = bench.folder / f"system{k}.txt"
        # Other systems say the same in other words: here one word is missing, another one in each.
        texts = [" ".join(w for i, w in enumerate(t.split()) if not k or i % 11 != k) or t for t in left]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        systems.append(str(path))
    refsim, cli = str(Path(sys.executable).with_name("refsim")), str(Path(bench.peer).with_name("bert-score"))
    ours, theirs = [], []
    for _ in range(bench.repeats):
        print("  four systems as commands ...", flush=True)
        ours.append(wall([refsim, "score", *systems, "-r", str(reference), "-m", "bertscore", "--json"]))
        peer = [cli, "-r", str(reference), "-m", str(bench.given["model"]), "-l", str(LAYER), "-c"]
        theirs.append(sum(wall([*peer, system]) for system in systems))
    work = f"four systems over the same {len(right):,} references, as whole commands"
    return at_least(work, 2.2, Timing(tuple(ours), tuple(theirs)), "four bert-score runs")


def matrix(bench: Bench, left: list[str], right: list[str]) -> tuple[Row, str]:
    """Return the row of all pairs of 300 texts with 300, and what there is to say of the scores."""
    left, right = left[:_MATRIX], right[:_MATRIX]
    pairs = {"candidates": [text for text in left for _ in right], "references": right * len(left)}
    timing, own, other = bench.paired("matrix", {"candidates": left, "references": right}, pairs)
    off = np.abs(own.reshape(3, -1) - other).max(axis=0)
    row = at_least(f"{_MATRIX} × {_MATRIX} matrix", 10, timing, "bert-score given the 90,000 pairs")
    share = np.count_nonzero(off > _CLOSE) / len(off)
    return (
        row,
        f"- Matrix: {1 - share:.2%} of the pairs within 1e-5; padding explains the others, by up to {off.max():.1e}.",
    )


def memory(bench: Bench, left: list[str], right: list[str], pairs: int, words: int) -> list[Row]:
    """Return the rows of memory: ours over the stream, the peer's over slices."""
    told, _ = bench.side("refsim", "memory", candidates=left, references=right, pairs=pairs, words=words)
    peak, early = told["peak"] / GIB, told["early"] / GIB
    slices = []
    for count in (5_000, 10_000):
        texts = [" ".join(t.split()[:words]) for t in left], [" ".join(t.split()[:words]) for t in right]
        made = [(texts[0][i % len(left)] + f" {i}", texts[1][i % len(right)] + f" {i}") for i in range(count)]
        peer, _ = bench.side("peer", "memory", candidates=[a for a, _ in made], references=[b for _, b in made])
        slices.append(peer["peak"] / GIB)
    slope = (slices[1] - slices[0]) / 5_000
    whole = slices[0] + slope * (pairs - 5_000)
    theirs = f"bert-score {slices[0]:.2f} GiB at 5,000 pairs, {slices[1]:.2f} at 10,000: {whole:.1f} at {pairs:,}"
    name = f"{pairs:,} pairs as a stream: peak memory"
    growth = 100 * (peak / early - 1)
    return [
        Row(name, "≤ 2 GiB", f"{peak:.2f} GiB", peak <= 2, theirs),  # noqa: PLR2004  what is to be reached
        Row("growth after the first tenth", "flat (≤ 5 %)", f"{growth:.1f} %", growth <= 5, seconds(told["seconds"])),  # noqa: PLR2004
    ]


def start(bench: Bench) -> Row:
    """Return the row of the start: a command with one pair against loading the libraries and the model."""
    a, b = bench.folder / "a.txt", bench.folder / "b.txt"
    a.write_text("the cat sat on the mat\n", encoding="utf-8")
    b.write_text("a cat sat on a mat\n", encoding="utf-8")
    refsim = str(Path(sys.executable).with_name("refsim"))
    loading = (
        "import torch, transformers; "
        f"transformers.AutoTokenizer.from_pretrained({bench.given['model']!r}); "
        f"transformers.AutoModel.from_pretrained({bench.given['model']!r})"
    )
    ours, theirs = [], []
    for _ in range(bench.repeats + 2):
        ours.append(wall([refsim, "score", str(a), "-r", str(b), "-m", "bertscore"]))
        theirs.append(wall([sys.executable, "-c", loading]))
    # The first of each warms the disk's cache.
    timing = Timing(tuple(ours[1:]), tuple(theirs[1:]))
    return at_most("`refsim score` of one pair, start to end", 1.5, timing, "importing torch, transformers and loading")


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=str(HERE.parent / ".venv-peer" / "bin" / "python"), help="the peer's Python")
    parser.add_argument("--quick", action="store_true", help="fewer texts and repeats; writes no page")
    parser.add_argument("--pairs", type=int, help="pairs of the stream")
    parser.add_argument("--words", type=int, default=10, help="words of a text of the stream")
    asked = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is not there; this benchmark reads WMT17's segments from it")
    if not Path(asked.peer).exists():
        raise SystemExit(f"{asked.peer} is not there; run: make bench-bertscore")
    left, right = read_pairs()
    count = 400 if asked.quick else len(left)
    left, right = left[:count], right[:count]
    about = machine(["refsim", "torch", "transformers", "tokenizers", "numpy"])
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        bench = Bench(asked.peer, Path(folder), 1 if asked.quick else 3)
        rows, said, _ = one_system(bench, left, right)
        rows.insert(1, encoder(bench, left, right))
        rows.append(commands(bench, left[:1000], right[:1000]))
        row, sentence = matrix(bench, left, right)
        rows.append(row)
        said.append(sentence)
        rows += memory(bench, left, right, asked.pairs or (10_000 if asked.quick else 200_000), asked.words)
        rows.append(start(bench))
    peer = _run([asked.peer, "-c", _VERSIONS]).strip()
    page = _PAGE.format(
        count=len(left), texts=len({*left, *right}), layer=LAYER, machine=about, peer=peer, threads=THREADS,
        words=asked.words, table=table(rows), agreement="\n".join(said),
    )  # fmt: skip
    print(page)
    if not asked.quick:
        PAGE_FILE.write_text(page, encoding="utf-8")


_VERSIONS = (
    "from importlib.metadata import version as v; "
    "print(', '.join(f'{n} {v(n)}' for n in ('bert-score', 'torch', 'transformers', 'tokenizers', 'numpy')))"
)


if __name__ == "__main__":
    main()
