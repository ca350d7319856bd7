"""Secrets stay in the environment: what is written or printed holds none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.errors import UserError
from plenum.secrets import redact, refuse_in_arguments, refuse_in_url

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    "name",
    ["XAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "MLFLOW_TRACKING_PASSWORD", "MY_SECRET"],
)
def test_a_secret_is_replaced_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "another-secret-7")
    assert redact("sent another-secret-7, twice: another-secret-7") == (
        f"sent <{name}>, twice: <{name}>"
    )


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_secret_is_found_wherever_it_stands(before: str, after: str) -> None:
    told = redact(f"{before}{KEY}{after}")
    assert KEY not in told
    assert "<OPENAI_API_KEY>" in told


@given(st.text(max_size=60).filter(lambda text: "://" not in text and "canary" not in text))
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_of_two_secrets_that_hold_one_another_the_longer_goes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LONG_KEY", f"{KEY}-and-more")
    assert redact(f"{KEY}-and-more") == "<LONG_KEY>"


def test_a_secret_that_was_set_with_space_around_is_found_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XAI_API_KEY", "  xai-12345678\n")
    assert redact("Bearer xai-12345678.") == "Bearer <XAI_API_KEY>."


@pytest.mark.parametrize("value", ["", "none", "EMPTY"])
def test_what_is_too_short_for_a_secret_is_an_ordinary_word(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_STUDIO_API_KEY", value)
    assert redact("none is EMPTY") == "none is EMPTY"


def test_other_variables_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYBOARD", "deliberation")
    assert redact("a deliberation") == "a deliberation"


def test_the_login_in_a_url_is_blotted_out() -> None:
    assert redact("no answer at https://me:pw@host:1/v1 today") == (
        "no answer at https://<login>@host:1/v1 today"
    )


@pytest.mark.parametrize(
    "argument", [f"+key={KEY}", f"study={KEY}", KEY, f"backend.api_base={{openai:http://h/{KEY}}}"]
)
def test_an_argument_that_holds_a_secret_is_refused_without_showing_it(argument: str) -> None:
    with pytest.raises(UserError, match="OPENAI_API_KEY") as refused:
        refuse_in_arguments(["rounds=3", argument])
    assert KEY not in str(refused.value).replace(KEY if argument == KEY else "-", "-")
    assert "\n" not in str(refused.value)


URLS = [
    "https://me:pw@host/v1",
    "https://token@host",
    "http://host/v1?api_key=abc",
    "http://host/v1?x=1&key=abc",
    "http://host/v1?API-KEY=abc",
    "http://host/v1?token=abc",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_with_a_login_or_a_key_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UserError, match=r"^tracking\.uri: a URL can't carry a login") as refused:
        refuse_in_url("tracking.uri", url)
    for hidden in ("pw", "abc", "token@"):
        assert hidden not in str(refused.value)
    with pytest.raises(UserError, match=r"^tracking\.uri: "):
        refuse_in_arguments([f"tracking.uri={url}"])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite:///home/me@work/mlflow.db",
        "http://localhost:5000",
        "https://host:8443/v1?version=2&monkey=1",
        "https://host/@me",
        "http://[::1]:8000/v1",
    ],
)
def test_an_ordinary_url_is_taken(url: str) -> None:
    refuse_in_url("tracking.uri", url)
    refuse_in_arguments([f"tracking.uri={url}", "-m", "roles=on,off", "--multirun"])
