"""What all fast tests share: real composed configs, and deliberations driven by a function."""

import gc
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from absent import absent, is_here
from config_files import keep_configs
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hypothesis import settings
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.project import code_version
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask
from plenum.committee.deliberation import Deliberation
from plenum.design.compose import parse_job
from plenum.design.condition import Condition
from plenum.design.job import Job

pytest_plugins = ["command_line"]

ROOT = Path(__file__).resolve().parents[1]
os.environ["PLENUM_ROOT"] = str(ROOT)  # Hydra looks for scenarios there when it composes
sys.path.append(str(ROOT / "scripts"))  # of ``generators`` and ``calibrate``
# Threads that wait for each other give way, where tests share the cores; torch reads it at import.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
settings.register_profile("plenum", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=15)
settings.load_profile("plenum")
keep_configs()

SLOWEST = ("e2e", "golden", "plenum_hosted", "plenum_audit/programs")
"""What is begun first, so that no worker is left with it when the other one has finished."""

Compose = Callable[..., DictConfig]
Answer = Callable[[Ask], str]
Entry = dict[str, Any]


LEFT_OUT: dict[Path, list[str]] = {}
"""Files that weren't collected, with the packages that they need and that aren't here."""


_ALL_LONG = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.long\b", re.MULTILINE)
"""What a file has whose tests are all long."""
_ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(long|slow)\b", re.MULTILINE)
"""What a file has whose tests are all slow, or long."""
_QUICK = "not long and not slow"
_SLOW = ("socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.posix_spawn")
"""What a quick test may not do, as Python names it to its audit hooks."""
_started: list[str] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files that need an extension which isn't installed: the others are to pass.

    So are those that have long tests alone, where none is to run: every worker would import them.
    """
    if collection_path.suffix != ".py":
        return None
    if lacking := absent(collection_path):
        LEFT_OUT[collection_path] = lacking
        return True
    left_out = {"not long": _ALL_LONG, _QUICK: _ALL_SLOW}.get(config.getoption("markexpr"))
    found = left_out and left_out.search(collection_path.read_text("utf-8"))
    return True if found else None


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples in `make quick`, and note in its workers what its tests start.

    In workers alone, since a hook of Python's can't be taken back.
    """
    if config.getoption("markexpr") != _QUICK:
        return
    settings.load_profile("quick")
    if hasattr(config, "workerinput"):

        def note(event: str, given: tuple[Any, ...]) -> None:
            if event in _SLOW or (event == "import" and given[0] == "torch"):
                _started.append(event if event in _SLOW else "import torch")

        code_version()  # asks git once: no test's own process
        sys.addaudithook(note)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a quick test that starts a process, opens a socket or imports torch."""
    _started.clear()
    yield
    if _started:
        pytest.fail(f"mark it as slow: {', '.join(dict.fromkeys(_started))}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that is marked with an extension which isn't installed."""
    for mark in item.iter_markers("needs"):
        if lacking := [name for name in mark.args if not is_here(name)]:
            pytest.skip(f"{', '.join(lacking)} isn't installed")


def pytest_report_collectionfinish() -> list[str]:
    """Say what was left out."""
    lacking = sorted({name for names in LEFT_OUT.values() for name in names})
    return [f"{len(LEFT_OUT)} files need what isn't here: {', '.join(lacking)}"] if lacking else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first; with two workers each takes the next file."""

    def order(item: pytest.Item) -> list[bool]:
        place = str(item.path.relative_to(ROOT))
        long = item.get_closest_marker("long") is not None
        return [long, *(name in place for name in SLOWEST)]

    items.sort(key=order, reverse=True)


def pytest_collection_finish() -> None:
    """Collect garbage rarely, and never what imports have made: it took an eighth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout: ``conf/`` and ``scenarios/`` lie here."""
    return ROOT


@pytest.fixture(scope="session")
def compose() -> Compose:
    """``compose("roles=off")``: the config that run.py would get, composed once."""

    @cache
    def composed(*overrides: str, hydra: bool = False) -> DictConfig:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            return hydra_compose("config", list(overrides), return_hydra_config=hydra)

    return composed


@pytest.fixture(scope="session")
def job(compose: Compose) -> Callable[..., Job]:
    """``job("roles=off")``: the validated job of a composed config."""
    return lambda *overrides: parse_job(compose(*overrides))


@pytest.fixture(scope="session")
def refusal(compose: Compose) -> Callable[..., str]:
    """``refusal("rounds=0")``: the line in which a config is refused."""

    def refused(*overrides: str) -> str:
        config = compose(*overrides)
        with pytest.raises(UserError) as told:
            parse_job(config)
        (line,) = str(told.value).splitlines()
        return line

    return refused


@pytest.fixture(scope="session")
def condition(job: Callable[..., Job]) -> Callable[..., Condition]:
    """``condition("roles=off")``: the condition of a composed config."""
    return cache(lambda *overrides: job(*overrides).condition)


@pytest.fixture(scope="session")
def deliberate() -> Callable[[Deliberation, Answer], list[Entry]]:
    """Answer every call of a deliberation by a function; returns the entries that this gave."""

    def driven(deliberation: Deliberation, answer: Answer) -> list[Entry]:
        entries = []
        while deliberation.ask is not None:
            entries.append(deliberation.answer(Reply(answer(deliberation.ask), 10, 5)))
        return entries

    return driven


@pytest.fixture
def shared_style() -> Iterator[None]:
    """Figures have the shared style, and don't pile up."""
    from matplotlib import pyplot as plt

    from plenum.show.style import apply_style

    with apply_style():
        yield
    plt.close("all")
