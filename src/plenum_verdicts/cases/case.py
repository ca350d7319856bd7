"""Cases, on which a program decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from plenum.base.errors import UserError
from plenum.base.identity import digest

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
    wordings
        The same text in other words; with ``vary=wording`` the program gets one of them instead.
    variant
        What is changed of the case; empty for the case as it is.
    """

    id: str
    text: str
    options: Mapping[str, str]
    answer: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    wordings: tuple[str, ...] = ()
    variant: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.options, Mapping) or len(self.options) < 2:
            raise UserError(f"options of case {self.id}: give at least two names by label")

    @property
    def digest(self) -> str:
        """A digest of all that a program gets."""
        given: dict[str, Any] = {"id": self.id, "text": self.text}
        given |= {"options": dict(self.options), "extras": dict(self.extras)}
        return digest(given | ({"variant": self.variant} if self.variant else {}))

    @property
    def name(self) -> str:
        """The id, and what is changed of the case."""
        return f"{self.id}, {self.variant}" if self.variant else self.id

    def in_other_words(self) -> tuple["AuditCase", ...]:
        """Return the case in each of its other wordings."""
        return tuple(
            replace(self, text=text, wordings=(), variant=f"wording {number}")
            for number, text in enumerate(self.wordings, start=1)
        )

    def in_other_order(self) -> "AuditCase":
        """Return the case with its options in reverse order, each with its own label."""
        options = dict(reversed([*self.options.items()]))
        return replace(self, options=options, wordings=(), variant="options reversed")
