"""The estimate of a hosted study's time, and threads that sleep while they wait."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hydra import compose, initialize_config_dir

from plenum.base import resolve_path
from plenum.checks import hosted_time
from plenum.design import Job, Sampling
from plenum.design.compose import parse_job
from plenum.execution import longest_prompts
from plenum.models import Chat, Message, Pace, Response


def job(*overrides: str) -> Job:
    """A study of three seats on the tiny model."""
    asked = ("backend=hosted", "memory=k3", "roles.agents=3", "rounds=3", *overrides)
    with initialize_config_dir(str(resolve_path("conf")), version_base="1.3"):
        return parse_job(compose("config", list(asked)))


class Counting:
    """A tokenizer with four characters a token."""

    def count(self, model: str, messages: tuple[Message, ...]) -> int:
        """Count them."""
        return sum(len(message.content) for message in messages) // 4

    def context(self, model: str) -> int:
        """Return more than is needed."""
        return 8192


def test_parts_that_return_are_counted_once() -> None:
    alike, others = job(), job("perturbation=variants20")
    prompts = hosted_time.read_prompts(alike, Counting(), rows=4)
    assert prompts.common
    assert not hosted_time.read_prompts(others, Counting(), rows=4).common
    read = longest_prompts(alike.condition)
    tokens = sum(Counting().count(chat.model, chat.messages) for chat in read)
    assert 0 < prompts.prefixes < tokens / 2  # three seats' parts, of twelve calls
    assert 0 < prompts.rests < tokens - prompts.prefixes


def test_caches_of_other_sizes_are_other_batches() -> None:
    wide, narrow = job("backend.rung=8192"), job("backend.rung=16", "backend.bucket=16")
    assert hosted_time.read_prompts(wide, Counting(), rows=4).batches == 1
    assert hosted_time.read_prompts(narrow, Counting(), rows=1).batches == pytest.approx(1)
    several = hosted_time.read_prompts(narrow, Counting(), rows=4)
    assert 1 < several.batches <= 4
    joined = job(f"backend.rung={several.largest}")
    assert hosted_time.read_prompts(joined, Counting(), rows=4).batches == 1


class Slow:
    """A model that never answers."""

    closed = False

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Accept everything."""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Wait for ever."""
        await asyncio.Event().wait()
        raise AssertionError

    def pace(self) -> Pace:
        """Return no progress."""
        return Pace()

    async def close(self) -> None:
        """Note it."""
        self.closed = True


def test_a_measurement_that_is_given_up_ends_its_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_time, "PATIENCE_S", 0.05)
    monkeypatch.setattr(hosted_time, "check_model", lambda condition, model: None)
    slow = Slow()
    assert hosted_time.measure(replace(job(), replicates=2), slow, 2) is None  # type: ignore[arg-type]
    assert slow.closed


@pytest.mark.parametrize(("given", "seen"), [(None, "PASSIVE"), ("active", "ACTIVE")])
def test_threads_sleep_while_they_wait_unless_a_user_says_so(given: str | None, seen: str) -> None:
    code = (
        "import os; from plenum.design import Hosted; from plenum_hosted.host import build; "
        "build(Hosted()); print(os.environ.get('OMP_WAIT_POLICY'))"
    )
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    env = kept | {"OMP_DISPLAY_ENV": "true"} | ({"OMP_WAIT_POLICY": given} if given else {})
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [str(given)]
    if "OMP_WAIT_POLICY" in ended.stderr:  # another OpenMP may show nothing
        assert f"OMP_WAIT_POLICY = '{seen}'" in ended.stderr
