"""Sweepers of other packages run with every launcher, without a sweep's budget."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, Run, journals

pytestmark = pytest.mark.long

PLUGIN = '''
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper


@dataclass
class EachConf:
    _target_: str = "hydra_plugins.each.Each"


ConfigStore.instance().store(group="hydra/sweeper", name="each", node=EachConf)


class Each(Sweeper):
    """Launches one value after another, as read from the override."""

    def setup(self, *, hydra_context, task_function, config):
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments):
        *rest, last = arguments
        key, values = last.split("=")
        for number, value in enumerate(values.split(",")):
            self.launcher.launch([[*rest, f"{key}={value}"]], initial_job_idx=number)
'''
SMALL = ("-m", "hydra/sweeper=each", "hydra.sweep.dir=sweep", "tracking=none", "replicates=3")
TRIED = "sampling.temperature=0,0.5"


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, Any]:
    """The environment of somebody who has installed a sweeper of his own."""
    (tmp_path / "plugin/hydra_plugins").mkdir(parents=True)
    (tmp_path / "plugin/hydra_plugins/each.py").write_text(PLUGIN)
    return {"PYTHONPATH": f"{tmp_path / 'plugin'}:{ROOT / 'src'}", "cold": True}


@pytest.mark.parametrize("launcher", ["concurrent", "basic"])
def test_a_sweeper_runs_each_value_with_each_launcher(
    run: Run, tmp_path: Path, plugin: dict[str, Any], launcher: str
) -> None:
    run(*SMALL, f"hydra/launcher={launcher}", "rounds=5", TRIED, **plugin)
    kept = [json.loads((tmp_path / f"sweep/{n}/outcome.json").read_text()) for n in (0, 1)]
    assert [each["completed"] for each in kept] == [3, 3]
    assert kept[0]["identity"] != kept[1]["identity"]


def test_a_budget_is_refused_where_each_launch_would_have_one(
    run: Run, tmp_path: Path, plugin: dict[str, Any]
) -> None:
    done = run(*SMALL, "budget.calls=9", "seed=0,1", **plugin, status=2)
    (line,) = done.stderr.strip().splitlines()
    assert "budget: it holds for a whole sweep only with hydra/sweeper=plenum" in line
    assert not journals(tmp_path)


def test_every_launcher_of_the_docs_comes_with_the_base() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(name.startswith("hydra-joblib-launcher") for name in project["dependencies"])
