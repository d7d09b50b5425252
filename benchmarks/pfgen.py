"""charsim and pfgen's own scores beside the published totals of pfgen-bench, for every model.

python benchmarks/pfgen.py    reads ../shared/data/pfgen, prints a page and writes benchmarks/pfgen.md (half a minute)
"""

from __future__ import annotations

import gzip
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from scipy.stats import pearsonr, spearmanr

import refsim

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "pfgen"
PAGE_FILE = Path(__file__).with_suffix(".md")
_METRICS = ("charsim", "pfgen")
_TARGETS = {"total": "published_total", "helpfulness": "published_helpfulness"}
_PAGE = """# charsim and its ancestor on pfgen-bench

Made by `python benchmarks/pfgen.py`; do not edit. {rows:,} answers of {models} models, the slice of pfgen-bench that
[docs/pfgen.md](../docs/pfgen.md) describes. Each model's mean is set beside its published scores, which are over all
questions and trials. The published total is the mean of fluency, truthfulness and helpfulness, so that fluency and
truthfulness agree with what they are part of. Helpfulness asks for key words, and looks at no reference.
{versions}.

{agreement}
The means of every model, sorted by the published total:

{means}"""


def read(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def score() -> dict[str, dict[str, float]]:
    """Return, by score, the mean of each model."""
    results = refsim.evaluate(
        DATA / "outputs.jsonl.gz", _METRICS, format="pfgen", references=DATA / "references.parquet",
        on="question_id", ceilings=False,
    )  # fmt: skip
    found: dict[str, dict[str, float]] = {}
    for row in results.systems:
        for name, mean in row.scores.items():
            found.setdefault("mean of both" if name == "pfgen" else name, {})[row.system] = mean
    return {name: found[name] for name in ("charsim", "fluency", "truthfulness", "mean of both")}


def agreement(means: dict[str, dict[str, float]], published: list[dict[str, Any]]) -> str:
    """Return the table of correlations over the models."""
    heads = [f"{name}: {what}" for name in _TARGETS for what in ("Pearson", "Spearman")]
    lines = ["| mean of | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for name, of_model in means.items():
        cells = []
        for column in _TARGETS.values():
            pairs = [of_model[row["model"]] for row in published], [row[column] for row in published]
            cells += [f"{pearsonr(*pairs).statistic:.3f}", f"{spearmanr(*pairs).statistic:.3f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def every_model(means: dict[str, dict[str, float]], published: list[dict[str, Any]]) -> str:
    """Return the table of means."""
    lines = ["| model | published total | " + " | ".join(means) + " |", "|---|---|" + "---|" * len(means)]
    for row in sorted(published, key=lambda row: -row["published_total"]):
        cells = [f"{of_model[row['model']]:.3f}" for of_model in means.values()]
        lines.append(f"| {row['model']} | {row['published_total']:.3f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Score everything, print the page and write it."""
    published, means = read("models.jsonl.gz"), score()
    page = _PAGE.format(
        rows=len(read("outputs.jsonl.gz")),
        models=len(published),
        versions=f"refsim {refsim.__version__}, NumPy {metadata.version('numpy')}, SciPy {metadata.version('scipy')}",
        agreement=agreement(means, published),
        means=every_model(means, published),
    )
    PAGE_FILE.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
