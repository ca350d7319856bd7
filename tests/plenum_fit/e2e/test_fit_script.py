"""Fits of a small made-up release, fitted agents in a sweep, and plans by them."""

import json
from pathlib import Path
from zipfile import ZipFile

import made_up
import numpy as np
import pandas as pd
import pytest
from command_line import call, client, table

from plenum_fit.parameter_file import read_fitted

SMALL = ("catalogue=catalogue.yaml", "study=small", "runs=20", "pilots=[3]")


@pytest.mark.long
def test_a_release_is_fitted_and_its_errors_are_written(tmp_path: Path) -> None:
    made_up.write(tmp_path)
    printed = call(tmp_path, "scripts/fit.py", "published=clone", *SMALL).stdout
    errors = pd.read_csv(tmp_path / "outputs/fit/fit_errors.csv")
    lines = pd.read_csv(tmp_path / "outputs/fit/fit_predictions.csv")
    new = errors[errors["setting"] == "first round known"].set_index("model")
    assert new["error"].idxmin() in ("firming", "polarising", "polarising_jumps")
    # The table is the mean of the lines.
    mean = lines.groupby(["setting", "model"])["error"].mean()
    found = errors.set_index(["setting", "model"])["error"]
    pd.testing.assert_series_equal(found.sort_index(), mean.sort_index(), check_names=False)
    assert (tmp_path / "outputs/fit/fit.png").stat().st_size > 10_000
    fitted = read_fitted(tmp_path / "outputs/fit/fitted.json")
    assert (fitted.conditions, fitted.runs) == (3, 24)
    stays = [kernel.stays for kernel in fitted.kernels.values()]
    np.testing.assert_allclose(stays, made_up.TRUE.stays, atol=0.1)
    assert "github.com/somebody/runs@0000000" in printed


@pytest.mark.long
def test_what_cannot_be_fitted_is_refused_in_a_line(tmp_path: Path) -> None:
    made_up.write(tmp_path, made_up.SCENARIOS[:1])
    for given, said in (
        (("published=clone", *SMALL), "fewer than two scenarios"),
        (("published=nowhere", *SMALL), "nowhere"),
        (SMALL, "published: missing"),
        (("published=clone", *SMALL, "study=large"), "large"),
        (("published=clone", *SMALL, "runs=5"), "runs: 5"),
        (("published=clone", *SMALL, "pilots=[1]"), "pilots: 1 is not allowed; each is 2 or more"),
        (("published=clone", *SMALL, "pilots=3"), "pilots: 3 is no list; write [3]"),
        (("published=clone", *SMALL, "splits=many"), "splits: many"),
    ):
        refused = call(tmp_path, "scripts/fit.py", *given, status=2)
        assert said in refused.stderr.strip().splitlines()[-1]
    assert not (tmp_path / "outputs").exists()


@pytest.mark.long
def test_fitted_agents_deliberate_say_so_and_plan(tmp_path: Path) -> None:
    sweep = ("study=one", "rounds=2", "replicates=6", "model=mixed", "backend.fit=published")
    said = call(tmp_path, "run.py", *sweep)
    assert "6 completed" in said.stdout + said.stderr
    (row,) = table(tmp_path, "one")
    assert row["settings"] == "fit=published"
    assert "simulated agents, fitted to published runs" in (
        tmp_path / "outputs/one/tables.md"
    ).read_text(encoding="utf-8")
    call(tmp_path, "scripts/export.py", "study=one", "out=one.zip")
    with ZipFile(tmp_path / "one.zip") as archive:
        (named,) = (name for name in archive.namelist() if name.endswith("README.md"))
        assert "simulated (fitted to published runs)" in archive.read(named).decode()
    plain = call(tmp_path, "run.py", *sweep[:4], "dry_run=true").stdout
    assert row["condition"] not in plain  # another condition than without the fit
    assert client(tmp_path).get_experiment_by_name("one") is not None

    planned = call(
        tmp_path, "scripts/plan.py", "fit=published", "study=one", "runs=30", "difference=0.4"
    ).stdout
    assert "first rounds of one" in planned
    assert "fitted to 953 runs of 48 conditions" in " ".join(planned.split())
    for script, given, named in (
        ("scripts/plan.py", ("fit=published",), "study: missing"),
        ("scripts/plan.py", ("fit=mine", "scenario=HL-01"), "fit: 'mine'"),
        ("scripts/plan.py", ("fit=published", "scenario=XX-01"), "scenario=XX-01"),
        ("scripts/plan.py", ("fit=published", "scenario=HL-01", "runs=3"), "runs: 3"),
        ("run.py", ("backend.fit=mine",), "backend.fit: 'mine'"),
        ("run.py", ("backend.fit=published", "model=gpt-4o"), "gpt-4o"),
        ("run.py", ("backend.fit=published", "temperature=t0.7"), "temperature 0"),
        ("run.py", ("-m", "backend.fit=published", "model=gpt-4.1", "study=two"), "gpt-4.1 man"),
        ("run.py", ("backend.fit=published", "memory=k1", "dry_run=true"), "memory=k15"),
    ):
        refused = call(tmp_path, script, *given, status=2)
        (line,) = refused.stderr.strip().splitlines()
        assert named in line
    assert client(tmp_path).get_experiment_by_name("two") is None


@pytest.mark.long
def test_the_catalogue_of_a_release_may_have_other_lengths(tmp_path: Path) -> None:
    made_up.write(tmp_path)
    runs = tmp_path / "clone/data/raw/chaos_v1/AI-01__T0.0__N5__rolesTrue__R6.jsonl"
    other = runs.with_name("AI-01__T0.0__N5__rolesTrue__R5.jsonl")
    shorter = []
    for line in runs.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        record["run"]["condition"]["rounds"] = 5
        record["run"]["turns"] = [t for t in record["run"]["turns"] if t["round_num"] < 6]
        shorter.append(json.dumps(record))
    other.write_text("\n".join(shorter), encoding="utf-8")
    runs.unlink()
    catalogue = (tmp_path / "catalogue.yaml").read_text().replace("rounds: 6", "rounds: [5, 6]")
    (tmp_path / "catalogue.yaml").write_text(catalogue)
    refused = call(tmp_path, "scripts/fit.py", "published=clone", *SMALL, status=2)
    assert "[5, 6]" in refused.stderr.strip().splitlines()[-1]
