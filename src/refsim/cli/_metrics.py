"""`refsim metrics`: every metric by its name, with what it is, its range and direction, and what it needs."""

import sys
import textwrap
from typing import Annotated

from refsim._columns import json_for
from refsim._printable import printable
from refsim.cli._options import OUTPUT, option
from refsim.metrics._about import About, describe_metrics

_WIDTH = 80
_INDENT = 13


def metrics(
    *, json: Annotated[bool, option(OUTPUT, "Print JSON instead: a list with an object for each metric.")] = False
) -> None:
    """List the metrics that --metric takes, those of other packages too, and what each needs."""
    described = list(describe_metrics())
    if json:
        records = [
            {"name": name, "package": package, **({"error": about} if isinstance(about, str) else about.record())}
            for name, package, about in described
        ]
        sys.stdout.write(json_for(sys.stdout, records) + "\n")
        return
    for name, package, about in described:
        sys.stdout.write(_block(name, package, about) + "\n")


def _block(name: str, package: str, about: About | str) -> str:
    """Return the lines of one metric: its name and what it is, then the rest, below each other in 80 columns."""
    paragraphs = [about] if isinstance(about, str) else [about.what, *_facts(about)]
    if package != "refsim":
        paragraphs.append(f"from the package {package}")
    lines = [
        line for text in paragraphs for line in textwrap.wrap(printable(text), _WIDTH - _INDENT, break_on_hyphens=False)
    ]
    # A name may be longer than the space for it, and is not cut.
    first = f"{printable(name):<{_INDENT - 1}} "
    if len(first) > _INDENT:
        return textwrap.indent("\n".join(lines), " " * _INDENT).join([f"{first.rstrip()}\n", ""])
    return first + textwrap.indent("\n".join(lines), " " * _INDENT)[_INDENT:]


def _facts(about: About) -> list[str]:
    direction = "higher is better" if about.higher_is_better else "lower is better"
    facts = [f"{about.range} ({about.unit}), {direction}; languages: {about.languages}"]
    named = [(f"{need.name} for {need.only_for}" if need.only_for else need.name, need) for need in about.needs]
    if here := [name for name, need in named if need.installed]:
        facts.append(f"needs {', '.join(here)}: installed")
    return facts + [f"needs {name}: not installed; {need.get}" for name, need in named if not need.installed]
