"""What tests of the ``api`` backend share: a server on loopback, its key, and both transports."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from command_line import KEY

if TYPE_CHECKING:
    from openai_server import Server


@pytest.fixture(scope="module")
def running() -> "Iterator[Server]":
    from openai_server import serving

    with serving() as server:
        yield server


@pytest.fixture
def server(running: "Server", monkeypatch: pytest.MonkeyPatch) -> "Server":
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    running.script.clear()
    running.requests.clear()
    return running


@pytest.fixture(params=["lean", "litellm"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)
