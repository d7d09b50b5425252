"""The package as users get it: sdist and wheel in empty environments, with a C compiler and without.

tracked files -> sdist -> wheel -> empty venv -> scores
                       -> pip install without a compiler -> the same scores, and one warning
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PARTS = ("src", "tests", "docs", "examples", "benchmarks")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md")
BUILT = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.egg-info")
SCORE = "import refsim; print(refsim.charsim('the cat sat', ['the cat sat on the mat', 'a cat sat']).hex())"
NO_COMPILER = {"CC": "/nonexistent/cc", "PATH": "/nonexistent"}


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed; what it said is shown if it does not."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REFSIM", "CFLAGS"))}
    done = subprocess.run(
        command, cwd=cwd, env=clean | environment, capture_output=True, encoding="utf-8", check=False, timeout=600
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder outside the project: nothing is found by accident of where one stands."""
    return tmp_path_factory.mktemp("package")


@pytest.fixture(scope="module")
def sdist(place: Path) -> Path:
    """Build the sdist from a copy of the sources, without anything that is already built."""
    source = place / "source"
    for part in PARTS:
        shutil.copytree(ROOT / part, source / part, ignore=BUILT)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", place, source, cwd=place)
    return next(place.glob("refsim-*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(place: Path, sdist: Path) -> Path:
    """Build the wheel from the sdist, as a package index does."""
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    source = next((place / "unpacked").iterdir())
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", place, source, cwd=place)
    return next(place.glob("refsim-*.whl"))


def environment(place: Path, name: str) -> Path:
    """Make an empty virtual environment and return its programs' folder."""
    run(sys.executable, "-m", "venv", place / name, cwd=place)
    return place / name / ("Scripts" if os.name == "nt" else "bin")


def install(programs: Path, what: Path, cwd: Path, **variables: str) -> None:
    constraints = ROOT / "constraints.txt"
    quiet = ("--quiet", "--disable-pip-version-check")
    run(programs / "python", "-m", "pip", "install", *quiet, "-c", constraints, what, cwd=cwd, **variables)


def test_the_sdist_holds_sources_tests_and_data_and_nothing_built(sdist: Path) -> None:
    """Whoever packages refsim can build and test it from the sdist alone."""
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {"setup.py", "LICENSE", "README.md", "src/refsim/py.typed", "src/refsim/metrics/_automaton.py"}
    wanted |= {"tests/conftest.py", "examples/answers.tsv", "docs/messages.md"}
    assert wanted <= names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".c", ".pyc"))]


def test_the_wheel_holds_the_kernel_compiled_and_as_source(wheel: Path) -> None:
    """Both are there, with the types' marker, the demo data and the licence; tests are not."""
    names = zipfile.ZipFile(wheel).namelist()
    kernel = [name for name in names if name.startswith("refsim/metrics/_automaton.")]
    assert len(kernel) == 2
    assert "refsim/metrics/_automaton.py" in kernel
    assert {"refsim/py.typed", "refsim/demo/demo.jsonl"} <= set(names)
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert all(name.startswith(("refsim/", "refsim-")) for name in names)


def test_the_wheel_scores_in_an_empty_environment(wheel: Path, place: Path) -> None:
    """The library, the command and the version work with nothing but what the wheel asks for."""
    programs = environment(place, "from-wheel")
    install(programs, wheel, place)
    done = run(programs / "python", "-W", "error", "-c", SCORE, cwd=place)
    assert 0.3 < float.fromhex(done.stdout.strip()) < 1
    version = run(programs / "refsim", "--version", cwd=place).stdout
    assert version.split()[-1] == wheel.name.split("-")[1]
    arguments = (ROOT / "examples/hyp.txt", "--references", ROOT / "examples/ref1.txt")
    assert "charsim" in run(programs / "refsim", "score", *arguments, cwd=place).stdout


def test_without_a_compiler_the_sdist_installs_warns_once_and_scores_the_same(sdist: Path, place: Path) -> None:
    """Every bit of the score is that of the compiled kernel; the warning says how much slower this is."""
    programs = environment(place, "no-compiler")
    install(programs, sdist, place, **NO_COMPILER)
    twice = f"{SCORE}\n{SCORE}"
    done = run(programs / "python", "-c", twice, cwd=place)
    here = run(sys.executable, "-c", SCORE, cwd=place)
    assert done.stdout == here.stdout * 2
    warnings = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert len(warnings) == 1
    assert "slower" in warnings[0]
    assert "interpreted" in warnings[0]
    arguments = (ROOT / "examples/hyp.txt", "--references", ROOT / "examples/ref1.txt")
    assert "charsim" in run(programs / "refsim", "score", *arguments, cwd=place).stdout
