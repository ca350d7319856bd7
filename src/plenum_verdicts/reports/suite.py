"""The suite of a log or a program in sentences, as ``suite.json``, as a page and as a comment."""

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plenum.base import NO_VERDICT, percent
from plenum.reports import (
    Table,
    count_lines,
    format_csv,
    print_written,
    prose_width,
    render_html,
    show,
    show_sentences,
    spell_count,
)
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.dynamics import STABLE, UNSTABLE, e_value
from plenum_verdicts.reports.mlflow_suite import log_suite
from plenum_verdicts.reports.outputs import guard_cells, make_folder, write_texts
from plenum_verdicts.reports.record import list_signatures
from plenum_verdicts.reports.suite_cases import append_names, describe_undecided, make_frame
from plenum_verdicts.reports.suite_page import (
    SuitePage,
    compose_unended_document,
    format_unended_comment,
    suite_comment,
    suite_document,
)
from plenum_verdicts.reports.suite_screen import fit_screen
from plenum_verdicts.reports.suite_source import SuiteSource
from plenum_verdicts.suites import HALVING, SuiteAssessment, SuiteEstimate, SuiteRuns, SuiteScore

SCHEMA = "plenum.suite/1"
"""Version of the format, raised when a field is removed or changes its meaning."""

_DRAWN = ("acting.svg", "acting.png")
"""Files of a part that the next command may not ask for: old ones would look like its answer."""

_MUCH = 1_000_000
"""Evidence above which its size says nothing more."""

_WRITTEN = 1
"""Number of lines that name the files."""


@dataclass(frozen=True)
class SuitePart:
    """A further answer about a suite.

    Attributes
    ----------
    name
        Its name in ``suite.json``.
    held
        What ``suite.json`` has of it.
    lines
        What is printed of it, in sentences.
    status
        The exit status, if this part decides it.
    table
        Printed before the sentences.
    draw
        Draws it in a folder, and returns the files.
    """

    name: str
    held: Mapping[str, Any]
    lines: tuple[str, ...]
    status: int | None = None
    table: Table | None = None
    draw: Callable[[Path], list[Path]] | None = None


def publish_suite(
    suite: SuiteAssessment,
    source: SuiteSource,
    study: str,
    settings: VerdictConfig,
    doubts: Sequence[str] = (),
    parts: Sequence[SuitePart] = (),
    uri: str = "",
) -> int:
    """Write ``suite.json``, its page, comment and table, print it, and return the exit status.

    Parameters
    ----------
    source
        The runs, and where they are from.
    doubts
        Sentences on decisions of the log that may have been misread.
    parts
        What else was asked, printed after the estimates.
    uri
        The tracking store that keeps the verdict; empty for none.

    Raises
    ------
    UserError
        The folder ``out`` can't be written to.
    """
    held = {
        "schema": SCHEMA,
        "study": study,
        "logs": settings.logs,
        **{role.lower().replace(" ", "_"): who for role, who in list_signatures(settings)},
        **asdict(suite),
        **{part.name: part.held for part in parts},
        "doubts": doubts,
    }
    decided = [part.status for part in parts if part.status is not None]
    status = held["exit_status"] = [*decided, suite.status(settings.undecided)][0]
    page = SuitePage(
        study=study,
        settings=settings,
        suite=suite,
        source=source,
        sentences=tuple(explain_suite(suite, source.runs)),
        answers=tuple(line for part in parts for line in part.lines),
        grids=tuple(part.table for part in parts if part.table is not None),
        doubts=doubts,
        status=status,
    )
    out = Path(settings.out)
    with make_folder(out), tempfile.TemporaryDirectory() as scratch:
        _remove(out, *_DRAWN)
        drawn = [file for part in parts if part.draw is not None for file in part.draw(out)]
        shown = [file for file in drawn if file.suffix == ".svg"]
        texts = {
            "suite.json": _json(held),
            "suite.html": render_html(suite_document(page, Path(scratch), shown)),
            "suite.md": suite_comment(page),
            "suite.csv": format_csv(guard_cells(make_frame(page.cases))),
        }
        files = write_texts(texts, out)
    if uri:
        log_suite(page, [*files, *drawn], uri)
    _show(suite, page.sentences, parts, doubts)
    print_written([*files, *drawn])
    return status


def _show(
    suite: SuiteAssessment, told: Sequence[str], parts: Sequence[SuitePart], doubts: Sequence[str]
) -> None:
    """Print the sentences that fit on a screen, and the tables."""
    tables = sum(count_lines(part.table) for part in parts if part.table is not None)
    details = len(list(_details(suite.score))) if suite.score is not None else 0
    told = (*told[:2], *doubts, *told[2:])  # how runs were read, before what they show
    kept = [len(told) - details, *(1 for _ in parts)]
    first, *answers = fit_screen(
        [told, *(part.lines for part in parts)], kept, tables + _WRITTEN, prose_width()
    )
    show_sentences(first)
    for part, lines in zip(parts, answers, strict=False):
        if part.table is not None:
            show([part.table])
        show_sentences(lines)
    for lines in answers[len(parts) :]:
        show_sentences(lines)


def publish_unended_suite(
    study: str, settings: VerdictConfig, why: Sequence[str], status: int = NO_VERDICT
) -> None:
    """Write the files of a suite without a verdict, in place of earlier ones.

    Parameters
    ----------
    why
        The reasons, in sentences.
    status
        The exit status.

    Raises
    ------
    UserError
        The folder ``out`` can't be written to.
    """
    held = {"schema": SCHEMA, "study": study, "verdict": None, "why": list(why)}
    texts = {
        "suite.json": _json(held | {"exit_status": status}),
        "suite.html": render_html(compose_unended_document(study, settings, why)),
        "suite.md": format_unended_comment(study, settings, why),
    }
    out = Path(settings.out)
    with make_folder(out):
        write_texts(texts, out)
        _remove(out, "suite.csv", *_DRAWN)


def has_suite(study: str, settings: VerdictConfig) -> bool:
    """Return whether the folder ``out`` has the files of a suite of this study."""
    try:
        held = json.loads((Path(settings.out) / "suite.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(held, dict) and held.get("study") == study


def _remove(out: Path, *names: str) -> None:
    for name in names:
        (out / name).unlink(missing_ok=True)


def _json(held: Mapping[str, Any]) -> str:
    return json.dumps(_without_nan(held), indent=1, allow_nan=False) + "\n"


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


def _without_nan(value: Any) -> Any:
    """Replace numbers that JSON doesn't have by ``None``."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
