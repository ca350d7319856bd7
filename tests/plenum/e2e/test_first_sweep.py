"""A new user's two commands, and what they leave behind."""

import itertools
import json
import math
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from command_line import Run, client, journals, on_a_terminal, runs, table
from rich.cells import cell_len

from plenum.records.chain import read_entries
from plenum.show.formats import format_tally


def test_a_parent_carries_intervals_tests_diagnostics_and_decisions(gallery: Path) -> None:
    rows = {row["condition"]: row for row in table(gallery, "default")}
    for parent in runs(gallery, "default", "condition"):
        row, metrics = rows[parent.data.tags["plenum.condition"]], parent.data.metrics
        assert parent.data.tags["plenum.interval"] == "jackknife"
        for group, names in {
            "intervals": ("percentile_low", "seed_compatible_high"),
            "tests": ("p_reversal", "p_zero", "p_diffusion"),
            "diagnostics": ("d_first", "d_last", "d_cap", "headroom", "excess", "lambda_rms"),
            "decisions": ("flip_rate_ci_high", "disagreement", "disagreement_ci_low"),
        }.items():
            for name in names:
                logged = metrics.get(f"more.{group}.{name}", math.nan)
                written = float(row[name] or "nan")
                expected = written if math.isfinite(written) else math.nan
                assert logged == pytest.approx(expected, nan_ok=True)
        assert "more.diagnostics.d_first" in metrics
        counted = json.loads(parent.data.tags["plenum.decisions"])
        assert row["decisions"] == format_tally(counted)
        assert sum(counted.values()) == 4
        assert metrics["more.decisions.no_majority"] == counted.get("NONE", 0)
        assert {name for name in metrics if name.startswith("more.switches.")} == {
            f"more.switches.{seat}" for seat in ("Chair", "Welfare", "Rights", "Equity", "Security")
        }


def test_hydra_keeps_each_jobs_config_and_overrides(gallery: Path) -> None:
    (sweep,) = (gallery / "multirun").glob("*/*")
    overrides = [(sweep / str(n) / ".hydra/overrides.yaml").read_text() for n in range(4)]
    assert overrides[1].splitlines()[:2] == ["- roles=on", "- model=mixed"]
    assert "roles:" in (sweep / "0/.hydra/config.yaml").read_text()


def test_a_parents_step_metric_d_is_the_divergence_of_its_parquet(gallery: Path) -> None:
    tracked = client(gallery)
    for parent in runs(gallery, "default", "condition"):
        run_id = parent.info.run_id
        logged = {m.step: m.value for m in tracked.get_metric_history(run_id, "D")}
        frame = pd.read_parquet(tracked.download_artifacts(run_id, "ensemble.parquet"))
        mean = frame.groupby(["round", "replicate"])[["p_A", "p_B", "p_C"]].mean()
        for number, points in mean.groupby(level="round"):
            p = points.to_numpy()
            pairs = [float(((p[i] - p[j]) ** 2).sum() ** 0.5) for i in range(4) for j in range(i)]
            assert logged[int(number)] == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_the_transcript_artifact_is_the_journal(gallery: Path) -> None:
    tracked = client(gallery)
    child = runs(gallery, "default", "replicate")[0]
    folder = Path(tracked.download_artifacts(child.info.run_id, "transcript"))
    page, artifact = sorted(folder.iterdir(), key=lambda file: file.suffix == ".jsonl")
    assert artifact.read_bytes() in journals(gallery).values()
    turns = [entry for entry in read_entries(artifact) if entry["kind"] == "turn"]
    told = page.read_text(encoding="utf-8")  # the same, to be read
    assert page.suffix == ".md"
    assert all(f"> {turn['argument']}" in told for turn in turns)


def test_the_table_script_prints_the_same_tables_again(gallery: Path, run: Run) -> None:
    again = run("study=default", script="scripts/tables.py", cwd=gallery)
    printed = (gallery / "stdout").read_text()
    assert again.stdout[again.stdout.index("Study def") :] == printed[printed.index("Study def") :]


@pytest.mark.long
def test_all_twelve_scenarios_are_swept_by_glob(run: Run) -> None:
    done = run("-m", "scenario=glob(*,exclude=*-five)", "replicates=2", "rounds=2", "dry_run=true")
    assert "in all 12 conditions, 24 replicates" in done.stdout


def test_a_terminal_of_80_columns_gets_no_longer_line_and_the_answer_last(gallery: Path) -> None:
    out = on_a_terminal(80, "scripts/tables.py", "study=default", cwd=gallery)
    # A command is one line however far away its script lies, so that it can be copied.
    wrapped = [line for line in out.splitlines() if "python " not in line]
    assert max(map(cell_len, wrapped)) <= 80
    assert len(out.splitlines()) <= 45
    tables, _, answer = out.partition("What happened")
    for roles, model in itertools.product(("on", "off"), ("uniform", "mixed")):
        row = re.search(rf"{roles} +{model} +[A-C] \d.*%.* ([a-z]+) *$", tables, re.MULTILINE)
        assert row is not None
        assert "r" in row[1]  # which the legend explains
    assert "r few_replicates" in " ".join(tables.split())
    answer, _, steps = answer.partition("╰")
    answer = " ".join(answer.replace("│", " ").split())
    assert out.count("Simulated agents: no evidence about language models.") == 1
    assert "Growth: nothing is claimed of it, or of its differences, from fewer than ten" in answer
    (line,) = [line for line in steps.splitlines() if "all tables" in line]
    python, script, *arguments = shlex.split(line.partition("all tables")[2])
    assert (python, arguments) == ("python", ["study=default", "table=all"])
    assert (gallery / script).is_file()
    assert "make ui" not in steps  # it is there in the checkout alone


@pytest.mark.usefixtures("stored")
def test_one_condition_without_a_sweep_ends_with_its_table_and_the_answer_too(run: Run) -> None:
    printed = run("roles=on", "replicates=2", "rounds=3", COLUMNS="80").stdout
    (row,) = re.findall(r"^ *IM-01 +on +uniform +(\S.*\S) *$", printed, re.MULTILINE)
    assert re.match(r"[A-C] \d.*%", row)
    answer = printed.partition("What happened")[2]
    assert "scripts/tables.py study=default table=all" in answer.partition("╰")[2]
    untracked = run("roles=on", "replicates=2", "rounds=3", "tracking=none").stdout
    assert "What happened" not in untracked


def test_every_table_is_a_word_away(gallery: Path, run: Run) -> None:
    printed = run("study=default", "table=all", script="scripts/tables.py", cwd=gallery).stdout
    for title in ("conditions", "Diagnostics of λ̂", "Decisions", "Contrasts", "Interaction"):
        assert title in printed
    assert "written: outputs/default/conditions.csv" in printed
    assert printed.count("no evidence about language models") == 1


@pytest.mark.long
@pytest.mark.usefixtures("stored")
def test_more_replicates_extend_a_condition_and_another_study_reuses_them(
    run: Run, tmp_path: Path
) -> None:
    run("replicates=2", "rounds=3")
    before = journals(tmp_path)
    run("replicates=4", "rounds=3")
    after = journals(tmp_path)
    assert len(after) == 4
    assert all(after[name] == data for name, data in before.items())
    (parent,) = runs(tmp_path, "default", "condition")
    assert parent.data.metrics["n_completed"] == 4
    children = runs(tmp_path, "default", "replicate")
    assert {c.data.tags["mlflow.parentRunId"] for c in children} == {parent.info.run_id}
    history = client(tmp_path).get_metric_history(parent.info.run_id, "D")
    assert sorted(m.step for m in history) == [1, 2, 3]
    second = run("study=second", "replicates=4", "rounds=3")
    assert "4 replicates were taken from journals of an earlier run" in second.stderr
    assert len(runs(tmp_path, "second", "replicate")) == 4
    fresh = run("study=second", "seed=1", "replicates=2", "rounds=2")
    assert "taken from journals" not in fresh.stderr


@pytest.mark.usefixtures("stored")
def test_noise_zero_gives_identical_replicates_and_nan(run: Run, tmp_path: Path) -> None:
    run("-m", "roles=on", "backend.noise=0", "replicates=3", "rounds=4")
    (row,) = table(tmp_path, "default")
    assert (row["lambda"], row["status"]) == ("", "identical")
    assert "identical" in row["warnings"]


@pytest.mark.usefixtures("stored")
def test_failures_are_recorded_and_never_replaced(run: Run, tmp_path: Path) -> None:
    broken = ("scenario=HL-01", "backend.malformed_rate=0.3", "replicates=6", "rounds=4")
    done = run("-m", "roles=on,off", *broken, status=1)
    assert re.search(r"failed: .*roles=on.*: \d x parse", done.stderr)
    assert "tracking:" not in done.stderr
    for row in table(tmp_path, "default"):
        assert int(row["completed"]) + int(row["failed"]) + int(row["pending"]) == 6
        assert int(row["failed"]) > 0
        assert "attrition" in row["warnings"]
    failed = [r for r in runs(tmp_path, "default", "replicate") if r.info.status == "FAILED"]
    assert failed
    assert {r.data.tags["plenum.failure"] for r in failed} == {"parse"}
    before = journals(tmp_path)
    run("-m", "roles=on,off", *broken, "retry_failed=true", status=1)
    assert journals(tmp_path) == before  # an answer that can't be read is an answer


@pytest.mark.usefixtures("stored")
def test_replicates_that_fail_in_their_first_round_leave_the_others_their_estimates(
    run: Run, tmp_path: Path
) -> None:
    done = run(
        "-m", "roles=off", "backend.malformed_rate=0.2", "replicates=16", "rounds=3", status=1
    )
    assert "error:" not in done.stderr
    ends = [data.splitlines()[-1] for data in journals(tmp_path).values()]
    assert any(b'"round":1' in end for end in ends)
    (parent,) = runs(tmp_path, "default", "condition")
    assert parent.data.metrics["n_completed"] >= 2
    assert "D" in parent.data.metrics


@pytest.mark.usefixtures("stored")
def test_one_condition_under_two_labels_stands_in_two_rows(run: Run, tmp_path: Path) -> None:
    run("-m", "model=uniform,gpt-4.1-mini", "replicates=2", "rounds=2")
    assert len(journals(tmp_path)) == 2  # one identity, run once
    assert len(runs(tmp_path, "default", "condition")) == 2
    assert len(runs(tmp_path, "default", "replicate")) == 4


@pytest.mark.usefixtures("stored")
def test_transient_failures_can_be_taken_up_again(run: Run, tmp_path: Path) -> None:
    flaky = ("backend.timeout_rate=0.1", "replicates=4", "rounds=3")
    once = run(*flaky, "calls.max_attempts=1", status=1)
    assert "x timeout" in once.stderr
    run(*flaky, "retry_failed=true")
    ends = [json.loads(data.splitlines()[-1]) for data in journals(tmp_path).values()]
    assert {end["status"] for end in ends} == {"completed"}
    assert any(b'"kind":"reopen"' in data for data in journals(tmp_path).values())


def test_simulated_agents_need_no_library_of_providers(run: Run) -> None:
    """LiteLLM takes a second and 100 MB."""
    done = run("rounds=1", "replicates=1", "tracking=none", PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "plenum.calls.simulated.backend" in loaded
    assert not {"litellm", "openai", "torch"} & loaded
