"""A tracking server: requests to it, logins, and its refusals in one line."""

import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from plenum.base.errors import UserError

_NO_ACCESS = (401, 403)


def post(uri: str, path: str, query: Mapping[str, object]) -> Any:
    """Send a request to the REST interface of a tracking server, and return its answer."""
    request = urllib.request.Request(
        f"{uri}/api/2.0/mlflow/{path}",
        data=json.dumps(query).encode(),
        headers={"Content-Type": "application/json", **login()},
    )
    with require_answers(uri), urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())


@contextmanager
def require_answers(uri: str) -> Iterator[None]:
    """Turn errors of a server that doesn't answer, or doesn't give access, into one line."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError) and error.code in _NO_ACCESS:
            raise _make_refusal(uri, f"{error.code} {error.reason}") from None
        # no server, one that doesn't answer in JSON, or a proxy in front of one that is down
        raise UserError(
            f"tracking.uri: no MLflow server answers at {uri} ({error}); start one, or use "
            "tracking=local"
        ) from None


@contextmanager
def require_permission(uri: str) -> Iterator[None]:
    """Turn a server's refusal of a request by MLflow's client into one line."""
    from mlflow.exceptions import MlflowException
    from requests import HTTPError  # raised for artifacts

    try:
        yield
    except (MlflowException, HTTPError) as error:
        status = (
            getattr(error.response, "status_code", None)
            if isinstance(error, HTTPError)
            else {"PERMISSION_DENIED": 403, "UNAUTHENTICATED": 401}.get(error.error_code)
        )
        if status not in _NO_ACCESS:
            raise
        raise _make_refusal(uri, str(status)) from None


def _make_refusal(uri: str, answer: str) -> UserError:
    user = os.environ.get("MLFLOW_TRACKING_USERNAME")
    return UserError(
        f"tracking.uri: the server at {uri} answers {answer} to "
        f"{f'the user {user!r}' if user else 'a user without a login'}; a login that may do this "
        "goes into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
    )


def login() -> dict[str, str]:
    """Return the headers with the credentials that MLflow's own client would send."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    if token:
        return {"Authorization": f"Bearer {token}"}
    user, password = (os.environ.get(f"MLFLOW_TRACKING_{k}") for k in ("USERNAME", "PASSWORD"))
    if not (user and password):
        return {}
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}
