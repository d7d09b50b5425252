r"""Answers taken out of raw output: what a candidate is reduced to before anything else is done to it.

    after:</think>   the text after the last </think>
    until:\n\n       the text before the first empty line; all of it where there is none
    line:Answer:     the rest of the last line that begins with Answer:
    regex:PATTERN    the group `answer` of the last match that has it, else its first group, else all of the match

Steps follow one another. White space around what a step takes out goes. References are never touched.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, get_args

from refsim.errors import InputError
from refsim.whitespace import WHITE_SPACE

NoExtract = Literal["keep", "empty", "error"]

_SECONDS: Final = 2.0
_ESCAPES: Final = {r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\\": "\\"}
_EXPECTED: Final = "after:MARK, until:MARK, line:PREFIX or regex:PATTERN"
_SHOWN: Final = 40
_PLANE: Final = 0xFFFF

# What models write around an answer, and what a user of raw output may have overlooked.
MARKERS: Final = re.compile(
    r"</?think>|<\|im_(?:start|end)\|>|<\|eot_id\|>|<\|(?:assistant|user|system|end)\|>|\[/?INST\]|<(?:start|end)_of_turn>"
)

Find = Callable[[str], str | None]


def check_steps(extract: object, no_extract: object) -> tuple[str, ...]:
    """Return the steps as a tuple. Raises InputError for what is no list of steps, and for a policy that is none."""
    if no_extract not in get_args(NoExtract):
        choices = ", ".join(map(repr, get_args(NoExtract)))
        raise InputError(f"Preparation(no_extract={no_extract!r}): expected one of {choices}")
    if isinstance(extract, str):
        raise InputError(f"Preparation(extract={extract!r}): expected a list of steps: write [{extract!r}]")
    if not isinstance(extract, list | tuple):
        raise InputError(f"Preparation(extract={extract!r}): expected a list of steps, each {_EXPECTED}")
    for step in extract:
        if not isinstance(step, str):
            raise InputError(f"Preparation(extract={extract!r}): {step!r} is no step; expected {_EXPECTED}")
        finder(step)
    return tuple(extract)


@lru_cache(maxsize=256)
def finder(step: str) -> Find:
    """Return the function that takes a step's part out of a text, or returns None where there is none."""
    kind, colon, what = step.partition(":")
    if not colon or not what or kind not in {"after", "until", "line", "regex"}:
        raise InputError(f"extract {step!r}: expected {_EXPECTED}")
    if kind == "regex":
        return NAMED.get(what) or _by_pattern(step, what)
    mark = re.sub(r"\\[ntr\\]", lambda escape: _ESCAPES[escape[0]], what)
    if kind == "line" and not mark.strip(WHITE_SPACE):
        raise InputError(f"extract {step!r}: every line begins with white space or none; expected line:PREFIX")
    return {"after": _after, "until": _until, "line": _line}[kind](mark)


def extract(text: str, steps: Sequence[str], no_extract: str) -> tuple[str, str | None]:
    """Return what the steps leave of one text, and the first step that found nothing, None if all did."""
    missed: str | None = None
    for step in steps:
        found = finder(step)(text)
        if found is not None:
            text = found.strip(WHITE_SPACE)
            continue
        missed = missed or step
        if no_extract == "empty":
            return "", missed
    return text, missed


def count_markers(texts: Sequence[str]) -> Counter[str]:
    """Return how many texts hold think blocks or chat markers, by the last marker of each."""
    # One search over all of them: few batches hold any.
    if not MARKERS.search("\n".join(texts)):
        return Counter()
    found = (MARKERS.findall(text) for text in texts)
    return Counter(marks[-1] for marks in found if marks)


def describe_markers(counts: Counter[str], total: int, how: str = "--extract {!r}") -> str:
    """Say how many candidates hold markers, and `how` to score the answers alone."""
    marker, _ = counts.most_common(1)[0]
    step = "after:</think>" if "think" in marker else f"until:{marker}" if _closes(marker) else f"after:{marker}"
    return (
        f"{counts.total():,} of {total:,} candidates hold {marker} or the like, which is scored as text; "
        f"{how.format(step)} takes the answer out"
    )


def _closes(marker: str) -> bool:
    return marker in {"<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>"}


def why_missed(text: str, step: str) -> str:
    """Say what a step did not find in a text."""
    unclosed = text.rfind("<think>") > text.rfind("</think>")
    beginning = text[:_SHOWN] + ("..." if len(text) > _SHOWN else "")
    return f"{step!r} finds nothing{', for <think> is never closed,' if unclosed else ''} in {beginning!r}"


def _after(mark: str) -> Find:
    def find(text: str) -> str | None:
        _, found, rest = text.rpartition(mark)
        return rest if found else None

    return find


def _until(mark: str) -> Find:
    # A mark that stops a text may never come, and then all of it is the answer.
    return lambda text: text.partition(mark)[0]


def _line(prefix: str) -> Find:
    prefix = prefix.lstrip(WHITE_SPACE)  # a line's own goes before they are compared

    def find(text: str) -> str | None:
        for line in reversed(re.split(r"\r?\n", text)):
            stripped = line.lstrip(WHITE_SPACE)
            if stripped.startswith(prefix):
                return stripped[len(prefix) :]
        return None

    return find


def _by_pattern(step: str, pattern: str) -> Find:
    import regex  # noqa: PLC0415  it loads in 20 ms and few need it

    try:
        compiled = regex.compile(pattern)
    except RecursionError:
        raise InputError(f"extract {_shortened(step)}: nested too deeply; take brackets out") from None
    # ValueError: what its parser did not foresee, as in \p{50d<aUp$.
    except (regex.error, ValueError) as error:
        raise InputError(f"extract {_shortened(step)}: no regular expression ({error})") from None
    group = "answer" if "answer" in compiled.groupindex else 1 if compiled.groups else 0

    def find(text: str) -> str | None:
        taken: str | None = None
        try:
            # A pattern may take for ever on a text that was made for it, or by chance.
            for match in compiled.finditer(text, timeout=_SECONDS):
                # Of alternatives one may be without the group, and say nothing of the answer.
                taken = taken if match[group] is None else match[group]
        except (MemoryError, RecursionError):
            raise InputError(f"extract {step!r}: runs out of memory, as a pattern does that calls itself") from None
        except TimeoutError:
            shown = text[:_SHOWN]
            raise InputError(
                f"extract {step!r}: takes more than {_SECONDS:g} s on a text of {len(text):,} characters "
                f"({shown!r}...); write the pattern without repeats inside repeats"
            ) from None
        return taken

    return find


def _shortened(step: str) -> str:
    return repr(step if len(step) <= 2 * _SHOWN else f"{step[: 2 * _SHOWN]}...")


# What is asked for most, by name. As patterns these took quadratic time where a marker repeats without an end, as in
# output that loops: 28,000 characters of \boxed{ took more than two seconds, which ends a run.


def _boxed(text: str) -> str | None:
    r"""Return the inside of the last \boxed{...} that is closed, with the braces that it holds."""
    opened: list[int] = []
    span: tuple[int, int] | None = None
    for brace in re.finditer(r"(?:\\boxed)?\{|\}", text):
        if brace[0] != "}":
            opened.append(brace.end() if brace[0] != "{" else 0)
        elif opened and (start := opened.pop()):
            # Whatever is closed last is inside no other.
            span = start, brace.start()
    return None if span is None else text[slice(*span)]


def _answer_tag(text: str) -> str | None:
    """Return the inside of the last <answer>...</answer>: an <answer> that is only talked about comes before it."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    return None if start < 0 else text[start + len("<answer>") : text.find("</answer>", start)]


def _code_block(text: str) -> str | None:
    """Return the lines between the last two that are fences, the second of them bare."""
    block: list[str] | None = None
    closed: list[str] | None = None
    for line in text.split("\n"):
        mark = line.strip(" \t\r")
        if block is None:
            block = [] if mark.startswith("```") else None
        elif mark == "```":
            closed, block = block, None
        else:
            block.append(line)
    return None if closed is None else "\n".join(closed)


def _hashes(text: str) -> str | None:
    """Return what follows the last #### in its line."""
    found: list[str] = re.findall(r"####[ \t]*([^\n]+)", text)
    return found[-1] if found else None


NAMED: Final[Mapping[str, Find]] = {
    "answer-tag": _answer_tag,
    "boxed": _boxed,
    "code-block": _code_block,
    "hashes": _hashes,
}


def sign(steps: Sequence[str], no_extract: str) -> list[str]:
    """Return the parts of a signature, which `parse_steps` reads back: quoted, with what would end a part escaped."""
    if not steps:
        return []
    # No more backslashes than it takes: what `parse_steps` reads as the pattern's own stays single.
    joined = ";".join(re.sub(r"\\(?=[\\;]|\Z)|;", r"\\\g<0>", step) for step in steps)
    return [f"extract={quoted(joined)}", *([] if no_extract == "keep" else [f"no_extract={no_extract}"])]


def quoted(text: str) -> str:
    """Return a text between quotes as `parse_metric` reads it back; what ends it, or a signature's part, is escaped."""
    literal = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', "\\u0022")
    shown = "".join(
        c if c not in "|()" and c.isprintable() else f"\\u{ord(c):04x}" if ord(c) <= _PLANE else f"\\U{ord(c):08x}"
        for c in literal
    )
    return f'"{shown}"'


def parse_steps(joined: str) -> tuple[str, ...]:
    r"""Return the steps of a text in which they are separated by `;`; `\;` and `\\` are the characters themselves."""
    # Other backslashes are the pattern's own: regex:\d+ is digits.
    return tuple(re.sub(r"\\([\\;])", r"\1", step) for step in re.findall(r"(?:\\[\\;]|[^;])+", joined))
