"""Worlds through the real command line: a study, kills, and what is no study."""

import json
import re
import signal
from pathlib import Path

import pytest
from command_line import Run, call, journaled, journals, start, table, wait_for

SMALL = ("-m", "task=public_goods", "rounds=6", "replicates=2", "task.runs=2", "task.agents=3")
KILLED = ("task=misinformation", "task.agents=20", "rounds=12", "replicates=2", "study=killed")


def test_mechanisms_and_a_scripted_policy_stand_in_one_study(stored: Path) -> None:
    given = (*SMALL, "volatility=low", "study=goods")
    call(stored, "run.py", *given, "consensus=implicit,explicit,mean")
    printed = call(stored, "run.py", *given, "task.policy=fair_share", COLUMNS="220").stdout
    assert "World public_goods, 3 agents, 6 rounds, runs=2: every arm" in printed
    rows = table(stored, "goods")
    assert len(rows) == 4
    assert {r["arm"] for r in rows} == {"implicit", "explicit", "mean", "scripted: fair share"}
    for row in rows:
        assert (row["target"], row["completed"], row["failed"]) == ("2", "2", "0")
        assert 0 <= float(row["provision_rate"]) <= 1
        assert row["backend"] == ("scripted" if row["policy"] != "agents" else "simulated")
    forced = [r for r in rows if r["arm"] in ("explicit", "mean")]
    assert all(float(r["gini"]) == 0 for r in forced)  # everybody pays the same
    assert all(float(r["deviation_actions"]) == 0 for r in forced)

    first = [data.splitlines() for name, data in journals(stored).items() if "/000" in name]
    entries = [[json.loads(line) for line in lines] for lines in first]
    scripted = [
        [entry["kind"] for entry in each] for each in entries if each[0]["policy"] == "fair_share"
    ]
    assert scripted == [["head", *["round"] * 6, "end"]]  # nobody is called


def test_a_world_that_recorded_another_default_case_is_rebuilt(stored: Path, run: Run) -> None:
    run("task=disaster", "study=before", "rounds=1", "replicates=1")
    (config,) = stored.glob("mlruns/artifacts/before/*/artifacts/config.yaml")
    written = config.read_text()
    assert "\nscenario:\n  id: IM-01\n" in written
    config.write_text(written.replace("IM-01", "HL-01"))
    wish = ("study=before", "round=1", "seat='Drone 1'")
    assert "You are Drone 1" in run(*wish, script="scripts/prompt.py").stdout


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    call(folder, "run.py", *KILLED, "tracking=none")
    return journals(folder)


@pytest.mark.long
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_killed_run_goes_on_with_the_same_bytes(
    undisturbed: dict[str, bytes], stored: Path, run: Run, share: float
) -> None:
    process = start(stored, "run.py", *KILLED)
    size = share * sum(map(len, undisturbed.values()))
    wait_for(process, lambda: journaled(stored) >= size)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    run(*KILLED)
    assert journals(stored) == undisturbed


@pytest.mark.long
def test_agents_that_see_and_hear_different_things_are_other_arms(stored: Path, run: Run) -> None:
    small = ("-m", "task=misinformation", "rounds=3", "replicates=2", "task.agents=4")
    private = ("task.information.reports=private", "task.information.hears=all,ring")
    done = run(*small, *private, "consensus=implicit,prompted", COLUMNS="220")
    assert " 0 failed + 0 pending" in done.stderr
    rows = table(stored, "misinformation")
    assert sorted((r["arm"], r["settings"]) for r in rows) == [
        ("implicit, reports=private", "reports=private"),
        ("implicit, reports=private, hears=ring", "reports=private hears=ring"),
        ("prompted, reports=private", "reports=private"),
        ("prompted, reports=private, hears=ring", "reports=private hears=ring"),
    ]
    every = ("study=misinformation", "table=all")
    shown = run(*every, script="scripts/tables.py", COLUMNS="220").stdout
    (pairs,) = re.findall(r": differences\n(.*?)\npaired by world", shown, re.DOTALL)
    assert set(re.findall(r"final_spread +(.*?)  +(.*?)  ", pairs)) == {
        ("implicit, reports=private, hears=ring", "implicit, reports=private"),
        ("prompted, reports=private", "implicit, reports=private"),
        ("prompted, reports=private, hears=ring", "implicit, reports=private, hears=ring"),
    }
    entries = [json.loads(line) for line in next(iter(journals(stored).values())).splitlines()]
    received = [entry["received"] for entry in entries if entry["kind"] == "round"]
    assert [len(each) for each in received] == [4] * 3
    assert any(each != received[0][0] for each in received[0])
    quoted = [s["text"] for each in received for agent in each for s in agent]
    assert all('"' in text for text in quoted)


def test_a_saboteur_keeps_its_seat(stored: Path, run: Run) -> None:
    run("-m", "task=disaster", "rounds=2", "replicates=1", "+task.pinned.2=saboteur")
    (journal,) = journals(stored).values()
    head = json.loads(journal.splitlines()[0])
    roles = ["medical", "saboteur", "logistics", "medical", "infrastructure"]
    assert [seat["label"] for seat in head["seats"]] == roles
    (row,) = table(stored, "disaster")
    assert row["settings"] == "pinned=2:saboteur"
    late = run("task=disaster", "+task.pinned.7=saboteur", status=2)
    assert late.stderr.strip() == "error: task.pinned: 7; the agents are 1 to 5"


@pytest.mark.long
def test_committees_and_worlds_do_not_share_a_study(stored: Path, run: Run) -> None:
    run("task=disaster", "rounds=1", "replicates=1", "study=both")
    before = sorted(stored.rglob("*.jsonl"))
    late = run("rounds=1", "replicates=1", "study=both", status=2)
    mixed = run("-m", "task=disaster,none", "rounds=1", "replicates=1", "study=mix", status=2)
    assert late.stderr.strip().startswith("error: study: 'both' holds worlds already")
    assert mixed.stderr.strip().startswith("error: study: 'mix' would hold committees and worlds")
    assert sorted(stored.rglob("*.jsonl")) == before
    run("study=both", script="scripts/tables.py")
