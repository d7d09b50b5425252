"""Imports point one way, and light commands load nothing heavy.

readers, segments, text  ->  metrics  ->  results  ->  analysis  ->  output  ->  cli
"""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = ROOT / "src" / "refsim"

# What each part may import. A part is a module or a package directly below refsim; a new one needs its line here.
BASE = {"errors", "_version"}
FILES = {"_atomic", "_columns"}  # how files are replaced, and columns become JSON lines or Arrow
MAY_IMPORT = {
    "errors": set[str](),
    "_version": set[str](),
    "_numbers": BASE,
    "_printable": set[str](),
    "_atomic": BASE,
    "_columns": BASE | {"_atomic"},
    "whitespace": set[str](),
    "extraction": BASE | {"whitespace"},
    "text": BASE | {"extraction", "whitespace"},
    "segments": BASE | {"_numbers"},
    "readers": BASE | {"_numbers", "segments"},
    "metric": BASE | {"segments"},
    "metrics": BASE | {"_atomic", "_numbers", "_printable", "extraction", "segments", "text", "metric"},
    "compiled": BASE | FILES | {"segments", "text", "metric", "metrics"},
    "results": BASE | FILES | {"segments", "metric"},
    "run": BASE | {"extraction", "segments", "readers", "text", "metric", "metrics", "compiled", "results"},
    "analysis": BASE | FILES | {"segments", "text", "metric", "metrics", "results"},
    "output": BASE | FILES | {"_printable", "segments", "text", "metrics", "results", "analysis"},
}
TOPS = {"cli", "compat", "demo", "__init__", "__main__"}  # these see everything

HEAVY = {"torch", "transformers", "sacrebleu", "pandas", "pyarrow"}


def modules() -> dict[str, Path]:
    """Map "metrics.charsim" to its file; a package goes by its own name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


MODULES = modules()


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(node: ast.AST, *, everywhere: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports below a node; unless `everywhere`, those alone that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif everywhere or not (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or is_for_types(child)):
            yield from imports(child, everywhere=everywhere)


def imported(module: str, *, everywhere: bool) -> set[str]:
    """Return the modules of refsim that a module imports, longest known names."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in imports(tree, everywhere=everywhere):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert not node.level, f"{module}: absolute imports only"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {known for name in names if (known := longest_known(name)) and known != module}


def longest_known(name: str) -> str:
    """Map "refsim.metrics.charsim.Charsim" to "metrics.charsim", "refsim.charsim" to "__init__", others to ""."""
    if name.split(".", maxsplit=1)[0] != "refsim":
        return ""
    parts = name.split(".")[1:]
    while parts and ".".join(parts) not in MODULES:
        parts.pop()
    return ".".join(parts) or "__init__"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_part_may_see(module: str) -> None:
    """Imports inside functions count too: a late import that walks back up is still a way back up."""
    part = module.split(".", maxsplit=1)[0]
    if part in TOPS:
        return
    assert part in MAY_IMPORT, f"refsim.{part} is new: give it a line in MAY_IMPORT"
    parts = {name.split(".")[0] for name in imported(module, everywhere=True)}
    assert parts <= MAY_IMPORT[part] | {part}


def test_no_module_needs_itself_to_be_imported() -> None:
    """The graph of imports that run at import has no cycle."""
    graph = {module: imported(module, everywhere=False) for module in MODULES}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def loaded_after(code: str) -> set[str]:
    """Run Python code in a new interpreter and return the top-level modules it has loaded at the end."""
    code = f"import atexit, sys; atexit.register(lambda: print('\\n' + ' '.join(sys.modules)))\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_importing_refsim_loads_nothing_heavy() -> None:
    """`import refsim` is cheap."""
    assert not loaded_after("import refsim") & HEAVY


def test_every_public_name_is_there_once() -> None:
    """`__all__`, which ruff keeps sorted, has no repetition, and each of its names can be had."""
    import refsim  # noqa: PLC0415  # the other tests here must run where it cannot be imported

    assert len(refsim.__all__) == len(set(refsim.__all__))
    assert all(hasattr(refsim, name) for name in refsim.__all__)
    assert set(refsim.__all__) <= set(dir(refsim))


def test_scoring_lists_of_strings_needs_no_arrow() -> None:
    """A reward function pays for no column store."""
    assert not loaded_after("import refsim; refsim.Charsim().score_batch(['a'], [['a']])") & HEAVY


def test_the_version_is_told_without_numbers_or_frameworks() -> None:
    """`refsim --version` loads not even NumPy, so it answers in the time Python takes to start."""
    loaded = loaded_after("import sys; sys.argv = ['refsim', '--version']; from refsim.cli import main; main()")
    assert not loaded & (HEAVY | {"numpy", "cyclopts", "rich", "cython", "Cython"})
