"""The kernel that runs here: compiled where the package was built with a C compiler, else interpreted.

`REFSIM_KERNEL=interpreted` asks for the interpreted one, to test it or to step through it.
"""

from __future__ import annotations

import os
import warnings
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import TYPE_CHECKING

from refsim.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

_CHOICES = ("auto", "compiled", "interpreted")


class InterpretedKernelWarning(RuntimeWarning):
    """charsim runs without its compiled kernel: the numbers are the same, the speed is not."""


def interpreted() -> ModuleType:
    """Return the kernel's own source, loaded as plain Python, beside the compiled one."""
    source = Path(__file__).with_name("_automaton.py")
    loader = SourceFileLoader("refsim.metrics._automaton_interpreted", str(source))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None  # noqa: S101 - a loader was given, so there is a spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _load() -> ModuleType:
    choice = os.environ.get("REFSIM_KERNEL", "auto")
    if choice not in _CHOICES:
        message = f"REFSIM_KERNEL is {choice!r}; expected one of {', '.join(_CHOICES)}"
        raise InputError(message)
    if choice == "interpreted":
        return interpreted()
    from refsim.metrics import _automaton  # noqa: PLC0415 - the interpreted one must not load first

    if not _automaton.compiled():
        if choice == "compiled":
            message = (
                "REFSIM_KERNEL is 'compiled' but this installation has no compiled kernel; "
                "install a C compiler and reinstall refsim"
            )
            raise InputError(message)
        warnings.warn(
            "kernel-interpreted: no compiled kernel in this installation, so charsim runs some 25 to 400 times slower "
            "(the numbers are the same); install a C compiler and reinstall refsim",
            InterpretedKernelWarning,
            stacklevel=2,
        )
    return _automaton


kernel = _load()
