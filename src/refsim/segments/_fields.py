"""Which column plays which part.

    column names + Fields (what the user named)  ->  Binding: part -> Selector, references -> Selectors

A part that the user does not name goes to the column of its own name ("candidate"); failing that to the one
column with a usual name for it ("hypothesis", "mt", ...). Two such columns are an error that lists both: to
guess between two candidates would be to guess the score.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Missing(Enum):
    """The value of a cell that is not there at all, which is neither null nor an empty text."""

    MISSING = "nothing"


MISSING: Final = Missing.MISSING

# Usual names per part; the part's own name comes first and wins.
USUAL: dict[str, tuple[str, ...]] = {
    "id": ("id", "segment_id", "seg_id", "item_id", "question_id", "example_id", "instance_id"),
    "system": ("system", "model", "system_id", "system_name", "model_name"),
    "sample": ("sample", "trial"),
    "candidate": (
        *("candidate", "candidates", "hypothesis", "hypotheses", "hyp", "hyps", "prediction", "predictions", "pred"),
        *("output", "outputs", "mt", "answer", "response", "generation", "completion", "translation"),
    ),
    "references": ("references", "reference", "refs", "ref", "targets", "target", "gold", "golds"),
    "source": ("source", "src"),
    "group": ("group", "document", "document_id", "doc_id"),
    "human": ("human", "human_score"),
    "lang": ("lang", "language"),
}
# A file that holds nothing but references may call them what elsewhere would be a candidate.
USUAL_IN_REFERENCE_FILES = (*USUAL["references"], "answer", "answers", "text", "translation", "summary")
# Parts that every row has, or none: a row without its id cannot be told from another.
ALL_OR_NONE = ("id", "system", "sample")
OPTIONAL = ("source", "group", "human", "lang")
NUMBERED = re.compile(r"(ref|reference)[_-]?(\d+)")


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Names of columns, or dotted selectors ("doc.refs", "filtered_resps.0"), for the parts of a row; None: the usual.

    `references` may name one field, which holds a text or a list of texts, or several.
    """

    id: str | None = None
    system: str | None = None
    sample: str | None = None
    candidate: str | None = None
    references: str | Sequence[str] | None = None
    source: str | None = None
    group: str | None = None
    human: str | None = None
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Selector:
    """A column and the way down from its values: "doc.refs.0" is column "doc", then key "refs", then index 0."""

    column: str
    way: tuple[str, ...] = ()

    @classmethod
    def find(cls, text: str, names: Iterable[str]) -> Selector | None:
        """Return the selector for a name among the columns; a column whose own name has dots comes first."""
        names = set(names)
        if text in names:
            return cls(text)
        parts = text.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            if (column := ".".join(parts[:cut])) in names:
                return cls(column, tuple(parts[cut:]))
        return None

    def __str__(self) -> str:
        """Return the name as a user writes it."""
        return ".".join((self.column, *self.way))

    def pick(self, values: Sequence[object]) -> Sequence[object]:
        """Return what the selector finds in each value of its column, MISSING where the way breaks off."""
        return [self._walk(value) for value in values] if self.way else values

    def _walk(self, value: object) -> object:
        for part in self.way:
            if isinstance(value, dict):
                value = value.get(part, MISSING)
            elif isinstance(value, list) and part.lstrip("-").isdecimal():
                index = int(part)
                value = value[index] if -len(value) <= index < len(value) else MISSING
            else:
                return MISSING
        return value


@dataclass(frozen=True, slots=True)
class Binding:
    """Selectors for the parts that a set of columns has; `numbered`: a null reference is one reference fewer."""

    parts: dict[str, Selector]
    references: tuple[Selector, ...]
    numbered: bool

    @property
    def columns(self) -> set[str]:
        """The columns that are used up whole, and so are no extras."""
        return {one.column for one in (*self.parts.values(), *self.references) if not one.way}


def bind(
    names: Sequence[str],
    fields: Fields,
    place: str,
    *,
    before: Binding | None = None,
    own_references: bool = True,
) -> Binding:
    """Return which column plays which part.

    `before` is the binding of earlier rows of the same file: what it bound stays bound, so that a column that
    turns up later cannot change the meaning of a row. `own_references=False`: they come from another file.
    """
    parts: dict[str, Selector] = {}
    for part in (*ALL_OR_NONE, "candidate", *OPTIONAL):
        if before and part in before.parts and (before.parts[part].column in names or part in OPTIONAL):
            parts[part] = before.parts[part]
        elif (named := getattr(fields, part)) is not None:
            parts[part] = _named(named, part, names, place)
        elif found := _only(part, [name for name in USUAL[part] if name in names], part, place):
            parts[part] = Selector(found)
    if before:
        _check_same(before, parts, place)
    if not own_references:
        return Binding(parts, (), numbered=False)
    return Binding(parts, *bind_references(names, fields, place, before))


def _named(text: str, part: str, names: Sequence[str], place: str) -> Selector:
    selector = Selector.find(text, names)
    if selector is None:
        raise InputError(f"{place}: no field {text!r} for {part}; found: {listed(names)}")
    return selector


def _only(own: str, found: Sequence[str], part: str, place: str) -> str | None:
    """Return the one name found, the part's own name if it is among them, None if there is none."""
    if own in found or len(found) == 1:
        return own if own in found else found[0]
    if found:
        raise InputError(f"{place}: {listed(found)} could each be {part}; say which with --{part} (fields={part}=...)")
    return None


def _check_same(before: Binding, parts: dict[str, Selector], place: str) -> None:
    """A file in which only some rows have an id, or a system, would give rows that nobody meant to be equal."""
    for part in ALL_OR_NONE:
        if (part in parts) != (part in before.parts):
            known, verb = (parts, "appears here, but not in") if part in parts else (before.parts, "is in")
            tail = "" if part in parts else ", but not here"
            raise InputError(
                f"{place}: {part} (field {str(known[part])!r}) {verb} earlier rows{tail}; every row needs it"
            )


def bind_references(
    names: Sequence[str],
    fields: Fields,
    place: str,
    before: Binding | None = None,
    usual: Sequence[str] = USUAL["references"],
) -> tuple[tuple[Selector, ...], bool]:
    """Return the selectors of the references, none if nothing looks like them; and whether they are several columns."""
    named = fields.references
    if isinstance(named, str):
        return (_named(named, "references", names, place),), False
    if named is not None:
        # Not every row must have every column, but one must be there.
        found = tuple(selector for text in named if (selector := Selector.find(text, names)))
        if not found:
            raise InputError(f"{place}: no field {listed(named)} for references; found: {listed(names)}")
        return found, True
    numbered = sorted((int(match[2]), name) for name in names if (match := NUMBERED.fullmatch(name)))
    families = [name for name in usual if name in names]
    if before and before.references and before.numbered and numbered:
        families = []
    elif before and before.references and before.references[0].column in families:
        families, numbered = [before.references[0].column], []
    if "references" not in families and numbered:
        families = [*families, numbered[0][1]]
    own = _only("references", families, "references", place)
    if own is None:
        return (), False
    if numbered and own == numbered[0][1]:
        return tuple(Selector(name) for _, name in numbered), True
    return (Selector(own),), False


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Return names for a message: quoted, the first twenty."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return (", ".join(repr(name) for name in names[:limit]) + more) or "nothing"
