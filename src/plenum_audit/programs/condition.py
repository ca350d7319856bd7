"""Conditions of programs: one program, as it is set, on one case. A replicate is one run of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.design.condition import Condition, Hosted, identified_backend
from plenum_audit.programs.case import Case
from plenum_audit.programs.overrides import check

PROGRAM_VERSION = 1
"""Part of every identity: raise it when the proxy or the adapters change an outcome."""

TASK = "program"


@dataclass(frozen=True, kw_only=True)
class ProgramCondition(Condition):
    """One program on one case.

    Parameters
    ----------
    committee
        What the audited program is called.
    program
        What names it: digests of its code, command or URL, interpreter, versions of packages.
    case
        What it decides.
    knobs
        Settings that the program was given, by name.
    overrides
        What the audit changes in the program's requests, such as its temperature, by name.
    """

    kind: ClassVar[str] = "program"

    committee: str
    program: Mapping[str, Any]
    case: Case
    knobs: Mapping[str, Any]
    overrides: Mapping[str, Any]

    def __post_init__(self) -> None:
        check(self.overrides)
        if isinstance(self.backend, Hosted) and "model" not in self.overrides:
            raise UserError(
                "overrides.model: name the hosted model that answers the program's requests, such "
                "as +overrides.model=tiny"
            )

    def identified_by(self) -> dict[str, Any]:
        """All that can change an outcome."""
        return {
            "program": dict(self.program),
            "case": self.case.digest,
            "knobs": dict(self.knobs),
            "overrides": dict(self.overrides),
            "model": self.model,
            "backend": identified_backend(self.backend),
            "seed": 0,  # no setting: runs of a program on a case count together
            **({"weights": dict(self.weights)} if self.weights else {}),
            "version": PROGRAM_VERSION,
        }

    @property
    def program_identity(self) -> str:
        """Names the program as it is set, whatever the case."""
        return digest({k: v for k, v in self.identified_by().items() if k != "case"})

    @property
    def labels(self) -> tuple[str, ...]:
        """What it is called."""
        return (self.committee, self.case.id)

    @property
    def calls(self) -> int:
        """Nobody knows before a run; one at least."""
        return 1

    @property
    def models(self) -> tuple[str, ...]:
        """The one that the audit names; without it the program names its own."""
        return (self.overrides["model"],) if "model" in self.overrides else ()

    @property
    def factors(self) -> dict[str, str | int]:
        """What a table groups by."""
        return {
            "task": TASK,
            "committee": self.committee,
            "case": self.case.id,
            "knobs": settings_line(self.knobs),
            "model": self.model,
            "backend": self.backend.name,
            "settings": self.settings,
            "seed": self.seed,
        }

    @property
    def settings(self) -> str:
        """What the audit changes in requests."""
        return settings_line(self.overrides)

    def as_mapping(self) -> dict[str, Any]:
        """The head of a journal, and the params of a tracking run."""
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
        return self._described_by(["committee", "case", "knobs"])


def require_program(condition: Condition) -> ProgramCondition:
    """The condition, where it is a program's.

    Raises
    ------
    UserError
        Something else is studied.
    """
    if not isinstance(condition, ProgramCondition):
        raise UserError(f"study: it holds {condition.kind}s; this is for programs under audit")
    return condition


def settings_line(settings: Mapping[str, Any]) -> str:
    """Settings as ``name=value``, sorted; ``default`` where there are none."""
    return " ".join(f"{name}={settings[name]}" for name in sorted(settings)) or "default"
