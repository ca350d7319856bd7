"""Settings of an audit in addition to those of a study, with ranges and meanings."""

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal

from omegaconf import DictConfig
from pydantic import BeforeValidator, Field

from plenum.design.conflicts import check_settings
from plenum.design.ranges import Count, Int, Positive, StrictSettings, WebUrl, require
from plenum.design.schema import StudyConfig, resolve_config, type_config
from plenum.design.scripts import Script
from plenum.design.validation import drop_settings, read_settings
from plenum_verdicts.design import FOR_SUITES, VerdictConfig, check_verdict


@dataclass(frozen=True)
class CommitteeConfig(StrictSettings):
    """The program that is audited.

    Attributes
    ----------
    name : a text
        What it is called; else its target, command or host.
    target, command, http : ``FILE.py:NAME``, ``MODULE:NAME``; a command with ``{case}``; a URL
        Program; in short ``committee=FILE.py:NAME``.

        A command gets the path of the case's file for ``{case}``.
    body, path : a mapping; a path such as ``a.b.0``
        What the URL is sent; where its answer has the decision.
    python : a path
        Interpreter of the target; else plenum's.
    isolate
        ``none``: in plenum's process.
    timeout_s, max_calls
        Limits of a run, without waits for models.
    extract : ``regex:...``, ``json:PATH``, ``name``
        How a text becomes a decision.
    env : a list of variables
        What it gets besides the usual.
    knobs : ``'+committee.knobs.NAME=[2,1]'``
        Its settings to try, the usual value first; else those it declares.
    """

    name: str = ""
    target: str = ""
    command: str = ""
    http: WebUrl = ""
    body: Any = None
    path: str = ""
    python: str = ""
    isolate: Literal["process", "none"] = "process"
    timeout_s: Positive = 600.0
    max_calls: Count = 1000
    extract: str = ""
    env: list[str] = field(default_factory=list)
    knobs: dict[str, Any] = field(default_factory=dict)


Program = Annotated[
    CommitteeConfig,
    BeforeValidator(lambda given: {"target": given} if isinstance(given, str) else given),
]
"""``committee=FILE.py:NAME`` is ``committee.target=FILE.py:NAME``."""


_Several = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)

Changes = Annotated[list[Literal["wording", "order"]], _Several]
"""Changes that further runs of a suite get: one, or a list."""


@dataclass(frozen=True)
class AuditConfig(VerdictConfig):
    """A program's runs until a verdict, beside the settings of any verdict.

    Attributes
    ----------
    max_runs
        Runs of a case until ``undecided``.
    concurrency
        Runs in flight.
    control
        ``one_shot``: also runs the seats without interaction.
    repeats
        Runs of each case of a live suite.
    rule : a file
        Applies a rule of ``decide``.
    vary
        Also runs a live suite with these changes.
    overrides : ``+overrides.temperature=0``
        Changed in all requests.
    tested_by, responsible : a text
        Names on the page.
    """

    committee: Program = field(default_factory=CommitteeConfig)
    max_runs: Annotated[Int, Field(ge=2, le=10_000)] = 100
    concurrency: Count = 8
    control: Literal["none", "one_shot"] = "none"
    repeats: Annotated[Int, Field(ge=2, le=1_000)] = 4
    rule: str | None = None
    vary: Changes = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    tested_by: str = ""
    responsible: str = ""

    @property
    def program(self) -> str:
        """The name of the log, or of the program."""
        named = self.committee
        return str(self.logs or named.name or named.target or named.command or named.http or "")

    @property
    def people(self) -> dict[str, str]:
        """Names of who tested the program and who is responsible, as far as they were given."""
        given = {"tested_by": self.tested_by, "responsible": self.responsible}
        return {role: who for role, who in given.items() if who.strip()}


INSTEAD = {
    "scenario": "case", "replicates": "max_runs", "model": "+overrides.model",
    "temperature": "+overrides.temperature", "sampling": "+overrides", "rounds": "committee.knobs",
    "roles": "committee.knobs", "memory": "committee.knobs",
}  # fmt: skip
"""Settings of ``run.py`` and their replacements in an audit."""

SCRIPT = Script((StudyConfig, AuditConfig), INSTEAD)


_OF_LOGS = {"format", "by", "compare", "failures", "score", "scale", "where"}
"""Settings that say how a log is read."""


def type_audit(cfg: DictConfig) -> tuple[AuditConfig, StudyConfig]:
    """Return the config of ``scripts/audit.py``: the audit's own settings, and those of any study.

    Raises
    ------
    UserError
        A value is missing, unknown, of the wrong type or out of range.
    """
    audit = read_settings(AuditConfig, cfg)
    if audit.suite == "auto" and not audit.logs and any(getattr(audit, n) for n in FOR_SUITES):
        audit = replace(audit, suite=True)
    check_verdict(audit)
    usual = AuditConfig()
    changed = [
        each.name
        for each in fields(usual)
        if getattr(audit, each.name) != getattr(usual, each.name)
    ]
    run_again = [name for name in changed if name in ("rule", "control", "vary")]
    of_logs = [name for name in changed if name in _OF_LOGS]
    require(
        bool(audit.case or audit.logs),
        "case: give the cases (case=FOLDER or FILE), or logs=FILE of runs that exist",
    )
    require(
        not (audit.logs and run_again),
        f"logs: it can't be given with {', '.join(run_again)}, for which the program is run",
    )
    require(
        bool(audit.logs) or not of_logs,
        f"{', '.join(of_logs)}: it is about the rows of a log, and needs logs=FILE",
    )
    require(
        audit.suite is not True or "control" not in changed,
        "suite: true; control is for verdicts on cases: leave it out",
    )
    require(
        audit.rule is None or not {"baseline", "vary"} & {*changed},
        "rule: it is applied by running the program on new cases: leave out baseline and vary",
    )
    study = type_config(resolve_config(drop_settings(cfg, AuditConfig)))
    check_settings(study)
    _refuse_anew(study)
    return audit, study


def _refuse_anew(study: StudyConfig) -> None:
    """Refuse settings that repeat draws, since a verdict uses all runs of a program.

    Raises
    ------
    UserError
        Failed runs would be repeated, or a seed would restart the evidence.
    """
    require(
        not study.retry_failed,
        f"retry_failed: {str(study.retry_failed).lower()}; an audit has none: a failed run "
        "is an outcome, and a program whose failures were drawn again until they are gone would "
        "look stable",
    )
    require(
        study.seed == 0,
        f"seed: {study.seed}; an audit has none: all runs of a program on a case count together, "
        "and a seed that starts them again would give every verdict another try",
    )
