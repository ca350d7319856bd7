"""The login at a tracking server: that of MLflow's own client."""

from typing import Any

import pytest
from mlflow.utils import rest_utils
from mlflow.utils.credentials import get_default_host_creds

from plenum.tracking.server import login


@pytest.mark.parametrize("token", ["", "t"])
@pytest.mark.parametrize("user", ["", "me"])
def test_the_login_is_that_of_mlflows_client(
    monkeypatch: pytest.MonkeyPatch, token: str, user: str
) -> None:
    for name, value in (("TOKEN", token), ("USERNAME", user), ("PASSWORD", user and "secret")):
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
    sent: dict[str, Any] = {}

    def note(*_: Any, headers: dict[str, str], **__: Any) -> None:
        sent.update(headers)

    monkeypatch.setattr(rest_utils, "_get_http_response_with_retries", note)
    rest_utils.http_request(get_default_host_creds("http://127.0.0.1:1"), "/", "GET")
    assert login().get("Authorization") == sent.get("Authorization")
