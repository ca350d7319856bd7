"""The settings of a verdict on runs that exist."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from plenum.design import Float, StrictSettings

Inner = Annotated[Float, Field(ge=0.01, le=0.999)]

_Several = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)

Names = Annotated[list[str], _Several]
"""A name, or a list of them."""


@dataclass(frozen=True)
class VerdictConfig(StrictSettings):
    """The runs, what of them is compared, the criterion, and further questions.

    ``logs`` is the file of the runs, ``format`` its format, ``columns`` the column of each field,
    ``by`` the fields by which it is split, ``case`` a folder or a file of the cases. ``compare``
    says whether two runs differ by their decisions, in being right or in their scores,
    ``failures`` what a failed run of a log counts as. ``score`` names the score that counts,
    ``scale`` has its worst and best value, ``where`` the rows that are runs, by field.
    ``acceptable`` and ``unacceptable`` are shares of the runs of a case that decide like the mode;
    ``suite`` gives one verdict on all cases together, for which few runs a case are enough, and
    whose ``acceptable_disagreement`` and ``unacceptable_disagreement`` are chances that two runs of
    a case end differently; ``auto`` chooses one for logs of many cases with few runs each.
    ``undecided`` says whether that verdict passes. ``baseline`` is the log of an earlier program,
    whose score may be higher by ``margin``. ``aa`` judges the user's own ``gate`` on reruns of the
    program, and on one whose score is lower by ``drop``; ``sources`` says what makes runs of a case
    differ. ``decide`` looks for a rule by which the program may act alone: the share ``agree`` of a
    case's runs has to agree, and at most ``risk`` of its acts may be wrong. ``inspect_scores`` is
    the file for scores of the runs. The page says who tested the program and who is responsible:
    ``tested_by``, ``responsible``.
    """

    case: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    logs: str | None = None
    format: str = ""
    by: Names = field(default_factory=list)
    compare: Literal["auto", "decisions", "right", "score"] = "auto"
    failures: Literal["differ", "wrong", "leave_out"] = "differ"
    score: str = ""
    scale: list[Float] = field(default_factory=list)
    where: dict[str, Any] = field(default_factory=dict)
    acceptable: Inner = 0.95
    unacceptable: Inner = 0.80
    undecided: Literal["pass", "fail"] | None = None
    baseline: str | None = None
    suite: bool | Literal["auto"] = "auto"
    acceptable_disagreement: Inner = 0.05
    unacceptable_disagreement: Inner = 0.15
    aa: bool = False
    gate: str = ""
    drop: Inner = 0.05
    sources: bool = False
    margin: Annotated[Float, Field(ge=0.001, le=0.999)] = 0.02
    decide: bool = False
    risk: Annotated[Float, Field(ge=0.001, le=0.5)] = 0.05
    agree: Annotated[Float, Field(gt=0, le=1)] = 1.0
    tested_by: str = ""
    responsible: str = ""
    inspect_scores: str = ""
    out: str = "outputs/audit"

    @property
    def program(self) -> str:
        """The name of what was run."""
        return str(self.logs or "")
