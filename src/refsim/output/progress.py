"""A progress bar for work that takes longer than two seconds, on a terminal and nowhere else.

    reader --reading(bytes)-->  bytes done  \
    loop   --advance(rows)--->  rows done    >--  scoring ━━━━━──── 43%  12,345 rows  1,203/s  0:00:21 left

The bar counts bytes of input, compressed ones where the input is: only a file's size is known beforehand. A reader
tells its bytes when it is asked for the next batch, so that they count once their rows are scored and not when they
are read: the last batch would stand at 100 % while it works.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import Task, TaskID
    from rich.text import Text

    from refsim.segments import Batch

_DELAY: Final = 2.0


class Progress:
    """Shows how far a loop is; a context manager. Without a terminal on stderr it shows nothing and costs nothing."""

    def __init__(self, doing: str, unit: str = "rows", delay: float = _DELAY) -> None:
        """Say what is being done, to which units, and after how many seconds to show it."""
        self._doing = doing
        self._unit = unit
        self._delay = delay
        self._lock = threading.Lock()
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._timer: threading.Timer | None = None
        self._rows = 0
        self._tokens: TaskID | None = None
        self._seen = 0

    def __enter__(self) -> Self:
        """Start to wait: short work shows no bar."""
        if sys.stderr.isatty():
            self._bar = _make_bar()
            self._task = self._bar.add_task(self._doing, total=None, rows=0, unit=self._unit)
            # A timer, for the first batch alone may take longer than the delay.
            self._timer = threading.Timer(self._delay, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Take the bar away, so that a table or a message stands on clean lines."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            self._bar = None

    def reading(self, done: int, total: int | None) -> None:
        """Count bytes as done, of how many there are if that is known."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def advance(self, rows: int) -> None:
        """Count rows as done."""
        self._rows += rows
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, rows=self._rows)

    def tokens(self, done: int, total: int) -> None:
        """Say how many tokens of the rows in hand a model has read: a second line, for one batch may take minutes."""
        with self._lock:
            if self._bar is None:
                return
            if self._tokens is None:
                self._tokens = self._bar.add_task("encoding", total=total, rows=0, unit="tokens")
            elif done < self._seen:
                self._bar.reset(self._tokens, total=total)
            self._seen = done
            self._bar.update(self._tokens, completed=done, total=total, rows=done, visible=done < total)

    def counting(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches, counting the rows of each as done when the next is asked for."""
        for batch in batches:
            yield batch
            self.advance(len(batch))

    def done_of(self, done: int, total: int) -> None:
        """Say that `done` of `total` units are done, for work that is not counted in bytes."""
        self.reading(done, total)
        self.advance(done - self._rows)

    def _show(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.start()


def _make_bar() -> RichProgress:
    from rich.console import Console  # noqa: PLC0415  rich takes 50 ms to load, for a terminal alone
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn  # noqa: PLC0415
    from rich.table import Column  # noqa: PLC0415  as above
    from rich.text import Text  # noqa: PLC0415  as above

    class Rate(ProgressColumn):
        """Units done and units a second."""

        def render(self, task: Task) -> Text:
            rows, elapsed = task.fields["rows"], task.elapsed or 0.0
            return Text(f"{rows:,} {task.fields['unit']}  {rows / elapsed:,.0f}/s" if rows and elapsed else "")

    class Left(ProgressColumn):
        """Time left, by the mean rate so far; without a total or anything done, the time gone."""

        def render(self, task: Task) -> Text:
            elapsed = task.elapsed or 0.0
            if not task.total or not task.completed:
                return Text(f"{_clock(elapsed)} gone")
            return Text(f"{_clock(elapsed * (task.total - task.completed) / task.completed)} left")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),  # what the numbers leave of the line
        TaskProgressColumn(),
        Rate(table_column=Column(no_wrap=True)),
        Left(table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
    )


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
