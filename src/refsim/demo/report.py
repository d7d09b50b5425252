"""The report of the demonstration: what was scored, how the systems stand, and the segments worth reading.

rows of demo.jsonl  --evaluate-->  Systems, all and by language;  segments with their scores
nbest.jsonl         --consensus->  candidates, best first
                              all of it  -->  one page of Markdown
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from refsim._printable import percent
from refsim.demo.markdown import bar, shown, table
from refsim.metrics.charsim import Charsim
from refsim.run import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from refsim.results import Results, Systems, SystemScore
    from refsim.segments import Segment

LANGUAGES: Final = {"en": "English", "ja": "Japanese", "he": "Hebrew"}
_WORST: Final = 3  # of each system: enough to see how it fails, few enough to be read


@dataclass(frozen=True, slots=True)
class Scored:
    """A segment, its score, and what its references score among themselves."""

    segment: Segment
    score: float
    ceiling: float


def write_report(rows: Sequence[dict[str, Any]], nbest: Sequence[dict[str, Any]], commands: Sequence[str]) -> str:
    """Return the report, as Markdown, on the rows of the demonstration, its n-best lists and the commands run."""
    metric = Charsim()
    results = evaluate(rows, [metric])
    segments = _scored_segments(results, str(metric))
    parts = [_head(metric, rows, commands), _systems(results.systems, rows), *_worst(segments, metric)]
    parts += [_slips(segments), *_consensus(nbest, metric)]
    return "\n".join(parts)


def _scored_segments(results: Results, label: str) -> list[Scored]:
    return [
        Scored(segment, float(score), float(ceiling))
        for part in results.segments
        for segment, score, ceiling in zip(part.batch, part.scores[label], part.ceilings[label], strict=True)
    ]


def _head(metric: Charsim, rows: Sequence[dict[str, Any]], commands: Sequence[str]) -> str:
    items = len({row["id"] for row in rows})
    shell = "\n".join(f"$ {command}" for command in commands)
    return f"""# refsim: the demonstration

Three made-up systems answered, translated or summarised {items} items in English, Japanese and Hebrew.
*good* is fluent and nearly always right, *terse* says too little, *padded* says the right thing and then goes on.
Each output was compared with 3 to 8 references; a score is between 0 and 1, and the *ceiling* is what the
references score among themselves. They were written to differ, so a fluent system can stand above it; the percentage
beside a mean says how much of the ceiling it reaches.

```console
{shell}
```

Every number below has the signature `{metric.signature}`.
"""


def _systems(overall: Systems, rows: Sequence[dict[str, Any]]) -> str:
    columns = {"all": overall}
    for lang, language in LANGUAGES.items():
        columns[language] = evaluate([row for row in rows if row["lang"] == lang]).systems
    lines = [[f"**{row.system}**", *(_cell(column[row.system]) for column in columns.values())] for row in overall]
    # Ceiling and count belong to the items, so they are the same for every system.
    first = [next(iter(column)) for column in columns.values()]
    lines.append(["*ceiling*", *(_with_bar(row.ceiling) for row in first)])
    lines.append(["*segments each*", *(str(row.count) for row in first)])
    return f"## Systems by language\n\n{table(['system', *columns], lines)}"


def _cell(row: SystemScore) -> str:
    share = "" if row.of_ceiling is None else f" {percent(row.of_ceiling)}"
    return f"{_with_bar(row.mean)}{share}"


def _with_bar(score: float | None) -> str:
    return "none" if score is None else f"{score:.3f} {bar(score)}"


def _worst(segments: Sequence[Scored], metric: Charsim) -> Iterator[str]:
    yield f"## The {_WORST} lowest segments of each system\n"
    yield "Beside each reference stands what the candidate scores against it alone.\n"
    for system in dict.fromkeys(scored.segment.system for scored in segments):
        own = [scored for scored in segments if scored.segment.system == system]
        yield f"### {system}\n"
        yield from (_card(scored, metric) for scored in sorted(own, key=lambda scored: scored.score)[:_WORST])


def _card(scored: Scored, metric: Charsim) -> str:
    segment = scored.segment
    references = segment.references
    alone = metric.score_batch([segment.candidate] * len(references), references).tolist()
    best_first = sorted(zip(alone, references, strict=True), key=lambda pair: -pair[0])
    lines = [
        [f"**{scored.score:.3f}**", "**candidate**", f"**{shown(segment.candidate)}**"],
        ["", "source", shown(segment.source or "")],
        *([f"{score:.3f}", "reference", shown(reference)] for score, reference in best_first),
    ]
    language = LANGUAGES[segment.lang or ""]
    head = f"`{segment.id}` · {language} · {segment.extra['task']} · ceiling {scored.ceiling:.3f}"
    return f"{head}\n\n{table(['score', '', 'text'], lines, numbers=[0])}"


def _slips(segments: Sequence[Scored]) -> str:
    """Return the section on deliberate mistakes: a character metric sees how much differs, not how much it matters."""
    lines = []
    for scored in segments:
        if slip := scored.segment.extra["slip"]:
            own = [other.score for other in segments if other.segment.system == scored.segment.system]
            place = 1 + sum(other > scored.score for other in own)
            text = shown(scored.segment.candidate)
            lines.append([f"{scored.score:.3f}", f"{place} of {len(own)}", scored.segment.system, str(slip), text])
    header = ["score", "place", "system", "slip", "candidate"]
    return f"""## Small slips that weigh little

A wrong digit changes few characters, so it costs little, however wrong it makes the sentence: a score of this kind
says how much of the text the references support, not whether the rest matters. *Place* is among the segments of the
same system.

{table(header, lines, numbers=[0, 1])}"""


def _consensus(nbest: Sequence[dict[str, Any]], metric: Charsim) -> Iterator[str]:
    ranked = [_rank(row, metric) for row in nbest]
    agreed = sum(lines[0][1] == max(against for _, against, _ in lines) for lines in ranked)
    yield f"""## Consensus: the candidate that the others support most

No reference is used to choose: each candidate is scored against all the others of its list. Beside it stands what it
scores against references that were kept back; in {agreed} of {len(ranked)} lists the first is the best by these too.
"""
    header = ["consensus", "against references", "candidate"]
    for row, lines in zip(nbest, ranked, strict=True):
        cells = [[_with_bar(support), f"{against:.3f}", shown(text)] for support, against, text in lines]
        cells[0][2] = f"**{cells[0][2]}**"
        yield f"`{row['id']}` · {shown(row['source'])}\n\n{table(header, cells, numbers=[1])}"


def _rank(row: dict[str, Any], metric: Charsim) -> list[tuple[float, float, str]]:
    """Return (consensus, score against the references, candidate) of a list, the highest consensus first."""
    candidates = row["candidates"]
    support = metric.consensus(candidates).tolist()
    against = metric.score_batch(candidates, [row["references"]] * len(candidates)).tolist()
    return sorted(zip(support, against, candidates, strict=True), key=lambda line: -line[0])
