"""Settings of an audit in addition to those of a study, with ranges and meanings."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from omegaconf import DictConfig
from pydantic import BeforeValidator, Field

from plenum.design import (
    Count,
    Float,
    Int,
    Positive,
    Script,
    StrictSettings,
    StudyConfig,
    WebUrl,
    check_settings,
    drop_settings,
    read_settings,
    require,
    resolve_config,
    type_config,
)
from plenum_verdicts import VerdictConfig


@dataclass(frozen=True)
class CommitteeConfig(StrictSettings):
    """The program: a ``target`` (FILE.py:NAME or MODULE:NAME), a ``command`` or a URL (``http``).

    A target runs in its own process, or in this one (``isolate=none``), under ``python``. A command
    gets the path of the case's file for ``{case}``; a URL receives ``body`` and returns the
    decision at ``path``. A run may take ``timeout_s`` seconds, not counting waits for models, and
    ``max_calls``. ``extract`` is the rule to read its text by, and ``clerk`` the model that may
    read it; ``elicit`` asks its seats for their preferences after a run. ``env`` names variables to
    pass on. ``knobs`` are settings of the program with the values to try, the usual one first.
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
    clerk: str = ""
    elicit: bool = False
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

    ``max_runs`` limits the runs of a case, ``concurrency`` those in flight. ``baseline`` may also
    name an earlier study, or be ``previous``. ``control`` is an additional run for comparison.
    ``fix`` searches for remedies: votes, the program's knobs, and ``temperatures`` of its requests.
    ``overrides`` are always changed in requests. A suite has ``repeats`` runs of each case.
    ``rule`` is the file of a rule of acting alone, to be applied. ``vary`` also runs the cases of a
    suite with other wordings or with their options in another order, and says how much more often
    runs differ then.
    """

    committee: Program = field(default_factory=CommitteeConfig)
    max_runs: Annotated[Int, Field(ge=2, le=10_000)] = 100
    concurrency: Count = 8
    control: Literal["none", "one_shot"] = "none"
    fix: bool = False
    repeats: Annotated[Int, Field(ge=2, le=1_000)] = 4
    rule: str | None = None
    vary: Changes = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    temperatures: list[Annotated[Float, Field(ge=0, le=2)]] = field(default_factory=list)

    @property
    def program(self) -> str:
        """The name of the log, or of the program."""
        named = self.committee
        return str(self.logs or named.name or named.target or named.command or named.http or "")


INSTEAD = {
    "scenario": "case",
    "replicates": "max_runs",
    "model": "+overrides.model",
    "temperature": "+overrides.temperature",
    "sampling": "+overrides",
    "rounds": "committee.knobs",
    "roles": "committee.knobs",
    "memory": "committee.knobs",
}
"""Settings of ``run.py`` and their replacements in an audit."""

SCRIPT = Script((StudyConfig, AuditConfig), INSTEAD)


def type_audit(cfg: DictConfig) -> tuple[AuditConfig, StudyConfig]:
    """Return the config of ``scripts/audit.py``: the audit's own settings, and those of any study.

    Raises
    ------
    UserError
        A value is missing, unknown, of the wrong type or out of range.
    """
    audit = read_settings(AuditConfig, cfg)
    if audit.vary and audit.suite == "auto":
        audit = replace(audit, suite=True)
    require(
        audit.unacceptable < audit.acceptable,
        f"unacceptable: {audit.unacceptable:g}; it must be below acceptable="
        f"{audit.acceptable:g}: between the two either verdict is right",
    )
    require(
        audit.acceptable_disagreement < audit.unacceptable_disagreement,
        f"acceptable_disagreement: {audit.acceptable_disagreement:g}; it must be below "
        f"unacceptable_disagreement={audit.unacceptable_disagreement:g}",
    )
    require(
        audit.suite is not True or audit.acceptable >= 0.5,
        f"acceptable: {audit.acceptable:g}; of a suite it is at least 0.5",
    )
    require(
        not (audit.suite is True and (audit.fix or audit.control != "none")),
        "suite: true; fix and control are for verdicts on cases: leave them out",
    )
    require(
        not (audit.logs and (audit.fix or audit.control != "none")),
        "logs: fix and control run the program again, which a log doesn't hold: leave them out",
    )
    for_suites = ("aa", "decide", "sources", "vary")
    for name, of_suite in {each: getattr(audit, each) for each in for_suites}.items():
        require(
            not of_suite or audit.suite is True or (bool(audit.logs) and audit.suite is not False),
            f"{name}: {of_suite}; it is for a suite: suite=true",
        )
    require(
        audit.aa == bool(audit.gate.strip()),
        'aa, gate: give both, such as aa=true gate="score >= .80": the gate is judged by what '
        "reruns of the same program would make of it",
    )
    failures = audit.failures if audit.failures != "differ" else ""
    require(
        len(audit.scale) in (0, 2) and len({*audit.scale}) == len(audit.scale),
        f"scale: {audit.scale}; give the worst and the best value, such as [1,5]",
    )
    of_logs: dict[str, Any] = {
        "format": audit.format,
        "by": audit.by,
        "failures": failures,
        "score": audit.score,
    }
    of_logs |= {"scale": audit.scale, "where": audit.where}
    for name, given in of_logs.items():
        require(bool(audit.logs) or not given, f"{name}: {given}; it needs logs=")
    require(
        audit.compare == "auto" or (bool(audit.logs) and audit.suite is not False),
        f"compare: {audit.compare}; it is for the suite of a log: logs=FILE suite=true",
    )
    require(
        bool(audit.logs) or not audit.inspect_scores,
        f"inspect_scores: {audit.inspect_scores}; it needs logs=FILE, whose runs are scored",
    )
    require(
        audit.rule is None or not (audit.logs or audit.fix or audit.baseline),
        "rule: it is applied to new cases by running the program on them: leave out logs, fix and "
        "baseline",
    )
    require(
        not audit.vary or not (audit.logs or audit.rule),
        f"vary: {audit.vary}; it runs the program with changes: leave out rule, and of logs "
        "sources=true says what makes runs differ",
    )
    require(
        audit.fix or not audit.temperatures,
        f"temperatures: {audit.temperatures}; they are tried by fix=true, which isn't set; "
        "+overrides.temperature=... changes every request",
    )
    require(
        bool(audit.case or audit.logs),
        "case: give the cases (case=FOLDER or FILE), or logs=FILE of runs that exist",
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
