"""Paired timing, memory in a fresh process, and the table: everything that knows no metric.

    setup(i) -> (ours, peer) --paired--> Timing (seconds per unit, one per repeat) --> Row --> Markdown

Ours and the peer alternate in one process, A B A B, on texts that no earlier repeat has seen; a ratio
is taken inside a repeat, and the table shows the median of these ratios with their range. So a machine
that slows down for a while slows both sides, and a cache across calls helps neither.
"""

# ruff: noqa: RUF001  (what is shown has signs of multiplication and dashes)

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Clock = Callable[[], float]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True)
class Job:
    """One side of a comparison: what to call, and how many units of work one call does."""

    call: Callable[[], object]
    units: float = 1.0


@dataclass(frozen=True)
class Timing:
    """Seconds per unit of both sides, one entry per repeat."""

    ours: tuple[float, ...]
    peer: tuple[float, ...]

    @property
    def times_faster(self) -> tuple[float, ...]:
        """How many times the peer's cost is ours, per repeat."""
        return tuple(peer / ours for ours, peer in zip(self.ours, self.peer, strict=True))

    @property
    def times_the_cost(self) -> tuple[float, ...]:
        """How many times our cost is the peer's, per repeat."""
        return tuple(ours / peer for ours, peer in zip(self.ours, self.peer, strict=True))


@dataclass(frozen=True)
class Row:
    """One line of the table; `reached` is None where there is nothing to reach."""

    work: str
    goal: str
    measured: str
    reached: bool | None
    absolute: str


def stopwatch(job: Job, clock: Clock) -> float:
    """Return the seconds per unit of one call, without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        start = clock()
        job.call()
        return (clock() - start) / job.units
    finally:
        gc.enable()


def paired(setup: Callable[[int], tuple[Job, Job]], repeats: int, clock: Clock = time.process_time) -> Timing:
    """Time both sides alternately, on what `setup` makes for each repeat; repeat 0 warms up and is dropped."""
    ours: list[float] = []
    peer: list[float] = []
    for repeat in range(repeats + 1):
        a, b = setup(repeat)
        ours.append(stopwatch(a, clock))
        peer.append(stopwatch(b, clock))
    return Timing(tuple(ours[1:]), tuple(peer[1:]))


def seconds(value: float) -> str:
    """Return a duration with three figures and a fitting unit."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.3g} {unit}" if value < 1000 * size else f"{value / size:.0f} {unit}"
    return f"{value / 1e-9:.2g} ns"


def figure(value: float) -> str:
    """Return a ratio with three figures and thousands separated, never in powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004  (three figures)


def spread(values: Sequence[float]) -> str:
    """Return the median, and the range over the repeats."""
    middle = figure(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({figure(min(values))}–{figure(max(values))})"


def sides(timing: Timing, unit: str) -> str:
    """Return the medians of both sides in words."""
    ours, theirs = statistics.median(timing.ours), statistics.median(timing.peer)
    return f"{seconds(ours)}; peer {seconds(theirs)} {unit}".strip()


def at_least(work: str, goal: float | None, timing: Timing, peer: str, unit: str = "") -> Row:
    """Return a row that asks to be at least `goal` times as fast as the peer."""
    values = timing.times_faster
    reached = None if goal is None else statistics.median(values) >= goal
    return Row(work, "–" if goal is None else f"≥ {goal:,g} × {peer}", spread(values), reached, sides(timing, unit))


def at_most(work: str, goal: float, timing: Timing, peer: str, unit: str = "") -> Row:
    """Return a row that asks to cost at most `goal` times what the peer costs."""
    values = timing.times_the_cost
    reached = statistics.median(values) <= goal
    return Row(work, f"≤ {goal:,g} × {peer}", spread(values), reached, sides(timing, unit))


def limit(work: str, goal: float, unit: str, values: Sequence[float], absolute: str = "") -> Row:
    """Return a row about an absolute limit."""
    reached = statistics.median(values) <= goal
    return Row(work, f"≤ {goal:,g} {unit}", f"{spread(values)} {unit}", reached, absolute)


# --- memory, from inside a process of its own ----------------------------------------------------


def measure_growth(call: Callable[[], object]) -> dict[str, float]:
    """Return CPU seconds of a call, and by how many bytes the resident peak rose above the memory held before."""
    gc.collect()
    before = _peak_after_reset()
    start = time.process_time()
    kept = call()
    spent = time.process_time() - start
    growth = _peak() - before
    del kept
    return {"seconds": spent, "growth": growth}


def in_fresh_process(script: Path, *arguments: str) -> dict[str, float]:
    """Run a script of this folder in a new interpreter and return the JSON object it prints last."""
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  (scripts of this folder)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _peak_after_reset() -> float:
    # Freed memory that the allocator keeps would take up new arrays without any growth: give it back first.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    # Writing 5 sets the peak back to what is resident now (Linux). Without it memory that was used and
    # given back before the call, by imports and by making the texts, would hide a part of the growth.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak()


def _peak() -> float:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        import resource  # noqa: PLC0415  (not on every system)

        scale = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale)
    return next(float(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


# --- the page ------------------------------------------------------------------------------------


def machine(libraries: Sequence[str]) -> str:
    """Describe the machine in general terms: processor, cores, interpreter, libraries, load."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in libraries)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f"; load average at the start {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_processor()}, {cores} cores, {platform.system()}{load}. {python}; {versions}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    head = "| work | to reach | measured | reached | medians |\n|---|---|---|---|---|\n"
    marks: dict[Any, str] = {True: "yes", False: "**no**", None: "–"}
    return head + "".join(
        f"| {row.work} | {row.goal} | {row.measured} | {marks[row.reached]} | {row.absolute} |\n" for row in rows
    )
