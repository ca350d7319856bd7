"""Every study of worlds through the real command line, as documented, but for its size."""

from pathlib import Path

import pytest
from command_line import Run, calls, table

pytestmark = pytest.mark.long

SMALL = ("rounds=3", "replicates=2")

STUDIES = {
    "world": ("task=disaster diversity=high", "disaster", 2, {"implicit", "explicit"}),
    "world_single": ("task=disaster", "disaster", 1, {"one model, one unit"}),
    "world_single_roles": (
        "task=disaster_released diversity=low,medium",
        "disaster_single_roles",
        2,
        {"one model, one unit, pinned=1:severity", "one model, one unit, pinned=1:medical"},
    ),
    "world_score": (
        "consensus=implicit diversity=medium",
        "disaster_score",
        1,
        {"implicit"},
    ),
    "world_controls": (
        "task=misinformation",
        "misinformation",
        5,
        {"prompted", "plan", "manager", "unanimity", "one model, all units"},
    ),
    "world_saboteur": (
        "task=disaster consensus=prompted",
        "disaster",
        2,
        {"prompted", "prompted, pinned=5:saboteur"},
    ),
    "world_instability": (
        "task=public_goods task.runs=2 replicates=4",
        "public_goods_instability",
        2,
        {"implicit", "explicit"},
    ),
    "world_paper_gap": (
        "task.policy=agents,greedy_assignment",
        "disaster_paper_gap",
        4,
        {
            *("implicit", "explicit"),
            *("scripted: greedy assignment", "scripted: greedy assignment explicit"),
        },
    ),
}
"""Arguments, the study's name, how many conditions it has, and the arms that its tables name."""
UNTRACKED = {
    "world_alone": (
        ("task=misinformation", "diversity=low,high"),
        (
            "diversity=low volatility=high policy=agents agents=5 turns=0",
            "diversity=high volatility=high policy=agents agents=5 turns=0",
        ),
    ),
    "world_identical": (
        ("task=public_goods",),
        ("consensus=implicit diversity=identical", "consensus=explicit diversity=identical"),
    ),
    "world_released": (
        ("task=disaster_released,public_goods_released", "diversity=low"),
        tuple(
            f"consensus={consensus} diversity=low volatility=high policy=agents agents={agents}"
            for agents in (3, 5)
            for consensus in ("implicit", "explicit")
        ),
    ),
    "world_scaling": (
        ("task=misinformation_released", "task.agents=3,30", "consensus=explicit", "rounds=2"),
        ("agents=3", "agents=30"),
    ),
    "world_information": (
        ("task=public_goods", "consensus=explicit"),
        (
            *("backend=simulated", "backend=simulated hears=ring"),
            *("backend=simulated reports=private", "backend=simulated reports=private hears=ring"),
        ),
    ),
    "policies_disaster": (
        (),
        ("policy=all_to_worst", "policy=greedy_assignment", "policy=to_nearest", "policy=random"),
    ),
    "policies_misinformation": (
        (),
        ("policy=highest_degree", "policy=most_recent", "policy=divided", "policy=random"),
    ),
    "policies_public_goods": (
        (),
        (
            *("policy=fair_share", "policy=free_riders", "policy=one_free_rider"),
            *("policy=covered_free_rider", "policy=random"),
        ),
    ),
}
"""Studies run without MLflow and so without tables, to save time: arguments, and what is told."""


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_worlds_runs_as_documented(stored: Path, run: Run, name: str) -> None:
    more, study, conditions, arms = STUDIES[name]
    given = ("-m", f"+experiment={name}", "volatility=high", *SMALL, *more.split())
    done = run(*given, COLUMNS="220")
    assert " 0 failed + 0 pending" in done.stderr
    rows = table(stored, study)
    assert len(rows) == conditions
    assert {row["failed"] for row in rows} == {row["pending"] for row in rows} == {"0"}
    assert all(row["completed"] == row["target"] for row in rows)
    assert arms <= {row["arm"] for row in rows}
    assert "every arm" in done.stdout


@pytest.mark.parametrize("name", UNTRACKED)
def test_a_study_without_tracking_runs_as_documented(tmp_path: Path, run: Run, name: str) -> None:
    given, expected = UNTRACKED[name]
    small = ("volatility=high", *SMALL, *given)
    done = run("-m", f"+experiment={name}", *small, "tracking=none")
    assert f"{len(expected)} conditions: " in done.stderr
    assert " 0 failed + 0 pending; " in done.stderr
    planned = run("-m", f"+experiment={name}", *small, "tracking=none", "dry_run=true").stdout
    for factors in expected:
        assert f" {factors} " in planned.replace(": ", " ")
    assert (calls(tmp_path) == []) == name.startswith("policies_")
