"""Base models and scripted policies in one table: Tables 3 and 6 of the paper on worlds."""

import json
from pathlib import Path

import pytest
from command_line import Run, table

pytestmark = pytest.mark.long

SMALL = ("task=disaster", "rounds=3", "replicates=1", "task.agents=4")
MODELS = (
    *("gpt-4o", "gpt-4o-mini", "gpt-4o-mix"),
    *("claude-sonnet-4.6", "deepseek-chat", "qwen-plus"),
)
POLICIES = ("all to worst", "greedy assignment", "random", "to nearest")


def test_models_and_policies_stand_in_one_table(stored: Path, run: Run) -> None:
    run("-m", "+experiment=world_models", *SMALL)
    every = ("study=disaster_models", "table=all")
    text = " ".join(run(*every, script="scripts/tables.py", COLUMNS="200").stdout.split())
    assert "-m +experiment=policies_disaster study=disaster_models task.agents=4 rounds=3" in text
    scripted = (
        "+experiment=policies_disaster",
        "consensus=implicit,explicit",
        "volatility=moderate",
    )
    run("-m", *scripted, *SMALL, "study=disaster_models")
    added = run(*every, script="scripts/tables.py", COLUMNS="200")
    assert "-m +experiment=policies_disaster" not in added.stdout
    rows = _table(added.stdout)
    assert list(rows) == ["model", *MODELS, *(f"scripted: {name}" for name in POLICIES)]
    assert rows.pop("model") == ["implicit", "explicit"]
    assert all(0 <= float(cell) <= 1 for cells in rows.values() for cell in cells)
    assert rows["scripted: all to worst"] == _coverage(stored, "all_to_worst", "moderate")
    assert "simulated agents, no evidence about language models" in added.stdout


def test_a_mixed_model_is_dealt_out_in_turn(stored: Path, run: Run) -> None:
    run("model=gpt-4o-mix", *SMALL, "tracking=none")
    (journal,) = (stored / "mlruns/journals").glob("*/000.jsonl")
    head = json.loads(journal.read_text().splitlines()[0])
    assert [seat["model"] for seat in head["seats"]] == ["gpt-4o", "gpt-4o-mini"] * 2
    assert head["model"] == "gpt-4o-mix"


def _table(printed: str) -> dict[str, list[str]]:
    """The printed table by model: the cells of each row by its first one."""
    lines = printed.partition("coverage by model")[2].split("means over worlds")[0].splitlines()
    split = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    return {cells[0]: cells[1:] for cells in split if len(cells) > 1}


def _coverage(folder: Path, policy: str, volatility: str) -> list[str]:
    """A policy's coverage in the CSV, free and forced."""
    rows = [r for r in table(folder, "disaster_models") if r["policy"] == policy]
    there = {r["consensus"]: r["coverage"] for r in rows if r["volatility"] == volatility}
    return [f"{float(there[name]):.3f}" for name in ("implicit", "explicit")]
