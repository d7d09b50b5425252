"""A published package that calls bert-score, on bert-score and on refsim in its place: the same numbers.

    python benchmarks/compat_bert_score.py [--python PYTHON] [--pairs 60]

`make bench-compat` makes the environment first: opik, bert-score 0.3.13 and refsim. opik's metric runs there twice, in
a process that calls `refsim.compat.bert_score.install()` first and in one that does not, over pairs of WMT17, every
third with three references. Times are those of single calls, which is how opik scores, after the first. Exits with
1 if a number differs by more than 1e-5.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_CLOSE = 1e-5
_LAYER = 6


def child(side: str, place: str) -> None:
    """Run opik's metric over rows of a file, and print what it gives as one JSON object."""
    if side == "refsim":
        importlib.import_module("refsim.compat.bert_score").install()
    # Imported after that, as a package that knows nothing of refsim would be.
    metrics = importlib.import_module("opik.evaluation.metrics.heuristics.bertscore")
    given = json.loads(Path(place).read_text(encoding="utf-8"))
    metric = metrics.BERTScore(model_type=given["model"], lang=None, num_layers=_LAYER, track=False, device="cpu")
    metric.score(output="a first text", reference="the model is loaded then")
    start = time.perf_counter()
    found = [metric.score(output=output, reference=reference) for output, reference in given["rows"]]
    told = {
        "seconds": time.perf_counter() - start,
        "served": metrics.bert_score_fn.__module__,
        "values": [[one.metadata["precision"], one.metadata["recall"], one.value] for one in found],
        "versions": {name: metadata.version(name) for name in ("opik", "bert-score", "transformers", "torch")},
    }
    print(json.dumps(told))


def run(python: str, side: str, place: Path) -> dict[str, Any]:
    """Return what one side tells."""
    quiet = {"HF_HUB_OFFLINE": "1", "OPIK_TRACK_DISABLE": "true", "OPIK_SENTRY_ENABLE": "false"}
    command = [python, __file__, "--child", side, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | quiet)  # noqa: S603  this file
    if done.returncode:
        raise SystemExit(f"{side}: {done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def main() -> None:
    """Run both sides and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=str(HERE.parent / ".venv-compat" / "bin" / "python"))
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(*asked.child)
        return
    if not Path(asked.python).exists():
        raise SystemExit(f"{asked.python} is not there; run: make bench-compat")
    # Imported here: the other environment has neither these texts nor the benchmark's libraries.
    bench = importlib.import_module("bertscore")
    left, right = (texts[:: max(1, len(texts) // asked.pairs)][: asked.pairs] for texts in bench.read_pairs())
    rows = [[a, b if i % 3 else [b, left[i - 1], a + " ."]] for i, (a, b) in enumerate(zip(left, right, strict=True))]
    place = Path(bench.tempfile.mkdtemp(prefix="compat-")) / "rows.json"
    place.write_text(json.dumps({"model": bench.locate("minilm").place, "rows": rows}), encoding="utf-8")
    theirs, ours = run(asked.python, "bert-score", place), run(asked.python, "refsim", place)
    off = max(
        abs(a - b) for one, other in zip(ours["values"], theirs["values"], strict=True)
        for a, b in zip(one, other, strict=True)
    )  # fmt: skip
    versions = ", ".join(f"{name} {version}" for name, version in theirs["versions"].items())
    print(f"{len(rows)} rows of opik's BERTScore metric, every third with three references; {versions}")
    for name, told in (("bert-score", theirs), ("refsim", ours)):
        print(f"  {name:10}  {told['seconds']:6.2f} s   served by {told['served']}")
    print(f"  P, R and F1 differ by {off:.1e} at most; {theirs['seconds'] / ours['seconds']:.1f} times as fast")
    if off > _CLOSE:
        sys.exit(1)


if __name__ == "__main__":
    main()
