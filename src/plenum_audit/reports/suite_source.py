"""The origin of a suite's page: what was read or run, with digests, by whom, and how."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime

from plenum.base import flatten, redact
from plenum_audit.design import AuditConfig
from plenum_audit.suites import SuiteRuns

_ALWAYS = ("acceptable_disagreement", "unacceptable_disagreement", "acceptable")
_IF_SET = (
    "case", "columns", "format", "by", "compare", "undecided", "baseline", "aa", "gate", "drop",
    "buy", "margin", "decide", "risk", "agree",
)  # fmt: skip


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
        Each file or program: its role, its name, and its SHA-256.
    simulated
        Whether simulated agents answered.
    """

    runs: SuiteRuns
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    subjects: tuple[tuple[str, str, str], ...] = ()
    simulated: bool = False


def program_of(settings: AuditConfig) -> str:
    """Return the log's or the program's name."""
    named = settings.committee
    name = settings.logs or named.name or named.target or named.command or named.http or ""
    return flatten(redact(str(name)))


def settings_of(settings: AuditConfig) -> Iterator[tuple[str, str]]:
    """Yield names and values of the settings that matter: the criterion, and what was changed."""
    usual = AuditConfig()
    given = {name: column for name, column in settings.columns.items() if name != column}
    settings = replace(settings, columns=given)
    names = [each.name for each in fields(settings)]
    if not settings.logs:
        yield "repeats", str(settings.repeats)
    for name in names:
        value = getattr(settings, name)
        if name in _ALWAYS or (name in _IF_SET and value != getattr(usual, name)):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            yield name, flatten(redact(shown))


def signed(settings: AuditConfig) -> list[tuple[str, str]]:
    """Return who tested the program and who is responsible, as far as it was given."""
    given = (("Tested by", settings.tested_by), ("Responsible", settings.responsible))
    return [(role, flatten(redact(who))) for role, who in given if who.strip()]


def today() -> str:
    """Return the date and time in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
