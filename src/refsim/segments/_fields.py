"""Which column plays which part.

    column names + Fields (what the user named)  ->  Binding: part -> Selector, references -> Selectors

A part that the user does not name goes to the column of its own name ("candidate"); failing that to the one
column with a usual name for it ("hypothesis", "mt", ...). Two such columns are an error that lists both: to
guess between two candidates would be to guess the score.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refsim._numbers import whole_number
from refsim.errors import InputError
from refsim.segments._checks import MISSING, as_list, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
NUMBERED = re.compile(r"(ref|reference)[_-]?(\d{1,6})")


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

    def __post_init__(self) -> None:
        """Refuse what is no name."""
        for part in (one for one in self.__dataclass_fields__ if one != "references"):
            check_name(getattr(self, part), part)
        names = self.references
        for name in [names] if names is None or isinstance(names, str) else as_list(names) or [names]:
            check_name(name, "references")


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
            elif isinstance(value, list) and (index := whole_number(part)) is not None:
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

    `before` is the binding of earlier rows of the same file: it holds for fields that these rows lack, and a field
    that would change it is an error. `own_references=False`: they come from another file.
    """
    known = before.parts if before else {}
    parts = dict(known)
    for part in (*ALL_OR_NONE, "candidate", *OPTIONAL):
        found = _part(part, names, fields, place, needed=part not in known)
        if found is None:
            continue
        if before and part not in known and part in ALL_OR_NONE:
            raise InputError(
                f"{place}: {part} (field {str(found)!r}) stands here, but not in earlier rows; all or none"
            )
        if parts.setdefault(part, found) != found:
            raise InputError(
                f"{place}: {str(found)!r} could be {part}, as {str(parts[part])!r} was before; {hint(part)}"
            )
    if not own_references:
        return Binding(parts, (), numbered=False)
    return Binding(parts, *bind_references(names, fields, place, before))


def _part(part: str, names: Sequence[str], fields: Fields, place: str, *, needed: bool) -> Selector | None:
    """Return the field that plays a part; one that the user names must be there, if `needed`."""
    named: str | None = getattr(fields, part)
    if named is None:
        found = _only(part, [name for name in USUAL[part] if name in names], part, place)
        return Selector(found) if found else None
    selector = Selector.find(named, names)
    if selector is None and needed:
        raise InputError(f"{place}: no field {named!r} for {part}; found: {listed(names)}")
    return selector


def hint(part: str) -> str:
    """Return how to say which field a part is."""
    return f"say which with --{part} (fields={part}=...)"


def _only(own: str, found: Sequence[str], part: str, place: str) -> str | None:
    """Return the one name found, the part's own name if it is among them, None if there is none."""
    if own in found or len(found) == 1:
        return own if own in found else found[0]
    if found:
        raise InputError(f"{place}: {listed(found)} could each be {part}; {hint(part)}")
    return None


def bind_references(
    names: Sequence[str],
    fields: Fields,
    place: str,
    before: Binding | None = None,
    usual: Sequence[str] = USUAL["references"],
) -> tuple[tuple[Selector, ...], bool]:
    """Return the selectors of the references, none if nothing looks like them; and whether they are several columns."""
    known = before.references if before else ()
    if fields.references is None:
        found, numbered = _usual_references(names, place, usual)
    else:
        numbered = not isinstance(fields.references, str)
        wanted = [fields.references] if isinstance(fields.references, str) else fields.references
        # Not every row must have every column.
        found = tuple(selector for text in wanted if (selector := Selector.find(text, names)))
        if not found and not known:
            raise InputError(f"{place}: no field {listed(wanted)} for references; found: {listed(names)}")
    if not before or not known or not found:
        return found or known, numbered if found or not before else before.numbered
    if found != known and not (numbered and before.numbered):
        raise InputError(
            f"{place}: {str(found[0])!r} could be references, as {str(known[0])!r} was before; {hint('references')}"
        )
    return found, numbered


def _usual_references(names: Sequence[str], place: str, usual: Sequence[str]) -> tuple[tuple[Selector, ...], bool]:
    """Return the columns ref1, ref2, ... in the order of their numbers, or the one other column of references."""
    matches = sorted((int(match[2]), match[0]) for match in map(NUMBERED.fullmatch, names) if match)
    numbered = [name for _, name in matches]
    only = _only("references", [name for name in usual if name in names] + numbered[:1], "references", place)
    if only in numbered:
        return tuple(map(Selector, numbered)), True
    return ((Selector(only),) if only else ()), False


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Return names for a message: quoted, the first twenty."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return (", ".join(repr(name) for name in names[:limit]) + more) or "nothing"
