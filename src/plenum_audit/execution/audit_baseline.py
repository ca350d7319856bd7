"""The earlier program that an audit is compared with, read from the tracking store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plenum.base.errors import UserError
from plenum_audit.programs.compose import Audit
from plenum_audit.programs.condition import require_program
from plenum_verdicts.dynamics.audits import select_ended

PREVIOUS = "previous"
"""Name of the program that the study held last."""


@dataclass(frozen=True)
class Baseline:
    """An earlier program.

    Attributes
    ----------
    program
        Its identity.
    outcomes
        Outcomes of its runs, by case.
    """

    program: str
    outcomes: Mapping[str, Sequence[str]]


def baseline(audit: Audit) -> Baseline | None:
    """Return the program that ``baseline`` names; ``None`` if it names none.

    First a study of that name is looked up, then a program of that identity or name in the audit's
    own study.

    Raises
    ------
    UserError
        There is no such program, or it decided none of these cases.
    """
    name, job = audit.settings.baseline, audit.jobs[0]
    if not name:
        return None
    if job.tracking_uri is None:
        raise UserError(f"baseline: {name}; earlier runs are read from tracking, which is none")
    from plenum.tracking.study import Study, exists  # MLflow takes seconds to import
    from plenum_verdicts.tracking.audits import read_audited_programs

    present = require_program(job.condition).program_identity
    study = name if name != PREVIOUS and exists(name, job.tracking_uri) else job.study
    if not exists(study, job.tracking_uri):
        _refuse(name, study)
        return None
    held = Study(study, job.tracking_uri)
    programs = {
        condition.run_id: str(run.data.params.get("program", ""))
        for condition, run in zip(held.conditions, held.condition_runs, strict=True)
    }
    others = [c for c in held.conditions if programs[c.run_id] not in ("", present)]
    if study == job.study and name == PREVIOUS:
        # The study also holds other settings and controls; an audit may have no record.
        audited = read_audited_programs(study, job.tracking_uri)
        others = [c for c in others if programs[c.run_id] in audited] or others
    elif study == job.study:
        others = [c for c in others if name in (programs[c.run_id], c.factors["committee"])]
    if not others:
        _refuse(name, study)
        return None
    latest = programs[max(others, key=lambda condition: condition.written).run_id]
    wanted = {require_program(each.condition).case.id for each in audit.jobs}
    outcomes = {}
    for condition in others:
        table = condition.data.get("replicates")
        if programs[condition.run_id] == latest and table is not None:
            columns = (table[column] for column in ("replicate", "status", "decision"))
            outcomes[condition.factors["case"]] = select_ended(zip(*columns, strict=True))
    shared = {case: runs for case, runs in outcomes.items() if case in wanted and runs}
    if not shared:
        raise UserError(f"baseline: {name}; it decided none of these cases")
    return Baseline(latest, shared)


def _refuse(name: str, study: str) -> None:
    """Refuse a missing baseline, unless it is ``previous`` and there can't be one yet."""
    if name != PREVIOUS:
        raise UserError(
            f"baseline: {name}; no study with runs, and no other program in {study}, is that"
        )
