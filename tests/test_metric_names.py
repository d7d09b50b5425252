"""Metrics by name: "charsim(form=base)" and what is wrong with it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from refsim.errors import InputError
from refsim.metrics import make_metrics, metric_names, parse_metric
from refsim.metrics.bertscore import BERTScore
from refsim.metrics.charsim import Charsim
from refsim.text import Preparation

# Whatever a step may hold: what ends a step, a value or a signature, and what escapes it.
ANYTHING = st.text(st.sampled_from("\\;\"'|(),[]=nU{}$ \n\0é\u202e\ud800\U000e0001😀") | st.characters(), min_size=1)
STEPS = (
    st.builds("{}:{}".format, st.sampled_from(["after", "until"]), ANYTHING)
    | st.builds("line:x{}".format, ANYTHING)
    | st.builds("regex:({})".format, ANYTHING.map(re.escape))
    | st.sampled_from([r"regex:\d+", r"regex:(\\|;)\\", "regex:boxed", r"after:\\;", r"until:\n\n"])
)
METRICS = st.builds(
    Charsim,
    form=st.sampled_from(["main", "base", "median"]),
    max_order=st.none() | st.integers(1, 100),
    preparation=st.builds(
        Preparation,
        extract=st.lists(STEPS, max_size=3),
        no_extract=st.sampled_from(["keep", "empty", "error"]),
        unicode=st.sampled_from([None, "NFC", "NFD", "NFKC", "NFKD"]),
        casefold=st.booleans(),
        whitespace=st.sampled_from(["keep", "strip", "collapse", "remove"]),
        unit=st.sampled_from(["codepoint", "grapheme"]),
    ),
)


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("charsim", Charsim()),
        ("charsim()", Charsim()),
        (" charsim( form = base , max_order=4 ) ", Charsim(form="base", max_order=4)),
        ('charsim(form="median",)', Charsim(form="median")),
        ("charsim(max_order=none)", Charsim()),
        ("charsim(unicode=NFC, casefold)", Charsim(preparation=Preparation(unicode="NFC", casefold=True))),
        ("charsim(casefold=false, unit='grapheme')", Charsim(preparation=Preparation(unit="grapheme"))),
    ],
)
def test_a_name_with_parameters_is_a_metric(text: str, metric: Charsim) -> None:
    """Parameters of the metric and of the preparation stand side by side; a bare word is a flag."""
    assert parse_metric(text) == metric


@given(METRICS)
def test_the_short_name_of_a_metric_names_it(metric: Charsim) -> None:
    """What str() gives can be given back, versions of Unicode included."""
    assert parse_metric(str(metric)) == metric


# Names of models and files are anyone's, and some look like other values.
NAMES = ANYTHING | st.sampled_from(
    ["true", "None", "3", ".5", "...", "(1, 2)", "1e5", " a", "a ", "a b", "''", "'q'", "\"'", "a=b", "a,b", "C:\\new"]
)
SHARES = st.floats(-1, 1, exclude_max=True)


@given(
    st.fixed_dictionaries(
        {"model": NAMES},
        optional={
            "layer": st.just("auto") | st.integers(0, 100),
            "lang": st.sampled_from(["en", "en-sci", "none", "true"]),
            "idf": st.just("references"),
            "rescale": st.sampled_from([True]),
            "baseline": st.tuples(SHARES, SHARES, SHARES) | NAMES,
            "aggregate": st.just("mean"),
            "long_text": st.sampled_from(["window", "error"]),
            "special_tokens": st.just("parse"),
            "dtype": st.sampled_from(["float16", "int8"]),
            "preparation": st.builds(Preparation, extract=st.lists(STEPS, max_size=2), casefold=st.booleans()),
        },
    )
)
def test_the_short_name_of_bertscore_names_it(parameters: dict[str, Any]) -> None:
    """Whatever its model and its baseline are called; parameters that do not go together are refused, and no metric."""
    try:
        metric = BERTScore(**parameters)
    except InputError:
        reject()
    assert parse_metric(str(metric)) == metric
    assert "|" not in str(metric)
    assert str(metric).isprintable()


def test_backslashes_are_not_multiplied() -> None:
    """A pattern in a signature looks like one in Python: each backslash twice, as in any text between quotes."""
    metric = Charsim(preparation=Preparation(extract=[r"regex:\d+ kg", "until:;"]))
    assert str(metric) == r'charsim(extract="regex:\\d+ kg;until:\\;")'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("charsm", "no metric is called 'charsm'; did you mean charsim?"),
        ("comet", "no metric is called 'comet'; known are charsim"),
        ("charsim(frm=base)", "has no parameter 'frm'; did you mean form?"),
        ("charsim(preparation=x)", "has no parameter 'preparation'"),
        ("charsim(form=bas)", "form is 'bas'; expected"),
        ("charsim(max_order=x)", "max_order is 'x'; expected"),
        ("charsim(,)", "cannot read ','; expected key=value"),
        ("charsim(form=)", "cannot read 'form='"),
        ("charsim(form=base", "expected a name with parameters in brackets"),
        ("", "expected a name with parameters in brackets"),
    ],
)
def test_what_names_no_metric_is_an_error_that_says_why(text: str, message: str) -> None:
    """The message has the text, what is wrong in it, and the nearest right word."""
    with pytest.raises(InputError) as error:
        parse_metric(text)
    assert message in str(error.value)


def test_defaults_fill_what_the_text_leaves_out() -> None:
    """Options of the command line yield to parameters in brackets."""
    assert parse_metric("charsim(form=base)", {"form": "median", "max_order": 3}) == Charsim(form="base", max_order=3)


def test_metrics_go_by_their_short_names() -> None:
    """Names and metrics may be mixed; the order is kept."""
    assert make_metrics(["charsim(form=base)", Charsim()]) == {
        "charsim(form=base)": Charsim(form="base"),
        "charsim": Charsim(),
    }


@pytest.mark.parametrize("one", ["charsim", Charsim()])
def test_one_metric_needs_no_list(one: str | Charsim) -> None:
    """A name or a metric alone is a list of one."""
    assert list(make_metrics(one)) == ["charsim"]


def test_a_metric_given_twice_is_an_error() -> None:
    """Two columns cannot have one name."""
    with pytest.raises(InputError, match="charsim is given twice"):
        make_metrics(["charsim", Charsim()])


def test_no_metric_is_an_error() -> None:
    """An empty list is a slip, not a wish."""
    with pytest.raises(InputError, match="no metric is given"):
        make_metrics([])


def test_names_cost_nothing_before_they_are_used() -> None:
    """Listing the names loads neither a metric nor NumPy."""
    code = "import sys; from refsim.metrics import metric_names; metric_names(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert metric_names()[:3] == ("charsim", "bertscore", "bleu")
    assert not {"refsim.metrics.charsim", "refsim.metrics.bertscore", "refsim.metrics.peers", "numpy"} & set(loaded)
