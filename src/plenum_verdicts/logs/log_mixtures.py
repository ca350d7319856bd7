"""Runs that may not be of one program: several models, versions or days in one log."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from plenum.base.identity import digest
from plenum.base.text import flatten

_MIXED = {
    "model": "models", "version": "versions of the program",
    "fingerprint": "fingerprints of the provider", "wording": "wordings", "scorer": "scorers",
    "domain": "domains", "day": "days",
}  # fmt: skip
"""Fields in which the runs of one program are equal, in words."""

SOURCES = (*_MIXED, "seed")
"""Fields whose part in the differences between runs of a case is estimated."""

_MOST_DOMAINS = 26
"""Number of domains above which they are hardly domains, but tasks."""

_SHOWN = 3
_LONGEST = 40
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")
_EPOCH = re.compile(r"\d{9,13}(\.\d+)?")
_AMERICAN = ("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y, %I:%M:%S %p")
"""Times by a clock of twelve hours, where the month stands first."""


def read_value(row: Mapping[str, Any], field: str) -> str:
    """Return a field's value as text; ``day`` is that of ``time``; empty if it isn't known."""
    if field == "day" and "day" not in row:
        return read_day(str(row.get("time") or ""))
    value = row.get(field)
    return "" if value is None else flatten(str(value))


@lru_cache(4096)
def read_day(time: str) -> str:
    """Return the day of a time, as :func:`read_time` reads it; empty if unknown.

    Examples
    --------
    >>> read_day("2026-09-01T23:30:00-07:00"), read_day("1788220800"), read_day("yesterday")
    ('2026-09-02', '2026-09-01', '')
    """
    read, found = read_time(time), _DAY.match(time)
    return f"{read:%Y-%m-%d}" if read else found[0] if found else ""


def read_time(time: str) -> datetime | None:
    """Return a time, in UTC if it names a zone or counts seconds; ``None`` if it can't be read."""
    if _EPOCH.fullmatch(time):
        seconds = float(time)
        # Seconds above 1e11 would be after the year 5000: these are milliseconds.
        return datetime.fromtimestamp(seconds / (1000 if seconds > 1e11 else 1), UTC)
    with suppress(ValueError, OverflowError):
        read = datetime.fromisoformat(time)
        return read.astimezone(UTC) if read.tzinfo else read
    for form in _AMERICAN:
        with suppress(ValueError):
            return datetime.strptime(time.strip(), form)
    return None


def list_times(rows: Iterable[Mapping[str, Any]]) -> list[datetime]:
    """Return the times of all runs of a case; empty if these don't tell their order."""
    given = [row.get("time") for row in rows]
    if not all(given):  # most logs have none: reading nothing as a time takes longest
        return []
    times = [time for each in given if (time := read_time(str(each)))]
    # A time without a zone stands neither before nor after one that has a zone.
    told = len({*times}) == len(given) and len({time.tzinfo for time in times}) == 1
    return times if told else []


def have_order(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a log tells the order of a case's runs."""
    return all("run" in row for row in rows) or bool(list_times(rows))


def name_group(row: Mapping[str, Any], by: Sequence[str]) -> str:
    """Return the group of a run: the values of the fields by which a log is split."""
    return ", ".join(read_value(row, field) or f"no {field}" for field in by)


def folder_name(group: str) -> str:
    """Return a folder's name for a group, different for different groups."""
    plain = re.sub(r"[^\w.-]+", "_", group)[:60].strip("._")
    # Two groups may be equal once marks are replaced: the digest keeps their folders apart.
    return plain if plain == group else f"{plain or 'group'}-{digest(group)[:6]}"


def mixtures(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each field in which runs differ that should be of one program."""
    for field, plural in _MIXED.items():
        if not any(field in row or (field == "day" and "time" in row) for row in rows):
            continue
        values = Counter(read_value(row, field) for row in rows)
        if len(values) < 2 or (field == "domain" and len(values) > _MOST_DOMAINS):
            continue
        shown = ", ".join(
            f"{_short(value) if value else 'not named'} ({count:,} run{'s' * (count > 1)})"
            for value, count in sorted(values.items(), key=lambda v: (-v[1], v[0]))[:_SHOWN]
        )
        more = f" and {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else ""
        yield (
            f"The log mixes {len(values):,} {plural}: {shown}{more}. by={field} gives each a "
            "verdict of its own."
        )


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."
