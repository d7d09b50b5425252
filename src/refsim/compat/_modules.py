"""A package that is not there, put in its place: its modules in sys.modules, its version among the installed ones.

functions  --install_modules-->  bert_score, bert_score.score, bert_score.scorer, bert_score.utils
"""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Final

from refsim._version import __version__
from refsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

# The release whose interface this is, for those who ask bert_score.__version__ before they call it.
VERSION: Final = "0.3.13"
_NAME, _PROJECT = "bert_score", "bert-score"
_OURS: Final = "__refsim__"


def install_modules(own: Mapping[str, object], utils: Mapping[str, object], *, force: bool) -> ModuleType:
    """Register the package and its modules, and return the package. Raises InputError if another one is imported."""
    known = sys.modules.get(_NAME)
    if known is not None and hasattr(known, _OURS):
        return known
    if known is not None and not force:
        raise InputError(
            f"{_NAME} is imported already, from {getattr(known, '__file__', 'somewhere')}; install() first, or "
            "install(force=True) to replace it in what imports it from now on"
        )
    package = _module(_NAME, {**own, "__version__": VERSION, "__all__": sorted(own), "__path__": []})
    parts = {
        "score": _module(f"{_NAME}.score", own),
        "scorer": _module(f"{_NAME}.scorer", own),
        "utils": _module(f"{_NAME}.utils", utils),
    }
    # As there, the name `score` is the function in the package and the module in sys.modules.
    package.__dict__.update({name: part for name, part in parts.items() if name not in own})
    for name in [name for name in sys.modules if name == _NAME or name.startswith(f"{_NAME}.")]:
        del sys.modules[name]
    sys.modules |= {_NAME: package, **{part.__name__: part for part in parts.values()}}
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
    return package


def _module(name: str, contents: Mapping[str, object]) -> ModuleType:
    module = ModuleType(name, f"refsim {__version__} in the place of {name}.")
    # Some look for a package by its spec before they import it.
    module.__spec__ = ModuleSpec(name, None, is_package=name == _NAME)
    module.__dict__.update({**contents, _OURS: __version__})
    return module


class _Distribution(metadata.Distribution):
    """What `importlib.metadata.version("bert-score")` reads."""

    def read_text(self, filename: str) -> str | None:
        """Return the metadata; there is no other file."""
        return f"Metadata-Version: 2.1\nName: {_PROJECT}\nVersion: {VERSION}\n" if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        """Raise, for no file belongs to it."""
        raise FileNotFoundError(path)


class _Finder(metadata.DistributionFinder):
    """Finds the package's version, after all that is really installed, and imports nothing."""

    def find_spec(self, *_: object) -> None:
        """Return None: the modules are in sys.modules."""
        return

    def find_distributions(
        self, context: metadata.DistributionFinder.Context | None = None
    ) -> Iterable[metadata.Distribution]:
        """Yield the distribution where its name is asked for."""
        name = "" if context is None or context.name is None else context.name
        if name.lower().replace("_", "-") == _PROJECT:
            yield _Distribution()
