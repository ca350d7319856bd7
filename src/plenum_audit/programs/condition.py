"""Conditions of programs: one program with its settings on one case; a replicate is one run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.design.condition import Condition
from plenum_audit.programs.overrides import check_overrides
from plenum_verdicts.cases.case import AuditCase

PROGRAM_VERSION = 1
"""Part of every identity; raise it when the proxy or adapters change an outcome."""

TASK = "program"


@dataclass(frozen=True, kw_only=True)
class ProgramCondition(Condition):
    """One program on one case.

    Parameters
    ----------
    committee
        Name of the audited program.
    program
        Its identity: digests of its code, command or URL, interpreter, versions of packages.
    case
        The case that it decides.
    knobs
        Settings given to the program, by name.
    overrides
        The audit's changes of the program's requests, such as its temperature, by name.
    """

    kind: ClassVar[str] = "program"

    committee: str
    program: Mapping[str, Any]
    case: AuditCase
    knobs: Mapping[str, Any]
    overrides: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_overrides(self.overrides)
        if self.backend.own_model and "model" not in self.overrides:
            raise UserError(
                f"overrides.model: name the {self.backend.name} model that answers the program's "
                f"requests, such as +overrides.model={self.backend.own_model}"
            )

    def collect_identity(self) -> dict[str, Any]:
        """Return all that can change an outcome."""
        identity = {
            "program": dict(self.program),
            "case": self.case.digest,
            "knobs": dict(self.knobs),
            "overrides": dict(self.overrides),
            "model": self.model,
            "backend": self.backend.collect_identity(),
            "seed": 0,  # no setting: runs of a program on a case count together
            "version": PROGRAM_VERSION,
        }
        return identity | {"weights": dict(self.weights)} if self.weights else identity

    @property
    def program_identity(self) -> str:
        """The identity of the program with its settings, independent of the case."""
        return digest({k: v for k, v in self.collect_identity().items() if k != "case"})

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the program and of the case."""
        return (self.committee, self.case.id)

    @property
    def calls(self) -> int:
        """One call, the least; the number is unknown before a run."""
        return 1

    @property
    def models(self) -> tuple[str, ...]:
        """The model that the audit sets; otherwise the program names its own."""
        return (self.overrides["model"],) if "model" in self.overrides else ()

    @property
    def factors(self) -> dict[str, str | int]:
        """Factors for grouping in tables."""
        return {
            "task": TASK,
            "committee": self.committee,
            "case": self.case.name,
            "knobs": format_settings(self.knobs),
            "model": self.model,
            "backend": self.backend.name,
            "settings": self.settings,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        """The audit's changes of requests."""
        return format_settings(self.overrides)

    def as_mapping(self) -> dict[str, Any]:
        """Return the head of a journal, and the params of a tracking run."""
        return {
            "condition": self.identity,
            **self.factors,
            "options": dict(self.case.options),
            "answer": self.case.answer or "",
            "question": self.case.text,
            "program": self.program_identity,
            "manifest": json.dumps(dict(self.program), sort_keys=True),
            "seats": [],
            "clerk": "",
        }

    def __str__(self) -> str:
        return self._describe(["committee", "case", "knobs"])


def require_program(condition: Condition) -> ProgramCondition:
    """Return the condition after checking that it is a program's.

    Raises
    ------
    UserError
        It belongs to another kind of study.
    """
    if not isinstance(condition, ProgramCondition):
        raise UserError(f"study: it holds {condition.kind}s; this is for programs under audit")
    return condition


def format_settings(settings: Mapping[str, Any]) -> str:
    """Format settings as ``name=value``, sorted; ``default`` if there are none."""
    return " ".join(f"{name}={settings[name]}" for name in sorted(settings)) or "default"
