"""Rate-limit headers in all their forms."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from multidict import CIMultiDict

from plenum.calls.api import rate_headers

PAST = format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True)
NO_TIMES = ("", "soon", "-3", "nan", "inf", "1x", "7 weeks", "1" * 8000, "9" * 400 + "d", "1e999")
UP = {"x-ratelimit-remaining-requests": "0"}


@pytest.mark.parametrize(
    ("headers", "wait", "hold"),
    [
        ({}, None, 0),
        *(
            ({"retry-after": text}, seconds, 0)
            for text, seconds in (
                *(("7", 7), ("0", 0), ("1.5", 1.5), ("120ms", 0.12), ("6m0s", 360), ("1s", 1)),
                *(("1h2m3.5s", 3723.5), ("1d", 86400), ("17ms", 0.017), (PAST, 0)),
                *((text, None) for text in NO_TIMES),
            )
        ),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25, 0),
        (UP, None, 0),
        *(
            ({f"x-ratelimit-remaining-{k}": "0", f"x-ratelimit-reset-{k}": "2s"}, 2, 2)
            for k in ("requests", "tokens")
        ),
        *(
            (
                {f"anthropic-ratelimit-{k}-remaining": n, f"anthropic-ratelimit-{k}-reset": "2s"},
                w,
                h,
            )
            for k in ("requests", "tokens")
            for n, w, h in (("0", 2, 2), ("1", None, 0))
        ),
        # the longest hold counts, and what is asked for goes before it
        (
            {
                **UP,
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1m",
            },
            60,
            60,
        ),
        ({**UP, "x-ratelimit-reset-requests": "1m", "retry-after": "3"}, 3, 60),
        (CIMultiDict({"Retry-After": "3", "X-RateLimit-Remaining-Requests": "0"}), 3, 0),
    ],
)
def test_headers_say_how_long_to_wait(
    headers: Mapping[str, str], wait: float | None, hold: float
) -> None:
    found = rate_headers.retry_after(headers)
    assert found == (None if wait is None else pytest.approx(wait))
    assert rate_headers.hold_s(headers) == hold


@pytest.mark.parametrize("form", ["http", "iso", "z", "offset"])
def test_retry_after_as_a_time(form: str) -> None:
    when = datetime.now(UTC) + timedelta(seconds=90)
    text = {
        "http": format_datetime(when, usegmt=True),
        "iso": when.isoformat(),
        "z": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "offset": (when.astimezone()).isoformat(),
    }[form]
    assert rate_headers.retry_after({"retry-after": text}) == pytest.approx(90, abs=2)


def test_anthropics_reset_is_a_time() -> None:
    at = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    headers = {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": at}
    assert rate_headers.hold_s(headers) == pytest.approx(30, abs=2)


def test_a_reset_on_the_unix_clock_is_a_time_and_no_duration() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": f"{time.time() + 30:.0f}",
    }
    assert 25 < rate_headers.hold_s(headers) <= 31
    past = {**headers, "x-ratelimit-reset-requests": "1500000000"}
    assert rate_headers.hold_s(past) == 0


hostile = (
    st.text(max_size=80)
    | st.from_regex(r"[0-9]{1,30}(\.[0-9]{1,9})?(e[0-9]{1,4})?(ms|s|m|h|d)?", fullmatch=True)
    | st.sampled_from(
        [
            *("1e308", "nan", "inf", "-1", "9" * 400 + "d", "9" * 4_000 + "x", "1e400"),
            *("Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 -9999"),
            *("0001-01-01T00:00:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-23:59"),
        ]
    )
)


@given(hostile)
@example("Fri, 31 Dec 9999 23:59:59 GMT")
@example("9" * 8_000 + "x")  # a pattern may not go back and forth over it
def test_whatever_is_asked_for_is_a_finite_number_of_seconds(value: str) -> None:
    full = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": value}
    for headers in ({"retry-after": value}, {"retry-after-ms": value}, full):
        assert 0 <= (rate_headers.retry_after(headers) or 0) < 1e11
    assert 0 <= rate_headers.hold_s(full) < 1e11
