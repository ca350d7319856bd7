"""Bad input ends in one clear line and exit status 2, before anything is run or written."""

from pathlib import Path

import pytest

from .conftest import ROOT, Run, call

TWO_OPTIONS = """
id: XX-01
title: A case with a slip
domain: Tests
type: choice
question: Which one?
situation: Somebody must decide.
affected: [Everybody is affected.]
numbers: [There are 10 of them.]
constraints: [It must be done today.]
cases: [A man waits.]
options:
  A: {name: One, description: The first.}
  B: {name: Two, description: The second.}
endpoint: The committee adopts exactly one of A, B or C for a year.
"""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["roles=bogus"], "roles: bogus is none of ablate_chair"),
        (["roles.seats.Chair=boss"], "roles.seats.Chair: unknown role 'boss'"),
        (["sampling.temperature=-0.1"], "sampling.temperature: -0.1"),
        (["sampling.temperature=nan"], "sampling.temperature: nan"),
        (["protocol.window=0"], "protocol.window: 0"),
        (["replicates=many"], "replicates: many; a whole number"),
        (["model=mixed", "~model.seats.Equity"], "the seat Equity has no model"),
        (["scenario=XX-99"], "scenario: XX-99 is none of AI-01"),
        (["scenario.file=nowhere.yaml"], "nowhere.yaml does not exist"),
        (["backend.noise=2"], "backend.noise: 2.0"),
        (["backend.colour=red"], "backend.colour"),
        (["study=a/b"], "study: 'a/b'"),
        (["tracking.uri=ftp://x"], "tracking.uri: 'ftp://x'"),
        (["tracking=server", "tracking.uri=http://127.0.0.1:9"], "no MLflow server answers"),
        (["tracking.uri=http://127.0.0.1:port"], "tracking.uri: 'http://127.0.0.1:port' is no URL"),
        (["backend=api"], "OPENAI_API_KEY"),
        (["-m", "roles=on,off", "protocol.window=3,0"], "protocol.window: 0"),
        (["-m", "model=uniform,mixed", "backend=api"], "set the environment variable"),
        (["rounds=[1"], "rounds: [1 can't be read"),
        (["nonsense"], "nonsense"),
        (["roles=true"], "roles: true is none of"),
        (["scenario=null"], "scenario: null is none of"),
        (["-m", "roles=glob(zzz*)"], "the sweep is empty"),
        (["study=Default"], "MLflow's own"),
        (["tracking.uri=sqlite:////dev/null/x/mlflow.db"], "tracking.uri: /dev/null/x"),
        (["journals=/dev/null/x"], "journals: /dev/null/x"),
        (["+experiment=hl01_2x2"], "add -m"),
        (["-m", "+experiment=hl01_2x2,landscape"], "one at a time"),
        (["backend=api", "model.default=hosted_vllm/x"], "backend.api_base.hosted_vllm"),
    ],
)
def test_one_line_and_status_two(run: Run, tmp_path: Path, arguments: list[str], told: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert told in lines[0]
    assert not (tmp_path / "mlruns").exists()


DOORS = {
    "run": "rounds=0",
    "scripts/calibrate": "draws=1",
    "scripts/export": "--verify=nowhere.zip",
    "scripts/import": "archive=nowhere.zip",
    "scripts/papers": "run=tiny",
    "scripts/probe": "n=1",
    "scripts/screen_variants": "scenarios=[XX-01]",
    "scripts/theory": "--alpha=2",
    **{
        f"scripts/{name}": "study=nothing"
        for name in ("accounting", "explore", "figures", "plan", "prompt", "report", "reruns")
    },
    **{f"scripts/{name}": "study=nothing" for name in ("study", "tables")},
}
"""Every front door, with a slip that it sees only once it has imported its own part of plenum."""


@pytest.mark.parametrize("door", DOORS)
def test_every_door_starts_by_itself_and_refuses_in_one_line(tmp_path: Path, door: str) -> None:
    """As nobody has imported anything for it; all other tests fork their processes."""
    done = call(tmp_path, f"{door}.py", DOORS[door], status=2, cold=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert done.stdout == ""
    assert not (tmp_path / "mlruns").exists()


def test_the_doors_are_all_there_are() -> None:
    """But for the fault server's, whose tests start it by itself."""
    called = {
        file.stem for file in (ROOT / "scripts").glob("*.py") if "front_door(" in file.read_text()
    }
    assert {f"scripts/{name}" for name in called - {"fault_server"}} <= DOORS.keys()


@pytest.mark.parametrize("argument", ["tracking.uri=http://me:pa/ss7@h", "rounds=?auth=pa/ss7"])
def test_a_secret_in_an_argument_reaches_no_screen_and_no_file(
    run: Run, tmp_path: Path, argument: str
) -> None:
    done = run("rounds=1", argument)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: {argument.partition('=')[0]}: a URL can't carry")
    assert "ss7" not in done.stderr + done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", ["bench_overhead.py", "bench_inference.py", "bench_hosted.py"])
def test_a_benchmark_of_another_name(tmp_path: Path, script: str) -> None:
    done = call(tmp_path, f"scripts/{script}", "fast", status=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{script.removeprefix('bench_')}: 'fast'; give nothing")
    assert done.stdout == ""


def test_two_options_and_three_labels(run: Run, tmp_path: Path) -> None:
    (tmp_path / "XX-01.yaml").write_text(TWO_OPTIONS)
    done = run("scenario.id=XX-01", f"scenario.file={tmp_path}/XX-01.yaml")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert "XX-01.yaml, field endpoint" in line
    assert "A, B, C but the options are A, B" in line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "study: missing"),
        (["study=x", "window=[5,3]"], "window: [5, 3]"),
        (["study=x", "window=3"], "window: 3"),
        (["study=x", "interval=ols"], "interval: 'ols' is not one of jackknife, percentile"),
        (["study=x", "draws=10"], "draws: 10; a whole number from 100 on"),
        (["study=x", "draws=many"], "draws: many; a whole number from 100 on"),
        (["study=x", "seed=-1"], "seed: -1"),
    ],
)
@pytest.mark.parametrize("script", ["scripts/tables.py", "scripts/figures.py"])
def test_scripts_refuse_in_one_line(run: Run, script: str, arguments: list[str], told: str) -> None:
    done = run(*arguments, script=script)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert told in line


@pytest.mark.parametrize(
    ("script", "argument", "told"),
    [
        ("scripts/plan.py", "delta=0", "delta: 0 is not allowed; it must be above 0"),
        ("scripts/plan.py", "power=0.01", "power: 0.01; between alpha (0.05) and 1"),
        ("scripts/plan.py", "looks=20", "looks: 20; a list of whole numbers"),
        ("scripts/plan.py", "spending=all", "spending: 'all' is not one of obrien_fleming, pocock"),
        ("scripts/plan.py", "maximum=1", "maximum: 1; a whole number from 3 on"),
        ("scripts/calibrate.py", "workers=0", "workers: 0; a whole number from 1 on"),
    ],
)
def test_plans_and_calibrations_refuse_in_one_line(
    run: Run, script: str, argument: str, told: str
) -> None:
    study = ["study=x"] if "plan" in script else []
    done = run(*study, argument, script=script)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert told in line


@pytest.mark.parametrize(
    "script",
    ["run.py", *(f"scripts/{n}.py" for n in ("tables", "figures", "report", "plan", "calibrate"))],
)
def test_help_is_told(run: Run, script: str) -> None:
    done = run("--help", script=script)
    assert done.returncode == 0, done.stderr
    assert "study:" in done.stdout or script == "scripts/calibrate.py"


@pytest.mark.usefixtures("stored")
def test_a_damaged_journal_is_named_and_left_as_it_is(run: Run, tmp_path: Path) -> None:
    run("replicates=2", "rounds=2")
    journal = next((tmp_path / "mlruns/journals").glob("*/001.jsonl"))
    data = journal.read_bytes()
    damaged = data.replace(b"conf=", b"conf=1", 1)
    journal.write_bytes(damaged)
    done = run("replicates=2", "rounds=2")
    assert done.returncode == 1
    assert "001.jsonl, line 2: its digest doesn't match" in done.stderr
    assert "pending: " in done.stderr
    assert journal.read_bytes() == damaged


@pytest.mark.usefixtures("stored")
def test_a_condition_that_is_being_run_is_not_run_twice(run: Run, tmp_path: Path) -> None:
    import fcntl

    run("replicates=1", "rounds=1")
    (lock,) = (tmp_path / "mlruns/journals").glob("*/lock")
    with lock.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = run("replicates=1", "rounds=1")
    assert done.returncode == 1
    assert "another process is running this condition" in done.stderr


def test_the_project_is_found_from_any_folder(run: Run, tmp_path: Path) -> None:
    assert not str(tmp_path).startswith(str(ROOT))
    assert run("replicates=1", "rounds=1").returncode == 0
    assert (tmp_path / "mlruns/mlflow.db").exists()
