"""The estimate of a hosted study's time, and threads that sleep while they wait."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from hydra import compose, initialize_config_dir

from plenum.base.project import resolve_path
from plenum.calls.chat import Chat, Message, Reply, Response
from plenum.calls.pace import Pace
from plenum.design.compose import parse_job
from plenum.design.job import Job
from plenum.design.settings import Sampling
from plenum.execution.cost_estimate import make_longest_prompts
from plenum.records.usage import Usage
from plenum_hosted import expected_time
from plenum_hosted.expected_time import Prompts


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


def read(asked: Job, rows: int) -> Prompts:
    """The prompts of a study with one model."""
    ((name, prompts),) = expected_time.read_prompts(asked, Counting(), rows).items()
    assert name == "tiny"
    return prompts


def test_parts_that_return_are_counted_once() -> None:
    alike, others = job(), job("perturbation=variants20")
    prompts = read(alike, rows=4)
    assert prompts.common
    assert not read(others, rows=4).common
    chats = make_longest_prompts(alike.condition)
    tokens = sum(Counting().count(chat.model, chat.messages) for chat in chats)
    assert 0 < prompts.prefixes < tokens / 2  # three seats' parts, of twelve calls
    assert 0 < prompts.rests < tokens - prompts.prefixes


def test_caches_of_other_sizes_are_other_batches() -> None:
    wide, narrow = job("backend.rung=8192"), job("backend.rung=16", "backend.bucket=16")
    assert read(wide, rows=4).batches == 1
    assert read(narrow, rows=1).batches == pytest.approx(1)
    several = read(narrow, rows=4)
    assert 1 < several.batches <= 4
    joined = job(f"backend.rung={several.largest}")
    assert read(joined, rows=4).batches == 1


MIXED = ("+model.seats.Rights=some/other", "model.name=mixed", "backend.rung=8192")
"""Nine turns, three ballots and the clerk's count: the third seat has four of 13 calls."""
BUSY = {"tiny": 9 / 13, "some/other": 4 / 13}


@pytest.mark.parametrize("rows", [1, 4])
def test_each_model_of_a_mixed_committee_has_its_own_prompts(rows: int) -> None:
    prompts = expected_time.read_prompts(job(*MIXED), Counting(), rows)
    assert prompts.keys() == BUSY.keys()
    for name, own in prompts.items():
        assert own.batches == pytest.approx(1 - (1 - BUSY[name]) ** rows)
    alone = read(job("backend.rung=8192"), rows)
    assert sum(p.prefixes for p in prompts.values()) == pytest.approx(alone.prefixes, rel=0.05)
    assert sum(p.rests for p in prompts.values()) == pytest.approx(alone.rests, rel=0.05)


def test_the_time_of_a_mixed_committee_is_that_of_every_model() -> None:
    mixed, written, free = job(*MIXED), 1000, {"prefill_s": 0.0, "prompt_tokens": 1}
    paces = {name: Pace(decode_s=1.0, steps=10, **free) for name in BUSY}
    paces["some/other"] = Pace(decode_s=50.0, steps=10, **free)
    left = [(mixed, Usage(calls=13, tokens_out=written), 1)]
    work = expected_time.expect(left, Counting(), paces, rows=1)
    steps = BUSY["tiny"] * 0.1 + BUSY["some/other"] * 5.0
    assert work.seconds == pytest.approx(written * steps, rel=1e-3)
    slowly = replace(paces["some/other"], prefill_s=20.0, prompt_tokens=10)
    read_slowly = {**paces, "some/other": slowly}
    own = expected_time.read_prompts(mixed, Counting(), 1)["some/other"]
    more = expected_time.expect(left, Counting(), read_slowly, rows=1).seconds - work.seconds
    assert more == pytest.approx(2.0 * (own.prefixes + own.rests), rel=1e-3)


class Each:
    """Two models whose every token takes other seconds."""

    def __init__(self) -> None:
        self._pace, self.asked = Pace(), list[str]()

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Count its tokens."""
        self.asked.append(chat.model)
        seconds = {"tiny": 1.0, "some/other": 7.0}[chat.model]
        self._pace += Pace(tokens=chat.max_tokens, decode_s=seconds, steps=1)
        return Response(Reply("", 1, chat.max_tokens))

    def pace(self) -> Pace:
        """Return what all of them took."""
        return self._pace

    async def close(self) -> None:
        """Do nothing."""


def test_every_model_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_time, "check_model", lambda condition, model: None)
    model = Each()
    studies = [job("backend.rung=8192"), job(*MIXED), job(*MIXED, "seed=9")]
    paces = expected_time.measure(studies, model, rows=3)  # type: ignore[arg-type]
    assert paces is not None
    assert {name: pace.decode_s for name, pace in paces.items()} == {
        "tiny": 3.0,
        "some/other": 21.0,
    }
    assert Counter(model.asked) == {"tiny": 3, "some/other": 3}


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
    monkeypatch.setattr(expected_time, "PATIENCE_S", 0.05)
    monkeypatch.setattr(expected_time, "check_model", lambda condition, model: None)
    slow = Slow()
    assert expected_time.measure([replace(job(), replicates=2)], slow, 2) is None  # type: ignore[arg-type]
    assert slow.closed


@pytest.mark.parametrize(("given", "seen"), [(None, "PASSIVE"), ("active", "ACTIVE")])
def test_threads_sleep_while_they_wait_unless_a_user_says_so(given: str | None, seen: str) -> None:
    code = """
import os, sys, types
for name in ("llguidance", "transformers", "plenum_hosted.backend"):  # seconds; torch has OpenMP
    sys.modules[name] = types.SimpleNamespace(HostedBackend=str)
from plenum_hosted import Hosted
from plenum_hosted.host import build
build(Hosted())
print(os.environ.get("OMP_WAIT_POLICY"))
assert "torch.nn" in sys.modules
"""
    kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    env = kept | {"OMP_DISPLAY_ENV": "true"} | ({"OMP_WAIT_POLICY": given} if given else {})
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [str(given)]
    if "OMP_WAIT_POLICY" in ended.stderr:  # another OpenMP may show nothing
        assert f"OMP_WAIT_POLICY = '{seen}'" in ended.stderr
