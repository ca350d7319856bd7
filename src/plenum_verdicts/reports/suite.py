"""The verdict on a suite in sentences, and on the screen."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from plenum.base import percent
from plenum.reports import count_lines, join_items, prose_width, show, show_sentences, spell_count
from plenum_verdicts.dynamics import FAILED, NO_DECISION, STABLE, UNSTABLE, e_value
from plenum_verdicts.reports.audit import SuiteReport, short
from plenum_verdicts.reports.suite_screen import fit_screen
from plenum_verdicts.suites import (
    HALVING,
    SuiteAssessment,
    SuiteEstimate,
    SuiteRuns,
    SuiteScore,
    drop_number,
)

_MUCH = 1_000_000
"""Evidence above which its size says nothing more."""

_WRITTEN = 1
"""Number of lines that name the files."""


def show_suite(suite: SuiteReport, doubts: Sequence[str]) -> None:
    """Print the sentences that fit on a screen, and the tables."""
    tables = sum(count_lines(part.table) for part in suite.parts if part.table is not None)
    score = suite.found.score
    details = len(list(_details(score))) if score is not None else 0
    # How runs were read stands before what they show.
    told = (*suite.sentences[:2], *doubts, *suite.sentences[2:])
    kept = [len(told) - details, *(1 for _ in suite.parts)]
    first, *answers = fit_screen(
        [told, *(part.lines for part in suite.parts)], kept, tables + _WRITTEN, prose_width()
    )
    show_sentences(first)
    for part, lines in zip(suite.parts, answers, strict=False):
        if part.table is not None:
            show([part.table])
        show_sentences(lines)
    for lines in answers[len(suite.parts) :]:
        show_sentences(lines)


def explain_suite(suite: SuiteAssessment, runs: SuiteRuns) -> Iterator[str]:
    """Yield what is shown of a suite by its runs, the verdict first."""
    yield _verdict(suite)
    low, high = suite.repeats
    each = f"{low}" if low == high else f"{low} to {high}"
    left = f"; {suite.single:,} more have one run and say nothing" if suite.single else ""
    yield f"It was read from {suite.verdict.cases:,} cases with {each} runs each{left}."
    if undecided := describe_undecided(runs):
        yield f"Of {len(runs.case):,} runs {undecided}: each of these agrees with no other."
    yield f"Two runs of a case end differently in {_percent(suite.disagreement)}."
    k, n = len(suite.contradicted), suite.verdict.cases
    if names := append_names(suite.contradicted):
        yield f"In {k:,} of {n:,} cases runs don't all decide alike{names}."
    else:
        yield f"In each of the {n:,} cases all runs decide alike."
    if suite.standing_out:
        yield (
            f"{spell_count(len(suite.standing_out), 'case is', 'cases are').capitalize()} shown to "
            f"decide alike in fewer than {percent(suite.unsteady.share)} of their runs (on average "
            f"at most 5 % of such names are false){append_names(suite.standing_out)}."
        )
    yield from _unsteady(suite)
    if suite.score is not None:
        yield from _list_score_sentences(suite.score)


def _verdict(suite: SuiteAssessment) -> str:
    rule, verdict = suite.rule, suite.verdict
    low, high = (f"{100 * limit:.0f} %" for limit in (rule.acceptable, rule.unacceptable))
    if verdict.verdict == STABLE:
        shown = _evidence(verdict.log_stable, rule.alpha)
        score = suite.score
        rarely = score is not None and score.passing and score.score.like[1] < 0.5
        word = "Stable, and mostly wrong" if rarely else "Stable"
        return f"{word}: two runs differ in less than {high} of cases like these ({shown})."
    if verdict.verdict == UNSTABLE:
        shown = _evidence(verdict.log_unstable, rule.alpha)
        return f"Unstable: two runs differ in more than {low} of cases like these ({shown})."
    if suite.between:
        return f"Undecided: two runs differ in more than {low} and less than {high} of such cases."
    return (
        f"Undecided: it is shown neither that two runs differ in less than {high} of cases like "
        f"these, nor that they differ in more than {low}. More cases may show it."
    )


def _evidence(log: float, alpha: float) -> str:
    e = e_value(log)
    much = f"above {_MUCH:,}" if e > _MUCH else f"{e:,.0f}"
    return f"evidence {much}, where {1 / alpha:,.0f} is enough"


def _unsteady(suite: SuiteAssessment) -> Iterator[str]:
    rarely = f"decide alike in fewer than {percent(suite.unsteady.share)} of their runs"
    (a, b), (c, d) = suite.unsteady.these, suite.unsteady.like
    if (a, b) != (0, 1):
        yield (
            f"At least {percent(a)} and at most {percent(b)} of these cases {rarely}; of cases "
            f"like these, {percent(c)} to {percent(d)} do."
        )
    elif not suite.standing_out:
        yield f"These few runs don't show how many of the cases {rarely}."


def _list_score_sentences(score: SuiteScore) -> Iterator[str]:
    yield f"The score is {_percent(score.score)}."
    halved = f"; {HALVING} runs of each case halve that" if score.floor.value else ""
    yield (
        f"Noise floor: if all cases are run again once each, the score moves by a standard "
        f"deviation of {_points(score.floor.value, score.floor.these)}. A difference between two "
        "single runs counts only above "
        f"{_points(score.smallest_difference, score.smallest_difference_limits)}{halved}."
    )
    yield from _details(score)


def _details(score: SuiteScore) -> Iterator[str]:
    if score.passing:
        chances = ", ".join(
            f"{k}: {100 * each.value:.0f} %" for k, each in enumerate(score.passing, 1)
        )
        yield f"The chance that k runs of a case are all right (pass^k) is, for k = {chances}."
    if score.consistency is not None:
        yield (
            f"The consistency of right and wrong, 1 - 2 G, is {_plain(score.consistency)}: 1 is a "
            "program that repeats itself, 0 a coin."
        )
    if not math.isnan(score.within):
        yield (
            f"{100 * score.within:.0f} % of the variance of a run's score lies within cases, the "
            "rest between them."
        )


def _percent(each: SuiteEstimate) -> str:
    (a, b), (c, d) = each.these, each.like
    return (
        f"{100 * each.value:.1f} % ([{100 * a:.1f}, {100 * b:.1f}] for these cases, "
        f"[{100 * c:.1f}, {100 * d:.1f}] for cases like these)"
    )


def _points(value: float, limits: tuple[float, float]) -> str:
    return f"{100 * value:.1f} points [{100 * limits[0]:.1f}, {100 * limits[1]:.1f}]"


def _plain(each: SuiteEstimate) -> str:
    return f"{each.value:.2f} [{each.these[0]:.2f}, {each.these[1]:.2f}]"


def describe_undecided(runs: SuiteRuns) -> str:
    """Return how many runs failed or came to no decision, in words; empty if none did."""
    ended = Counter(drop_number(runs.outcomes[outcome]) for outcome in runs.outcome)
    words = {FAILED: "failed", NO_DECISION: "came to no decision"}
    return join_items(f"{ended[name]:,} {word}" for name, word in words.items() if ended[name])


def append_names(names: Sequence[str], most: int = 10) -> str:
    """Return the first names of cases after a colon, and the number of others; empty without."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f": {', '.join(map(short, names[:most]))}{more}" if names else ""
