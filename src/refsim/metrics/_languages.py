"""Languages of texts: codes as rows have them, which are written without spaces, and texts that look so.

"ja_JP", "jpn", "en-ja"  --check_lang-->  "ja"  --written_without_spaces-->  a tokeniser
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import regex

    from refsim.segments import Batch

_CODE: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z0-9]{1,8}))*")
# en-ja is a direction of translation, and en-GB a variety: these four are no region's code.
_PAIR: Final = re.compile(r"[A-Za-z]{2}[-_](ja|zh|ko|en)", re.IGNORECASE)
_SHORT: Final = {
    "jpn": "ja", "kor": "ko", "eng": "en", "tha": "th", "lao": "lo", "khm": "km", "mya": "my", "bur": "my",
    "bod": "bo", "tib": "bo", "dzo": "dz", "zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "wuu": "zh", "lzh": "zh",
}  # fmt: skip
SPACELESS: Final = frozenset({"th", "lo", "km", "my", "bo", "dz"})
"""Languages without spaces between words that no tokeniser of sacrebleu's is made for."""

_NOT_WHOLE: Final = re.compile("[\0\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SCRIPTS: Final = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")


def check_lang(lang: object, place: str = "lang") -> str | None:
    """Return the language of a code, in two letters where there are two; of a pair such as en-ja the second.

    None and "" are no language. Raises InputError, with the place, for what is no code.
    """
    if lang is None or lang == "":
        return None
    if not isinstance(lang, str) or (match := _CODE.fullmatch(lang)) is None:
        raise InputError(f"{place} is {lang!r}; expected a language's code, such as ja, zh-TW or en-ja, or none")
    pair = _PAIR.fullmatch(lang)
    code = (pair or match)[1].lower()
    return _SHORT.get(code, code)


def is_unsegmented(texts: Iterable[str]) -> bool:
    """Return whether most letters are of scripts that put no spaces between words."""
    letters, spaceless = _patterns()
    total = found = 0
    for text in texts:
        if text.isascii():
            total += sum(map(str.isalpha, text))
        else:
            total += len(letters.findall(text))
            found += len(spaceless.findall(text))
    return 2 * found > total


def unsegmented_rows(batch: Batch, at_spaces: bool | Sequence[bool] = True) -> list[int]:  # noqa: FBT001, FBT002  one value for all rows
    """Return the rows that are split `at_spaces` though most of their letters are of scripts without any."""
    asked = [at_spaces] * len(batch) if isinstance(at_spaces, bool) else at_spaces
    rows = zip(asked, batch.candidates, batch.references, strict=True)
    return [i for i, (ask, text, texts) in enumerate(rows) if ask and is_unsegmented((text, *texts))]


def surrogate_rows(batch: Batch, asked: Sequence[bool]) -> list[int]:
    """Return the rows that hold half a surrogate pair, of those that are asked about."""
    rows = zip(asked, batch.candidates, batch.references, strict=True)
    return [i for i, (ask, text, texts) in enumerate(rows) if ask and any(map(_SURROGATE.search, (text, *texts)))]


def whole_characters(text: str) -> str:
    """Return the text with U+FFFD for NUL, where MeCab would end, and for half a surrogate pair, which it refuses."""
    return _NOT_WHOLE.sub("\ufffd", text)


@cache
def _patterns() -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    import regex  # noqa: PLC0415  it loads in 20 ms

    members = "".join(rf"\p{{Script={name}}}" for name in _SCRIPTS)
    return regex.compile(r"\p{L}"), regex.compile(rf"(?V1)[\p{{L}}&&[{members}]]")
