"""Compiled sets of any metric, loaded by what their header names.

DIR  --_store.read_set-->  header, texts, repeats  --the metric's loader-->  a Scorer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refsim.errors import CompiledSetError, InputError
from refsim.metrics._arguments import check_path
from refsim.metrics._store import read_set

if TYPE_CHECKING:
    import os


def load(path: str | os.PathLike[str], *, model: str | None = None) -> Any:  # noqa: ANN401  the file says which
    """Return the Scorer that was saved under `path`: a CharsimScorer or a BERTScorer.

    `model` says where the model of BERTScore's vectors is now, if it was a directory that has moved. Raises
    CompiledSetError for a set that is damaged, of another format, prepared by other Unicode tables or from another
    model than the one that is here, InputError where the model is not on this machine.
    """
    header, texts, weights = read_set(check_path(path))
    kind = header.get("metric")
    if kind == "charsim":
        from refsim.metrics.charsim import load_charsim  # noqa: PLC0415  the metric that is needed, alone

        if model is not None:
            raise InputError(f"{path}: compiled for charsim, which has no model; leave model={model!r} out")
        return load_charsim(path, header, texts, weights)
    if kind == "bertscore":
        from refsim.metrics._embeddings import load_embeddings  # noqa: PLC0415  as above

        return load_embeddings(path, header, texts, weights, model)
    raise CompiledSetError(f"{path}: compiled for {kind!r}, unknown here; compile the references again")
