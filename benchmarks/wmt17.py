"""Agreement with human judgements: Pearson's r on segments of WMT17, for both metrics and their neighbours.

python benchmarks/wmt17.py    reads ../shared/data/wmt17-da, prints a table and writes benchmarks/wmt17.md
"""

from __future__ import annotations

import gzip
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
import torch

from refsim.metrics.bertscore import BERTScore
from refsim.metrics.charsim import Charsim

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt17-da"
PAGE_FILE = Path(__file__).with_suffix(".md")
_LAYERS = 7
_PAGE = """# Agreement with human judgements on WMT17

Made by `python benchmarks/wmt17.py`; do not edit. Pearson's r between segment scores and direct assessments
(z-scores) of the WMT17 metrics task, to English: {count:,} judged segments of seven language pairs, one reference each.
The texts are those of a published copy, lower-cased and tokenised, a third of them held back, so figures differ
a little from those on the original files. {versions}.

{table}"""


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one language pair."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def scores(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return the scores of every metric, by its name."""
    candidates = [row["candidate"] for row in rows]
    references = [row["references"] for row in rows]
    bleu, chrf = sacrebleu.BLEU(effective_order=True), sacrebleu.CHRF()
    found = {f"BERTScore minilm, layer {layer}": BERTScore(layer=layer).score_batch(candidates, references).f1
             for layer in range(_LAYERS)}  # fmt: skip
    for form in ("main", "base", "median"):
        found[f"charsim {form}"] = Charsim(form=form).score_batch(candidates, references)
    pairs = list(zip(candidates, references, strict=True))
    for name, metric in (("BLEU (sacrebleu)", bleu), ("chrF (sacrebleu)", chrf)):
        found[name] = np.array([metric.sentence_score(text, list(others)).score for text, others in pairs])
    return found


def main() -> None:
    """Score everything, print the page and write it."""
    pairs = sorted(path.name.removesuffix(".jsonl.gz") for path in DATA.glob("*.jsonl.gz"))
    columns: dict[str, list[float]] = {}
    count = 0
    for pair in pairs:
        rows = read(DATA / f"{pair}.jsonl.gz")
        count += len(rows)
        human = np.array([row["human"] for row in rows], float)
        for name, values in scores(rows).items():
            columns.setdefault(name, []).append(float(np.corrcoef(values, human)[0, 1]))
        sys.stderr.write(f"{pair}: {len(rows)} segments\n")
    lines = [f"| metric | {' | '.join(pairs)} | mean |", "|---" * (len(pairs) + 2) + "|"]
    for name, values in columns.items():
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} | **{np.mean(values):.3f}** |")
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("refsim", "torch", "transformers", "sacrebleu")
    )
    page = _PAGE.format(count=count, versions=versions, table="\n".join(lines) + "\n")
    sys.stdout.write(page)
    PAGE_FILE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
