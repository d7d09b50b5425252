"""Preparation and symbols: choices, order of the steps, idempotence, and the official Unicode test rows.

The rows of NormalizationTest, GraphemeBreakTest and emoji-test are those of Unicode 15.0; where Python or
regex has tables of another version, the rows that differ are named here, by version.
"""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
import sys
import unicodedata
from typing import Any, get_args

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from refsim.errors import CompiledSetError, InputError
from refsim.text import NO_SYMBOL, Preparation, SymbolTable, UnicodeForm, WhiteSpace, code_points
from refsim.whitespace import WHITE_SPACE
from shared import PLACES

FILE = PLACES[0] / "unicode/unicode.jsonl.gz"
FORMS: tuple[UnicodeForm, ...] = get_args(UnicodeForm)
ROWS: dict[str, list[dict[str, Any]]] = {"emoji": [], "grapheme-break": [], "normalization": []}
if FILE.exists():
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            ROWS[row["kind"]].append(row)
needs_rows = pytest.mark.skipif(not FILE.exists(), reason="the Unicode test rows are not beside this checkout")

# Marks assigned in 15.0, so that Python 3.11 does not reorder around them.
NORMALIZATION_DIFFERS = {"14.0.0": {"a\u059a\u0316\u1dfa\U00010efdb", "a\U00011f42\u05b0\u094d\u3099b"}}
# Unicode 17 took U+2701 and others out of Extended_Pictographic: ZWJ no longer joins them.
GRAPHEMES_DIFFER_FROM_17 = {"\u2701\u200d\u2701"}
REGEX_HAS_17 = regex.match(r"\P{Cn}", "\U00010940") is not None  # a letter of Sidetic, new in 17.0

PREPARATIONS = [
    Preparation(unicode=form, casefold=fold, whitespace=space)
    for form, fold, space in itertools.product((None, *FORMS), (False, True), get_args(WhiteSpace))
]
# Letters whose folding or composition is special, marks of several classes, jamo, all kinds of white space.
AWKWARD = st.sampled_from(
    [
        *"aAsSßẞİŉǰΐΰΣςᾳᾼﬁﬆµÅKΩ\u0131\u017f\u2126\u212a\u212b",
        *"\u0301\u0308\u0316\u0327\u0338\u0345\u05b0\u3099\u030a\u0307\u1dfa",
        *"\u1100\u1161\u11a8\uac00\u037a\u00b4\u1fbe\u0958\u09c7\u09be",
        *"\t\n\r\x1c\x1f\x85\xa0 \u2003\u2028\u3000\u180e\u200b\u200d\ufeff\0\ud800\udc00",
        *"\U0001f468\U0001f3fd\U0001f1e9\ufe0f^$",
    ]
)
texts = st.text(AWKWARD | st.characters(), max_size=12)


def prepared(
    text: str, unicode: UnicodeForm | None = None, *, casefold: bool = False, whitespace: WhiteSpace = "keep"
) -> str:
    """Return one text, prepared."""
    return Preparation(unicode=unicode, casefold=casefold, whitespace=whitespace).apply([text])[0]


def test_the_default_returns_the_same_object() -> None:
    """Nothing to do: no copy, no look at the texts; and no word in the signature."""
    given_texts = ["A ", "\u0301"]
    assert Preparation().apply(given_texts) is given_texts
    assert Preparation().is_default
    assert Preparation().signature == ""


def test_a_unit_leaves_the_texts_as_they_are() -> None:
    """Clusters are counted, not changed; but the preparation is not the default one."""
    given_texts = ["e\u0301"]
    assert Preparation(unit="grapheme").apply(given_texts) is given_texts
    assert not Preparation(unit="grapheme").is_default


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("unicode", "nfc", "expected 'NFC', 'NFD', 'NFKC', 'NFKD' or None"),
        ("unicode", ["NFC"], "expected 'NFC'"),
        ("casefold", 1, "expected True or False"),
        ("casefold", None, "expected True or False"),
        ("whitespace", "trim", "expected 'keep', 'strip', 'collapse' or 'remove'"),
        ("unit", "word", "expected 'codepoint' or 'grapheme'"),
    ],
)
def test_another_value_is_an_error_that_lists_the_choices(name: str, value: object, expected: str) -> None:
    """The message shows the parameter, what was found and what there is to choose from."""
    with pytest.raises(InputError) as error:
        Preparation(**{name: value})  # type: ignore[arg-type]
    assert f"Preparation({name}={value!r}): {expected}" in str(error.value)


def test_a_preparation_pickles_and_hashes() -> None:
    """Equal after a round trip, with an equal hash."""
    for preparation in PREPARATIONS:
        copy = pickle.loads(pickle.dumps(preparation))  # noqa: S301
        assert copy == preparation
        assert hash(copy) == hash(preparation)


def test_the_signature_names_settings_and_versions() -> None:
    """Everything that is not the default, and the versions of the tables it depends on."""
    version = unicodedata.unidata_version
    everything = Preparation(unicode="NFC", casefold=True, whitespace="collapse", unit="grapheme")
    assert everything.signature.startswith(f"unicode=NFC[{version}],casefold,whitespace=collapse,unit=grapheme[regex-")
    assert Preparation(casefold=True).signature == f"casefold[{version}]"
    assert Preparation(whitespace="strip").signature == "whitespace=strip"


def test_signatures_are_different_for_different_preparations() -> None:
    """No two settings share a signature."""
    assert len({preparation.signature for preparation in PREPARATIONS}) == len(PREPARATIONS)


def test_white_space_is_the_unicode_property() -> None:
    """Exactly the code points of White_Space; the separators U+001C to U+001F, which str.strip takes, stay."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert sorted(WHITE_SPACE) == regex.findall(r"\p{White_Space}", every)
    assert prepared(" \x1ca\x1f\n", whitespace="strip") == "\x1ca\x1f"
    assert prepared("\u200ba\ufeff", whitespace="remove") == "\u200ba\ufeff"


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("keep", "\u3000a \t\u2028b\x85"),
        ("strip", "a \t\u2028b"),
        ("collapse", "a b"),
        ("remove", "ab"),
    ],
)
def test_what_each_choice_of_white_space_does(choice: WhiteSpace, expected: str) -> None:
    """Ends, runs, or all of it."""
    assert prepared("\u3000a \t\u2028b\x85", whitespace=choice) == expected


def test_the_form_comes_again_after_folding_and_after_removal() -> None:
    """Sharp s folds to ss, whose second s composes with a mark; so does a letter that white space had kept apart."""
    assert prepared("ß\u0301", unicode="NFC", casefold=True) == "s\u015b"
    assert prepared("a\u2003\u0301", unicode="NFC", whitespace="remove") == "\u00e1"
    assert prepared("\u1100 \u1161", unicode="NFC", whitespace="remove") == "\uac00"


def test_folding_without_a_form_is_full_case_folding() -> None:
    """No form is applied unless asked for."""
    assert prepared("STRASSE ẞ e\u0301", casefold=True) == "strasse ss e\u0301"


@settings(max_examples=300)
@given(text=texts, preparation=st.sampled_from(PREPARATIONS))
def test_preparing_twice_is_preparing_once(text: str, preparation: Preparation) -> None:
    """For every combination of settings, on letters and marks that interact."""
    once = preparation.apply([text])
    assert list(preparation.apply(once)) == list(once)


def test_every_code_point_is_prepared_once_and_for_all() -> None:
    """Each of the 1,114,112 alone, under the settings that change most."""
    every = list(map(chr, range(sys.maxunicode + 1)))
    for form in ("NFKC", "NFD"):
        preparation = Preparation(unicode=form, casefold=True, whitespace="remove")
        once = preparation.apply(every)
        assert list(preparation.apply(once)) == once


@needs_rows
@pytest.mark.parametrize("preparation", PREPARATIONS, ids=lambda p: p.signature or "default")
def test_preparing_the_unicode_texts_twice_is_preparing_once(preparation: Preparation) -> None:
    """Every text of the three files."""
    once = preparation.apply([row["text"] for rows in ROWS.values() for row in rows])
    assert list(preparation.apply(once)) == list(once)


@needs_rows
@pytest.mark.parametrize("form", FORMS)
def test_the_normalization_rows(form: UnicodeForm) -> None:
    """Every row, from its source and from its four results, but those that need a newer Unicode version."""
    differs = set()
    for row in ROWS["normalization"]:
        compatible = ("nfkc", "nfkd") if "K" in form else ()
        sources = [row[name] for name in ("text", "nfc", "nfd", *compatible)]
        if any(prepared(source, unicode=form) != row[form.lower()] for source in sources):
            differs.add(row["text"])
    assert differs == NORMALIZATION_DIFFERS.get(unicodedata.unidata_version, set())


@needs_rows
def test_the_grapheme_break_rows() -> None:
    """A text has as many symbols as the row has clusters, and the same split, but for rows of another version."""
    differs = set()
    for row in ROWS["grapheme-break"]:
        table = SymbolTable()
        codes, _ = table.encode([row["text"]], grow=True)
        whole, offsets = table.encode(row["graphemes"], grow=True)
        if not np.array_equal(codes, whole) or list(offsets) != list(range(len(row["graphemes"]) + 1)):
            differs.add(row["text"])
    assert differs == (GRAPHEMES_DIFFER_FROM_17 if REGEX_HAS_17 else set())


@needs_rows
def test_every_emoji_sequence_is_one_symbol() -> None:
    """Families, flags, skin tones and keycaps count as one character, all different."""
    emoji = [row["text"] for row in ROWS["emoji"]]
    codes, offsets = SymbolTable().encode(emoji, grow=True)
    assert list(offsets) == list(range(len(emoji) + 1))
    assert len(set(codes.tolist())) == len(set(emoji)) == len(emoji)


@given(sample=st.lists(texts, max_size=5))
def test_code_points_are_those_of_the_strings(sample: list[str]) -> None:
    """One array and offsets, lone surrogates and NUL kept."""
    codes, offsets = code_points(sample)
    assert codes.dtype == np.int32
    assert [list(map(ord, text)) for text in sample] == [
        codes[start:stop].tolist() for start, stop in itertools.pairwise(offsets)
    ]


@given(sample=st.lists(texts, max_size=5))
def test_symbols_stand_for_clusters_one_to_one(sample: list[str]) -> None:
    """Equal clusters have equal symbols, different ones different; a single code point is its own symbol."""
    table = SymbolTable()
    codes, offsets = table.encode(sample, grow=True)
    clusters = [regex.findall(r"\X", text) for text in sample]
    assert offsets.tolist() == list(itertools.accumulate(map(len, clusters), initial=0))
    pairs = set(zip(codes.tolist(), itertools.chain.from_iterable(clusters), strict=True))
    assert len({symbol for symbol, _ in pairs}) == len({cluster for _, cluster in pairs}) == len(pairs)
    assert all(symbol == ord(cluster) for symbol, cluster in pairs if len(cluster) == 1)
    assert all(table.clusters[symbol - 0x110000] == cluster for symbol, cluster in pairs if len(cluster) > 1)


@given(known=st.lists(texts, max_size=4), more=st.lists(texts, max_size=4))
def test_a_table_made_again_from_its_clusters_encodes_alike(known: list[str], more: list[str]) -> None:
    """As a compiled set is saved and loaded; an unknown cluster is NO_SYMBOL, and the table stays as it was."""
    table = SymbolTable()
    table.encode(known, grow=True)
    again = SymbolTable.from_clusters(table.clusters)
    before = list(table.clusters)
    codes, offsets = table.encode(known + more, grow=False)
    codes_again, offsets_again = again.encode(known + more, grow=False)
    assert np.array_equal(codes, codes_again)
    assert np.array_equal(offsets, offsets_again)
    assert table.clusters == again.clusters == before


def test_an_unknown_cluster_matches_nothing() -> None:
    """With grow=False it is one symbol, NO_SYMBOL; its code points do not count one by one."""
    codes, _ = SymbolTable().encode(["ae\u0301", "\r\n", ""], grow=False)
    assert codes.tolist() == [ord("a"), NO_SYMBOL, NO_SYMBOL]


@pytest.mark.parametrize(
    "clusters", [["a"], [""], ["ab"], ["e\u0301", "e\u0301"], ["e\u0301e\u0301"], ["e\u0301", "\u0301"]]
)
def test_a_damaged_table_is_an_error(clusters: list[str]) -> None:
    """What is no cluster of several code points, or stands twice, cannot have been saved."""
    with pytest.raises(CompiledSetError, match=r"cluster \d of the symbol table is .* compile the references again"):
        SymbolTable.from_clusters(clusters)
