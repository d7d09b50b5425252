"""The command as a process: start-up, closed pipes, Ctrl-C, full disks, and the bar on a terminal."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from commands import on_terminal, run, start
from refsim import cli
from refsim._version import __version__
from refsim.output import progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from refsim.output.progress import Progress


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return the name of a file of two rows."""
    return write(tmp_path / "rows.jsonl", 2)


def write(path: Path, count: int, references: list[str] | None = None) -> Path:
    row = {"candidate": "a cat sat", "references": references or ["the cat", "a cat"]}
    path.write_text("".join(json.dumps({"id": str(i), **row}) + "\n" for i in range(count)))
    return path


def write_long(path: Path) -> Path:
    """Write a file that takes minutes to score: a new set of references in every row."""
    with path.open("w") as file:
        for i in range(100_000):
            texts = [f"{i} {j} {'the quick brown fox jumps over ' * 3}{i * j}" for j in range(40)]
            file.write(json.dumps({"id": str(i), "candidate": texts[0], "references": texts}) + "\n")
            if file.tell() > 40_000_000:
                break
    return path


def test_the_version_is_told_at_once() -> None:
    """In less than 0.2 s, the best of five: Python starts, and nothing is loaded."""
    times = []
    for _ in range(5):
        start_of_run = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", "from refsim.cli import main; main(['--version'])"],
            capture_output=True,
            text=True,
            check=True,
        )
        times.append(time.perf_counter() - start_of_run)
        assert done.stdout == f"refsim {__version__}\n"
    assert min(times) < 0.2


def test_the_module_is_the_command() -> None:
    """`python -m refsim` with its exit codes."""
    assert subprocess.run([sys.executable, "-m", "refsim", "--version"], capture_output=True, check=True).stdout
    assert subprocess.run([sys.executable, "-m", "refsim", "score"], capture_output=True, check=False).returncode == 2


def test_loading_the_command_line_is_light() -> None:
    """Neither framework nor NumPy, before a command is known."""
    code = "import sys, refsim.cli; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"numpy", "cyclopts", "rich", "pyarrow", "pandas", "torch"}


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("command", ["score", "consensus"])
def test_a_closed_pipe_ends_the_command_quietly(rows: Path, command: str, options: list[str]) -> None:
    """As for any program: no message, the code of one that the signal ended."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with start(command, rows, *options, stdout=write_end) as process:
        os.close(write_end)
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, "Broken" in complaints, "Traceback" in complaints) == (141, False, False)


def test_help_into_a_closed_pipe_is_quiet() -> None:
    """`refsim score --help | head -1` complains of nothing."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with start("score", "--help", stdout=write_end) as process:
        os.close(write_end)
        assert process.communicate(timeout=60)[1] == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_behind_stdout_is_an_error(rows: Path, options: list[str]) -> None:
    """One line, code 2, no traceback from the interpreter's last flush."""
    with open("/dev/full", "w") as full, start("score", rows, *options, stdout=full.fileno()) as process:  # noqa: PTH123
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (2, "refsim: error: output: No space left on device\n")


def test_a_full_disk_behind_a_file_is_an_error(rows: Path) -> None:
    """With the file's name; the table is not printed as if all were well."""
    done = run("score", rows, "--per-segment", "/dev/full")
    assert (done.code, done.out) == (2, "")
    assert done.err == "refsim: error: /dev/full: cannot be written: No space left on device\n"


def test_rows_may_go_to_a_pipe(rows: Path) -> None:
    """/dev/stdout and what a shell writes for >(command)."""
    with start("score", rows, "--per-segment", "/dev/stdout") as process:
        printed, _ = process.communicate(timeout=60)
    assert json.loads(printed.splitlines()[0])["id"] == "0"


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_ctrl_c_in_the_middle_leaves_no_half_file(tmp_path: Path, ending: str) -> None:
    """Code 130, one line on stderr, the old file as it was, no temporary file; and it ends at once."""
    rows, target = write_long(tmp_path / "rows.jsonl"), tmp_path / f"out.{ending}"
    target.write_text("old")
    with start("score", rows, "--per-segment", target) as process:
        wait_for(lambda: list(tmp_path.glob(".out*")))
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        printed, complaints = process.communicate(timeout=60)
    assert time.perf_counter() - sent < 5
    assert (process.returncode, printed) == (130, "")
    assert complaints == "refsim: interrupted; files that were being written are as they were before\n"
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [target.name, "rows.jsonl"]


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def test_ctrl_c_while_the_program_loads_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before there is anything to say."""

    class Interrupted:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "refsim.cli._app", Interrupted())
    assert cli.main(["score"]) == 130


def test_a_failure_of_the_system_is_one_line(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of the file that it is about."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "disk.jsonl")

    run("score", rows)
    monkeypatch.setattr("refsim.cli._score.read", fail)
    done = run("score", rows)
    assert (done.code, done.err) == (2, "refsim: error: disk.jsonl: Input/output error\n")


def test_a_warning_is_one_line(rows: Path) -> None:
    """Without the line of code it comes from."""
    script = (
        "import sys, warnings, refsim.cli._score as s; from refsim.cli import main; real = s.read\n"
        "def read(*a, **k): warnings.warn('so-so: be careful'); return real(*a, **k)\n"
        f"s.read = read; sys.exit(main(['score', {str(rows)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == "refsim: warning: so-so: be careful\n"


# The bar


def shown_by(work: str, columns: int = 80) -> list[str]:
    """Run Python code on a pseudo-terminal with a bar that shows at once; return the frames of the bar."""
    script = f"import time\nfrom refsim.output.progress import Progress\n{work}"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:
            os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(parts).decode())
    return [frame for frame in re.split(r"[\r\n]+", text) if frame.strip()]


def test_the_bar_has_rate_and_time_left() -> None:
    """Part done, rows, rows a second, time left by the mean rate."""
    frames = shown_by(
        "with Progress('scoring', delay=0) as bar:\n"
        "  for i in range(1, 5):\n"
        "    time.sleep(.25); bar.advance(1000); bar.reading(i * 100, 1000)\n"
    )
    pattern = r"scoring [━╸╺ ]+ +40% 4,000 rows  [34],\d{3}/s 0:00:0[12] left"
    assert re.fullmatch(pattern, frames[-1].strip()), frames[-1]


def test_without_a_total_the_bar_tells_the_time_gone() -> None:
    """A pipe has no size: no guess is made."""
    frames = shown_by(
        "with Progress('scoring', delay=0) as bar:\n  bar.advance(10); bar.reading(100, None); time.sleep(1.2)\n"
    )
    assert re.search(r"10 rows  \d+/s 0:00:01 gone", frames[-1]), frames[-1]


def test_the_bar_fits_a_narrow_terminal() -> None:
    """One line, whatever the numbers."""
    frames = shown_by(
        "with Progress('scoring', delay=0) as bar:\n  bar.advance(12345678); bar.reading(1, 10**6); time.sleep(.5)\n",
        columns=60,
    )
    assert all(len(frame) <= 60 for frame in frames)
    assert re.search(r"12,345,678 rows  [\d,]+/s \d+:\d\d:\d\d left", frames[-1]), frames[-1]


def test_short_work_shows_no_bar(rows: Path) -> None:
    """Only the table."""
    assert "scoring" not in on_terminal("score", rows)


def test_without_a_terminal_there_is_no_bar(capfd: pytest.CaptureFixture[str]) -> None:
    """Logs hold no half lines."""

    def work(bar: Progress) -> None:
        bar.advance(1)
        bar.reading(1, 2)
        time.sleep(0.05)

    with progress.Progress("scoring", delay=0) as bar:
        work(bar)
    assert capfd.readouterr().err == ""


def test_the_bar_is_gone_when_the_work_fails() -> None:
    """The message stands on a clean line."""
    frames = shown_by(
        "with Progress('scoring', delay=0) as bar:\n  time.sleep(.3)\n  raise SystemExit('refsim: error: x')\n"
    )
    assert frames[-1] == "refsim: error: x"
