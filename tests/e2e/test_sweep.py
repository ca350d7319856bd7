"""A new user's two commands, and what they leave behind."""

import csv
import itertools
import json
import re
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from mlflow import MlflowClient
from rich.cells import cell_len

from .conftest import Run, call, calls, journals, on_a_terminal, with_store

SMALL = ("replicates=4", "rounds=4")
COLUMNS = {
    *("study", "scenario", "roles", "model", "memory", "temperature", "backend", "perturbation"),
    *("target", "completed", "failed", "lambda", "ci_low", "ci_high", "flip_rate"),
    *("time_to_majority", "warnings"),
}


def client(folder: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{folder}/mlruns/mlflow.db")


def runs(folder: Path, study: str, kind: str) -> list[mlflow.entities.Run]:
    tracked = client(folder)
    experiment = tracked.get_experiment_by_name(study)
    assert experiment is not None
    return list(tracked.search_runs([experiment.experiment_id], f"tags.`plenum.kind` = '{kind}'"))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small 2x2 sweep that several tests look at."""
    return _sweep(tmp_path_factory.mktemp("swept"), *SMALL)


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A 2x2 sweep long enough for an interval in every cell."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("longer"))
    return _sweep(folder, "replicates=6", "rounds=9", "temperature=t0.7")


def _sweep(folder: Path, *arguments: str) -> Path:
    done = call(folder, "run.py", "-m", "roles=on,off", "model=uniform,mixed", *arguments)
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    return folder


def test_the_sweep_prints_the_two_by_two_with_realised_n(swept: Path) -> None:
    out = (swept / "stdout").read_text()
    matrix = out[out.index("λ̂ by roles and model") :]
    assert re.search(r"uniform +mixed", matrix)
    assert "roles off" in matrix
    assert "roles on" in matrix
    assert matrix.count("n = 4") == 4
    assert "no evidence about language models" in matrix


def test_the_closing_lines_account_for_every_replicate(swept: Path) -> None:
    err = (swept / "stderr").read_text()
    assert "4 conditions: 16 replicates = 16 completed + 0 failed + 0 pending" in err
    assert "416 calls made now" in err  # 16 x (4 rounds x 5 seats + 5 ballots + clerk)


def test_the_condition_table_is_written_as_csv_and_markdown(swept: Path) -> None:
    with (swept / "outputs/default/conditions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) >= COLUMNS
    assert {(r["roles"], r["model"]) for r in rows} == {
        (roles, model) for roles in ("on", "off") for model in ("uniform", "mixed")
    }
    assert all(r["target"] == r["completed"] == "4" for r in rows)
    assert all("few_replicates" in r["warnings"] for r in rows)
    assert "| roles on |" in (swept / "outputs/default/tables.md").read_text()


def test_contrasts_and_the_interaction_are_printed_written_and_logged(longer: Path) -> None:
    out = (longer / "stdout").read_text()
    assert "Contrasts: Δλ̂" in out
    assert "Interaction: " in out
    with (longer / "outputs/default/contrasts.csv").open() as file:
        contrasts = list(csv.DictReader(file))
    assert sorted((c["effect"], c["roles"] or c["model"]) for c in contrasts) == [
        *(("model mixed - uniform", "off"), ("model mixed - uniform", "on")),
        *(("roles on - off", "mixed"), ("roles on - off", "uniform")),
    ]
    assert all(0 < float(c["p"]) <= float(c["p_holm"]) <= 1 for c in contrasts)
    with (longer / "outputs/default/interactions.csv").open() as file:
        (interaction,) = csv.DictReader(file)
    with (longer / "outputs/default/conditions.csv").open() as file:
        cells = {(r["roles"], r["model"]): float(r["lambda"]) for r in csv.DictReader(file)}
    assert interaction["effect"] == "roles x mixed"
    expected = (cells["on", "mixed"] - cells["on", "uniform"]) - (
        cells["off", "mixed"] - cells["off", "uniform"]
    )
    assert float(interaction["estimate"]) == pytest.approx(expected)
    (report,) = runs(longer, "default", "report")
    logged = {file.path for file in client(longer).list_artifacts(report.info.run_id)}
    names = ("conditions.csv", "contrasts.csv", "interactions.csv", "tables.md")
    assert logged >= set(names)


def test_a_parent_carries_intervals_tests_diagnostics_and_decisions(longer: Path) -> None:
    with (longer / "outputs/default/conditions.csv").open() as file:
        rows = {r["condition"]: r for r in csv.DictReader(file)}
    for parent in runs(longer, "default", "condition"):
        row, metrics = rows[parent.data.tags["plenum.condition"]], parent.data.metrics
        assert parent.data.tags["plenum.interval"] == "jackknife"
        for group, names in {
            "intervals": ("percentile_low", "bca_high", "bootstrap_t_low", "seed_compatible_high"),
            "tests": ("p_reversal", "p_zero", "p_diffusion"),
            "diagnostics": ("d_first", "d_last", "d_cap", "headroom", "excess", "lambda_rms"),
            "decisions": ("flip_rate_ci_high", "disagreement", "disagreement_ci_low"),
        }.items():
            for name in names:
                told = float(row[name] or "nan")
                logged = metrics.get(f"more.{group}.{name}", float("nan"))
                assert logged == pytest.approx(told, nan_ok=True)
        assert "more.diagnostics.d_first" in metrics
        assert {name for name in metrics if name.startswith("more.switches.")} == {
            f"more.switches.{seat}" for seat in ("Chair", "Welfare", "Rights", "Equity", "Security")
        }


def test_another_interval_is_chosen_by_name(longer: Path, run: Run) -> None:
    done = run(
        *("study=default", "interval=percentile", "out=elsewhere"),
        script="scripts/tables.py",
        cwd=longer,
    )
    assert done.returncode == 0, done.stderr
    assert "CI: percentile bootstrap" in done.stdout
    with (longer / "elsewhere/conditions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(r["interval"] == "percentile" for r in rows)
    assert all((r["ci_low"], r["ci_high"]) == (r["percentile_low"], r["percentile_high"])
               for r in rows)  # fmt: skip


def test_a_plan_comes_from_the_spread_of_the_study(longer: Path, run: Run) -> None:
    plan = ("study=default", "half_width=5", "maximum=40", "looks=[3]")
    done = run(*plan, script="scripts/plan.py", cwd=longer)
    assert done.returncode == 0, done.stderr
    assert "yes: narrow" in done.stdout
    again = run("study=default", "looks=[3,9]", script="scripts/plan.py", cwd=longer)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("no look since n = 9") == 4
    wrong = run("study=default", "looks=[9,3]", script="scripts/plan.py", cwd=longer)
    assert wrong.returncode == 2
    assert "looks: [9, 3]; increasing" in wrong.stderr


def test_hydra_keeps_each_jobs_config_and_overrides(swept: Path) -> None:
    (sweep,) = (swept / "multirun").glob("*/*")
    overrides = [(sweep / str(n) / ".hydra/overrides.yaml").read_text() for n in range(4)]
    assert overrides[1].splitlines()[:2] == ["- roles=on", "- model=mixed"]
    assert "roles:" in (sweep / "0/.hydra/config.yaml").read_text()


def test_mlflow_holds_a_parent_a_condition_and_a_nested_run_a_replicate(swept: Path) -> None:
    parents, children = runs(swept, "default", "condition"), runs(swept, "default", "replicate")
    assert (len(parents), len(children)) == (4, 16)
    by_id = {parent.info.run_id: parent for parent in parents}
    for child in children:
        parent = by_id[child.data.tags["mlflow.parentRunId"]]
        assert child.data.params["roles"] == parent.data.params["roles"]
        assert child.info.status == "FINISHED"
        assert child.data.tags["plenum.backend"] == "simulated"
        assert child.data.metrics["calls"] == 26


def test_a_parents_step_metric_d_is_the_divergence_of_its_parquet(swept: Path) -> None:
    tracked = client(swept)
    for parent in runs(swept, "default", "condition"):
        run_id = parent.info.run_id
        logged = {m.step: m.value for m in tracked.get_metric_history(run_id, "D")}
        frame = pd.read_parquet(tracked.download_artifacts(run_id, "ensemble.parquet"))
        mean = frame.groupby(["round", "replicate"])[["p_A", "p_B", "p_C"]].mean()
        for number, points in mean.groupby(level="round"):
            p = points.to_numpy()
            pairs = [float(((p[i] - p[j]) ** 2).sum() ** 0.5) for i in range(4) for j in range(i)]
            assert logged[int(number)] == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_the_transcript_artifact_is_the_journal(swept: Path) -> None:
    tracked = client(swept)
    child = runs(swept, "default", "replicate")[0]
    folder = Path(tracked.download_artifacts(child.info.run_id, "transcript"))
    (artifact,) = folder.iterdir()
    assert artifact.read_bytes() in journals(swept).values()


def test_the_table_script_prints_the_same_tables_again(swept: Path, run: Run) -> None:
    again = run("study=default", script="scripts/tables.py", cwd=swept)
    assert again.returncode == 0, again.stderr
    told = (swept / "stdout").read_text()
    assert again.stdout[again.stdout.index("Study default") :] == told[told.index("Study d") :]


def test_a_terminal_of_80_columns_gets_no_longer_line_and_the_answer_last(swept: Path) -> None:
    out = on_a_terminal(80, "scripts/tables.py", "study=default", cwd=swept)
    assert max(map(cell_len, out.splitlines())) <= 80
    tables, _, answer = out.partition("\nFound. ")
    for roles, model in itertools.product(("on", "off"), ("uniform", "mixed")):
        row = re.search(rf"HL-01 +{roles} +{model} +4/4 .* ([a-z]+) *$", tables, re.MULTILINE)
        assert row is not None
        assert "r" in row[1]  # which the legend explains
    assert "r few_replicates" in tables
    answer = " ".join(answer.split())
    assert answer.startswith("Simulated agents: no evidence about language models. ")
    assert "4 replicates are too few for its test" in answer
    python, script = re.findall(r"Next\. (\S+) (\S+) study=default", answer)[0]
    assert (swept / script).is_file()
    assert python == "python"


def test_a_rerun_repeats_no_call_and_says_so(swept: Path, run: Run) -> None:
    before, attempts = journals(swept), len(calls(swept))
    again = run("-m", "roles=on,off", "model=uniform,mixed", *SMALL, cwd=swept)
    assert again.returncode == 0, again.stderr
    assert "16 replicates were taken from journals of an earlier run" in again.stderr
    assert journals(swept) == before
    assert len(calls(swept)) == attempts
    assert len(runs(swept, "default", "condition")) == 4
    assert len(runs(swept, "default", "replicate")) == 16


def test_a_second_study_reuses_finished_journals_and_another_seed_does_not(
    swept: Path, run: Run
) -> None:
    second = run("study=second", "replicates=4", "rounds=4", cwd=swept)
    assert "4 replicates were taken from journals of an earlier run" in second.stderr
    assert len(runs(swept, "second", "replicate")) == 4
    fresh = run("study=second", "seed=1", "replicates=2", "rounds=2", cwd=swept)
    assert "taken from journals" not in fresh.stderr


@pytest.mark.usefixtures("stored")
def test_more_replicates_extend_a_condition(run: Run, tmp_path: Path) -> None:
    run("replicates=2", "rounds=3")
    before = journals(tmp_path)
    more = run("replicates=4", "rounds=3")
    assert more.returncode == 0, more.stderr
    after = journals(tmp_path)
    assert len(after) == 4
    assert all(after[name] == data for name, data in before.items())
    (parent,) = runs(tmp_path, "default", "condition")
    assert parent.data.metrics["n_completed"] == 4
    children = runs(tmp_path, "default", "replicate")
    assert {c.data.tags["mlflow.parentRunId"] for c in children} == {parent.info.run_id}
    history = client(tmp_path).get_metric_history(parent.info.run_id, "D")
    assert sorted(m.step for m in history) == [1, 2, 3]


@pytest.mark.usefixtures("stored")
def test_noise_zero_gives_identical_replicates_and_nan(run: Run, tmp_path: Path) -> None:
    done = run("-m", "roles=on", "backend.noise=0", "replicates=3", "rounds=4")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "outputs/default/conditions.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["lambda"], row["status"]) == ("", "identical")
    assert "identical" in row["warnings"]


@pytest.mark.usefixtures("stored")
def test_all_twelve_scenarios_sweep_by_glob(run: Run, tmp_path: Path) -> None:
    done = run("-m", "scenario=glob(*)", "replicates=2", "rounds=2")
    assert done.returncode == 0, done.stderr
    landscape = (tmp_path / "outputs/default/tables.md").read_text().partition("Landscape")[2]
    assert "| CL-04 |" in landscape
    assert "12 conditions: 24 replicates = 24 completed" in done.stderr


@pytest.mark.usefixtures("stored")
def test_failures_are_recorded_and_never_replaced(run: Run, tmp_path: Path) -> None:
    broken = ("backend.malformed_rate=0.3", "replicates=6", "rounds=4")
    done = run("-m", "roles=on,off", *broken)
    assert done.returncode == 1
    assert re.search(r"failed: .*roles=on.*: \d x parse", done.stderr)
    assert "tracking:" not in done.stderr
    with (tmp_path / "outputs/default/conditions.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert int(row["completed"]) + int(row["failed"]) + int(row["pending"]) == 6
        assert int(row["failed"]) > 0
        assert "attrition" in row["warnings"]
    failed = [r for r in runs(tmp_path, "default", "replicate") if r.info.status == "FAILED"]
    assert failed
    assert {r.data.tags["plenum.failure"] for r in failed} == {"parse"}
    before = journals(tmp_path)
    assert run("-m", "roles=on,off", *broken, "retry_failed=true").returncode == 1
    assert journals(tmp_path) == before  # an answer that can't be read is an answer


@pytest.mark.usefixtures("stored")
def test_replicates_that_fail_in_their_first_round_leave_the_others_their_estimates(
    run: Run, tmp_path: Path
) -> None:
    done = run("-m", "roles=off", "backend.malformed_rate=0.2", "replicates=16", "rounds=3")
    assert "error:" not in done.stderr
    ends = [data.splitlines()[-1] for data in journals(tmp_path).values()]
    assert any(b'"round":1' in end for end in ends)
    (parent,) = runs(tmp_path, "default", "condition")
    assert parent.data.metrics["n_completed"] >= 2
    assert "D" in parent.data.metrics


@pytest.mark.usefixtures("stored")
def test_one_condition_under_two_labels_stands_in_two_rows(run: Run, tmp_path: Path) -> None:
    done = run("-m", "model=uniform,gpt-4.1-mini", "replicates=2", "rounds=2")
    assert done.returncode == 0, done.stderr
    assert len(journals(tmp_path)) == 2  # one identity, run once
    assert len(runs(tmp_path, "default", "condition")) == 2
    assert len(runs(tmp_path, "default", "replicate")) == 4


@pytest.mark.usefixtures("stored")
def test_transient_failures_can_be_taken_up_again(run: Run, tmp_path: Path) -> None:
    flaky = ("backend.timeout_rate=0.1", "replicates=4", "rounds=3")
    once = run(*flaky, "calls.max_attempts=1")
    assert once.returncode == 1
    assert "x timeout" in once.stderr
    again = run(*flaky, "retry_failed=true")
    assert again.returncode == 0, again.stderr
    ends = [json.loads(data.splitlines()[-1]) for data in journals(tmp_path).values()]
    assert {end["status"] for end in ends} == {"completed"}
    assert any(b'"kind":"reopen"' in data for data in journals(tmp_path).values())


@pytest.mark.usefixtures("stored")
def test_the_basic_launcher_works_too(run: Run) -> None:
    done = run("-m", "hydra/launcher=basic", "roles=on,off", "replicates=2", "rounds=2")
    assert done.returncode == 0, done.stderr
    assert "2 conditions: 4 replicates = 4 completed" in done.stderr


def test_dry_run_calls_nothing_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    done = run("-m", "roles=on,off", "dry_run=true", "replicates=3")
    assert done.returncode == 0, done.stderr
    assert "in all 2 conditions, 6 replicates, 636 calls" in done.stdout
    assert not (tmp_path / "mlruns").exists()


def test_simulated_agents_need_no_library_of_providers(run: Run) -> None:
    """LiteLLM takes a second and 100 MB."""
    done = run("rounds=1", "replicates=1", "tracking=none", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "plenum.models.simulated" in loaded
    assert not {"litellm", "openai", "torch"} & loaded


def test_a_table_of_the_papers_is_printed_written_and_logged_by_its_number(
    swept: Path, run: Run
) -> None:
    done = run("study=default", "table=s1,published", script="scripts/tables.py", cwd=swept)
    assert done.returncode == 0, done.stderr
    assert "Table S1: run accounting (default)" in done.stdout
    names = [
        f"table_{name}.{kind}" for name in ("s1", "published") for kind in ("csv", "md", "tex")
    ]
    (report,) = runs(swept, "default", "report")
    logged = {file.path for file in client(swept).list_artifacts(report.info.run_id)}
    assert {*names, "tables.tex"} <= logged
    with (swept / "outputs/default/table_published.csv").open() as file:
        published = {(row["roles"], row["model"]): row for row in csv.DictReader(file)}
    assert published["off", "mixed"]["published_lambda"] == "0.0947"
    assert published["off", "mixed"]["completed"] == "4"


def test_a_table_that_a_study_has_nothing_for_is_refused_in_one_line(swept: Path, run: Run) -> None:
    done = run("study=default", "table=s8", script="scripts/tables.py", cwd=swept)
    assert done.returncode == 2
    assert done.stderr == (
        "error: table: s8; study default has nothing for it: it needs two scenarios\n"
    )
    assert done.stdout == ""
