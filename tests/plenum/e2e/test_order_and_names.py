"""A study shows its conditions in the order of the command, under one name, with what was swept."""

import itertools
import re
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from command_line import call

SMALL = ("replicates=2", "rounds=4")


def first_words(screen: str, *names: str) -> list[list[str]]:
    """The lines of the table of conditions, as far as its columns of factors go."""
    lines = screen.partition("Study ")[2].partition("decisions: runs by")[0].splitlines()
    head = next(at for at, line in enumerate(lines) if line.split()[: len(names)] == list(names))
    rows = itertools.takewhile(str.strip, lines[head + 2 :])
    return [line.split()[: len(names)] for line in rows]


@pytest.mark.slow
def test_rows_are_in_the_order_of_the_command_also_where_some_are_reused(stored: Path) -> None:
    call(stored, "run.py", "study=before", "memory=k3", "temperature=t0.1", *SMALL)
    swept = ("memory=k15,k3,k1", "temperature=t0.7,t0.1")
    screen = call(stored, "run.py", "-m", "study=s", *swept, *SMALL).stdout
    order = [[f"k{k}", f"t{t}"] for k in (15, 3, 1) for t in (0.7, 0.1)]
    assert first_words(screen, "memory", "temperature") == order
    names = [f"memory={k} temperature={t}" for k, t in order]
    status = call(stored, "scripts/status.py", "study=s").stdout
    assert list(dict.fromkeys(re.findall(r"memory=\S+ temperature=\S+", status))) == names
    table = pd.read_csv(stored / "outputs/s/conditions.csv")
    assert table[["memory", "temperature"]].to_numpy().tolist() == order
    numbers = table[["protocol.window", "sampling.temperature"]].to_numpy().tolist()
    assert numbers == [[k, t] for k in (15, 3, 1) for t in (0.7, 0.1)]
    client = mlflow.MlflowClient(f"sqlite:///{stored}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("s")
    runs = client.search_runs(
        [experiment.experiment_id], "tags.`plenum.kind` = 'condition'", order_by=["start_time"]
    )
    assert [run.info.run_name for run in runs] == names
    params = ("protocol.window", "sampling.temperature")
    assert [[float(run.data.params[name]) for name in params] for run in runs] == numbers

    # A part of the study leaves its order; a sweep of all of it, and more, says another one.
    part = call(stored, "run.py", "-m", "study=s", "memory=k1", "temperature=t0.1,t0.2", *SMALL)
    assert first_words(part.stdout, "memory", "temperature") == [*order, ["k1", "t0.2"]]
    swept = ("temperature=t0.1,t0.2,t0.7", "memory=k1,k3,k15")
    screen = call(stored, "run.py", "-m", "study=s", *swept, *SMALL).stdout
    order = [[f"k{k}", f"t{t}"] for t in (0.1, 0.2, 0.7) for k in (1, 3, 15)]
    assert first_words(screen, "memory", "temperature") == order


@pytest.mark.slow
def test_models_that_are_swept_are_seen_and_compared(stored: Path) -> None:
    """Both are called uniform in MLflow, whose params can't change where a study goes on."""
    one = ("study=s", "roles=on,off", *SMALL)
    call(stored, "run.py", "-m", "model.default=openai/aa", *one)
    swept = ("model.default=openai/aa,x/bb", *one)
    done = call(stored, "run.py", "-m", *swept)
    order = [[model, roles] for model in ("aa", "bb") for roles in ("on", "off")]
    assert first_words(done.stdout, "roles", "model") == [pair[::-1] for pair in order]
    names = [f"roles={roles} model={model}" for model, roles in order]
    said = done.stdout + done.stderr
    assert all(f"{name}: 2/2 completed" in said for name in names)
    status = call(stored, "scripts/status.py", "study=s").stdout
    assert list(dict.fromkeys(re.findall(r"roles=\S+ model=\S+", status))) == names
    table = pd.read_csv(stored / "outputs/s/conditions.csv")
    assert table[["model", "roles"]].to_numpy().tolist() == order
    contrasts = pd.read_csv(stored / "outputs/s/decision_contrasts.csv")
    assert "model bb - aa" in set(contrasts["effect"])
    again = call(stored, "run.py", "-m", *swept)
    assert "0 calls made now" in again.stdout + again.stderr


@pytest.mark.slow
def test_a_setting_without_a_factor_that_is_swept_is_seen(stored: Path) -> None:
    swept = "roles.seats.Chair=chair,welfare"
    screen = call(stored, "run.py", "-m", "study=s", swept, *SMALL).stdout
    assert first_words(screen, "settings") == [["Chair=chair"], ["Chair=welfare"]]
