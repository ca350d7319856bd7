"""The hosted regime's studies on simulated agents: wordings, one-shot votes, tables, figures."""

import csv
import subprocess
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from mlflow import MlflowClient

from .conftest import Run, call, with_store

# the canonical wording, ten rephrasings and two formats
SMALL = ("backend=simulated", "scenario=HL-01,IM-01,SP-03", "replicates=13")


def sweep(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call(folder, "run.py", "-m", *arguments)


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """The benchmark and its one-shot votes, in one store."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("studied"))
    done = sweep(folder, "+experiment=hosted_benchmark", *SMALL, "rounds=5")
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    sweep(folder, "+experiment=hosted_one_shot", *SMALL)
    return folder


def read(folder: Path, study: str, table: str) -> list[dict[str, str]]:
    with (folder / f"outputs/{study}/{table}.csv").open() as file:
        return list(csv.DictReader(file))


def runs(folder: Path, study: str, kind: str) -> list[mlflow.entities.Run]:
    client = MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name(study)
    assert experiment is not None
    query = f"tags.`plenum.kind` = '{kind}'"
    return list(client.search_runs([experiment.experiment_id], query, max_results=200))


def test_conditions_have_lambda_pert_and_fragility_by_family(studied: Path) -> None:
    rows = read(studied, "hosted_benchmark", "conditions")
    assert [(r["scenario"], r["roles"]) for r in rows] == [
        (s, roles) for s in ("HL-01", "IM-01", "SP-03") for roles in ("on", "off")
    ]
    for row in rows:
        assert (row["perturbation"], row["protocol"]) == ("variants20", "deliberation")
        assert (row["estimand"], row["memory"]) == ("lambda_pert", "k5")
        share = float(row["fragility"])
        assert float(row["fragility_low"]) <= share <= float(row["fragility_high"])
        assert share * 12 == pytest.approx(
            10 * float(row["fragility_rephrase"]) + 2 * float(row["fragility_format"])
        )
        assert {"lambda_pert_rephrase", "lambda_pert_format_low"} <= set(row)
    assert "λ̂_pert" in (studied / "stdout").read_text()
    assert "λ̂_pert = " in (studied / "stderr").read_text()


def test_fragility_has_a_table_of_its_own(studied: Path) -> None:
    rows = read(studied, "hosted_benchmark", "fragility")
    assert [r["family"] for r in rows] == ["all", "rephrase", "format"] * 6
    assert [r["wordings"] for r in rows[:3]] == ["12", "10", "2"]
    assert "Fragility by variant family" in (studied / "stdout").read_text()
    first = read(studied, "hosted_benchmark", "conditions")[0]
    assert rows[0]["lambda_pert"] == first["lambda"]


def test_mlflow_has_the_same_numbers(studied: Path) -> None:
    rows = {r["condition"]: r for r in read(studied, "hosted_benchmark", "conditions")}
    for parent in runs(studied, "hosted_benchmark", "condition"):
        row, metrics = rows[parent.data.tags["plenum.condition"]], parent.data.metrics
        names = [name for name in row if name.startswith(("fragility", "lambda_pert"))]
        assert len(names) == 15
        for name in names:
            told = float(row[name] or "nan")
            found = metrics.get(f"more.fragility.{name}", float("nan"))
            assert found == pytest.approx(told, nan_ok=True)
        assert parent.data.params["variants"] == "canonical:1 rephrase:10 format:9"
        assert parent.data.params["protocol"] == "deliberation"


def test_every_replicate_names_its_wording(studied: Path) -> None:
    nested = runs(studied, "hosted_benchmark", "replicate")
    wordings = {int(r.data.params["replicate"]): r.data.params["variant"] for r in nested}
    assert len(set(wordings.values())) == 13
    assert wordings[0] == "canonical"
    assert {r.data.params["family"] for r in nested} == {"canonical", "rephrase", "format"}
    (first, *_) = runs(studied, "hosted_benchmark", "condition")
    where = first.info.artifact_uri.removeprefix("file://")
    table = pd.read_parquet(Path(where) / "replicates.parquet")
    assert table["variant"].tolist() == [wordings[n] for n in range(13)]


def test_a_one_shot_vote_is_one_round_and_no_exponent(studied: Path) -> None:
    rows = read(studied, "hosted_one_shot", "conditions")
    assert {(r["protocol"], r["rounds"], r["status"], r["lambda"]) for r in rows} == {
        ("one_shot", "1", "one_shot", "")
    }
    assert all(r["fragility"] for r in rows)
    parents = runs(studied, "hosted_one_shot", "condition")
    assert all("more.fragility.fragility" in parent.data.metrics for parent in parents)


def test_deliberation_is_compared_with_the_vote(studied: Path, run: Run) -> None:
    done = run(
        *("study=hosted_benchmark", "baseline=hosted_one_shot", "draws=200"),
        script="scripts/tables.py",
        cwd=studied,
    )
    assert done.returncode == 0, done.stderr
    assert "Fragility compared: protocol deliberation - one_shot" in done.stdout
    assert "Fragility compared: mean over scenarios" in done.stdout
    rows = read(studied, "hosted_benchmark", "fragility_contrasts")
    compared = [r for r in rows if r["effect"] == "protocol deliberation - one_shot"]
    assert [(r["scenario"], r["roles"], r["scenarios"]) for r in compared] == [
        *((s, roles, "1") for s in ("HL-01", "IM-01", "SP-03") for roles in ("on", "off")),
        *(("", roles, "3") for roles in ("on", "off")),
    ]
    own = {(r["scenario"], r["roles"]): r for r in read(studied, "hosted_benchmark", "conditions")}
    votes = {(r["scenario"], r["roles"]): r for r in read(studied, "hosted_one_shot", "conditions")}
    for row in compared[:6]:
        cell = row["scenario"], row["roles"]
        expected = float(own[cell]["fragility"]) - float(votes[cell]["fragility"])
        assert float(row["estimate"]) == pytest.approx(expected)
        assert float(row["ci_low"]) <= float(row["estimate"]) <= float(row["ci_high"])
        assert 0 < float(row["p"]) <= 1


def test_figure_1_is_drawn_and_logged(studied: Path, run: Run) -> None:
    done = run(
        *("study=hosted_benchmark", "baseline=hosted_one_shot", "draws=200", "figure=hosted"),
        script="scripts/figures.py",
        cwd=studied,
    )
    assert done.returncode == 0, done.stderr
    folder = studied / "outputs/hosted_benchmark"
    assert (folder / "hosted.png").stat().st_size > 20_000
    assert "<svg" in (folder / "hosted.svg").read_text()
    (report,) = runs(studied, "hosted_benchmark", "report")
    client = MlflowClient(f"sqlite:///{studied}/mlruns/mlflow.db")
    logged = {file.path for file in client.list_artifacts(report.info.run_id)}
    assert logged >= {"fragility.csv", "fragility_contrasts.csv", "hosted.png", "hosted.svg"}


@pytest.mark.parametrize(
    ("script", "key"), [("tables", "baseline"), ("figures", "baseline"), ("figures", "reruns")]
)
def test_another_study_that_is_not_there_is_named(
    studied: Path, run: Run, script: str, key: str
) -> None:
    given = ("study=hosted_benchmark", f"{key}=nothing", "draws=200")
    done = run(*given, script=f"scripts/{script}.py", cwd=studied)
    assert done.returncode == 2
    assert f"error: {key}: there is no study 'nothing'" in done.stderr


def test_registers_are_a_family(stored: Path) -> None:
    sweep(stored, "+experiment=semantic", "rounds=4")
    rows = read(stored, "semantic", "conditions")
    assert [(r["scenario"], r["roles"], r["completed"]) for r in rows] == [
        *(("IM-01", "on", "6"), ("IM-01", "off", "6"))
    ]
    assert {r["perturbation"] for r in rows} == {"registers6"}
    assert all(r["fragility_register"] == r["fragility"] for r in rows)


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (("model=qwen2.5-7b",), "24 conditions, 480 replicates"),
        (
            ("model=qwen2.5-7b", "scenario=HL-01,IM-01", "rounds=6", "memory=k15"),
            "4 conditions, 80 replicates",
        ),
        (
            ("backend=simulated", "memory=k15", "scenario=HL-01"),
            "memory=k15 temperature=t0 backend=simulated perturbation=variants20",
        ),
    ],
)
def test_the_experiment_takes_overrides(run: Run, overrides: tuple[str, ...], told: str) -> None:
    done = run("-m", "+experiment=hosted_benchmark", "dry_run=true", *overrides)
    assert done.returncode == 0, done.stderr
    assert told in " ".join(done.stdout.split())
