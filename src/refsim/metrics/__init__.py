"""Metrics by name: "charsim(form=base, max_order=4)" -> Charsim(form="base", max_order=4).

    text  --parse-->  name, parameters  --_CONSTRUCTORS-->  the class, imported now  -->  a metric
                                        --entry points of the group refsim.metrics--^

A metric's module is imported when its name is first asked for, so that a name costs nothing before.
Names of parameters are the metric's own; those of `Preparation` may stand among them. Other packages add
metrics by entry points; the names here cannot be taken by them. docs/metrics.md shows one.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import importlib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import EntryPoint

    from refsim.metric import Metric
    from refsim.metrics._about import About as About
    from refsim.metrics._about import Need as Need

_PEERS: Final = "refsim.metrics.peers"
_CONSTRUCTORS: Final[Mapping[str, tuple[str, str]]] = {
    "charsim": ("refsim.metrics.charsim", "Charsim"),
    "bertscore": ("refsim.metrics.bertscore", "BERTScore"),
    "bleu": (_PEERS, "BLEU"),
    "chrf": (_PEERS, "CHRF"),
    "chrf++": (_PEERS, "CHRF"),
    "ter": (_PEERS, "TER"),
    "rouge": (_PEERS, "ROUGE"),
    "rouge1": (_PEERS, "ROUGE"),
    "rouge2": (_PEERS, "ROUGE"),
    "rougeL": (_PEERS, "ROUGE"),
    "rougeLsum": (_PEERS, "ROUGE"),
    "meteor": (_PEERS, "METEOR"),
    "char-f1": (_PEERS, "CharF1"),
    "pfgen": ("refsim.metrics.pfgen", "Pfgen"),
}
# Names of one metric with some parameters settled.
_SETTLED: Final[Mapping[str, Mapping[str, object]]] = {
    "chrf++": {"word_order": 2},
    **{name: {"variants": (name,)} for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")},
}
_GROUP: Final = "refsim.metrics"

_CALL = re.compile(r"\s*(?P<name>[^\s()]+)\s*(?:\((?P<parameters>.*)\)\s*)?", re.DOTALL)
# A value is quoted, or runs to the next comma. Versions of Unicode in square brackets, as str(metric) and
# signatures have them, are read over: the tables are those of this Python, whatever the text says.
_PARAMETER = re.compile(
    r"""\s*(?P<key>\w+)\s*(?:=\s*(?P<value>"[^"]*"|'[^']*'|[^,"'\[\]]*?)\s*)?(?:\[[^\[\]]*\]\s*)?(?:,|$)""",
)
_WORDS: Final[Mapping[str, object]] = {"true": True, "false": False, "none": None}


def __getattr__(name: str) -> object:
    """Load `About`, by which a metric of another package tells what it is, when somebody asks for it."""
    if name not in ("About", "Need"):
        raise AttributeError(f"module 'refsim.metrics' has no attribute {name!r}")
    return getattr(importlib.import_module("refsim.metrics._about"), name)


def metric_names() -> tuple[str, ...]:
    """Return the names that `parse_metric` knows: those of refsim, then those that other packages add."""
    return (*_CONSTRUCTORS, *(name for name in _entry_points() if name not in _CONSTRUCTORS))


def parse_metric(text: str, defaults: Mapping[str, object] | None = None) -> Metric:
    """Return the metric that a text such as "charsim(form=base)" names.

    `defaults` are parameters for those that the text leaves out; they must suit the metric. Raises InputError
    for an unknown name or parameter, with the nearest known one, and for a value that the metric refuses.
    """
    given: object = text
    match = _CALL.fullmatch(text) if isinstance(given, str) else None
    if match is None:
        raise InputError(f"metric {text!r}: expected a name with parameters in brackets, as in charsim(form=base)")
    constructor = find_constructor(match["name"])
    parameters = dict(_parse_parameters(text, match["parameters"] or ""))
    return _construct(text, match["name"], constructor, {**(defaults or {}), **parameters})


def metric_parameters(text: str) -> frozenset[str]:
    """Return the names of the parameters of the metric that a text names, those of its preparation among them."""
    match = _CALL.fullmatch(text)
    return frozenset(_known_parameters(match["name"], find_constructor(match["name"]))) if match else frozenset()


def metric_has_unit(text: str) -> bool:
    """Return whether a metric counts in the unit of its preparation; of refsim's own charsim alone does."""
    name = metric_name(text)
    return name == "charsim" or (name not in _CONSTRUCTORS and "unit" in metric_parameters(text))


def metric_name(text: str) -> str:
    """Return the name alone of the metric that a text names."""
    match = _CALL.fullmatch(text)
    return match["name"] if match else text


def make_metrics(metrics: Iterable[str | Metric] | str | Metric) -> dict[str, Metric]:
    """Return the metrics by their labels, which are their texts in short form: {"charsim(form=base)": Charsim(...)}.

    Raises InputError for a metric that is given twice, for its columns would have one name.
    """
    alone = isinstance(metrics, str) or hasattr(metrics, "measure") or not isinstance(metrics, Iterable)
    items = cast("Iterable[str | Metric]", [metrics] if alone else metrics)
    labelled: dict[str, Metric] = {}
    for item in items:
        # A class has `measure` too, but no parameters.
        made = hasattr(item, "measure") and not isinstance(item, type)
        metric = cast("Metric", item) if made else parse_metric(cast("str", item))
        if str(metric) in labelled:
            raise InputError(f"metric {metric} is given twice; name each once")
        labelled[str(metric)] = metric
    if not labelled:
        raise InputError(f"no metric is given; expected one or more of {', '.join(metric_names())}")
    return labelled


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" for the known word next to `word`, or the known words if none is near."""
    known = list(known)
    nearest = difflib.get_close_matches(word.lower(), known, n=1)
    return f"; did you mean {nearest[0]}?" if nearest else f"; known are {', '.join(known)}"


def origin(name: str) -> str:
    """Return the name of the package that a metric is from."""
    if name in _CONSTRUCTORS:
        return "refsim"
    point = _entry_points()[name]
    return point.dist.name if point.dist else point.module


def find_constructor(name: str) -> type[Any]:
    """Return the class of the metric of a name. Raises InputError for an unknown one, or one that cannot be loaded."""
    if name in _CONSTRUCTORS:
        module, attribute = _CONSTRUCTORS[name]
        constructor: type[Any] = getattr(importlib.import_module(module), attribute)
        return constructor
    added = _entry_points()
    if name not in added:
        raise InputError(f"no metric is called {name!r}{did_you_mean(name, metric_names())}")
    return _load_added(added[name])


def _entry_points() -> dict[str, EntryPoint]:
    """Return what other packages add, by name; of two with one name the first."""
    from importlib.metadata import entry_points  # noqa: PLC0415  it takes 10 ms, and most names are refsim's own

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=_GROUP), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, point)
    return found


def _load_added(point: EntryPoint) -> type[Any]:
    """Return the metric's class of another package; whatever goes wrong there is an InputError that names it."""
    whose = f"metric {point.name!r}, which {point.dist.name if point.dist else 'a package'} adds as {point.value},"
    try:
        constructor = point.load()
    except Exception as error:  # other people's code
        raise InputError(f"{whose} cannot be loaded: {type(error).__name__}: {error}") from error
    if not (isinstance(constructor, type) and dataclasses.is_dataclass(constructor)):
        raise InputError(f"{whose} is {constructor!r}; expected a dataclass with measure, finish and finish_total")
    return constructor


def _parse_parameters(text: str, parameters: str) -> Iterator[tuple[str, object]]:
    position = 0
    while position < len(parameters):
        match = _PARAMETER.match(parameters, position)
        if match is None or match["value"] == "":
            raise InputError(
                f"metric {text!r}: cannot read {parameters[position:].strip()!r}; "
                "expected key=value, separated by commas, as in charsim(form=base, max_order=4)"
            )
        yield match["key"], read_value(match["value"])
        position = match.end()


def read_value(value: str | None) -> object:
    """Return the value of a parameter that is written so: true, none, 3, 'text', text; of none at all, True."""
    if value is None:
        return True  # a bare word is a flag: charsim(casefold)
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def _construct(text: str, name: str, constructor: type[Any], parameters: Mapping[str, object]) -> Metric:
    from refsim.extraction import parse_steps  # noqa: PLC0415  as text
    from refsim.text import Preparation  # noqa: PLC0415  text loads numpy, which a list of names does not need

    known = _known_parameters(name, constructor)
    for key in parameters:
        if key not in known:
            raise InputError(f"metric {text!r} has no parameter {key!r}{did_you_mean(key, known)}")
    own = {field.name for field in dataclasses.fields(constructor)}
    arguments = {key: value for key, value in parameters.items() if key in own} | dict(_SETTLED.get(name, {}))
    if isinstance(parameters.get("extract"), str):
        parameters = {**parameters, "extract": parse_steps(str(parameters["extract"]))}
    if settings := {key: value for key, value in parameters.items() if key not in own}:
        arguments["preparation"] = Preparation(**settings)  # type: ignore[arg-type]  # it checks its values itself
    metric: Metric = constructor(**arguments)
    return metric


def _known_parameters(name: str, constructor: type[Any]) -> list[str]:
    """Return the names of a metric's parameters, sorted; a preparation goes by the names of its own."""
    from refsim.text import Preparation  # noqa: PLC0415  as above

    own = {field.name for field in dataclasses.fields(constructor)}
    preparing = {field.name for field in dataclasses.fields(Preparation)} if "preparation" in own else set()
    return sorted((own | preparing) - {"preparation", *_SETTLED.get(name, {})})
