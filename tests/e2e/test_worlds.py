"""Worlds through the real command line: a study, its tables and figures, kills, refusals."""

import csv
import json
import signal
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from .conftest import Run, call, journals, start, with_store

SMALL = ("rounds=6", "replicates=4", "task.runs=2", "task.agents=3")
STUDY = ("-m", "task=public_goods", "consensus=implicit,explicit,mean", "volatility=low,high")


def sweep(folder: Path, *arguments: str) -> str:
    return call(folder, "run.py", *arguments, COLUMNS="220").stdout


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """Mechanisms and a scripted policy of one world, in one study."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("worlds"))
    sweep(folder, *STUDY, *SMALL, "study=goods")
    scripted = ("-m", "task=public_goods", "task.policy=fair_share", "volatility=low,high")
    (folder / "stdout").write_text(sweep(folder, *scripted, *SMALL, "study=goods"))
    return folder


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "outputs/goods/conditions.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_condition_is_a_row_with_its_factors_and_metrics(studied: Path) -> None:
    found = rows(studied)
    assert len(found) == 8
    assert {r["arm"] for r in found} == {"implicit", "explicit", "mean", "scripted: fair share"}
    for row in found:
        assert (row["target"], row["completed"], row["failed"]) == ("4", "4", "0")
        assert 0 <= float(row["provision_rate"]) <= 1
        assert row["backend"] == ("scripted" if row["policy"] != "agents" else "simulated")
    forced = [r for r in found if r["arm"] in ("explicit", "mean")]
    assert all(float(r["gini"]) == 0 for r in forced)  # everybody pays the same
    assert all(float(r["deviation_actions"]) == 0 for r in forced)


def test_tables_show_every_arm_beside_the_policies_that_ask_no_model(studied: Path) -> None:
    printed = (studied / "stdout").read_text()
    for told in (
        "World public_goods, 3 agents, 6 rounds, runs=2: every arm",
        "scripted: fair share",
        "World public_goods, 3 agents, 6 rounds, runs=2: differences",
        "World public_goods, 3 agents, 6 rounds, runs=2: provision_rate by level",
        "is there an inverted U?",
        "World public_goods, 3 agents, 6 rounds, runs=2: recovery after shocks",
        "World public_goods, 3 agents, 6 rounds, runs=2: dialogue",
        "World public_goods, 3 agents, 6 rounds, runs=2: how runs part",
        "simulated agents, no evidence about language models",
    ):
        assert told in printed


def test_scripted_policies_make_no_call(studied: Path) -> None:
    folders = [f for f in (studied / "mlruns/journals").iterdir() if f.is_dir()]
    heads = [json.loads((f / "000.jsonl").read_text().splitlines()[0]) for f in folders]
    scripted = [f for f, h in zip(folders, heads, strict=True) if h["policy"] == "fair_share"]
    assert len(scripted) == 2
    for folder in scripted:
        kinds = [json.loads(line)["kind"] for line in (folder / "000.jsonl").open()]
        assert kinds == ["head", *["round"] * 6, "end"]


def test_mlflow_has_metrics_and_measures_by_round(studied: Path) -> None:
    client = MlflowClient(f"sqlite:///{studied}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("goods")
    assert experiment is not None
    query = "tags.`plenum.kind` = 'replicate' and params.consensus = 'implicit'"
    (run, *_) = client.search_runs([experiment.experiment_id], query, max_results=50)
    assert run.data.params["task"] == "public_goods"
    assert "provision_rate" in run.data.metrics
    history = client.get_metric_history(run.info.run_id, "performance")
    assert [metric.step for metric in history] == [1, 2, 3, 4, 5, 6]
    query = "tags.`plenum.kind` = 'condition' and params.consensus = 'implicit'"
    (parent, *_) = client.search_runs([experiment.experiment_id], query, max_results=50)
    assert {"m.provision_rate", "m.provision_rate_ci_low", "D"} <= set(parent.data.metrics)


def test_figures_are_drawn_and_logged(studied: Path, run: Run) -> None:
    done = run("study=goods", script="scripts/figures.py", cwd=studied)
    assert done.returncode == 0, done.stderr
    for name in ("over_time", "baselines", "deviation"):
        for kind in ("png", "svg"):
            assert (studied / f"outputs/goods/public_goods_{name}.{kind}").stat().st_size > 5000


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_killed_run_goes_on_with_the_same_bytes(
    stored: Path, run: Run, tmp_path: Path, share: float
) -> None:
    given = ("task=misinformation", "task.agents=20", "rounds=12", "replicates=2", "study=killed")
    alone = tmp_path / "reference"
    alone.mkdir()
    assert run(*given, "tracking=none", cwd=alone).returncode == 0
    reference = journals(alone)
    process = start(tmp_path, "run.py", *given)
    size, deadline = share * sum(map(len, reference.values())), time.monotonic() + 100
    while sum(map(len, journals(tmp_path).values())) < size and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    done = run(*given)
    assert done.returncode == 0, done.stderr
    assert journals(tmp_path) == reference


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["consensus=explicit"], "consensus: explicit is for worlds"),
        (["task=disaster", "roles=off"], "roles: off is for committees"),
        (["task=disaster", "perturbation=variants20"], "perturbation: variants20"),
        (["task=disaster", "consensus=mean"], "consensus: mean is for task=public_goods"),
        (["task=disaster", "task.agents=101"], "task.agents: 101"),
        (["task=disaster", "task.policy=fair_share"], "task.policy: 'fair_share'"),
        (["task=disaster", "task.world.spawn=2"], "disaster.spawn=2"),
        (["task=disaster", "+task.world.spwan=1"], "disaster.spwan"),
        (["task=disaster", "task.runs=3"], "task.runs=3"),
        (["task=disaster", "diversity.roles.disaster=[pilot]"], "unknown role 'pilot'"),
        (["task=disaster", "task.policy=random", "consensus=central"], "consensus: central"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    run: Run, tmp_path: Path, given: list[str], told: str
) -> None:
    done = run(*given)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert told in line
    assert not (tmp_path / "mlruns").exists()


def test_committees_and_worlds_do_not_share_a_study(stored: Path, run: Run) -> None:
    assert run("task=disaster", "rounds=1", "replicates=1", "study=both").returncode == 0
    before = sorted(stored.rglob("*.jsonl"))
    late = run("rounds=1", "replicates=1", "study=both")
    mixed = run("-m", "task=disaster,none", "rounds=1", "replicates=1", "study=mix")
    assert (late.returncode, mixed.returncode) == (2, 2)
    assert late.stderr.strip().startswith("error: study: 'both' holds worlds already")
    assert mixed.stderr.strip().startswith("error: study: 'mix' would hold committees and worlds")
    assert sorted(stored.rglob("*.jsonl")) == before
    assert run("study=both", script="scripts/tables.py").returncode == 0
