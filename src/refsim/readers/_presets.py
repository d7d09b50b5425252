"""Files that known programs write: which fields they use, and what has to be put right.

pfgen        outputs.jsonl + references.parquet of a pfgen-bench slice: question_id, model, trial, answer
lm-eval      samples_*.jsonl of lm-evaluation-harness (--log_samples): doc_id, filtered_resps, target, filter
comet-json   `comet-score --to_json`: {"file": [{"src", "mt", "ref", "COMET"}, ...], ...}
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from refsim.errors import InputError
from refsim.segments import MISSING, Chunk, Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PLAIN = ("text", "moses", "tsv", "csv", "jsonl", "json", "parquet")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A known kind of file. `format` None is detected; `fields` are used where the user names none."""

    fields: Fields = field(default_factory=Fields)
    format: str | None = None
    on: str | None = None
    reference_field: str | None = None
    change: Callable[[Chunk, str, bool], Chunk] | None = None

    def fill(self, fields: Fields) -> Fields:
        """Return the user's fields, and the preset's where there are none."""
        mine = {name: getattr(self.fields, name) for name in Fields.__dataclass_fields__}
        return replace(fields, **{name: own for name, own in mine.items() if getattr(fields, name) is None})


def _of_lm_eval(chunk: Chunk, system: str, keep_target: bool) -> Chunk:  # noqa: FBT001  # one signature for presets
    """Return samples of lm-eval as n-best rows: one system a filter, nested responses as one list.

    `keep_target`: the references are another field's or another file's, whatever the target looks like.
    """
    columns = dict(chunk.columns)
    if "filtered_resps" in columns:
        columns["filtered_resps"] = [
            _responses(value, place) for value, place in zip(columns["filtered_resps"], chunk.places, strict=True)
        ]
    filters = columns.get("filter", [MISSING] * len(chunk))
    if "system" not in columns:
        # The log names no model; a filter is another way of reading its answer, scored by itself.
        columns["system"] = [f"{system}/{one}" if isinstance(one, str) and one != "none" else system for one in filters]
    if not keep_target:
        for value, place in zip(columns.get("target", ()), chunk.places, strict=False):
            _refuse_printed_list(value, place)
    return Chunk(columns, chunk.places, chunk.rows, chunk.ragged)


def _responses(value: object, place: str) -> object:
    if not isinstance(value, list):
        return value
    flat: list[object] = []
    for one in value:
        if isinstance(one, list) and len(one) == 2 and str(one[1]) in ("True", "False"):  # noqa: PLR2004  # a pair
            raise InputError(
                f"{place}: filtered_resps holds log-likelihoods ({one[0]}, {one[1]}); "
                "this task generates no text that could be scored"
            )
        flat += one if isinstance(one, list) else [one]
    return flat


def _refuse_printed_list(value: object, place: str) -> None:
    """lm-eval prints targets with str(), so a list of answers arrives as the text of a Python list."""
    if not (isinstance(value, str) and value.startswith(("['", '["')) and value.endswith("]")):
        return
    try:
        listed = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    raise InputError(
        f"{place}: target is the printed form of a list of {len(listed)} texts; name the field of doc that holds them, "
        "as in --references doc.answers, or take the text as it is with --references target"
    )


PRESETS = {
    "pfgen": Preset(
        fields=Fields(id="question_id", system="model", sample="trial", candidate="answer"),
        on="question_id",
        reference_field="answer",
    ),
    "lm-eval": Preset(
        fields=Fields(id="doc_id", system="system", candidate="filtered_resps", references="target"),
        format="jsonl",
        change=_of_lm_eval,
    ),
    "comet-json": Preset(fields=Fields(candidate="mt", references="ref", source="src"), format="json"),
}
FORMATS: Sequence[str] = (*PLAIN, *PRESETS)
