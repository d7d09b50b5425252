"""Documentation is run: every Python and shell example with its output, every link, every warning's line.

Fenced blocks and what is done with them:

    python    run, the blocks of a page in one namespace; with >>> the output is compared, otherwise the output
              is compared with a block `text` that follows at once
    console   each line "$ command" is run by a shell, what follows it is its output
    others    read only

A line "..." stands for any lines, "..." within a line for any text. Pages run in a folder of their own that holds
a copy of examples/.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from refsim.results import NOTICES
from shared import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
ALL_PAGES = sorted({*PAGES, *ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *(ROOT / "tests").rglob("*.md")})
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SLUG = re.compile(r"\(f?['\"]([a-z]+(?:-[a-z]+)+): ")


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, its 1-based line, and the text of an output block right after it."""

    language: str
    text: str
    line: int
    output: str | None


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    result = []
    for at, match in enumerate(found):
        after = found[at + 1] if at + 1 < len(found) else None
        follows = after and after[1] == "text" and not text[match.end() : after.start()].strip()
        line = text.count("\n", 0, match.start()) + 1
        result.append(Block(match[1], match[2], line, after[2] if after and follows else None))
    return result


def agrees(expected: str, got: str) -> bool:
    """Compare output, trailing white space aside; "..." stands for anything."""
    return doctest.OutputChecker().check_output(tidy(expected), tidy(got), doctest.ELLIPSIS)


def tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").split("\n"))


def run_prompts(block: Block, where: str, names: dict[str, object]) -> None:
    """Run a block of >>> examples."""
    test = doctest.DocTestParser().get_doctest(block.text, {}, where, where, block.line)
    test.globs = names
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    assert not runner.failures, report.getvalue()


def run_script(block: Block, where: str, names: dict[str, object]) -> None:
    """Run a block of plain Python, and compare what it prints with the output block after it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, where, "exec"), names)  # noqa: S102  # the documentation's own text
    assert agrees(block.output or "", printed.getvalue()), f"{where} printed:\n{printed.getvalue()}"


def run_console(block: Block, where: str, folder: Path) -> None:
    """Run each "$ command" of a block and compare its output, errors included."""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONWARNINGS": "default"}
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.replace("\\\n", " ").partition("\n")
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert agrees(expected, done.stdout), f"{where}: {command}\nprinted (exit {done.returncode}):\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_examples_of_a_page_give_the_output_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who copies an example gets what the page promises."""
    folder = tmp_path / "page"
    shutil.copytree(ROOT / "examples", folder)
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"{page_name(page)}:{block.line}"
        if block.language == "console":
            run_console(block, where, folder)
        elif block.language in ("python", "pycon"):
            (run_prompts if ">>> " in block.text else run_script)(block, where, names)


def anchor(heading: str) -> str:
    """Return the anchor that a heading gets where Markdown is shown."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", ALL_PAGES, ids=page_name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    """Files exist, and so do the headings that links name."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, part = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{page_name(page)} links to {link}"
        if part:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in map(anchor, headings), f"{page_name(page)} links to {link}"


def warning_calls() -> list[tuple[str, ast.Call]]:
    """Return every call of something named `warn` in the package, with its place."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "warn"
    ]


def test_every_warning_has_a_slug_that_is_explained() -> None:
    """A warning's text begins "some-slug: ", and docs/messages.md has a heading of that name."""
    explained = set(re.findall(r"^### ([a-z-]+)$", (ROOT / "docs/messages.md").read_text("utf-8"), re.MULTILINE))
    used: dict[str, str] = {}
    for place, call in warning_calls():
        written = ast.unparse(call)
        if "f'{slug}: " in written:
            used |= {slug: place for slug, _ in NOTICES.values()}
            continue
        slug = SLUG.search(written)
        assert slug, f"{place}: a warning's text begins with its slug"
        used[slug[1]] = place
    assert used, "no warning found: is this test looking in the right place?"
    assert set(used) == explained
