"""Reading of a tracked study of programs as an audit."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import pandas as pd

from plenum.base import UserError
from plenum.reports import origin
from plenum.tracking import ConditionUsage, Provenance, StoredTranscript, TrackedCondition
from plenum_verdicts.dynamics import (
    FAILED,
    UNDECIDED,
    AuditResult,
    CaseVerdict,
    FamilyVerdict,
    StabilityRule,
    compare_calls,
    find_cache,
    judge_case,
    judge_cases,
    judge_family,
    plan_further,
    select_ended,
)
from plenum_verdicts.reports import (
    LOGS,
    Accuracy,
    AuditReport,
    CaseAudit,
    Circumstances,
    Cost,
    DifferingRuns,
    DivergenceSource,
    collect_sections,
    find_causes,
    latest_parting,
    lines,
    list_verdict_fields,
    measure_accuracy,
)

_CALLED = ("model", "temperature")

_BEGUN_AGAIN, _SHARE_BEGUN_AGAIN = 3, 0.05
"""Number and share of a case's restarted runs from which there is a warning."""


@dataclass(frozen=True)
class AuditedCondition:
    """A condition of a study: its runs, the head of its journals, and their transcripts."""

    tracked: TrackedCondition
    head: Mapping[str, Any]
    transcripts: Sequence[StoredTranscript]

    @property
    def case(self) -> str:
        """The id of its case."""
        return self.tracked.factors["case"]

    @property
    def manifest(self) -> str:
        """The description of its program, independent of case and knobs."""
        return str(self.head.get("manifest", ""))

    @property
    def options(self) -> tuple[str, ...]:
        """Labels of its options, or those decided on if no journal names them."""
        named = tuple(map(str, self.head.get("options", ())))
        return named or tuple(sorted({*self.tracked.decisions, "A", "B"}))

    @property
    def outcomes(self) -> list[str]:
        """Outcomes of the runs that count, in order."""
        frame = self.tracked.tables.get("replicates", pd.DataFrame())
        if not len(frame):  # no run completed, so that no table was read
            return [FAILED] * self.tracked.failed
        columns = (frame[name] for name in ("replicate", "status", "decision"))
        return select_ended(zip(*columns, strict=True))

    @property
    def begun_again(self) -> int:
        """Number of runs that were started more than once; 0 if the tables don't say."""
        frame = self.tracked.tables.get("replicates", pd.DataFrame())
        return int(frame["begun_again"].sum()) if "begun_again" in frame else 0

    @property
    def calls(self) -> Mapping[str, Sequence[Any]]:
        """Recorded calls of its runs, by column; may be empty."""
        frame = self.tracked.tables.get("calls", pd.DataFrame())
        return {str(name): frame[name].tolist() for name in frame}

    @property
    def settings(self) -> tuple[str, ...]:
        """The program's settings, without the case."""
        return tuple(self.tracked.factors[n] for n in ("knobs", "settings", "model", "backend"))


def select_conditions(
    conditions: Sequence[TrackedCondition],
    stored: Mapping[str, Sequence[StoredTranscript]],
    wanted: Collection[str] = (),
) -> list[AuditedCondition]:
    """Return the conditions that an audit covers.

    Parameters
    ----------
    wanted
        Identities of the cases; other settings of the same program are included. Without any, they
        are those of the program that ran last, identified by code, interpreter and packages.
    """
    latest: dict[tuple[str, ...], AuditedCondition] = {}
    for condition in conditions:
        transcripts = stored.get(condition.run_id, ())
        read = (transcript.read() for transcript in transcripts)
        head = next((t.head for t in read if t is not None), {})
        each = AuditedCondition(condition, head, transcripts)
        latest.pop(key := (each.case, each.manifest, *each.settings), None)
        latest[key] = each
    every = list(latest.values())
    given = [each for each in every if each.tracked.identity in wanted]
    last = max(given or every, key=lambda each: each.tracked.written).manifest
    others = [each for each in every if each.manifest == last and each not in given]
    return [*given, *[each for each in others if not given or each.settings != given[0].settings]]


class AuditStudy(Protocol):
    """The interface of a study that contains an audit."""

    @property
    def name(self) -> str:
        """The study's name."""

    @property
    def provenance(self) -> Mapping[str, Provenance]:
        """The origin of each condition, by its run."""

    @property
    def usage(self) -> Sequence[ConditionUsage]:
        """The usage of the conditions, as far as it is known."""


def gather_report(
    study: AuditStudy,
    conditions: Sequence[AuditedCondition],
    rule: StabilityRule,
    max_runs: int | None = None,
    results: AuditResult | None = None,
    exit_status: int | None = None,
    stopped: str = "",
) -> AuditReport:
    """Return the audit of a study's conditions.

    Parameters
    ----------
    stopped
        Reason of a missing verdict, if there are no results.

    Raises
    ------
    UserError
        No run has ended.
    """
    first = conditions[0].settings
    given = {each.case: each for each in conditions if each.settings == first}
    outcomes = {case: each.outcomes for case, each in given.items()}
    options = {case: each.options for case, each in given.items()}
    verdicts = judge_cases(outcomes, options, rule)
    stopped = results.stopped if results else stopped
    if not stopped and not any(verdict.runs for verdict in verdicts.values()):
        raise UserError(f"study: no run of {study.name!r} has ended")
    together = judge_family(verdicts, rule)
    cases = tuple(_case(given[case], verdicts[case], rule, together) for case in given)
    if results is not None:
        cases = tuple(replace(case, earlier=results.earlier.get(case.id, 0)) for case in cases)
    others = [each for each in conditions if each.settings != first]
    variants = tuple(
        _case(each, judge_case(each.outcomes, each.options, rule), rule) for each in others
    )
    return AuditReport(
        study=study.name,
        committee=conditions[0].tracked.factors["committee"],
        verdict=None if stopped else together.verdict,
        stopped=stopped,
        doubts=results.doubts if results else (),
        rule=rule,
        max_runs=max_runs,
        cases=cases,
        variants=variants,
        stable=together.stable,
        unstable=together.unstable,
        cost=sum((case.cost for case in (*cases, *variants)), Cost()),
        controlled=_gather_control(study, conditions),
        accuracy=_accuracy(given),
        beside=collect_sections(results),
        exit_status=exit_status,
    )


def _case(
    each: AuditedCondition,
    verdict: CaseVerdict,
    rule: StabilityRule,
    together: FamilyVerdict | None = None,
) -> CaseAudit:
    condition = each.tracked
    answer = str(each.head.get("answer") or "") or None
    decisions = dict(zip(condition.indices, condition.decisions, strict=True))
    by_run = lines(condition.tables)
    parted = latest_parting(decisions, by_run)
    undecided = verdict.verdict == UNDECIDED
    return CaseAudit(
        id=each.case,
        question=str(each.head.get("question", "")),
        answer=answer,
        knobs=condition.factors["knobs"],
        condition=condition.identity,
        run_id=condition.run_id,
        options={str(k): str(name) for k, name in dict(each.head.get("options", {})).items()},
        completed=condition.completed,
        pending=_count_waiting(condition),
        failures=condition.failures,
        further=plan_further(each.outcomes, each.options, rule) if undecided else None,
        cost=_cost(condition),
        pair=DifferingRuns(*parted[:2], parted[2] + 1 if by_run else None) if parted else None,
        source=_source(each),
        warnings=tuple(_warnings(each, together)),
        **list_verdict_fields(each.case, verdict, answer, together),
        begun_again=each.begun_again,
        causes=find_causes(each.transcripts, each.outcomes),
    )


def _accuracy(given: Mapping[str, AuditedCondition]) -> Accuracy | None:
    """Return the accuracy of the runs of all cases."""
    answers = {case: str(each.head.get("answer") or "") for case, each in given.items()}
    known = {case: answer for case, answer in answers.items() if answer}
    return measure_accuracy({case: given[case].outcomes for case in known}, known)


def _source(each: AuditedCondition) -> DivergenceSource | None:
    """Return the sources of divergence; ``None`` with fewer than two runs with known calls."""
    calls = each.calls
    logged = each.tracked.factors["backend"] == LOGS  # a run's use is one call in its journal
    if logged or len(set(calls.get("replicate", ()))) < 2:
        return None
    parted = compare_calls(calls)
    counts = (parted.pairs, parted.parted, parted.repeated)
    return DivergenceSource(*counts, parted.endpoint, parted.amplification, parted.places[:3])


def _warnings(each: AuditedCondition, together: FamilyVerdict | None) -> Iterator[str]:
    if together and each.case in together.not_exchangeable:
        yield "not_exchangeable"
    drawn = "draw" in each.calls and not each.tracked.simulated  # whose agents have few words
    if drawn and find_cache(each.calls):
        yield "cached"
    if each.begun_again >= max(_BEGUN_AGAIN, _SHARE_BEGUN_AGAIN * len(each.outcomes)):
        yield "begun_again"


def _count_waiting(condition: TrackedCondition) -> int:
    """Count runs that were begun and haven't ended; others may never be due."""
    frame = condition.tables.get("replicates", pd.DataFrame())
    return int((frame["status"] == "pending").sum()) if len(frame) else 0


def _cost(condition: TrackedCondition) -> Cost:
    frame = condition.tables.get("replicates", pd.DataFrame())
    if not len(frame):
        return Cost(runs=condition.failed)
    sums = {name: int(frame[name].sum()) for name in ("calls", "tokens_in", "tokens_out")}
    unpriced = int(frame["cost"].isna().sum())
    return Cost(len(frame), **sums, dollars=float(frame["cost"].sum()), unpriced=unpriced)


def _gather_control(study: AuditStudy, conditions: Sequence[AuditedCondition]) -> Circumstances:
    first = conditions[0].settings
    heads = [each.head for each in conditions if each.head and each.settings == first]
    tracked = [each.tracked for each in conditions]
    calls = [c.tables["calls"] for c in tracked if len(c.tables.get("calls", ()))]
    values = pd.concat(calls) if calls else pd.DataFrame(columns=[*_CALLED])
    sent = values["temperature"].map(lambda t: "not sent" if pd.isna(t) else f"{t:g}")
    factors = tracked[0].factors
    last = max(each.written for each in tracked)
    return Circumstances(
        identities=tuple(dict.fromkeys(str(head["program"]) for head in heads)),
        program=json.loads(heads[-1]["manifest"]) if heads else {},
        prompts=_prompts(conditions[0]),
        overrides=factors["settings"],
        seed=factors["seed"],
        models=tuple(sorted(map(str, values["model"].dropna().unique()))),
        temperatures=tuple(sorted(sent.unique())),
        fingerprints=_fingerprints(study, {each.run_id for each in tracked}),
        backend=factors["backend"],
        simulated=any(each.simulated for each in tracked),
        messages=any(len(each.tables.get("messages", ())) for each in tracked),
        versions=tuple(
            dict.fromkeys(v for each in study.provenance.values() for v in each.versions)
        ),
        begun=min(study.provenance[each.run_id].begun for each in tracked).isoformat(
            timespec="seconds"
        ),
        written=datetime.fromtimestamp(last / 1000, UTC).isoformat(timespec="seconds"),
        origin=origin(tracked),
    )


def _prompts(each: AuditedCondition) -> dict[str, str]:
    """Return the system prompts of the seats in a case's first run."""
    first = next(filter(None, (stored.read() for stored in each.transcripts)), None)
    calls = [entry for entry in first.entries if entry["kind"] == "call"] if first else []
    return {str(call["seat"]): str(call["system"]) for call in calls if call.get("system")}


def _fingerprints(study: AuditStudy, runs: set[str]) -> dict[str, int]:
    """Count answers by the provider's fingerprint, as far as accounts are written."""
    counts: Counter[str] = Counter()
    for usage in study.usage:
        if usage.tracked.run_id in runs:
            for model in (usage.models or {}).values():
                counts.update(model.get("fingerprints", {}))
    return dict(counts)
