"""Every study of worlds through the real command line, as documented, but for its size."""

from pathlib import Path
from typing import NamedTuple

import pytest

from .conftest import Run, calls, table, with_store

SMALL = ("rounds=3", "replicates=2")


class Study(NamedTuple):
    """A study's arguments, its name, how many conditions it has, and the arms its tables name."""

    given: tuple[str, ...]
    name: str
    conditions: int
    arms: frozenset[str]


def study(name: str, conditions: int, arms: tuple[str, ...], *given: str) -> Study:
    return Study(given, name, conditions, frozenset(arms))


STUDIES = {
    "world": study("disaster", 2, ("implicit", "explicit"), "task=disaster", "diversity=high"),
    "world_single": study("disaster", 1, ("one model, one unit",), "task=disaster"),
    "world_controls": study(
        "misinformation",
        4,
        ("plan", "manager", "unanimity", "one model, all units"),
        "task=misinformation",
    ),
    "world_instability": study(
        "public_goods_instability",
        2,
        ("implicit", "explicit"),
        *("task=public_goods", "task.runs=2", "replicates=4"),
    ),
    "world_paper_gap": study(
        "disaster_paper_gap",
        4,
        (
            *("implicit", "explicit"),
            *("scripted: greedy assignment", "scripted: greedy assignment explicit"),
        ),
        "task.policy=agents,greedy_assignment",
    ),
}
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
def test_a_study_of_worlds_runs_as_documented(
    empty_store: Path, tmp_path: Path, run: Run, name: str
) -> None:
    found = STUDIES[name]
    with_store(empty_store, tmp_path)
    given = ("-m", f"+experiment={name}", "volatility=high", *SMALL, *found.given)
    done = run(*given, COLUMNS="220")
    assert done.returncode == 0, done.stderr
    assert " 0 failed + 0 pending" in done.stderr
    rows = table(tmp_path, found.name)
    assert len(rows) == found.conditions
    assert {row["failed"] for row in rows} == {row["pending"] for row in rows} == {"0"}
    assert {row["completed"] for row in rows} == {row["target"] for row in rows}
    assert found.arms <= {row["arm"] for row in rows}
    assert "every arm" in done.stdout
    tables = (tmp_path / f"outputs/{found.name}/tables.md").read_text()
    assert all(arm in tables for arm in found.arms)
    if name == "world":
        made = len(calls(tmp_path))
        assert made > 0
        again = run(*given, "tracking=none")
        assert again.returncode == 0, again.stderr
        assert "; 0 calls made now" in again.stderr
        assert len(calls(tmp_path)) == made


@pytest.mark.parametrize("name", UNTRACKED)
def test_a_study_without_tracking_runs_as_documented(tmp_path: Path, run: Run, name: str) -> None:
    given, expected = UNTRACKED[name]
    small = ("volatility=high", *SMALL, *given)
    done = run("-m", f"+experiment={name}", *small, "tracking=none")
    assert done.returncode == 0, done.stderr
    assert f"{len(expected)} conditions: " in done.stderr
    assert " 0 failed + 0 pending; " in done.stderr
    for factors in expected:
        assert f" {factors} " in done.stderr
    assert (calls(tmp_path) == []) == name.startswith("policies_")
