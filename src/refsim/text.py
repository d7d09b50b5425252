"""Texts on their way to a metric: preparation, and strings as arrays of symbols.

    texts  --Preparation-->  prepared texts  --code_points-->         codes (total,), offsets (texts + 1,)
                                             --SymbolTable.encode-->  the same, one code per grapheme cluster

By default a text is counted as it is: every code point, lone surrogates and NUL too, is a character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from refsim import extraction
from refsim.errors import CompiledSetError, InputError
from refsim.whitespace import WHITE_SPACE, WHITE_SPACE_RUN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Name = Callable[[int], str]

NoExtract = extraction.NoExtract
UnicodeForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
WhiteSpace = Literal["keep", "strip", "collapse", "remove"]
Unit = Literal["codepoint", "grapheme"]

NO_SYMBOL: Final = 0x7FFFFFFF
"""The code of a cluster that a `SymbolTable` does not know and may not add."""

_FIRST_CLUSTER: Final = 0x110000


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What is done to candidates and references before characters are counted; by default nothing.

    In this order: `extract` takes the answer out of the candidate alone, step by step (refsim.extraction tells them:
    "after:</think>", "until:MARK", "line:PREFIX", "regex:PATTERN"); where a step finds nothing, `no_extract` says
    what becomes of the candidate: "keep" leaves it, "empty" empties it, "error" is an InputError. Then, for both
    sides: `unicode` form; `casefold`, and the form again; `whitespace`, of the property White_Space:
    "strip" removes it at both ends, "collapse" also makes each run inside one U+0020, "remove" leaves none.
    Last, `unit` says what counts as a character: a code point or an extended grapheme cluster.
    """

    extract: Sequence[str] = ()
    no_extract: NoExtract = "keep"
    unicode: UnicodeForm | None = None
    casefold: bool = False
    whitespace: WhiteSpace = "keep"
    unit: Unit = "codepoint"

    def __post_init__(self) -> None:
        """Refuse values that are not among the choices."""
        object.__setattr__(self, "extract", extraction.check_steps(self.extract, self.no_extract))
        # Without a step there is nothing to miss: one value, with one signature.
        object.__setattr__(self, "no_extract", self.no_extract if self.extract else "keep")
        _check_choice("unicode", self.unicode, (*get_args(UnicodeForm), None))
        _check_choice("casefold", self.casefold, (True, False))
        _check_choice("whitespace", self.whitespace, get_args(WhiteSpace))
        _check_choice("unit", self.unit, get_args(Unit))

    @property
    def is_default(self) -> bool:
        """Whether texts and unit stay as they are."""
        return self == Preparation()

    @property
    def signature(self) -> str:
        """The non-default settings with the versions of Unicode data that they depend on; "" if there are none."""
        parts = extraction.sign(self.extract, self.no_extract)
        if self.unicode is not None:
            parts.append(f"unicode={self.unicode}[{unicodedata.unidata_version}]")
        if self.casefold:
            # The tables of str.casefold are those of unicodedata: named once, by the form if there is one.
            parts.append("casefold" if self.unicode else f"casefold[{unicodedata.unidata_version}]")
        if self.whitespace != "keep":
            parts.append(f"whitespace={self.whitespace}")
        if self.unit == "grapheme":
            parts.append(f"unit=grapheme[{_grapheme_version()}]")
        return ",".join(parts)

    def apply_candidates(self, texts: Sequence[str], name: Name = "candidates[{}]".format) -> Sequence[str]:
        """Return candidates prepared: the answer taken out first, where that is asked for.

        `name` gives the name of an index in messages. Raises InputError for a text in which nothing is found, if
        `no_extract` is "error", and for one on which a pattern takes too long.
        """
        if not self.extract:
            return self.apply(texts)
        _check_texts(texts, name)
        if self.no_extract == "error":
            self.check_candidates(texts, name)
        return self.apply([text for text, _ in self._extract(texts, name)])

    def check_candidates(self, texts: Sequence[str], name: Name = "candidates[{}]".format) -> None:
        """Raise the InputError that `apply_candidates` would raise for a text without an answer, if it would."""
        if self.no_extract == "error":
            for i, why in self.not_extracted(texts, name).items():
                raise InputError(f"{name(i)}: extract {why}")

    def not_extracted(self, texts: Sequence[str], name: Name = "candidates[{}]".format) -> dict[int, str]:
        """Return, by index, why nothing was found in a text where a step of `extract` found nothing."""
        _check_texts(texts, name)
        missed = [step for _, step in self._extract(texts, name)] if self.extract else []
        return {i: extraction.why_missed(texts[i], step) for i, step in enumerate(missed) if step is not None}

    def _extract(self, texts: Sequence[str], name: Name) -> Iterator[tuple[str, str | None]]:
        for i, text in enumerate(texts):
            try:
                yield extraction.extract(text, self.extract, self.no_extract)
            except InputError as error:
                raise InputError(f"{name(i)}: {error}") from None

    def apply(self, texts: Sequence[str]) -> Sequence[str]:
        """Return prepared references, or `texts` itself if none could change. Applying twice is applying once."""
        if self.unicode is None and not self.casefold and self.whitespace == "keep":
            return texts
        _check_texts(texts, "texts[{}]".format)
        return [self._prepare(text) for text in texts]

    def _prepare(self, text: str) -> str:
        if text.isascii():
            return self._one_pass(text)
        # One pass is not always enough: with white space removed from "a \u0301", the form composes the
        # two. It ends, for the form after folding is idempotent, and there is less white space each time.
        while (prepared := self._one_pass(text)) != text:
            text = prepared
        return text

    def _one_pass(self, text: str) -> str:
        if self.unicode is not None:
            text = unicodedata.normalize(self.unicode, text)
        if self.casefold:
            text = text.casefold()
            if self.unicode is not None:
                text = unicodedata.normalize(self.unicode, text)
        match self.whitespace:
            case "strip":
                return text.strip(WHITE_SPACE)
            case "collapse":
                return WHITE_SPACE_RUN.sub(" ", text).strip(" ")
            case "remove":
                return WHITE_SPACE_RUN.sub("", text)
            case _:
                return text


def _check_texts(texts: object, name: Name) -> None:
    """Raise InputError for one text in the place of several, and for what is no text."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise InputError(f"texts are of type {type(texts).__name__}; expected a list of strings")
    if not set(map(type, texts)) <= {str}:
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"{name(i)} is of type {type(text).__name__}; expected a str")


def _check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    # By identity of type too: 1 == True, and 1 is no choice here.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        expected = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
        raise InputError(f"Preparation({name}={value!r}): expected {expected}")


@cache
def _grapheme_version() -> str:
    """Return what the clusters depend on: the version of regex, which does not tell that of its Unicode tables."""
    from importlib.metadata import version  # noqa: PLC0415  only this unit needs it

    return f"regex-{version('regex')}"  # regex.__version__ was another number, 2.5.x, until October 2025


class SymbolTable:
    """Grapheme clusters as symbols: a cluster of one code point is that code point, a longer one gets a number.

    Numbers start at 0x110000, beyond all code points, in the order in which clusters are first seen. A
    table that grows belongs to one thread; with `grow=False` it only reads, and threads may share it.
    """

    def __init__(self) -> None:
        """Start without any cluster."""
        self._codes: dict[str, int] = {}

    @classmethod
    def from_clusters(cls, clusters: Iterable[str]) -> SymbolTable:
        """Return the table that has these clusters, as `clusters` gave them; CompiledSetError if it cannot have."""
        table = cls()
        for i, cluster in enumerate(clusters):
            if len(cluster) <= 1 or len(find_clusters(cluster)) != 1:
                raise CompiledSetError(
                    f"cluster {i} of the symbol table is {cluster!r}: expected a grapheme cluster of several "
                    f"code points, by regex's tables here ({_grapheme_version()}); compile the references again"
                )
            table._codes[cluster] = _FIRST_CLUSTER + i
            if len(table._codes) != i + 1:
                raise CompiledSetError(
                    f"cluster {i} of the symbol table is {cluster!r} again; compile the references again"
                )
        return table

    @property
    def clusters(self) -> list[str]:
        """The clusters of several code points, in order of their numbers."""
        return list(self._codes)

    def encode(self, texts: Sequence[str], *, grow: bool) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the symbols of all texts in one array (total,), and offsets (len(texts) + 1,).

        With `grow` new clusters enter the table; without, each is `NO_SYMBOL`, which equals nothing in a reference.
        """
        rows = [self._symbols(text, grow=grow) for text in texts]
        offsets = np.fromiter(accumulate(map(len, rows), initial=0), dtype=np.int64, count=len(rows) + 1)
        codes = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
        return codes, offsets

    def _symbols(self, text: str, *, grow: bool) -> Sequence[int]:
        if text.isascii() and "\r\n" not in text:
            return text.encode()  # CR LF is the only cluster of several code points in ASCII
        if grow:
            return [ord(c) if len(c) == 1 else self._add(c) for c in find_clusters(text)]
        return [ord(c) if len(c) == 1 else self._codes.get(c, NO_SYMBOL) for c in find_clusters(text)]

    def _add(self, cluster: str) -> int:
        return self._codes.setdefault(cluster, _FIRST_CLUSTER + len(self._codes))


def find_clusters(text: str) -> list[str]:
    """Return the extended grapheme clusters of a text, which joined give the text."""
    import regex  # noqa: PLC0415  it loads in 20 ms and few need it; it caches the compiled pattern itself

    clusters: list[str] = regex.findall(r"\X", text)
    return clusters


def code_points(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the code points of all texts in one array (total,), and offsets (len(texts) + 1,).

    Text i is `codes[offsets[i]:offsets[i + 1]]`. Lone surrogates are kept as ordinary code points.
    """
    # One join and one encode: no Python object per character, and the codec writes at memory speed.
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    offsets = np.fromiter(accumulate(map(len, texts), initial=0), dtype=np.int64, count=len(texts) + 1)
    return codes, offsets
