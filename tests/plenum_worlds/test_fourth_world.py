"""A fourth world: its own package (:mod:`tank`), its conf, and one entry of the registry."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir

from plenum.base.errors import UserError
from plenum.calls.simulated import SimulatedBackend
from plenum.design.compose import parse_job
from plenum.design.settings import Simulated
from plenum_worlds.cost import longest_run
from plenum_worlds.episode import Episode
from plenum_worlds.registry import WORLDS, display

pytestmark = pytest.mark.slow

TASK = """
# @package _global_
study: tank
task: {name: tank, agents: 3, turns: 1, policy: agents, world: {full: 10}}
sampling: {max_tokens: 256}
replicates: 5
"""
VOLATILITY = {"low": {"inflow": 3}, "moderate": {"inflow": 6}, "high": {"inflow": 12}}
PREAMBLE = "You are $name, one of $units keepers of a tank, for $rounds rounds."

Make = Callable[..., Any]


@pytest.fixture
def condition(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The condition of a config, where the world tank has been added."""
    conf = shutil.copytree(root / "conf", tmp_path / "conf")
    shutil.copytree(root / "src/plenum_worlds/conf", conf, dirs_exist_ok=True)
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    (conf / "task/tank.yaml").write_text(TASK)
    prompts = conf / "prompts/worlds/tank"
    prompts.mkdir()
    (prompts / "preamble.txt").write_text(PREAMBLE)
    (prompts / "careful.txt").write_text("Be careful: drain rather too much than too little.")
    for level, numbers in VOLATILITY.items():
        _add(conf / f"volatility/{level}.yaml", "world", numbers)
    _add(conf / "diversity/medium.yaml", "roles", ["careful"])
    _add(conf / "prompts/worlds/tasks.yml", "explicit", "Vote for what each of you drains.")
    monkeypatch.setenv("PLENUM_ROOT", str(tmp_path))
    monkeypatch.setitem(WORLDS, "tank", "tank")

    def composed(*overrides: str) -> Any:
        with initialize_config_dir(str(conf), version_base="1.3"):
            return parse_job(compose("config", ["task=tank", *overrides])).condition

    return composed


def _add(file: Path, key: str, value: Any) -> None:
    """Add what a file says of the world tank to what it says of the others."""
    data = yaml.safe_load(file.read_text())
    data[key]["tank"] = value
    file.write_text(yaml.safe_dump(data))


async def _play(episode: Episode) -> None:
    backend = SimulatedBackend(Simulated(noise=0))
    while (ask := episode.ask) is not None:
        episode.answer((await backend.attempt(ask.chat, 1)).reply)


@pytest.mark.parametrize("mechanism", ["implicit", "explicit", "plan", "manager"])
def test_simulated_agents_play_it_from_a_config_to_metrics(condition: Make, mechanism: str) -> None:
    made = condition(f"consensus={mechanism}", "rounds=6", "temperature=t0")
    assert [agent.name for agent in made.agents] == ["Keeper 1", "Keeper 2", "Keeper 3"]
    episode = Episode(made, 0)
    asyncio.run(_play(episode))
    assert episode.end is not None
    metrics = episode.end["metrics"]
    assert metrics[display("tank").headline] < 3  # they drain half as much again as flows in
    assert metrics["rounds_held"] == 1
    assert metrics["abstentions"] == 0
    for record in episode.rounds:
        (weights,) = {sum(weight for _, weight in record["weights"])}
        assert weights == pytest.approx(1)


def test_scripted_policies_differ_in_it_and_an_episode_may_end_early(condition: Make) -> None:
    ends = {}
    for policy in ("all_open", "all_closed"):
        made = condition(f"task.policy={policy}", "volatility=high", "rounds=12")
        ends[policy] = Episode(made, 0).end
    assert ends["all_open"]["metrics"]["mean_level"] < 3  # nine units a round
    assert ends["all_closed"]["rounds"] < 12
    assert ends["all_closed"]["metrics"]["rounds_held"] == ends["all_closed"]["rounds"] / 12


def test_what_it_takes_at_most_is_rehearsed_without_an_early_end(condition: Make) -> None:
    made = longest_run(condition("volatility=high"))
    assert dict(made.numbers) == {"full": 1000, "inflow": 12}


def test_a_mechanism_whose_text_is_missing_is_refused(condition: Make, tmp_path: Path) -> None:
    texts = tmp_path / "conf/prompts/worlds/tasks.yml"
    data = yaml.safe_load(texts.read_text())
    del data["explicit"]["tank"]
    texts.write_text(yaml.safe_dump(data))
    with pytest.raises(UserError, match=r"tasks\.yml has no text of explicit for tank"):
        condition("consensus=explicit")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("task.world.full=0", "tank.full=0: allowed are values from 1 to 1000"),
        ("+task.world.flow=1", "tank.flow: there are inflow, full"),
        ("task.policy=half_open", "is not one of agents, all_open, all_closed"),
        ("consensus=mean", "consensus: mean is for task=public_goods, not for tank"),
    ],
)
def test_what_it_does_not_have_is_refused(condition: Make, override: str, message: str) -> None:
    with pytest.raises(UserError) as refused:
        condition(override)
    assert message in str(refused.value)
