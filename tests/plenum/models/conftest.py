"""What tests of the ``api`` backend share: a server on loopback, its key, and both transports."""

from collections.abc import Iterator

import pytest
from openai_server import KEY, Server, serving


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.script.clear()
    running.requests.clear()
    return running


@pytest.fixture(params=["lean", "litellm"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)
