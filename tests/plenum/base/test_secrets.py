"""Secrets stay in the environment: what is written or printed holds none."""

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given
from hypothesis import strategies as st

from plenum.base.errors import UserError
from plenum.base.secret_input import (
    refuse_for_program,
    refuse_in_arguments,
    refuse_in_url,
    refuse_keys,
)
from plenum.base.secrets import redact, secret_variables
from plenum.cli import one_line_errors as exiting
from plenum.design.job import Job

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize(
    ("name", "value", "text", "redacted"),
    [
        *(
            (name, "another-secret-7", "another-secret-7, twice: another-secret-7", None)
            for name in ("XAI_API_KEY", "HF_TOKEN", "AWS_PASSWORD", "MY_SECRET")
        ),
        ("LONG_KEY", f"{KEY}-and-more", f"{KEY}-and-more", "<LONG_KEY>"),  # the longer one first
        ("XAI_API_KEY", "  xai-12345678\n", "Bearer xai-12345678.", "Bearer <XAI_API_KEY>."),
        # too short for a secret, and another variable
        *(("LM_STUDIO_API_KEY", v, "none is EMPTY", "none is EMPTY") for v in ("none", "EMPTY")),
        ("KEYBOARD", "deliberation", "a deliberation", "a deliberation"),
        ("X", "", "at https://me:pw@host:1/v1 today", "at https://<login>@host:1/v1 today"),
    ],
)
def test_a_secret_is_replaced_by_its_name(
    name: str, value: str, text: str, redacted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert redact(text) == (redacted or f"<{name}>, twice: <{name}>")


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_secret_is_found_wherever_it_stands(before: str, after: str) -> None:
    told = redact(f"{before}{KEY}{after}")
    assert KEY not in told
    assert "<OPENAI_API_KEY>" in told


@given(st.text(max_size=60).filter(lambda text: "://" not in text and "canary" not in text))
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


URLS = [
    "https://me:pw@host/v1",
    "https://token@host",
    "http://me:pa/ss@host",
    "http://me:12/ss@host/v1",
    "https://pw/abc@host",
    "http://me:p w@host/v1",
    "http://me:pw@[::1]:8000/v1",
    "http://me:p%2Fw@host",
    "HTTP://me:pw@host",
    "http:///me:pw@host",
    "http://host/v1?api_key=abc",
    "http://host/v1?x=1&key=abc",
    "http://host/v1?API-KEY=abc",
    "http://host/v1?token=abc",
    "http://host/v1?auth=abc",
    "http://host/v1?api-version=2&access_token=abc",
    "http://host/v1?sig=abc",
    "http://host/v1?abc",
    "http://host/v1#abc",
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
        "https://host:8443/v1?api-version=2026-01-01",
        "https://host/%40me",
        "http://[::1]:8000/v1",
    ],
)
def test_an_ordinary_url_is_taken(url: str) -> None:
    refuse_in_url("tracking.uri", url)
    refuse_in_arguments([f"tracking.uri={url}", "-m", "roles=on,off", "--multirun"])


@pytest.mark.parametrize(
    "argument",
    [
        "backend.api_base.openai=me:pw@host/v1",
        "tracking.uri=//me:pw@host",
        "backend.api_base={openai:http://h/v1,ollama:http://me:pw@h}",
        "study=http%3A%2F%2Fme%3Apw%40host",
        "study=x?auth=abc",
        "http://me:pw@host?x=1",
        "+backend.api_key=abc",
        "OPENAI_API_KEY=abc",
        *(KEY, f"+key={KEY}", f"study={KEY}", f"backend.api_base={{openai:http://h/{KEY}}}"),
    ],
)
def test_an_argument_that_hides_a_secret_is_refused_without_showing_it(argument: str) -> None:
    with pytest.raises(UserError) as refused:
        refuse_in_arguments(["rounds=3", argument])
    for hidden in ("pw", "abc", KEY, "\n"):
        assert hidden not in str(refused.value)


KEYS = st.sampled_from(
    ["tracking.uri", "backend.api_base.openai", "+backend.api_base.azure", "study", "+note"]
)
SECRETS = st.text(min_size=8, max_size=30).map(lambda text: f"q{text}7")
"""Any text at all, between two characters that make it unlike the words of a message."""


@given(
    key=KEYS, user=st.text(max_size=8), password=SECRETS, scheme=st.sampled_from(["http", "https"])
)
def test_no_login_of_an_override_is_shown_or_taken(
    key: str, user: str, password: str, scheme: str
) -> None:
    with pytest.raises(UserError) as refused:
        refuse_in_arguments([f"{key}={scheme}://{user}:{password}@host:8000/v1"])
    assert password not in str(refused.value)
    assert " ".join(password.split()) not in str(refused.value)


@given(
    key=KEYS,
    name=st.sampled_from(["auth", "access_token", "sig", "password", "secret", "x-api-key", "k"]),
    secret=SECRETS,
)
def test_no_parameter_of_an_override_is_shown_or_taken(key: str, name: str, secret: str) -> None:
    with pytest.raises(UserError) as refused:
        refuse_in_arguments([f"{key}=http://host/v1?{name}={secret}"])
    assert " ".join(secret.split()) not in str(refused.value)


LETTERS = st.text("abcdefghijklmnopqrstuvwxyz0123456789/%.:-", min_size=8).map("q{}7".format)


@given(password=LETTERS)
def test_the_login_of_any_url_is_blotted_out_of_a_text(password: str) -> None:
    shown = redact(f"no answer at (https://me:{password}@host:1/v1?auth={password}) today")
    assert password not in shown
    assert shown.endswith(" today")


@given(secret=LETTERS)
def test_what_hydra_says_of_an_override_shows_no_secret(secret: str) -> None:
    """Even of one that reached Hydra: the parser quotes what it can't read."""
    capture = io.StringIO()
    conf = str(Path(__file__).parents[3] / "conf")
    with (
        pytest.raises(SystemExit) as left,
        redirect_stderr(capture),
        exiting(),
        initialize_config_dir(conf, version_base="1.3"),
    ):
        compose("config", [f"rounds=[1,http://me:{secret}@host/v1?auth={secret}"])
    assert left.value.code == 2
    assert secret not in capture.getvalue()
    assert len(capture.getvalue().splitlines()) == 1


def test_a_login_that_the_environment_brings_into_a_config_is_refused(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:pa/ss7@host/v1")
    with pytest.raises(UserError, match=r"^backend\.api_base\.openai: a URL can't") as refused:
        job("backend=api")
    assert "ss7" not in str(refused.value)


# --- what a program under audit is started with ---------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("MYSQL_PWD", "PGPASSWORD", "DB_PASS", "GH_PAT", "SENTRY_DSN", "BEARER", "TLS_KEY_PEM"),
        *("SLACK_WEBHOOK_URL", "DEPLOY_HOOK", "DB_CONN", "AZURE_STORAGE_CONNECTION_STRING"),
        *("gh_pat", "APIKEY", "OPENAI_API_KEYS", "AWS_ACCESS_KEY_ID", "TOKEN", "NPM_AUTH"),
        *("PW", "DB_PW"),
    ],
)
def test_variables_of_every_usual_name_are_secrets(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "quite-secret-77")
    assert redact("it is quite-secret-77.") == f"it is <{name}>."
    assert name in secret_variables(os.environ)


@pytest.mark.parametrize(
    "name", ["PATH", "PWD", "OLDPWD", "PATTERN", "COMPASS", "KEYBOARD", "LANG"]
)
def test_a_variable_that_only_looks_like_one_is_no_secret(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "/some/ordinary/place")
    assert redact("at /some/ordinary/place") == "at /some/ordinary/place"


def test_parts_of_a_secret_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    pem = "-----BEGIN KEY-----\n  MIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----"
    monkeypatch.setenv("TLS_PEM", pem)
    monkeypatch.setenv("DB_CONN", "host=db user=me password=correct-horse")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:battery-staple@db/app")
    said = redact("MIIEvQIBADANBgkqhkiG9w0 correct-horse battery-staple db/app")
    assert said == "<TLS_PEM> <DB_CONN> <DATABASE_URL> db/app"


@pytest.mark.parametrize(
    "value",
    [
        "app --api-key=abc",
        "app --api-key abc",
        "app --password 'x y'",
        "app --token=0123456789",
        "env MYSQL_PWD=correct-horse app",
        "sh -c 'APIKEY=correct-horse app'",
        "app sk-proj-0123456789abcdef",
        "curl -H 'Authorization: Bearer 0123456789' x",
        "app ghp_0123456789abcdef",
        "node app.mjs -k 0123abcd",
        "app -t 0123456789abcdef01",
        "curl -u me:0123abc x",
        "app -k='0123456789abcdef'",
        f"app {KEY}",
        {"api_key": "abc"},
        {"a": {"b": [{"accessToken": "0123456789"}]}},
        {"headers": {"x-api-key": "0123456789"}},
        {"note": ["sk-0123456789abcdef"]},
        {"pat": "0123456789", "key": "{token}"},
        '{q: "{text}", api_key: abc}',
        '{q: {"password": "abc"}}',
    ],
)
def test_a_key_for_a_program_is_refused_wherever_it_lies(value: object) -> None:
    with pytest.raises(UserError) as refused:
        refuse_for_program("committee.x", value)
    message = str(refused.value)
    assert message.startswith("committee.x")
    assert "committee.env" in message
    for hidden in ("abc", "0123", "correct", "x y", KEY):
        assert hidden not in message.replace("committee", "")
    if isinstance(value, str):
        key = "body" if value.startswith("{") else "command"
        with pytest.raises(UserError):
            refuse_in_arguments([f"committee.{key}={value}"])


@pytest.mark.parametrize(
    "value",
    [
        "python app.py {case} --key={token} --seed {seed}",
        "sh -c 'app --api-key=$OPENAI_API_KEY --password \"${DB_PASS}\"'",
        'app --token "$(cat token.txt)" --max-tokens 4000',
        "uv run --keyfile keys.json token.py --path=/tmp/x --auth=none --pat '*.py'",
        "python -m pass.cli --pass 2 {text}",
        "app -k {token} -u 1000:1000 -t 30 -p 8080 -k 10 -m gpt-4.1-mini-2025-04-14 -k top",
        "curl -k https://host1/x -p team-2024-production -u {text}:$PASSWORD",
        "sh -c 'app --api-key $(cat key.txt)'",
        '{auth: {username: "{token}"}, keys: [{index}, {seed}]}',
        {"q": "{text}", "url": "{base_url}", "key": "{token}", "max_tokens": 4000},
        {"authorization": "Bearer {token}", "key": 5, "session": "{index}", "author": "somebody"},
    ],
)
def test_a_reference_to_a_key_is_none(value: object) -> None:
    refuse_for_program("committee.x", value)


@pytest.mark.parametrize(
    "name",
    [
        *("pw", "db_pw", "pass", "pwd", "pat", "dsn"),
        *("bearer", "pem", "hook", "webhook", "conn", "dbConn"),
    ],
)
@pytest.mark.parametrize("secret", ["hunter2", "correct-horse"])
def test_names_that_variables_have_are_secrets_of_programs_too(name: str, secret: str) -> None:
    for value in ({name: secret}, f"app --{name} {secret}", f'{{"{name}": "{secret}"}}'):
        with pytest.raises(UserError):
            refuse_for_program("committee.x", value)
    for part in ("body", "knobs"):
        with pytest.raises(UserError) as refused:
            refuse_in_arguments([f"+committee.{part}.a.{name}='{secret}'"])
        assert secret not in str(refused.value)
        refuse_in_arguments([f"committee.{part}.{name}='{{token}}'"])


@pytest.mark.parametrize("login", ["Basic dTpw", "basic dXNlcjpwYXNz", "Basic dXNlcjpwYXNzMQ=="])
def test_a_login_in_base64_is_a_secret(login: str) -> None:
    for value in ({"headers": {"X": login}}, f"curl -H 'X: {login}' x"):
        with pytest.raises(UserError, match="looks like a key"):
            refuse_for_program("committee.x", value)
    with pytest.raises(UserError):
        refuse_in_arguments([f"committee.body.x={login}"])


@pytest.mark.parametrize(
    "setting",
    [
        *("path=/home/me/data-2", "pattern=[a-z]{3,9}", "pass_rate=0.12345678", "pass=2"),
        *("compass=north-by-2", "hook=after", "conn=tcp", "spw=hunter2"),
        *("note=basic information first", "connections=12345678", "path=", "patience=3"),
    ],
)
def test_names_that_are_like_those_of_secrets_are_taken(setting: str) -> None:
    refuse_in_arguments([f"committee.body.{setting}", f"committee.knobs.{setting}"])
    name, _, value = setting.partition("=")
    refuse_for_program("committee.body", {name: value})


def test_values_of_a_knob_that_is_called_key_are_taken() -> None:
    refuse_in_arguments(["committee.knobs.key=[approve,reject]"])
    refuse_for_program("committee.knobs", {"key": ["approve", "reject"]})


def test_the_names_of_programs_are_no_keys() -> None:
    refuse_in_arguments(["committee=my_auth:committee", "committee.target=token.py:committee"])


KEYS = (
    *("sk-proj-0123456789abcdefXYZ", "xai-0123456789abcdefXYZ", "ghp_0123456789abcdefXYZ"),
    *("AKIA0123456789ABCDEF", "r8_0123456789abcdefXYZ", "sk_live_0123456789abcdefXYZ"),
    "AIzaSy_0123456789-abc_0123456789-abcdefg",
)


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_known_by_its_form_in_any_setting(key: str) -> None:
    for argument in (f"tested_by={key}", f"+no_such.setting={{a: [{key}]}}", key, f"+{key}=1"):
        with pytest.raises(UserError) as refused:
            refuse_in_arguments(["rounds=3", argument])
        assert key[-8:] not in str(refused.value)
    for value in (key, {"a": [f"by {key}."]}):
        with pytest.raises(UserError, match=r"^tested_by") as refused:
            refuse_keys("tested_by", value)
        assert key[-8:] not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        *("sk-learn-experiment-2024", "rk-2024-first-run-of-all", "hf_study_of_2024_models"),
        *(
            "task-0123456789abcdef01",
            "hosted_vllm/Qwen2.5-7B-Instruct-GPTQ-Int4",
            "0123456789abcdef",
        ),
    ],
)
def test_a_name_is_no_key(name: str) -> None:
    refuse_in_arguments([f"study={name}", f"model.default={name}"])
    refuse_keys("study", name)
