"""One side's work in a process of its own: loads the model, times the work alone, prints one JSON object.

    python _bert_work.py refsim|peer TASK texts.json [scores.npy]

The same file runs in refsim's environment and in the peer's, which have different versions of the libraries below.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

THREADS = 2
_WARM = (["a short text to begin with", "another"], ["one more text", "and its other side"])


def main() -> None:
    """Do what the command line says."""
    side, task, place = sys.argv[1:4]
    torch.set_num_threads(THREADS)
    given = json.loads(Path(place).read_text(encoding="utf-8"))
    told, scores = {"refsim": refsim_side, "peer": peer_side}[side](task, given)
    if scores is not None and len(sys.argv) > 4:  # noqa: PLR2004  the fifth is where scores go
        np.save(sys.argv[4], scores)
    print(json.dumps(told))


def timed(call: Any) -> tuple[float, Any]:  # noqa: ANN401  whatever it returns
    """Return the wall seconds of a call, and what it returns."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def peer_side(task: str, given: dict[str, Any]) -> tuple[dict[str, float], Any]:
    """Score with the published code."""
    import bert_score  # noqa: PLC0415  it is in the peer's environment alone

    device = given.get("device")
    scorer = bert_score.BERTScorer(
        model_type=given["model"], num_layers=given["layer"], batch_size=given.get("batch_size", 64), device=device
    )
    scorer.score(*given.get("warm", _WARM))
    if task == "memory":
        # One call is all it can do: everything is held until the end.
        with Sampler() as sampler:
            scorer.score(given["candidates"], given["references"])
        return sampler.told, None
    seconds, found = timed(lambda: scorer.score(given["candidates"], given["references"]))
    return {"seconds": seconds}, np.stack([one.numpy() for one in found])


def refsim_side(task: str, given: dict[str, Any]) -> tuple[dict[str, float], Any]:
    """Score with refsim, or run its encoder alone."""
    from refsim.metrics.bertscore import BERTScore  # noqa: PLC0415  it is in refsim's environment alone

    metric = BERTScore(
        model=given["model"], layer=given["layer"], dtype=given.get("dtype", "float32"),
        device=given.get("device", "cpu"),
    )  # fmt: skip
    metric.score_batch(*given.get("warm", _WARM))
    if task == "encoder":
        return encoder_rate(metric, given), None
    if task == "memory":
        return stream_memory(metric, given), None
    call = metric.score_matrix if task == "matrix" else metric.score_batch
    seconds, found = timed(lambda: call(given["candidates"], given["references"]))
    return {"seconds": seconds}, np.stack([np.asarray(one) for one in found])


def encoder_rate(metric: Any, given: dict[str, Any]) -> dict[str, float]:  # noqa: ANN401  a BERTScore
    """Return FLOP/s of the encoder on real tokens, and of the fastest matrix product, measured in turns."""
    from transformers import AutoConfig  # noqa: PLC0415  as above

    config = AutoConfig.from_pretrained(given["model"])
    encoder = metric.encoder
    texts = list(dict.fromkeys([*given["candidates"], *given["references"]]))
    tokens = encoder.tokenise(texts)
    width, inner = config.hidden_size, config.intermediate_size
    lengths = np.array([len(one.ids) for one in tokens], np.float64)
    flops = given["layer"] * float((lengths * (8 * width * width + 4 * width * inner) + 4 * lengths**2 * width).sum())
    parts = 6
    matrix, spent = [], 0.0
    with torch.inference_mode():
        for part in range(parts):
            matrix.append(matrix_rate(width, inner))
            some = slice(part, None, parts)
            seconds, _ = timed(lambda some=some: encoder.encode(texts[some], tokens[some]))
            spent += seconds
    best = float(np.median(matrix))
    return {"seconds": spent, "rate": flops / spent, "matrix": best, "share": flops / spent / best}


def matrix_rate(width: int, inner: int) -> float:
    """Return FLOP/s of the fastest of the products that such a model has, and of a large square one."""
    best = 0.0
    for rows, shared, columns in ((2048, width, width), (2048, width, inner), (2048, inner, width), (2048, 2048, 2048)):
        left, right = torch.randn(rows, shared), torch.randn(shared, columns)
        times = max(1, int(4e9 / (2 * rows * shared * columns)))
        torch.mm(left, right)
        seconds, _ = timed(lambda left=left, right=right, times=times: [torch.mm(left, right) for _ in range(times)])
        best = max(best, times * 2 * rows * shared * columns / seconds)
    return best


class Sampler:
    """Resident memory while a block runs: `told` has the peak, in bytes, and the time."""

    def __enter__(self) -> Self:
        self._peaks: list[float] = []
        self._stop = threading.Event()
        self._start = time.perf_counter()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.told = {"seconds": time.perf_counter() - self._start, "peak": max(self._peaks)}

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            self._peaks.append(resident())


def resident() -> float:
    """Return the bytes of memory that are in use now (Linux)."""
    line = next(one for one in Path("/proc/self/status").read_text("ascii").splitlines() if one.startswith("VmRSS"))
    return float(line.split()[1]) * 1024


def mixed(texts: list[str], other: list[str], i: int, words: int) -> str:
    """Return a text that no other pair has: the beginning of one and the beginning of another."""
    one, two = texts[i % len(texts)].split(), other[(i * 7 + i // len(texts) * 13) % len(other)].split()
    return " ".join([*one[: words // 2], *two[: words - words // 2]])


def stream_memory(metric: Any, given: dict[str, Any]) -> dict[str, float]:  # noqa: ANN401  a BERTScore
    """Return the peak of a stream of so many pairs made of the given ones, and the peak in its first tenth."""
    from refsim.run import Tally, stream  # noqa: PLC0415  as above
    from refsim.segments import Batch  # noqa: PLC0415  as above

    count, size, words = given["pairs"], 1024, given["words"]
    left, right = given["candidates"], given["references"]

    def batches() -> Any:  # noqa: ANN401  a generator
        for start in range(0, count, size):
            rows = range(start, min(start + size, count))
            candidates = [mixed(left, right, i, words) for i in rows]
            references = [[mixed(right, left, i + 1, words)] for i in rows]
            yield Batch.from_lists(candidates=candidates, references=references, ids=list(map(str, rows)))

    tally, peak, early, done = Tally(), 0.0, 0.0, 0
    start = time.perf_counter()
    for part in stream(batches(), [metric], ceilings=False):
        tally.add(part)
        done += len(part)
        peak = max(peak, resident())
        if done <= count / 10 + size:
            early = peak
    return {"seconds": time.perf_counter() - start, "peak": peak, "early": early, "pairs": float(done)}


if __name__ == "__main__":
    main()
