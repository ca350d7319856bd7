"""The runs of a suite's page, and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from plenum_verdicts.reports.record import AuditSubject
from plenum_verdicts.suites import SuiteRuns


@dataclass(frozen=True)
class SuiteSource:
    """Runs of a suite, and where they are from.

    Attributes
    ----------
    runs
        Those that the assessment is of.
    options
        Names of the options by case and label.
    subjects
        Each file or program.
    simulated
        True if simulated agents answered.
    """

    runs: SuiteRuns
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    subjects: tuple[AuditSubject, ...] = ()
    simulated: bool = False
