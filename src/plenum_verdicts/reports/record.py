"""The record of an audit: what was tested, with digests, by whom, when, and by which settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum_verdicts.design import VerdictConfig

_OF_SUITES = ("acceptable_disagreement", "unacceptable_disagreement", "acceptable")
_OF_CASES = ("acceptable", "unacceptable")
_IF_SET = (
    "case", "columns", "format", "by", "compare", "failures", "score", "scale", "where",
    "undecided", "baseline", "gate", "drop", "margin", "decide", "vary", "control",
    "overrides",
)  # fmt: skip


@dataclass(frozen=True)
class AuditSubject:
    """A file or a program that was tested.

    Attributes
    ----------
    role
        ``logs``, or ``program``, ``cases`` and ``journals``.
    name
        Of the file; empty for what is no single file.
    sha256
        Its digest, as the in-toto Statement has it.
    commit
        The commit of the program's code, ``-dirty`` with changes that aren't committed; empty
        outside of a git checkout.
    """

    role: str
    name: str
    sha256: str
    commit: str = ""


@dataclass(frozen=True)
class AuditRecord:
    """Facts by which an audit is filed; those that weren't given are empty.

    Attributes
    ----------
    tested_by, responsible
        Who tested the program, and who is responsible for it.
    settings
        The criterion, and the settings that were changed, by name.
    """

    tested_by: str = ""
    responsible: str = ""
    subjects: tuple[AuditSubject, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def signed(self) -> list[tuple[str, str]]:
        """Roles and names of the people, as far as they were given."""
        given = (("Tested by", self.tested_by), ("Responsible", self.responsible))
        return [(role, who) for role, who in given if who]


def record_audit(
    settings: VerdictConfig, subjects: tuple[AuditSubject, ...] = (), suite: bool = False
) -> AuditRecord:
    """Return the record of a verdict, on cases or on a suite of them."""
    people = {role: _clean(who) for role, who in settings.people.items()}
    criterion = (_OF_SUITES, "repeats") if suite else (_OF_CASES, "max_runs")
    return AuditRecord(
        tested_by=people.get("tested_by", ""),
        responsible=people.get("responsible", ""),
        subjects=subjects,
        settings=dict(_settings_of(settings, *criterion)),
    )


def _settings_of(
    settings: VerdictConfig, always: tuple[str, ...], runs: str
) -> Iterator[tuple[str, str]]:
    """Yield names and values; ``runs`` is the setting that limits the runs of a case."""
    usual = type(settings)()
    given = {name: column for name, column in settings.columns.items() if name != column}
    settings = replace(settings, columns=given)
    names = [each.name for each in fields(settings)]
    if not settings.logs:
        yield runs, str(getattr(settings, runs))
    for name in names:
        value = getattr(settings, name)
        if name in always or (name in _IF_SET and value != getattr(usual, name)):
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            yield name, _clean(shown)


def _clean(text: str) -> str:
    return flatten(redact(text))
