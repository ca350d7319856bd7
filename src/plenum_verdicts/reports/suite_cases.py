"""The cases of a suite one by one: runs, decisions by name, disagreement and score."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pandas as pd

from plenum.base import flatten
from plenum.reports import Column, Table, format_whole_percent, join_items
from plenum_verdicts.dynamics import FAILED, NO_DECISION
from plenum_verdicts.reports.audit import short
from plenum_verdicts.reports.case_groups import SHOWN
from plenum_verdicts.suites import SuiteRuns, drop_number

MOST = 1_000
"""Number of lines of the page's table; ``suite.csv`` has all cases."""

_WORDS = {NO_DECISION: "no decision", FAILED: "failed"}
_LONGEST = 60


@dataclass(frozen=True)
class SuiteCase:
    """A case of a suite, or several that are equal in all but their names.

    Attributes
    ----------
    decisions
        Number of runs by decision, under the option's name, the most frequent first.
    disagreement
        How likely two runs end differently, without bias; ``None`` with one run.
    score
        Mean score of its runs; ``None`` if it isn't known.
    cases
        Number of cases that this stands for.
    """

    name: str
    runs: int
    decisions: Mapping[str, int] = field(hash=False)
    disagreement: float | None
    score: float | None
    cases: int = 1

    @property
    def label(self) -> str:
        """The name of the case, and the number of further ones."""
        more = f" and {self.cases - 1:,} more" if self.cases > 1 else ""
        return f"{cut(self.name)}{more}"

    @property
    def unanimous_and_wrong(self) -> bool:
        """True if two runs or more ended alike, and none was right to any degree."""
        return self.disagreement == 0 and self.score == 0


def list_cases(
    runs: SuiteRuns, options: Mapping[str, Mapping[str, str]] | None = None
) -> list[SuiteCase]:
    """Return the cases, the least agreeing first, then those with the lowest score.

    Parameters
    ----------
    options
        Names of the options by case and label.
    """
    named = options or {}
    decisions: list[dict[str, int]] = [{} for _ in runs.cases]
    shown = [drop_number(outcome) for outcome in runs.outcomes]
    for case, outcome, count in zip(*(each.tolist() for each in runs.cells), strict=True):
        label = shown[outcome]
        name = name_outcome(named.get(runs.cases[case], {}), label)
        decisions[case][name] = decisions[case].get(name, 0) + count
    apart = runs.disagreements()
    scores = runs.mean_scores() if runs.has_scores else np.full(len(apart), np.nan)
    made = [
        SuiteCase(
            name,
            int(repeats),
            dict(sorted(ended.items(), key=lambda item: -item[1])),
            None if np.isnan(g) else float(g),
            None if np.isnan(score) else float(score),
        )
        for name, repeats, ended, g, score in zip(
            runs.cases, runs.repeats, decisions, apart, scores, strict=True
        )
    ]
    return sorted(made, key=lambda each: (-(each.disagreement or 0), _or_one(each.score)))


def describe_undecided(runs: SuiteRuns) -> str:
    """Return how many runs failed or came to no decision, in words; empty if none did."""
    ended = Counter(drop_number(runs.outcomes[outcome]) for outcome in runs.outcome)
    words = {FAILED: "failed", NO_DECISION: "came to no decision"}
    return join_items(f"{ended[name]:,} {word}" for name, word in words.items() if ended[name])


def append_names(names: Sequence[str], most: int = 10) -> str:
    """Return the first names of cases after a colon, and the number of others; empty without."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f": {', '.join(map(short, names[:most]))}{more}" if names else ""


def name_outcome(options: Mapping[str, str], label: str) -> str:
    """Return the name of an outcome: of an option, or of what isn't one, in words."""
    return cut(options.get(label) or _WORDS.get(label, label))


def join_cases(cases: Sequence[SuiteCase], most: int = SHOWN) -> list[SuiteCase]:
    """Join equal cases to one, in the order of their first ones; a few cases stay as they are."""
    if len(cases) <= most:
        return list(cases)
    groups: dict[object, list[SuiteCase]] = {}
    for each in cases:
        key = (each.runs, tuple(each.decisions.items()), each.disagreement, each.score)
        groups.setdefault(key, []).append(each)
    return [
        SuiteCase(g[0].name, g[0].runs, g[0].decisions, g[0].disagreement, g[0].score, len(g))
        for g in groups.values()
    ]


def make_frame(cases: Iterable[SuiteCase]) -> pd.DataFrame:
    """Return a line for each case."""
    columns = ["case", "runs", "decisions", "disagreement", "score"]
    lines = [
        (each.label, each.runs, format_decisions(each), each.disagreement, each.score)
        for each in cases
    ]
    return pd.DataFrame(lines, columns=columns)


def make_table(cases: Sequence[SuiteCase], most: int = MOST) -> Table:
    """Return the table of cases; of many, a line for each group of equal ones."""
    lines = join_cases(cases, most)
    scored = any(each.score is not None for each in cases)
    columns = [
        Column("case", key=True),
        Column("runs", format=lambda n: f"{n:,}"),
        Column("decisions"),
        Column("disagreement", "two runs differ", format_whole_percent),
    ]
    notes = ["two runs differ: how likely two runs of the case end differently, from its runs"]
    if scored:
        columns.append(Column("score", format=format_whole_percent))
        notes.append(
            "score: mean over its runs; the share of right ones, if each is right or wrong"
        )
    if len(lines) < len(cases):
        notes.append("cases with equal results share a line; suite.csv has each")
    frame = make_frame(lines)
    if len(frame) > most:
        left = sum(each.cases for each in lines[most:])
        notes.append(f"{left:,} more cases, which agree more, are in suite.csv")
    return Table(
        "suite",
        "The cases, the least agreeing first",
        frame.head(most),
        tuple(columns),
        tuple(notes),
    )


def format_decisions(case: SuiteCase) -> str:
    """Return the decisions of a case with their numbers of runs."""
    return " · ".join(f"{count:,} × {name}" for name, count in case.decisions.items())


@lru_cache(maxsize=10_000)
def cut(text: str) -> str:
    """Return a text as one short line."""
    line = flatten(text) or "-"
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _or_one(score: float | None) -> float:
    return 1.0 if score is None else score
