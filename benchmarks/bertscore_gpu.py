"""BERTScore on a GPU: the same values as on the CPU and as bert-score's, and pairs a second beside bert-score.

    python benchmarks/bertscore_gpu.py [--device cuda:0] [--pairs 20000] [--peer PYTHON] [--page FILE]

Exits with 1 if a value is not what it should be, with 2 if there is no such device. `--device cpu --pairs 200` tries
the script itself. Both sides run in processes of their own, bert-score in an environment of its own
(`make .venv-peer/.ready`, with a torch that has the device).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _bert_work import mixed
from _harness import Row, Timing, at_least, machine, spread, table
from bertscore import DATA, HERE, LAYER, Bench, read_pairs

# bfloat16 on a CPU is within 0.0025.
_NEAR, _NEAR_16, _LEAST_R = 1e-5, 1e-2, 0.999
_WARM_PAIRS, _MORE_PEER = 512, 256
_PEER_DEVICE = "import sys, torch, bert_score; torch.empty(1, device=sys.argv[1])"
_PAGE = """# BERTScore on a GPU

Made by `python benchmarks/bertscore_gpu.py`. Device: {device}. Machine: {machine}
Model: all-MiniLM-L6-v2, layer {layer}.

Values are those of WMT17's {judged:,} pairs to English. Speed is that of {pairs:,} pairs of {words} words a side, put
together from halves of these texts, wall time after {warm} other pairs; sides alternate, and ratios are taken within
each of {repeats} repeats.

{table}
{rates}
"""


def agree(name: str, own: Any, other: Any, *, near: float, padding: bool = False) -> Row:  # noqa: ANN401  (3, S)
    """Return the row that two sets of P, R and F1 (3, S) agree; where `padding` may take part, all but 1 % do."""
    off = np.abs(np.asarray(own) - np.asarray(other)).max(axis=0)
    share = float((off <= near).mean())
    goal = f"99 % within {near:g}" if padding else f"all within {near:g}"
    r = float(np.corrcoef(own[2], other[2])[0, 1])
    reached = bool(np.isfinite(own).all()) and share >= (0.99 if padding else 1.0) and r >= _LEAST_R
    return Row(name, goal, f"{share:.2%}; at most {off.max():.1e}", reached, f"r = {r:.6f}")


def values(bench: Bench, left: list[str], right: list[str], device: str) -> list[Row]:
    """Return the rows of agreement: with the CPU, with bert-score, of bfloat16 and float16 with float32."""
    given = {"candidates": left, "references": right}
    _, cpu = bench.side("refsim", "pairs", **given, device="cpu")
    _, own = bench.side("refsim", "pairs", **given, device=device)
    _, peer = bench.side("peer", "pairs", **given, device=device)
    rows = [
        agree("float32 beside float32 on the CPU", own, cpu, near=_NEAR),
        agree("float32 beside bert-score on the device", own, peer, near=_NEAR, padding=True),
    ]
    for dtype in ("bfloat16", "float16"):
        _, half = bench.side("refsim", "pairs", **given, device=device, dtype=dtype)
        rows.append(agree(f"{dtype} beside float32 on the device", half, own, near=_NEAR_16))
    return rows


def speed(bench: Bench, left: list[str], right: list[str], device: str) -> tuple[list[Row], list[str]]:
    """Return the rows of speed, and what there is to say of pairs a second."""
    warm = [texts[:_WARM_PAIRS] for texts in (left, right)]
    given: dict[str, Any] = {"candidates": left[_WARM_PAIRS:], "references": right[_WARM_PAIRS:], "warm": warm}
    given |= {"device": device}
    count = len(given["candidates"])
    sides = {
        "refsim, float32": ("refsim", {"dtype": "float32"}),
        "refsim, bfloat16": ("refsim", {"dtype": "bfloat16"}),
        "bert-score, 64 texts a batch": ("peer", {}),
        f"bert-score, {_MORE_PEER} texts a batch": ("peer", {"batch_size": _MORE_PEER}),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(bench.repeats):
        for name, (side, settings) in sides.items():
            times[name].append(bench.side(side, "pairs", **given, **settings)[0]["seconds"])
    ours, halves, *peers = (tuple(each) for each in times.values())
    best = min(peers, key=statistics.median)
    rows = [
        at_least("float32", 1.0, Timing(ours, best), "bert-score's better batch size"),
        at_least("bfloat16", None, Timing(halves, best), "bert-score"),
    ]
    return rows, [f"- {name}: {spread([count / one for one in each])} pairs/s" for name, each in times.items()]


def on_device(peer: str, device: str) -> str:
    """Return the device's name, or end with 2 and what is missing."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        print(f"no device {device} for torch {torch.__version__}: {reason}", file=sys.stderr)
        print("this script needs a GPU; --device cpu --pairs 200 tries the script itself", file=sys.stderr)
        raise SystemExit(2) from error
    if not Path(peer).exists():
        print(f"{peer} is not there; run: make .venv-peer/.ready, or name a Python with bert-score", file=sys.stderr)
        raise SystemExit(2)
    done = subprocess.run([peer, "-c", _PEER_DEVICE, device], capture_output=True, text=True, check=False)  # noqa: S603  asked for
    if done.returncode:
        print(f"{peer} cannot use {device}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        raise SystemExit(2)
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def main() -> None:
    """Check, measure, print, and write the page if one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs whose time is taken")
    parser.add_argument("--words", type=int, default=25, help="words of a text of these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", default=str(HERE.parent / ".venv-peer" / "bin" / "python"), help="the peer's Python")
    parser.add_argument("--page", type=Path, help="write the page there too")
    asked = parser.parse_args()
    name = on_device(asked.peer, asked.device)
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is not there; this benchmark reads WMT17's segments from it")
    left, right = read_pairs()
    judged = min(len(left), asked.pairs)
    numbers = range(asked.pairs + _WARM_PAIRS)
    many = [mixed(left, right, i, asked.words) for i in numbers]
    others = [mixed(right, left, i + 1, asked.words) for i in numbers]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        bench = Bench(asked.peer, Path(folder), asked.repeats)
        rows = values(bench, left[:judged], right[:judged], asked.device)
        timed, rates = speed(bench, many, others, asked.device)
    page = _PAGE.format(
        device=name, machine=machine(["refsim", "torch", "transformers", "tokenizers", "numpy"]), layer=LAYER,
        judged=judged, pairs=asked.pairs, words=asked.words, warm=_WARM_PAIRS, repeats=asked.repeats,
        table=table([*rows, *timed]), rates="\n".join(rates),
    )  # fmt: skip
    print(page)
    if asked.page is not None:
        asked.page.write_text(page, encoding="utf-8")
    wrong = [row.work for row in rows if not row.reached]
    if wrong:
        print(f"values differ: {'; '.join(wrong)}", file=sys.stderr)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
