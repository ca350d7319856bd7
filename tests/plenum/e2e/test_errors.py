"""Bad input ends in one clear line and exit status 2, before anything is run or written."""

import fcntl
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import KEY, ROOT, Ended, Run, call, journals

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
SETTINGS = (
    ("", "study: missing"),
    ("study=x window=[5,3]", "window: [5, 3]"),
    ("study=x window=3", "window: 3"),
    ("study=x interval=ols", "interval: 'ols' is not one of jackknife, percentile"),
    ("study=x draws=10", "draws: 10 is not allowed; it must be 100 or more"),
    ("study=x draws=many", "draws: many; a whole number, 100 or more"),
    ("study=x seed=-1", "seed: -1"),
)
"""What all scripts read that show a study."""

REFUSED = {
    "run.py": (
        ("roles=bogus", "roles: bogus is none of ablate_chair"),
        ("sampling.temperature=nan", "sampling.temperature: nan"),
        ("model=mixed ~model.seats.Equity", "the seat Equity has no model"),
        ("scenario=XX-99", "scenario: XX-99 is none of AI-01"),
        ("scenario.file=nowhere.yaml", "nowhere.yaml does not exist"),
        ("backend.colour=red", "backend.colour"),
        ("study=a/b", "study: 'a/b'"),
        ("tracking.uri=ftp://x", "tracking.uri: 'ftp://x'"),
        ("tracking=server tracking.uri=http://127.0.0.1:9", "no MLflow server answers"),
        ("tracking.uri=http://127.0.0.1:port", "tracking.uri: 'http://127.0.0.1:port' is no URL"),
        ("backend=api", "OPENAI_API_KEY"),
        ("-m roles=on,off protocol.window=3,0", "protocol.window: 0"),
        ("-m model=uniform,mixed backend=api", "set the environment variable"),
        ("rounds=[1", "rounds: [1 can't be read"),
        ("roles=on,", "roles: on, ends with a comma; several values stand without spaces"),
        ("study=ünï", "study: 'ünï'; use letters from a to z"),
        ("nonsense", "nonsense"),
        ("roles=true", "roles: true is none of"),
        ("scenario=null", "scenario: null is none of"),
        ("-m roles=glob(zzz*)", "the sweep is empty"),
        ("study=Default", "MLflow's own"),
        ("tracking.uri=sqlite:////dev/null/x/mlflow.db", "tracking.uri: /dev/null/x"),
        ("journals=/dev/null/x", "journals: /dev/null/x"),
        ("journals=gs://bucket/x", "journals: 'gs://bucket/x'"),
        ("journals=''", "journals: ''"),
        ("+experiment=hl01_2x2", "add -m"),
        ("-m +experiment=hl01_2x2,landscape", "one at a time"),
        ("backend=api model.default=hosted_vllm/x", "backend.api_base.hosted_vllm"),
        ("consensus=explicit", "consensus: explicit is for worlds"),
        ("task=disaster roles=off", "roles: off is for committees"),
        ("task=disaster protocol.majority=conformity", "protocol.majority: conformity is for"),
        ("protocol=conformity", "protocol.majority: conformity, but scenario IM-01 has no answer"),
        ("protocol.facts=all", "protocol.facts: all, but scenario IM-01 has no private facts"),
        ("protocol.majority=most", "protocol.majority: 'most' is not one of none, conf"),
        ("task=disaster perturbation=variants20", "perturbation: variants20"),
        ("task=disaster consensus=mean", "consensus: mean is for task=public_goods"),
        ("task=disaster task.agents=101", "task.agents: 101"),
        ("task=disaster task.policy=fair_share", "task.policy: 'fair_share'"),
        ("task=disaster task.world.spawn=2", "disaster.spawn=2"),
        ("task=disaster +task.world.spwan=1", "disaster.spwan"),
        ("task=disaster task.runs=3", "task.runs=3"),
        ("task=disaster diversity.roles.disaster=[pilot]", "unknown role 'pilot'"),
        ("task=disaster task.policy=random consensus=central", "consensus: central"),
        ("model=gpt-4o-mix", "model.seats.odd: no such seat"),
        ("-m hydra.job.chdir=true", "hydra.job.chdir: jobs share one process; use hydra/launcher"),
    ),
    "scripts/tables.py": SETTINGS,
    "scripts/figures.py": SETTINGS[:2],
    "scripts/plan.py": (
        ("study=x delta=0", "delta: 0 is not allowed; it must be above 0"),
        ("study=x power=0.01", "power: 0.01; between alpha (0.05) and 1"),
        ("study=x power=2", "power: 2"),
        ("margin=.05 cases=65", "cases: 65 show a lead of 0.05 and a gain of 0.1 at any number"),
        ("margin=2", "margin: 2"),
    ),
    "scripts/calibrate.py": (
        ("workers=0", "workers: 0 is not allowed; it must be 1 or more"),
        ("draws=2.5", "draws: 2.5; a whole number, 2 or more"),
    ),
    "scripts/accounting.py": (("", "study: missing"),),
    "scripts/papers.py": (
        ("run=reduced only=api", "only: 'api' is not one of simulated, hosted"),
        ("released=true released_runs=1", "released_runs: 1; allowed are whole numbers from 2"),
        ("draw=true item=S99", "item: S99; one of 001/fig-1a"),
        ("draw=true item=001/fig-4", "none of the studies has been run yet: landscape"),
    ),
    "scripts/probe.py": (
        ("n=many", "error: n: many; a whole number, 2 or more"),
        ("logprobs=7", "error: logprobs: 7; true, false or null"),
        ("model=nobody", "error: model: nobody is none of claude"),
        ("rounds=0", "error: rounds: 0 is not allowed"),
    ),
    "scripts/scenarios.py": (
        ("", "error: hiddenbench: None; give hiddenbench=FILE or benchform=FILE, and out=FOLDER"),
        ("hiddenbench=nowhere.json out=x", "error: hiddenbench: nowhere.json can't be read"),
        ("benchform=nowhere.json", "error: hiddenbench: None; give"),
        ("hiddenbench=[1] out=x", "error: hiddenbench: "),
    ),
    "scripts/reruns.py": (("study=x tracking=none", "tracking: none holds no study"),),
    "scripts/screen_variants.py": (
        ("scenarios=IM-01", "error: scenarios: IM-01; several values stand in brackets"),
        ("combine=maybe", "error: combine: maybe; true or false"),
        ("judge=7", "error: judge: 7; name a model"),
        ("judge=gpt-4.1 flag_below=11", "error: flag_below: 11 is not allowed; it must be 0 to 10"),
        ("judge=gpt-4.1 backend=simulated", "error: backend: simulated; simulated agents read no"),
        ("judge=gpt-4.1 calls.timeout_s=0", "error: calls.timeout_s: 0 is not allowed"),
    ),
    "scripts/bench/overhead.py": (("fast", "overhead.py: 'fast'; give nothing"),),
    "scripts/bench/inference.py": (("fast", "inference.py: 'fast'; give nothing"),),
}
"""By script: arguments with a slip, and what the one line has to say of it.

More of what a config refuses is in ``test_conditions.py``, and of what a word means in
``test_overrides.py``.
What needs torch is refused in ``test_hosted.py``.
"""

CASES = [(script, *case) for script, cases in REFUSED.items() for case in cases]
BY_ITSELF = [case for n, case in enumerate(CASES) if n % 9 == 0 or case[1:] == REFUSED[case[0]][0]]
"""The first of each script, and some more: refused by a process of its own."""


@pytest.mark.parametrize(("script", "arguments", "words"), BY_ITSELF)
def test_one_line_and_status_two(
    run: Run, tmp_path: Path, script: str, arguments: str, words: str
) -> None:
    done = run(*arguments.split(), script=script, status=2)
    _check(done.stderr, tmp_path, script, words)


@pytest.mark.parametrize(
    ("script", "arguments", "words"), [case for case in CASES if case not in BY_ITSELF]
)
def test_one_line_and_status_two_for_every_slip(
    ended: Ended, tmp_path: Path, script: str, arguments: str, words: str
) -> None:
    status, error = ended(script, *arguments.split())
    assert status == 2
    _check(error, tmp_path, script, words)


def _check(error: str, folder: Path, script: str, words: str) -> None:
    (line,) = error.strip().splitlines()
    assert words in line
    assert line.startswith("error: ") or "front_door" not in (ROOT / script).read_text()
    assert not [*folder.glob("mlruns"), *folder.rglob("*.csv"), *folder.rglob("*.png")]


DOORS = {
    "run": "rounds=0",
    "scripts/audit": "case=nowhere.yaml",
    "scripts/calibrate": "draws=1",
    "scripts/export": "--verify=nowhere.zip",
    "scripts/import": "archive=nowhere.zip",
    "scripts/papers": "run=tiny",
    "scripts/probe": "n=1",
    "scripts/scenarios": "hiddenbench=nowhere.json",
    "scripts/screen_variants": "scenarios=[XX-01]",
    "scripts/ui": "port=0",
    "scripts/verdict": "logs=nowhere.csv",
    **{
        f"scripts/{name}": "study=nothing"
        for name in ("accounting", "explore", "figures", "plan", "prompt", "report", "reruns")
    },
    **{f"scripts/{name}": "study=nothing" for name in ("status", "study", "tables")},
}
"""Every front door, with a slip that it sees only once it has imported its own part of plenum."""


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS)
def test_every_door_starts_by_itself_and_refuses_in_one_line(tmp_path: Path, door: str) -> None:
    """As nobody has imported any of plenum for it; those of most other tests find all imported."""
    cold = door in ("run", "scripts/tables")  # the libraries neither
    done = call(tmp_path, f"{door}.py", DOORS[door], status=2, cold=cold, alone=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert done.stdout == ""
    assert not (tmp_path / "mlruns").exists()


def test_the_doors_are_all_there_are() -> None:
    doors = {
        file.stem for file in (ROOT / "scripts").glob("*.py") if "front_door(" in file.read_text()
    }
    assert {f"scripts/{name}" for name in doors} <= DOORS.keys()


@pytest.mark.parametrize(
    ("argument", "key"),
    [
        (f"study={KEY}", "study"),
        (f"+backend.headers.authorization={KEY}", "+backend.headers.authorization"),
        ("backend.api_base.openai=http://user:hidden-word@127.0.0.1:9/v1", "backend.api_base"),
        ("backend.api_base.openai=http://127.0.0.1:9/v1?api_key=hidden-word", "backend.api_base"),
        ("tracking.uri=http://user:hidden-word@127.0.0.1:9", "tracking.uri"),
        ("tracking.uri=http://me:hidden/-word@h", "tracking.uri: a URL can't carry"),
        ("rounds=?auth=hidden/-word", "rounds: a URL can't carry"),
    ],
)
def test_a_secret_in_an_argument_reaches_no_screen_and_no_file(
    run: Run, tmp_path: Path, argument: str, key: str
) -> None:
    done = run("-m", "roles=on,off", argument, OPENAI_API_KEY=KEY, status=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {key}")
    assert not [word for word in (KEY, "hidden", "-word") if word in done.stdout + done.stderr]
    assert list(tmp_path.iterdir()) == []


def test_two_options_and_three_labels(run: Run, tmp_path: Path) -> None:
    (tmp_path / "XX-01.yaml").write_text(TWO_OPTIONS)
    done = run("scenario.id=XX-01", f"scenario.file={tmp_path}/XX-01.yaml", status=2)
    (line,) = done.stderr.strip().splitlines()
    assert "XX-01.yaml, field endpoint" in line
    assert "A, B, C but the options are A, B" in line


@pytest.mark.parametrize(
    "script", ["run", *(f"scripts/{name}" for name in ("tables", "plan", "calibrate"))]
)
def test_help_is_printed(run: Run, script: str) -> None:
    done = run("--help", script=f"{script}.py")
    assert len(done.stdout.splitlines()) > 3


@pytest.mark.usefixtures("stored")
def test_a_damaged_journal_is_named_and_left_as_it_is(run: Run, tmp_path: Path) -> None:
    run("replicates=2", "rounds=2")
    journal = next((tmp_path / "mlruns/journals").glob("*/001.jsonl"))
    data = journal.read_bytes()
    damaged = data.replace(b"conf=", b"conf=1", 1)
    journal.write_bytes(damaged)
    done = run("replicates=2", "rounds=2", status=1)
    assert "001.jsonl, line 2: its digest doesn't match" in done.stderr
    assert "pending: " in done.stderr
    assert journal.read_bytes() == damaged


@pytest.mark.usefixtures("stored")
def test_a_condition_that_is_being_run_is_not_run_twice(run: Run, tmp_path: Path) -> None:
    run("replicates=1", "rounds=1")
    (lock,) = (tmp_path / "mlruns/journals").glob("*/lock")
    with lock.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = run("replicates=1", "rounds=1", status=1)
    assert "another process is running this condition" in done.stderr


def test_the_project_is_found_from_any_folder(run: Run, tmp_path: Path) -> None:
    assert not str(tmp_path).startswith(str(ROOT))
    run("replicates=1", "rounds=1")
    assert (tmp_path / "mlruns/mlflow.db").exists()
    assert len(journals(tmp_path)) == 1


def test_a_folder_that_hydra_reads_as_a_variable_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "${HOME}"
    folder.mkdir()
    refused = call(folder, "run.py", "dry_run=true", status=2)
    assert refused.stderr == f"error: {folder}: Hydra reads ${{ as a variable; rename the folder\n"
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    python = f"{sys.executable} {ROOT}"
    line = (
        f"mkdir gone; cd gone; rmdir ../gone; {python}/run.py; {python}/scripts/status.py study=x"
    )
    told = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 2
    lines = told.stderr.splitlines()
    assert lines == [f"error: {gone}: No such file or directory"] * 2


def test_a_terminal_of_unknown_width_shows_tables(run: Run) -> None:
    run("replicates=1", "rounds=1", "tracking=none")
    shown = run("tracking=none", script="scripts/status.py", COLUMNS="0").stdout
    assert {"condition", "target", "completed"} <= set(shown.split())


SCRIPTS = ["run.py", *(f"scripts/{f.name}" for f in sorted((ROOT / "scripts").glob("*.py")))]
OF_CONTRIBUTORS = (
    "benchmarks",
    "docs_site",
    "elsewhere",
    "environment",
    "generators",
    "paper_",
    "papers_run",
    "proof",
    "released_rules",
    "settings_",
    "study_",
    "suite_draws",
)


@pytest.mark.parametrize(
    "script", [d for d in SCRIPTS if not Path(d).name.startswith(OF_CONTRIBUTORS)]
)
def test_a_python_without_the_environment_is_told_how_to_get_one(script: str) -> None:
    bare = [sys.executable, "-E", "-S", str(ROOT / script)]  # as a system's own Python: no packages
    done = subprocess.run(bare, capture_output=True, text=True, check=False)
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(rf"error: .* has no \w+; run make, then .venv/bin/python {script}", line)
    assert (done.returncode, done.stdout) == (2, "")
