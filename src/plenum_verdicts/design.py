"""The settings of a verdict on runs that exist."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from plenum.design.ranges import Float, StrictSettings, require

FOR_SUITES = ("gate", "decide", "vary")
"""Settings that ask something of all cases together."""

Inner = Annotated[Float, Field(ge=0.01, le=0.999)]

_Several = BeforeValidator(lambda given: [given] if isinstance(given, str) else given)

Risk = Annotated[Float, Field(ge=0.001, le=0.5)]

_RISKS = Field(description="true, false, or a share from .001 to .5")

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
    whose score may be higher by ``margin``. The user's own ``gate`` is judged on reruns of the
    program, and on one whose score is lower by ``drop``. ``decide`` looks for a rule by which the
    program may act alone, with at most this share of wrong acts; true is 0.05.
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
    gate: str = ""
    drop: Inner = 0.05
    margin: Annotated[Float, Field(ge=0.001, le=0.999)] = 0.02
    decide: Annotated[bool | Risk, _RISKS] = False
    out: str = "outputs/audit"

    @property
    def program(self) -> str:
        """The name of what was run."""
        return str(self.logs or "")

    @property
    def people(self) -> dict[str, str]:
        """Names of who tested the program and who is responsible, as far as they were given."""
        return {}


def check_verdict(settings: VerdictConfig) -> None:
    """Check settings against each other.

    Raises
    ------
    UserError
        A criterion has its limits in the wrong order, or a question of a suite is asked of cases.
    """
    apart = settings.acceptable_disagreement, settings.unacceptable_disagreement
    require(
        settings.unacceptable < settings.acceptable,
        f"unacceptable: {settings.unacceptable:g}; it must be below acceptable="
        f"{settings.acceptable:g}: between the two either verdict is right",
    )
    require(
        apart[0] < apart[1],
        f"acceptable_disagreement: {apart[0]:g}; it must be below unacceptable_disagreement="
        f"{apart[1]:g}",
    )
    require(
        len(settings.scale) in (0, 2) and len({*settings.scale}) == len(settings.scale),
        f"scale: {settings.scale}; give the worst and the best value, such as [1,5]",
    )
    require(
        settings.suite is not True or settings.acceptable >= 0.5,
        f"acceptable: {settings.acceptable:g}; of a suite it is at least 0.5",
    )
    asked = [name for name in FOR_SUITES if getattr(settings, name, None)]
    require(
        settings.suite is not False or not asked,
        f"suite: false; {', '.join(asked)}: such a question is about all cases together",
    )
