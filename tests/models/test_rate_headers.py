"""Rate-limit headers in all their forms."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from multidict import CIMultiDict

from plenum.models.api import rate_headers

NAMES = (
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
)
DURATIONS = {
    "7": 7,
    "0": 0,
    "1.5": 1.5,
    "120ms": 0.12,
    "6m0s": 360,
    "1s": 1,
    "1h2m3.5s": 3723.5,
    "1d": 86400,
    "17ms": 0.017,
}


@pytest.mark.parametrize(("text", "seconds"), DURATIONS.items())
def test_retry_after_in_every_form_of_a_duration(text: str, seconds: float) -> None:
    assert rate_headers.retry_after({"retry-after": text}) == pytest.approx(seconds)


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


def test_a_time_that_is_past_is_now() -> None:
    past = format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True)
    assert rate_headers.retry_after({"retry-after": past}) == 0


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "-3", "nan", "inf", "1x", "7 weeks", "1" * 8000, "9" * 400 + "d", "1e999"),
    ],
)
def test_what_says_no_time_asks_for_none(text: str) -> None:
    assert rate_headers.retry_after({"retry-after": text}) is None


def test_milliseconds_go_before_seconds() -> None:
    assert rate_headers.retry_after({"retry-after-ms": "250", "retry-after": "1"}) == 0.25


def test_without_headers_nothing_is_asked_for() -> None:
    assert rate_headers.retry_after({}) is None
    assert rate_headers.hold_s({}) == 0


@pytest.mark.parametrize("kind", ["requests", "tokens"])
@pytest.mark.parametrize(
    ("remaining", "reset"),
    [
        ("x-ratelimit-remaining-{}", "x-ratelimit-reset-{}"),
        ("anthropic-ratelimit-{}-remaining", "anthropic-ratelimit-{}-reset"),
    ],
)
def test_what_is_used_up_holds_until_it_is_reset(remaining: str, reset: str, kind: str) -> None:
    headers = {remaining.format(kind): "0", reset.format(kind): "2s"}
    assert rate_headers.hold_s(headers) == 2
    assert rate_headers.retry_after(headers) == 2
    assert rate_headers.hold_s({**headers, remaining.format(kind): "1"}) == 0


def test_anthropics_reset_is_a_time() -> None:
    at = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    headers = {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": at}
    assert rate_headers.hold_s(headers) == pytest.approx(30, abs=2)


def test_the_longest_hold_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "1m",
    }
    assert rate_headers.hold_s(headers) == 60


def test_used_up_without_a_reset_holds_nothing() -> None:
    assert rate_headers.hold_s({"x-ratelimit-remaining-requests": "0"}) == 0


def test_retry_after_goes_before_the_limits() -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m"}
    assert rate_headers.retry_after({**headers, "retry-after": "3"}) == 3


def test_names_may_be_written_in_any_case() -> None:
    headers = CIMultiDict({"Retry-After": "3", "X-RateLimit-Remaining-Requests": "0"})
    assert rate_headers.retry_after(headers) == 3


headers = st.dictionaries(
    st.sampled_from(NAMES),
    st.one_of(
        st.text(max_size=40),
        st.from_regex(r"[0-9:.,smhd GMTuebJan+-]{0,80}", fullmatch=True),
        st.from_regex(r"[0-9]{0,6}(\.[0-9]{1,3})?(ms|s|m|h|d|z)?", fullmatch=True),
        st.from_regex(r"Mon, [0-9]{1,4} (Jan|Foo) [0-9]{1,7} [0-9:]{1,9}( GMT)?", fullmatch=True),
        st.from_regex(r"[0-9]{1,6}-[0-9]{1,2}-[0-9]{1,2}T[0-9:]{1,9}Z?", fullmatch=True),
    ),
)


@given(headers)
def test_whatever_a_server_writes_there_is_a_number_or_nothing(given: dict[str, str]) -> None:
    wait, hold = rate_headers.retry_after(given), rate_headers.hold_s(given)
    assert wait is None or 0 <= wait < float("inf")
    assert 0 <= hold < float("inf")


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
