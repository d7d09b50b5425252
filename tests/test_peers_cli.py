"""`refsim metrics`, several metrics in one command, and metrics that other packages add."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

import refsim
from commands import on_terminal, run
from refsim.errors import InputError
from refsim.metrics import About, find_constructor, metric_names, parse_metric
from shared import ROOT, shared_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.importorskip("sacrebleu", reason="the extra peers is not installed")

ROWS = [
    {"id": "1", "system": "A", "candidate": "吾輩は猫だ", "references": ["吾輩は猫である"], "target": "ja"},
    {"id": "2", "system": "A", "candidate": "我是猫", "references": ["我是一只猫"], "target": "zh"},
    {"id": "1", "system": "B", "candidate": "吾輩は犬", "references": ["吾輩は猫である"], "target": "ja"},
    {"id": "2", "system": "B", "candidate": "猫", "references": ["我是一只猫"], "target": "zh"},
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Write rows in two languages, the column of which has another name."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what installs a package of one module: `add(code, name="refsim_length:Length")`."""
    place = tmp_path / "site"
    info = place / "refsim_length-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: refsim-length\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("PYTHONPATH", str(place))

    def add(code: str, **points: str) -> None:
        (place / "refsim_length.py").write_text(code)
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[refsim.metrics]\n{lines}")
        importlib.invalidate_caches()

    yield add
    sys.modules.pop("refsim_length", None)


def documented(fence: str, word: str) -> str:
    """Return the first block of docs/metrics.md of a language that holds a word."""
    blocks = re.findall(
        rf"^```{fence}\n(.*?)^```", (ROOT / "docs/metrics.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return next(str(block) for block in blocks if word in block)


# refsim metrics


def test_every_metric_is_listed_in_80_columns() -> None:
    """By its name, in the order of the registry."""
    done = run("metrics")
    assert max(map(cell_len, done.out.splitlines())) <= 80
    assert tuple(re.findall(r"^(\S+)", done.out, re.MULTILINE)) == metric_names()
    assert {"bleu", "chrf++", "ter", "rougeLsum", "meteor", "char-f1", "pfgen"} <= set(metric_names())


def test_as_json_each_metric_is_an_object() -> None:
    """What it is, its range, unit and direction, languages, needs, and whether those are installed."""
    records = json.loads(run("metrics", "--json").out)
    assert tuple(record["name"] for record in records) == metric_names()
    for record in records:
        about = [record[key] for key in ("what", "unit", "languages")]
        assert all(isinstance(text, str) and text for text in about)
        assert record["lowest"] in (0, -1)
        assert record["highest"] in (1, 100, None)
        assert record["higher_is_better"] is (record["name"] != "ter")
        assert isinstance(record["installed"], bool)
        assert all(need["get"] for need in record["needs"])


@pytest.mark.parametrize("name", metric_names())
def test_the_direction_told_is_that_of_the_tables(name: str) -> None:
    """What is said to be better stands first."""
    (record,) = (one for one in json.loads(run("metrics", "--json").out) if one["name"] == name)
    assert getattr(find_constructor(name), "higher_is_better", True) is record["higher_is_better"]


def test_one_name_means_two_measures() -> None:
    """char-f1, and it is said."""
    text = " ".join(run("metrics").out.split())
    assert "Two measures of Japanese benchmarks go by this name" in text
    assert "token_sort_ratio after NFKC; with variant=ratio, ratio of the texts as they are" in text


def test_what_is_not_installed_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, and for WordNet a command."""
    monkeypatch.setattr("refsim.metrics._about.find_spec", lambda _: None)
    out = " ".join(run("metrics").out.split())
    assert 'needs sacrebleu: not installed; pip install "refsim[peers]"' in out
    assert 'needs torch and transformers: not installed; pip install "refsim[bertscore]"' in out
    assert "needs WordNet: not installed; python -m nltk.downloader wordnet, or set NLTK_DATA" in out
    installed = {one["name"]: one["installed"] for one in json.loads(run("metrics", "--json").out)}
    assert [name for name, there in installed.items() if there] == ["charsim", "pfgen"]


def test_mecab_is_for_japanese_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLEU of other languages is there without it."""
    monkeypatch.setattr("refsim.metrics._about.find_spec", lambda name: None if name == "MeCab" else object())
    (bleu,) = (one for one in json.loads(run("metrics", "--json").out) if one["name"] == "bleu")
    assert bleu["installed"]
    assert {need["name"]: need["installed"] for need in bleu["needs"]} == {
        "sacrebleu": True, "MeCab": False, "mecab-ko": True,
    }  # fmt: skip


def test_wordnet_is_found_where_nltk_data_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And not found elsewhere."""
    pytest.importorskip("nltk")
    monkeypatch.setattr("nltk.data.path", [])
    monkeypatch.setenv("NLTK_DATA", str(shared_data("nltk-wordnet")))
    assert "needs nltk, WordNet: installed" in run("metrics").out
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert "needs WordNet: not installed" in run("metrics").out


def test_the_list_loads_no_model_and_no_metric() -> None:
    """It looks for modules, and imports none but nltk, which knows where WordNet is."""
    code = "import sys; from refsim.cli import main; main(['metrics']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not {"torch", "transformers", "sacrebleu", "rouge_score", "MeCab"} & loaded


# Several metrics in one command


def test_three_metrics_fit_80_columns(rows: Path) -> None:
    """On a terminal, with one column a variant of ROUGE; the systems of each from best to worst."""
    metrics = ["bleu", "chrf", "ter(normalized,asian_support)", "rouge(tokenizer=char)"]
    shown = on_terminal("score", rows, *(word for name in metrics for word in ("-m", name)), "--lang", "target")
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert re.findall(r"^([AB]) ", shown, re.MULTILINE) == ["A", "B"] * 4
    assert "rougeLsum" in shown


def test_the_column_of_the_language_is_followed(rows: Path) -> None:
    """Each row with its tokeniser, and both in the signature."""
    done = run("score", rows, "-m", "bleu", "--lang", "target", "--json")
    systems = {row["system"]: row for row in json.loads(done.out)["systems"]}
    assert "|tok:ja-mecab-0.996-IPA+zh|" in systems["A"]["signature"]
    assert not done.err
    without = run("score", rows, "-m", "bleu", "--json")
    assert "|tok:13a|" in json.loads(without.out)["systems"][0]["signature"]
    assert "a text without spaces between words was split at spaces in 4 rows" in without.err


def test_a_language_for_bertscore_is_bleus_too(rows: Path) -> None:
    """And brings no model to metrics that have none."""
    done = run("score", rows, "-m", "bleu", "-m", "chrf", "--model-lang", "ja")
    assert done.out.startswith("bleu(lang=ja)|case:mixed|eff:no|tok:ja-mecab")
    assert "--model-lang: none of chrf has it" in run("score", rows, "-m", "chrf", "--model-lang", "ja").err


def test_the_unit_of_counting_is_for_charsim(rows: Path) -> None:
    """Other metrics are scored beside it, in units of their own."""
    done = run("score", rows, "-m", "charsim", "-m", "chrf", "--unit", "grapheme")
    assert done.out.startswith("charsim(unit=grapheme")
    assert "\nchrf|case" in done.out
    assert "--unit: chrf counts no characters" in run("score", rows, "-m", "chrf", "--unit", "grapheme").err


# Metrics of other packages


def test_the_documented_metric_is_added_by_its_entry_point(add: Callable[..., None], rows: Path) -> None:
    """In a list, with its parameters, in a table and on the command line."""
    assert documented("toml", "entry-points").splitlines()[1] == 'length = "refsim_length:Length"'
    add(documented("python", "class Length"), length="refsim_length:Length")
    assert metric_names()[-1] == "length"
    results = refsim.evaluate(ROWS, ["length", "charsim"])
    assert results.systems["A"].scores == {"length": pytest.approx((5 / 7 + 3 / 5) / 2)}
    assert results.systems["A"].signature == "length|refsim-length:1.0"
    assert "length|refsim-length:1.0\nsystem" in run("score", rows, "-m", "length").out
    listed = run("metrics").out
    assert "length       Characters of the candidate for each character of its first" in listed
    assert "from the package refsim-length" in listed


def test_a_metric_tells_what_it_is() -> None:
    """By an attribute, in the words of the list."""
    about = About(what="Edits.", highest=None, unit="edits", higher_is_better=False, languages="all")
    assert (about.range, about.record()["highest"], about.record()["installed"]) == ("from 0 on", None, True)


TOLD = """
from dataclasses import dataclass
from refsim.metrics import About
@dataclass(frozen=True)
class Length:
    "Not this line."
    about = About(what="Told by itself.", highest=7, unit="days", higher_is_better=False)
    order: int = 1
"""


def test_about_of_another_package_is_listed(add: Callable[..., None]) -> None:
    """In the place of its docstring."""
    add(TOLD, **{"a-name-that-is-long": "refsim_length:Length"})
    listed = run("metrics").out
    assert "\na-name-that-is-long\n             Told by itself.\n             0 to 7 (days), lower is better" in listed
    with pytest.raises(InputError, match="has no parameter 'ordre'; did you mean order"):
        parse_metric("a-name-that-is-long(ordre=1)")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "import nothing_of_that_name",
            "cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_that_name'",
        ),
        ("1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("def Length(): pass", "expected a dataclass with measure, finish and finish_total"),
    ],
)
def test_a_metric_that_cannot_be_loaded_is_an_error_of_its_own(
    add: Callable[..., None], code: str, message: str
) -> None:
    """It is named with its package; others are listed and work as before."""
    add(code, length="refsim_length:Length")
    with pytest.raises(InputError) as error:
        parse_metric("length")
    assert "metric 'length', which refsim-length adds as refsim_length:Length," in str(error.value)
    assert message in str(error.value)
    done = run("metrics", "--json")
    assert message in json.loads(done.out)[-1]["error"]
    assert done.code == 0
    assert run("metrics").code == 0


def test_names_of_refsim_cannot_be_taken(add: Callable[..., None]) -> None:
    """A package that tries is not even loaded."""
    add("raise SystemExit", charsim="refsim_length:Length")
    metric: Any = parse_metric("charsim")
    assert metric.score("a", ["a"]) == 1
    assert metric_names().count("charsim") == 1
