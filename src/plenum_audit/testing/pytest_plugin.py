"""The pytest plugin: a fixture ``assert_stable`` whose settings come from the command line.

pytest --audit-backend=api --audit-max-runs=40 --audit-undecided=skip --audit-folder=mlruns/audit
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plenum_audit.programs.client_modules import provide_client
from plenum_audit.testing.stability import assert_stable as assertion


def pytest_configure() -> None:
    """Let tests import programs that import ``plenum_run`` or ``plenum_adapters``."""
    provide_client()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add settings of audits, which a test may override."""
    group = parser.getgroup("plenum", "audits of committees")
    group.addoption("--audit-backend", choices=("simulated", "api"), default="simulated")
    group.addoption("--audit-max-runs", type=int, default=100, metavar="N")
    group.addoption("--audit-undecided", choices=("fail", "skip", "pass"), default="fail")
    group.addoption("--audit-folder", type=Path, metavar="FOLDER", help="evidence accumulates here")


@pytest.fixture
def assert_stable(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return :func:`plenum.testing.assert_stable` with the command line's settings.

    Each test has its own folder within ``--audit-folder``.
    """
    option = request.config.getoption
    folder = option("--audit-folder")
    return partial(
        assertion,
        backend=option("--audit-backend"),
        max_runs=option("--audit-max-runs"),
        undecided=option("--audit-undecided"),
        folder=folder and folder / request.node.name,
    )
