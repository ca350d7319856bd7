"""Rate-limit headers: the time until a provider accepts another call."""

import re
import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(ms|s|m|h|d)")
_LONGEST_TEXT = 64
"""A bound above the characters of any time; searching endless digits would never end."""
_LONGEST_S = 1e10
"""Some 300 years, so that whatever a provider sends stays a usable number."""
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_EPOCH = 1e9
"""Numbers from here on are times of the Unix clock, of 2001 and later, and no waits of 30 years."""
# OpenAI's names, which most compatible servers share, and Anthropic's.
_PAIRS = tuple(
    (f"{prefix}{first}", f"{prefix}{second}")
    for kind in ("requests", "tokens")
    for prefix, first, second in (
        ("x-ratelimit-", f"remaining-{kind}", f"reset-{kind}"),
        ("anthropic-ratelimit-", f"{kind}-remaining", f"{kind}-reset"),
    )
)


def hold_s(headers: Mapping[str, str]) -> float:
    """Return the seconds until there is room for another call; 0 if there is room now.

    Parameters
    ----------
    headers
        Of an answer, with names that are looked up without regard to case.
    """
    longest = 0.0
    for remaining, reset in _PAIRS:
        left = headers.get(remaining)
        # What else is left says nothing of how many calls are under way: only none counts.
        if left is not None and left.strip() in ("0", "0.0"):
            longest = max(longest, _duration(headers.get(reset)) or 0.0)
    return longest


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After in seconds, in any of its forms, else the rate-limit headers."""
    # First, since it says the same wait more exactly.
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return min(milliseconds / 1000, _LONGEST_S)
    value = headers.get("retry-after")
    if value is None:
        return hold_s(headers) or None
    return _duration(value)


def _duration(value: str | None) -> float | None:
    """Parse seconds from ``7``, ``6m0s``, ``120ms``, an HTTP date or an ISO time."""
    if not value or len(value) > _LONGEST_TEXT:
        return None
    seconds = _seconds(value)
    # A time that is past is no wait.
    return None if seconds is None else min(max(seconds, 0.0), _LONGEST_S)


def _seconds(value: str) -> float | None:
    number = _number(value)
    if number is not None:  # seconds, or since when the Unix clock counts them
        return number if number < _EPOCH else number - time.time()
    parts = _DURATION.findall(value)
    # Durations alone: an ISO time may hold what looks like one.
    if parts and _DURATION.sub("", value).strip() == "":
        return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return read(value).timestamp() - time.time()
        # Of another form, or a time beyond the calendar: the next reader tries.
        except (ValueError, TypeError, OverflowError, OSError):
            continue
    return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
