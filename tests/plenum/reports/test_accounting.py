"""Accounts: every replicate and every attempt is somewhere, and lines add up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_conditions import line, tracked

from plenum.reports.accounting import servers, tables
from plenum.show.table import Table
from plenum.tracking.usage import REASONS, ConditionUsage

NO_FATES = {"recovered": 0, "ended": 0, "open": 0, "unused": 0}


def model(
    calls: int = 10, repairs: int = 2, cost: float = 0.5, unpriced: int = 0, **failed: int
) -> dict[str, Any]:
    """What a model's calls took; ``failed`` attempts by outcome."""
    return {
        **{"calls": calls, "repairs": repairs, "tokens_in": 1000, "tokens_out": 100},
        **{"cost": cost, "unpriced": unpriced, "seconds": 0.5 * (calls + sum(failed.values()))},
        "attempts": {"ok": calls, **failed},
    }


def accounted(
    key: int = 1,
    completed: int = 6,
    failed: int = 0,
    *,
    pending: dict[str, int] | None = None,
    models: dict[str, Any] | None = None,
    outcomes: dict[str, dict[str, int]] | None = None,
    killed: bool = False,
    **factors: str,
) -> ConditionUsage:
    """A condition whose replicates failed by parse."""
    pending = pending or {}
    waiting = sum(pending.values())
    condition = tracked(key, replicates=completed, failed=failed, pending=waiting, **factors)
    return ConditionUsage(
        tracked=condition,
        pending=pending,
        models=None if killed else models or {"m": model()},
        outcomes=None if killed else outcomes or {},
        digests={"ensemble.parquet": "e" * 64, "replicates.parquet": "f" * 64},
    )


def replicates(found: Sequence[ConditionUsage], number: int = 0) -> dict[str, str]:
    return line(tables.tabulate_accounts(found)[0], number)


def calls(found: Sequence[ConditionUsage], number: int = 0) -> dict[str, str]:
    return line(tables.tabulate_accounts(found)[1], number)


def notes(sheet: Table) -> str:
    return "\n".join(sheet.notes)


# --- by condition ------------------------------------------------------------------------------


def test_a_condition_under_two_labels_is_counted_once_in_all_sums() -> None:
    found = [accounted(1, 6, 2, model="uniform"), accounted(1, 6, 2, model="gpt-4.1-mini")]
    sheets = tables.tabulate_accounts(found)
    assert line(sheets[0], 2)["target"] == line(sheets[0], 0)["target"] == "8"
    assert line(sheets[1], 2)["calls"] == "10"
    assert "under another label" in notes(sheets[0])


@pytest.mark.needs("plenum_worlds")
def test_conditions_in_a_world_are_named_by_the_world_s_factors() -> None:
    found = [accounted(1, task="disaster", volatility="low"), accounted(2, task="disaster")]
    columns = tables.tabulate_accounts(found)[0].columns
    assert [column.names[0] for column in columns if column.key] == ["task", "model", "volatility"]


COUNTS = st.tuples(
    *(st.integers(0, 20), st.integers(0, 5)),
    st.dictionaries(st.sampled_from(["budget", "interrupted", "not_begun"]), st.integers(1, 4)),
)


@pytest.mark.slow
@given(st.lists(COUNTS, min_size=1, max_size=5))
def test_every_line_adds_up_and_so_does_the_total(
    counts: list[tuple[int, int, dict[str, int]]],
) -> None:
    found = [
        accounted(number, completed, failed, pending=pending, roles=f"r{number}")
        for number, (completed, failed, pending) in enumerate(counts)
    ]
    sheet = tables.tabulate_accounts(found)[0]
    lines = [line(sheet, number) for number in range(len(sheet.body))]
    names = ("target", "completed", "failed", "pending", "deficit", "parse")
    names = (*names, "budget", "interrupted", "not begun")
    numbers = np.array([[int(row.get(name, 0)) for name in names] for row in lines])
    target, completed, failed, pending, deficit, parse, *whys = numbers.T
    np.testing.assert_array_equal(target, completed + failed + pending)
    np.testing.assert_array_equal(deficit, target - completed)
    np.testing.assert_array_equal(failed, parse)
    np.testing.assert_array_equal(pending, sum(whys))
    assert len(lines) == len(found) + (len(found) > 1)
    np.testing.assert_array_equal(numbers[-1], numbers[: len(found)].sum(axis=0))


def test_replicates_that_do_not_add_up_are_refused() -> None:
    good = accounted(pending={"budget": 2})
    with pytest.raises(ValueError, match="target 8 is not 6 completed"):
        ConditionUsage(good.tracked, {"budget": 1}, good.models, good.outcomes, {})


def test_only_reasons_that_occur_have_a_column() -> None:
    plain = tables.tabulate_accounts([accounted()])[0].head
    assert plain[-5:] == ("target", "completed", "failed", "pending", "deficit")
    row = replicates([accounted(failed=1, pending={"not_begun": 3})])
    assert (row["parse"], row["not begun"], row["deficit"]) == ("1", "3", "4")


def test_calls_attempts_tokens_and_cost_are_summed_over_models() -> None:
    both = {"a": model(timeout=3), "b": model(calls=1200, repairs=0, cost=1.25, parse=1)}
    row = calls([accounted(models=both)])
    names = ("calls", "repairs", "attempts", "failed attempts", "tokens in", "tokens out", "$")
    assert [row[name] for name in names] == [
        *("1,210", "2", "1,214", "4", "2,000", "200", "1.75"),
    ]
    unpriced = {"a": model(), "b": model(cost=0.0, unpriced=10)}
    assert calls([accounted(models=unpriced)])["$"] == "0.5000 + 10 unpriced"


def test_what_did_not_fit_is_told_by_condition() -> None:
    dropped = {**model(), "dropped": {"finish_reason": 3}}
    found = [
        accounted(1, models={"m": dropped, "n": dropped}, model="uniform"),
        accounted(2, model="mixed"),
    ]
    said = [
        note for note in tables.tabulate_accounts(found)[1].notes if "left out of answers" in note
    ]
    assert len(said) == 1
    assert said[0].endswith("uniform: finish_reason 6")


def test_a_killed_sweep_is_named_and_not_guessed() -> None:
    found = [
        accounted(1, roles="on"),
        accounted(2, 3, 1, pending={"unknown": 2}, roles="off", killed=True),
    ]
    assert calls(found, 1)["roles"] == "off"
    assert set(list(calls(found, 1).values())[3:]) == {"-"}
    assert replicates(found, 1)["unknown"] == "2"
    assert calls(found, 2)["calls"] == "10"
    told = notes(tables.tabulate_accounts(found)[1])
    assert "no accounts yet: HL-01 off uniform." in told
    assert "running the same command again completes them" in told
    assert "1 of 2 conditions" in notes(tables.tabulate_reasons(found))
    assert "none seen" in notes(tables.tabulate_reasons(found))


def test_without_any_accounts_attempts_are_unknown_not_zero() -> None:
    found = [accounted(1, 3, 1, killed=True)]
    assert tables.tabulate_models(found) == []
    row = line(tables.tabulate_reasons(found))
    assert (row["source"], row["attempts"], row["replicates failed"]) == ("parse", "-", "1")


def test_the_tables_say_that_agents_were_simulated() -> None:
    found = [accounted()]
    sheets = [*tables.tabulate_accounts(found), *tables.tabulate_models(found)]
    sheets += [
        tables.tabulate_reasons(found),
        tables.tabulate_manifest(found),
    ]
    assert all("no evidence about language models" in sheet.notes[-1] for sheet in sheets)


# --- by model ----------------------------------------------------------------------------------


def test_a_model_is_summed_over_conditions() -> None:
    found = [
        accounted(1, models={"a": model(timeout=1)}, outcomes={"timeout": fates(1, recovered=1)}),
        accounted(2, models={"a": model(), "b": model(calls=5, repairs=0)}, roles="on"),
    ]
    sheet = tables.tabulate_models(found)[0]
    a, b, total = (line(sheet, number) for number in range(3))
    assert (a["model"], a["calls"], a["repair rate"]) == ("a", "20", "25.0 %")
    assert (a["attempts"], a["failed attempts"], a["timeout"]) == ("21", "1", "1")
    assert (b["repair rate"], b["timeout"], b["mean latency s"]) == ("0.0 %", "0", "0.500")
    assert (total["model"], total["calls"], total["attempts"]) == ("total", "25", "26")


# --- failure sources ---------------------------------------------------------------------------


def fates(attempts: int, **of: int) -> dict[str, int]:
    return {"attempts": attempts, **NO_FATES, **of}


def test_failure_sources_tell_what_came_of_each_attempt() -> None:
    outcomes = {
        "parse": fates(7, recovered=4, ended=2, unused=1),
        "timeout": fates(3, recovered=2, open=1),
    }
    found = [accounted(failed=1, pending={"interrupted": 2}, outcomes=outcomes)]
    sheet = tables.tabulate_reasons(found)
    assert [cells[0] for cells in sheet.body] == ["parse", "timeout", "interrupted"]
    assert sheet.body[0][1:] == ("7", "4", "2", "0", "1", "1", "0")
    assert sheet.body[1][1:] == ("3", "2", "0", "1", "0", "0", "0")
    assert sheet.body[2][1:] == ("0", "0", "0", "0", "0", "0", "2")
    told = notes(sheet)
    assert "recorded per attempt in calls.jsonl, per replicate in MLflow" in told
    missing = next(note for note in sheet.notes if note.startswith("none occurred"))
    assert set(missing.removeprefix("none occurred: ").split(", ")) == set(REASONS) - {
        *("parse", "timeout", "interrupted")
    }


def test_attempts_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match="timeout don't add up"):
        tables.tabulate_reasons([accounted(outcomes={"timeout": fates(3, recovered=2)})])


# --- manifest ------------------------------------------------------------------------------------


def test_the_manifest_names_run_condition_and_files() -> None:
    row = line(tables.tabulate_manifest([accounted(7)]))
    assert (row["MLflow run"], row["condition"]) == ("r7", "c7")
    assert row["ensemble .parquet"] == "e" * 16
    assert row["replicates .parquet"] == "f" * 16
    assert row["transcripts"] == "-"


def test_tokens_of_a_cache_are_counted_where_there_are_any() -> None:
    kept = {"m": {**model(), "tokens_cached": 800, "tokens_written": 120}}
    (table,) = tables.tabulate_models([accounted(1, models=kept), accounted(2)])
    shown = line(table, 0)
    assert (shown["tokens cached"], shown["tokens written"]) == ("800", "120")
    (without,) = tables.tabulate_models([accounted(1)])
    assert "tokens cached" not in line(without, 0)


# --- servers -----------------------------------------------------------------------------------


def served(key: int, split: int = 0, **replicates: int) -> ConditionUsage:
    by = {name: {"calls": 17 * n, "replicates": n} for name, n in replicates.items()}
    models = {"m": {**model(), "servers": by, "split": split}}
    return accounted(key, models=models, scenario="ab"[key % 2])


def test_servers_have_their_calls_and_replicates() -> None:
    (table,) = servers.tabulate_servers(
        [served(1, gpu1=20, gpu2=1), served(2, split=3, gpu1=2, gpu2=21)]
    )
    assert line(table, 0) == {
        **{"server": "gpu1", "calls": "374", "replicates": "22", "conditions": "2"}
    }
    assert "3 replicates were answered by several servers" in notes(table)


def test_one_server_makes_no_table() -> None:
    assert servers.tabulate_servers([served(1, gpu1=20), served(2, gpu1=20)]) == []
    assert servers.tabulate_servers([accounted(1)]) == []
