"""hosted_rerun against a server, and scripts/reruns.py as its judge."""

from pathlib import Path

import pytest
from command_line import Run, table
from openai_server import Server

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("stored")]

STUDY = ("+experiment=hosted_rerun", "scenario=HL-01", "roles=on", "rounds=2")
OTHERWISE = 'Otherwise.\nSTATE: pref=[0.20,0.30,0.50]; conf=50; tags=["one","two"]'


def served(server: Server) -> tuple[str, ...]:
    return ("backend=api", f"backend.api_base.openai={server.url}", "calls.backoff_s=0.01")


def judge(run: Run, *arguments: str, study: str = "hosted_rerun", status: int = 0) -> str:
    done = run(f"study={study}", *arguments, script="scripts/reruns.py", status=status)
    return done.stdout + done.stderr


def test_a_server_that_repeats_itself_gives_equal_bytes(
    server: Server, run: Run, tmp_path: Path
) -> None:
    run("-m", *STUDY, *served(server), "replicates=3", OPENAI_API_KEY="unused")
    assert len(server.requests) == 2 * 3 * 16 + 2  # with the trial of the model
    assert "3 replicates run again: 3 artifact-identical" in judge(run)
    folders = sorted((tmp_path / "mlruns/journals").glob("*/000.jsonl"))
    assert [file.parent.name.partition("-")[2] for file in folders] == ["", "rerun1"]
    assert folders[0].read_bytes() == folders[1].read_bytes()


@pytest.mark.long
def test_a_server_that_answers_otherwise_is_caught_at_the_byte(
    server: Server, run: Run, tmp_path: Path
) -> None:
    given = (*STUDY, *served(server), "replicates=1")
    run("-m", *given, "rerun=0", OPENAI_API_KEY="unused")
    server.script.append({"choice": {"content": OTHERWISE}})
    run("-m", *given, "rerun=1", OPENAI_API_KEY="unused")
    printed = judge(run, status=1)
    assert "1 replicate run again: 1 differs" in printed
    (line,) = table(tmp_path, "hosted_rerun", "reruns")
    first, again = (Path(tmp_path / line[f"{which}_file"]) for which in ("first", "rerun"))
    one, other = first.read_bytes(), again.read_bytes()
    at = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert int(line["offset"]) == at
    assert (line["kind"], line["round"], line["line"]) == ("turn", "1", "2")
    assert "Otherwise." in line["rerun_bytes"]
    assert "Traceback" not in printed


def test_what_is_not_there_is_missing_and_what_runs_is_pending(
    server: Server, run: Run, tmp_path: Path
) -> None:
    given = (*STUDY, "backend=simulated", "replicates=3")
    run("-m", *given)
    (folder,) = (tmp_path / "mlruns/journals").glob("*-rerun1")
    (folder / "001.jsonl").unlink()
    torn = folder / "002.jsonl"
    torn.write_bytes(torn.read_bytes()[:-5])
    outcome = "3 replicates run again: 1 artifact-identical, 1 pending, 1 missing"
    assert outcome in judge(run, status=1)


@pytest.mark.long
def test_the_first_time_is_taken_from_the_benchmark(run: Run) -> None:
    usual = ("backend=simulated", "scenario=HL-01", "roles=on", "rounds=2")
    run("-m", "+experiment=hosted_benchmark", *usual, "replicates=4")
    done = run("-m", "+experiment=hosted_rerun", *usual)
    assert "4 replicates were taken from journals of an earlier run" in done.stderr
    judge(run)


def test_bad_input_ends_in_one_line(run: Run, tmp_path: Path) -> None:
    usual = ("backend=simulated", "rounds=1", "replicates=1")
    run(*usual, "study=single")
    for study, more, words in (
        ("nothing", (), "study: there is no study 'nothing'; known: single"),
        ("single", (), "study: 'single' holds no rerun; run its conditions with rerun=0,1"),
        ("single", ("journals=nowhere",), "journals: there is no folder nowhere"),
    ):
        (line,) = judge(run, *more, study=study, status=2).strip().splitlines()
        assert words in line
