"""Cases, on which a program decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plenum.base import UserError, digest

NO_DECISION = "none"
"""The decision of a run that ended without a readable one."""


@dataclass(frozen=True)
class AuditCase:
    """A question for a program to decide.

    Attributes
    ----------
    id
        Unique in an audit.
    text
        The facts and the question, as given to the program.
    options
        Names by label, at least two.
    answer
        The label of the right option, if there is one.
    extras
        Other fields of a data set; the program gets them.
    """

    id: str
    text: str
    options: Mapping[str, str]
    answer: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.options, Mapping) or len(self.options) < 2:
            raise UserError(f"options of case {self.id}: give at least two names by label")

    @property
    def digest(self) -> str:
        """A digest of all that a program gets."""
        given = {name: value for name, value in vars(self).items() if name != "answer"}
        return digest({**given, "options": dict(self.options), "extras": dict(self.extras)})
