"""How users' code looks to a type checker: mypy reads this file, nothing runs it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import refsim

Scores = NDArray[np.float64]

candidates = ["the cat sat", "a dog"]
references = [["the cat sat on the mat", "a cat sat"], ["the dog"]]

metric = refsim.Charsim(form="median", max_order=6, preparation=refsim.Preparation(casefold=True))
assert_type(refsim.charsim("the cat sat", ["the cat sat on the mat"]), float)
assert_type(metric.score("the cat sat", references[0]), float)
assert_type(metric.score_batch(candidates, references), Scores)
assert_type(metric.score_batch(candidates, ["one each", "a string alone"], threads=2), Scores)
assert_type(metric.score_matrix(candidates, candidates), Scores)
assert_type(metric.score_matrix(candidates, candidates, top_k=1), refsim.TopK)
assert_type(metric.consensus(candidates), Scores)
assert_type(metric.consensus(candidates, ["support"], leave_one_out=None), Scores)
assert_type(metric.per_order("the cat sat", references[0]), Scores)
assert_type(metric.signature, str)
assert_type(metric.explain("the cat sat", references[0]), refsim.Explanation)
assert_type(metric.judge("the cat sat", references[0], 0.5, language="ja"), refsim.Verdict)
assert_type(metric.judge_batch(candidates, references), list[refsim.Verdict])

scorer = metric.compile(references[0])
assert_type(scorer.score_batch(candidates), Scores)
assert_type(scorer.ceiling(), float)
assert_type(len(scorer), int)
scorer.save(Path("references.refsim"))
scorer.save("references.refsim")
loaded: refsim.CharsimScorer = refsim.load("references.refsim")
assert_type(loaded.score_batch(candidates), Scores)

try:
    metric.score("the cat sat", [])
except refsim.InputError as error:
    assert_type(str(error), str)

# Each of these is a mistake that the checker must see: mypy would call an ignore that is not needed an error.
refsim.Charsim("main")  # type: ignore[call-arg]
refsim.Charsim(form="mean")  # type: ignore[arg-type]
metric.form = "base"  # type: ignore[misc]
metric.score_batch(candidates, None)  # type: ignore[arg-type]
metric.score(None, references[0])  # type: ignore[arg-type]
