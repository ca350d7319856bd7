"""Sweepers that choose values by results, such as Optuna's, get a number from every launcher."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, Run, journals

from plenum.execution.outcomes import Undefined

pytestmark = pytest.mark.long

PLUGIN = '''
from dataclasses import dataclass

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper


@dataclass
class LeastConf:
    _target_: str = "hydra_plugins.least.Least"


ConfigStore.instance().store(group="hydra/sweeper", name="least", node=LeastConf)


class Least(Sweeper):
    """Tries one value after another, as read from the override, and keeps the least result."""

    def setup(self, *, hydra_context, task_function, config):
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments):
        import alembic.runtime.plugins  # as Optuna does, while Hydra lets all libraries speak

        *rest, last = arguments
        key, values = last.split("=")
        results = {}
        for number, value in enumerate(values.split(",")):
            (ret,) = self.launcher.launch([[*rest, f"{key}={value}"]], initial_job_idx=number)
            results[value] = float(ret.return_value)
        print("least", min(results, key=results.get), *results.values(), sep="|")
'''
SMALL = ("-m", "hydra/sweeper=least", "hydra.sweep.dir=sweep", "tracking=none", "replicates=3")
TRIED = "sampling.temperature=0,0.5"


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, Any]:
    """The environment of somebody who has installed a sweeper of his own."""
    (tmp_path / "plugin/hydra_plugins").mkdir(parents=True)
    (tmp_path / "plugin/hydra_plugins/least.py").write_text(PLUGIN)
    return {"PYTHONPATH": f"{tmp_path / 'plugin'}:{ROOT / 'src'}", "cold": True}


def returned(stdout: str) -> tuple[str, list[float]]:
    """The best value, and every result."""
    (line,) = [line for line in stdout.splitlines() if line.startswith("least|")]
    _, best, *results = line.split("|")
    return best, [float(result) for result in results]


@pytest.mark.parametrize("launcher", ["concurrent", "basic"])
def test_a_sweeper_gets_lambda_from_each_launcher(
    run: Run, tmp_path: Path, plugin: dict[str, Any], launcher: str
) -> None:
    done = run(*SMALL, f"hydra/launcher={launcher}", "rounds=5", TRIED, **plugin)
    best, results = returned(done.stdout)
    assert "alembic" not in done.stdout + done.stderr
    kept = [json.loads((tmp_path / f"sweep/{n}/outcome.json").read_text()) for n in (0, 1)]
    assert results == [outcome["objective"] for outcome in kept]
    assert all(math.isfinite(result) for result in results)
    assert best == ("0", "0.5")[results.index(min(results))]
    # launched one at a time they differ in nothing that one of them knows, so they have one name
    lines = [line for line in done.stderr.splitlines() if "λ̂ = " in line]
    for line, result in zip(lines, results, strict=True):
        assert f"λ̂ = {result:.4f} [" in line


def test_a_sweeper_gets_what_objective_names(run: Run, plugin: dict[str, Any]) -> None:
    done = run(*SMALL, "rounds=2", "objective=n_completed", TRIED, **plugin)
    assert returned(done.stdout) == ("0", [3, 3])
    world = (
        "task=public_goods",
        "task.policy=fair_share",
        "rounds=3",
        "objective=m.provision_rate",
    )
    done = run(*SMALL, *world, "seed=0,1", **plugin)
    assert all(0 <= rate <= 1 for rate in returned(done.stdout)[1])


def test_a_number_that_there_is_not_is_said_in_one_line(
    run: Run, tmp_path: Path, plugin: dict[str, Any]
) -> None:
    """Two rounds have no λ̂; what was run for it stays."""
    done = run(*SMALL, "rounds=2", TRIED, **plugin, status=2)
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: objective: lambda isn't defined in the")
    assert len(journals(tmp_path)) == 3


def test_an_undefined_number_is_a_nan_that_no_sweeper_takes_for_one() -> None:
    undefined = Undefined("objective: lambda isn't defined")
    assert math.isnan(undefined)
    with pytest.raises(Exception, match="objective: lambda isn't defined"):
        float(undefined)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["objective=lamda"], "objective: 'lamda' is not one of lambda, "),
        (["objective=m.coverage"], "objective: 'm.coverage' is not one of lambda, "),
        (["task=disaster", "study=w", "objective=flip_rate"], "is not one of lambda, m.coverage, "),
        (["budget.calls=9"], "budget: it holds for a whole sweep only with hydra/sweeper=plenum"),
    ],
)
def test_what_no_sweeper_could_get_is_refused(
    run: Run, tmp_path: Path, plugin: dict[str, Any], arguments: list[str], expected: str
) -> None:
    done = run(*SMALL, *arguments, "seed=0,1", **plugin, status=2)
    (line,) = done.stderr.strip().splitlines()
    assert expected in line
    assert not journals(tmp_path)


def test_every_launcher_of_the_docs_comes_with_the_base() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(name.startswith("hydra-joblib-launcher") for name in project["dependencies"])
