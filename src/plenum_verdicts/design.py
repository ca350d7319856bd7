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

    Attributes
    ----------
    case, columns : a folder or file; a column by field
        Cases; columns of a table of cases or runs.
    logs : a file, a folder, a pattern, ``mlflow:EXPERIMENT``, ``runs:/ID``
        Runs that exist.
    format : a name
        Format of the log; else recognised.
    by : a field, or a list
        Splits the runs, a verdict each.
    compare
        What makes two runs of a suite differ.
    failures
        What a failed run of a log counts as.
    score, scale : a name; two numbers, the worst first
        Score that counts, and its ends.
    where : ``{FIELD:VALUE}``
        Rows of a log that are runs.
    acceptable, unacceptable
        Share of a case's runs that decide like most: stable above the second, unstable below the
        first.
    undecided
        Exit status 0 or 1, not 3.
    baseline : a log; of an audit a name, an identity, ``previous``
        What it is compared with.
    suite
        One verdict on all cases; ``auto``: if they have few runs.
    acceptable_disagreement, unacceptable_disagreement
        How often two runs of a case differ: stable below the second, unstable above the first.
    gate, drop : ``"score >= .80"`` or its like
        How often your gate errs on reruns; the drop that it should find.
    margin
        How far a score may lie below that of ``baseline``.
    decide : ``true``, ``false``, or 0.001 to 0.5
        A rule by which the program may act alone, at most this share wrongly; ``true``: 0.05.
    out : a folder
        Page, ``audit.json`` or ``verdict.json``, and JUnit XML.
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
