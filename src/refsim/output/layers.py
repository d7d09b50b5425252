"""The agreement of layers with people, as a table with bars that fits 80 columns, and as a chart.

Tuning  --print_layers-->  terminal, pipe
        --write_chart-->   SVG, drawn by Vega-Lite (vl-convert-python, the extra report)
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from refsim._atomic import replacing
from refsim._printable import printable
from refsim.analysis.layers import MEASURES, STATISTICS
from refsim.errors import MissingExtra
from refsim.output.bars import rule
from refsim.output.page import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refsim.analysis.layers import LayerRow, Tuning

_BAR: Final = 12
_TITLES: Final = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
_SHORT: Final = {"precision": "P", "recall": "R", "f1": "F1"}
_NO_NUMBER: Final = "-"


def print_layers(tuning: Tuning, about: Sequence[str], use: str, file: IO[str]) -> None:
    """Print what was compared, a row for each layer, the groups of the best, and how the best is used."""
    page = Page(file)
    for text in about:
        page.sentence(printable(text))
    page.line()
    heads = "  ".join(f"{_TITLES[name]:<17}" for name in STATISTICS)
    names = "  ".join(" ".join(f"{_SHORT[measure]:>5}" for measure in MEASURES) for _ in STATISTICS)
    page.line((f"       {heads}", "bold"))
    page.line((f"layer  {names}  F1, {_TITLES[tuning.statistic]}", "bold"))
    highest = tuning.best.values["f1"][tuning.statistic] or 0.0
    for row in tuning.rows:
        _print_row(page, row, tuning, highest)
    if tuning.groups:
        _print_groups(page, tuning)
    page.line()
    page.line((f"the best is layer {tuning.best.layer}; use it with", ""))
    page.line((f"  {printable(use)}", "bold"))


def _print_row(page: Page, row: LayerRow, tuning: Tuning, highest: float) -> None:
    best = row is tuning.best
    style = "bold" if best else ""
    cells = "  ".join(
        " ".join(f"{_number(row.values[measure][name]):>5}" for measure in MEASURES) for name in STATISTICS
    )
    value = row.values["f1"][tuning.statistic]
    # From 0, or the bars would show differences that are not there; the best fills its track.
    share = max(0.0, min(1.0, value / highest)) if value is not None and highest > 0 else 0.0
    mark = "*" if best else " "
    page.line((f"{row.layer:>4}{mark}  {cells}  ", style), *rule(page, share, _BAR))


def _print_groups(page: Page, tuning: Tuning) -> None:
    best = tuning.best.layer
    page.heading(f"layer {best} by group", f"F1, {_TITLES[tuning.statistic]}; in brackets the group's own best layer")
    items = []
    for group in tuning.groups:
        own = max(range(len(group.f1)), key=lambda layer: (_order(group.f1[layer]), -layer))
        items.append([(f"{printable(group.name)} {_number(group.f1[best])} ({own})", "")])
    page.flow(items)


def _order(value: float | None) -> float:
    return -2.0 if value is None else value


def _number(value: float | None) -> str:
    """Return a correlation as ".634"; three digits are more than people's judgements hold."""
    return _NO_NUMBER if value is None else f"{value:.3f}".replace("0.", ".", 1)


def write_chart(path: str, tuning: Tuning, title: str) -> None:
    """Write the curves as an SVG file. Raises MissingExtra without vl-convert-python."""
    convert = load_converter()
    svg: str = convert.vegalite_to_svg(chart(tuning, title))
    with replacing(path) as file:
        file.write(svg.encode())


def load_converter() -> Any:  # noqa: ANN401  a module
    """Return vl_convert, or raise MissingExtra; called before the work that a chart shows."""
    try:
        import vl_convert  # noqa: PLC0415  for one option alone
    except ImportError as error:
        raise MissingExtra("--plot", "vl-convert-python", "report") from error
    return vl_convert


def chart(tuning: Tuning, title: str) -> dict[str, Any]:
    """Return the Vega-Lite chart: groups as thin lines, each measure in a colour, the best as a point."""
    curves = [
        {"layer": layer, "agreement": value, "of": {"f1": "F1"}.get(measure, measure)}
        for measure in MEASURES
        for layer, value in enumerate(tuning.curve(measure))
    ]
    groups = [
        {"layer": layer, "agreement": value, "group": group.name}
        for group in tuning.groups
        for layer, value in enumerate(group.f1)
    ]
    best = {"layer": tuning.best.layer, "agreement": tuning.best.values["f1"][tuning.statistic]}
    across = {"field": "layer", "type": "quantitative", "axis": {"tickMinStep": 1, "format": "d", "grid": False}}
    up = {"field": "agreement", "type": "quantitative", "scale": {"zero": False}}
    up["title"] = f"{_TITLES[tuning.statistic]} with people"
    colour = {"field": "of", "type": "nominal", "title": None, "sort": ["F1", "precision", "recall"]}
    plain = {"x": across, "y": up}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": title,
        "width": 480,
        "height": 280,
        "layer": [
            {
                "data": {"values": groups},
                "mark": {"type": "line", "color": "#bbbbbb", "strokeWidth": 1},
                "encoding": plain | {"detail": {"field": "group", "type": "nominal"}},
            },
            {"data": {"values": curves}, "mark": {"type": "line"}, "encoding": plain | {"color": colour}},
            {"data": {"values": [best]}, "mark": {"type": "point", "filled": True, "size": 90}, "encoding": plain},
        ],
    }
