"""The runs of a log as those of a suite: what it means that two of them end differently."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import median
from typing import Literal

from plenum.base.collector import pause_collector
from plenum.base.errors import UserError
from plenum.base.identity import make_generator
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.dynamics.audits import (
    FAILED,
    NO_DECISION,
    UNDECIDED,
    StabilityRule,
    decide_outcome,
    judge_cases,
)
from plenum_verdicts.logs.case_logs import CaseLog
from plenum_verdicts.logs.log_doubts import has_declared_options, list_doubts
from plenum_verdicts.logs.log_mixtures import SOURCES, have_order, read_value
from plenum_verdicts.logs.log_scores import RIGHT, WRONG, read_score
from plenum_verdicts.suites.suite_runs import SuiteRuns
from plenum_verdicts.suites.undecided_runs import tell_apart

_LEAST_CASES = 10
"""Number of cases from which on a log is judged as a suite, if its cases have few runs."""

_MOST_LABELS, _LONGEST_LABEL = 26, 100
"""Number and length of decisions that may be labels; beyond these they are texts of their own."""

_A_FAILED_RUN = "a failed run"
"""The outcome of runs that failed, if they count as equal wrong ones."""

Compared = Literal["auto", "decisions", "right", "score"]
Failures = Literal["differ", "wrong", "leave_out"]


@dataclass(frozen=True)
class ComparedRuns:
    """The runs of a log, and what it means that two of them end differently.

    Attributes
    ----------
    cases
        The cases and their runs.
    place
        What names the log in messages, such as ``logs=runs.jsonl``.
    compare
        What two runs of a case end differently by: their decisions, being right or wrong, or their
        scores; ``auto`` compares decisions if they are labels, and else, if it is known for every
        run, whether it is right: no two texts of a model are equal.
    failures
        A failed run differs from every other one and scores 0 (``differ``), ends as a wrong one
        does (``wrong``), or doesn't count (``leave_out``).
    """

    cases: tuple[CaseLog, ...]
    place: str
    compare: Compared = "auto"
    failures: Failures = "differ"

    @cached_property
    def kept(self) -> tuple[CaseLog, ...]:
        """The cases with the runs that count: no failed ones if asked, and no unmeasured ones.

        Where decisions are compared a run without a score counts if it has one.
        """
        return self._keep(unmeasured=self.compared == "decisions")

    def _keep(self, unmeasured: bool) -> tuple[CaseLog, ...]:
        kept = (_leave_out(each, self.failures, unmeasured) for each in self.cases)
        return tuple(each for each in kept if each.ends)

    @cached_property
    def compared(self) -> Compared:
        """The comparison in use: ``auto`` is resolved."""
        if self.compare != "auto":
            return self.compare
        measured = self._keep(unmeasured=False)
        if not measured or any(None in list_rights(each) for each in measured):
            return "decisions"
        texts = {str(end.get("decision")) for each in measured for end in each.ends}
        if texts <= {RIGHT, WRONG, NO_DECISION, str(None)}:
            return "right"
        if all(has_declared_options(each.case) for each in measured):
            return "decisions"
        own = len(texts) > _MOST_LABELS or max(map(len, texts)) > _LONGEST_LABEL
        return "right" if own else "decisions"

    @property
    def texts(self) -> set[str]:
        """The decisions of its runs; ``None`` as text is that of a failed one."""
        return {str(end.get("decision")) for each in self.kept for end in each.ends}

    @cached_property
    def outcomes(self) -> dict[str, list[str]]:
        """How each run ended in terms of what is compared, by case.

        Raises
        ------
        UserError
            No run reached a decision, or ``compare`` asks for what isn't known of every run.
        """
        # Outputs may be empty, such as those of calls of tools, and yet be right or wrong.
        ended = {end["decision"] for each in self.kept for end in each.ends if "decision" in end}
        if not ended - ({NO_DECISION} if self.compared == "decisions" else set()):
            why = "; ".join(("no run of it came to a decision", *list_doubts(self.cases)))
            raise UserError(f"{self.place}: {why}")
        return {each.case.id: self._ended(each) for each in self.kept}

    @cached_property
    def ordered(self) -> set[str]:
        """The cases whose runs are in the order in which they were made, by number or by time."""
        return {each.case.id for each in self.kept if have_order(each.rows)}

    @cached_property
    def paths(self) -> dict[str, list[str]]:
        """The outcomes by case, in the order of the runs; where the log says none, in a drawn one.

        Rows without ``run`` and ``time`` may be sorted by anything, also by what was decided. Then
        their counts alone are judged: the same in any order of the rows.
        """
        return {
            case: ended if case in self.ordered else _draw_order(tuple(sorted(ended)))
            for case, ended in self.outcomes.items()
        }

    def options(self, case: AuditCase) -> tuple[str, ...]:
        """Return the outcomes that runs of a case may agree on, two at least."""
        failed = (_A_FAILED_RUN,) if self.failures == "wrong" else ()
        if self.compared == "decisions":
            return (*case.options, *failed)
        ended = self.outcomes[case.id] if self.compared == "score" else ()
        # Evidence on the most frequent outcome needs two, also where all scores are equal.
        return tuple(dict.fromkeys((*sorted({*ended} - {FAILED}), RIGHT, WRONG)))

    def answer(self, case: AuditCase) -> str | None:
        """Return the outcome that is right in a case; ``None`` if that is unknown."""
        return {"decisions": case.answer, "right": RIGHT}.get(self.compared)

    @cached_property
    def scores(self) -> dict[str, list[float]]:
        """The score of each run by case; empty if it isn't known of every run.

        A run's score is what the log says; else it is 1 if the run is right or decided for the
        right answer of its case, and 0 if not, or if it failed.
        """
        found = {each.case.id: score_runs(each) for each in self.kept}
        if any(None in scores for scores in found.values()):
            return {}
        return {case: [score or 0.0 for score in scores] for case, scores in found.items()}

    @cached_property
    @pause_collector()
    def runs(self) -> SuiteRuns:
        """Its runs in columns.

        Raises
        ------
        UserError
            As for ``outcomes``; or no case has two runs.
        """
        ended = {case: tell_apart(outcomes) for case, outcomes in self.outcomes.items()}
        runs = SuiteRuns.of(ended, self.scores or None)
        if not runs.where_repeated(2).cases:
            raise UserError(
                f"{self.place}: no case has two runs, so nothing shows whether runs agree"
            )
        return runs

    def sources(self) -> dict[str, list[str]]:
        """Return the columns that may make runs of a case differ.

        Returns
        -------
        dict
            Value of each run by the column's name, in the order of ``runs``; empty where the
            log doesn't have it. Columns without any value are left out.
        """
        rows = [row for each in self.kept for row in each.rows]
        columns = {name: [read_value(row, name) for row in rows] for name in SOURCES}
        return {name: values for name, values in columns.items() if any(values)}

    def _ended(self, logged: CaseLog) -> list[str]:
        """Return how each run ended, in terms of what is compared."""
        decided = list_outcomes(logged)
        if self.compared == "right":
            rights = list_rights(logged)
            self._require(rights, "right", "give a column right, or an answer to each case")
            decided = [
                FAILED if ended == FAILED else RIGHT if right else WRONG
                for ended, right in zip(decided, rights, strict=True)
            ]
        elif self.compared == "score":
            scores = score_runs(logged)
            self._require(scores, "scored", "score=NAME names a score that each run has")
            decided = [
                FAILED if ended == FAILED else f"{score:g}"
                for ended, score in zip(decided, scores, strict=True)
            ]
        if self.failures != "wrong":
            return decided
        # By another name than FAILED, which makes each of them differ from all others.
        wrong = WRONG if self.compared == "right" else _A_FAILED_RUN
        return [wrong if ended == FAILED else ended for ended in decided]

    def _require(self, known: Sequence[object], what: str, advice: str) -> None:
        if None in known:
            raise UserError(
                f"compare: {self.compared}; {self.place} doesn't say of every run whether it is "
                f"{what}: {advice}"
            )


def is_suite(cases: Sequence[CaseLog], rule: StabilityRule) -> bool:
    """Return whether a log is one of a suite, by its runs.

    It is one if ten cases or more typically have so few runs that even equal ones wouldn't show a
    case to be stable.
    """
    if len(cases) < _LEAST_CASES:
        return False
    typical = int(median(len(each.ends) for each in cases))
    equal = judge_cases({"": ["A"] * typical}, {"": ("A", "B")}, rule)
    return typical > 1 and equal[""].verdict == UNDECIDED


def list_outcomes(logged: CaseLog) -> list[str]:
    """Return how each run of a case ended: its decision, none, or failed."""
    return [decide_outcome(end["status"], str(end.get("decision"))) for end in logged.ends]


@lru_cache(maxsize=10_000)
def _draw_order(outcomes: tuple[str, ...]) -> list[str]:
    """Return outcomes in an order that depends on their counts alone."""
    drawn = make_generator("audit", "order", *outcomes)
    return [outcomes[place] for place in drawn.permutation(len(outcomes))]


def _leave_out(logged: CaseLog, failures: Failures, unmeasured: bool) -> CaseLog:
    """Return a case without runs that don't count; ``unmeasured`` ones may, with a decision."""
    both = zip(logged.rows, logged.ends, strict=True)
    kept = [
        (row, end)
        for row, end in both
        if not (failures == "leave_out" and end["status"] == "failed")
        and ("unmeasured" not in row or (unmeasured and end.get("decision") != NO_DECISION))
    ]
    if len(kept) == len(logged.ends):
        return logged
    return replace(logged, rows=tuple(r for r, _ in kept), ends=tuple(e for _, e in kept))


def list_rights(logged: CaseLog) -> list[bool | None]:
    """Return of each run whether it is right, ``None`` if the log doesn't say it."""
    found: list[bool | None] = []
    for row, end in zip(logged.rows, logged.ends, strict=True):
        if end["status"] == "failed":  # whatever else its row says
            found.append(False)
        elif "right" in row:
            found.append(bool(row["right"]))
        else:
            answer = logged.case.answer
            found.append(None if answer is None else bool(end["decision"] == answer))
    return found


def score_runs(logged: CaseLog) -> list[float | None]:
    """Return the score of each run; a failed one has 0, whatever its row says."""
    found: list[float | None] = []
    for row, end, right in zip(logged.rows, logged.ends, list_rights(logged), strict=True):
        said = 0.0 if end["status"] == "failed" else read_score(row)
        found.append(said if said is not None or right is None else float(right))
    return found
