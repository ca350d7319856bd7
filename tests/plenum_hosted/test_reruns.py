"""Reruns compared byte by byte: every outcome, and where the first difference is."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from plenum.base.errors import UserError
from plenum.design.factors import FACTORS
from plenum.records.journal import Journal
from plenum.tracking.conditions import TrackedCondition
from plenum_hosted import reruns
from plenum_hosted.diff import compare_journals
from plenum_hosted.reruns import RerunSettings

HEAD = {"condition": "c0", "replicate": 0, "settings": "default"}
TURNS = [
    {"kind": "turn", "round": r, "seat": seat, "text": f"Because of {seat}, in round {r}."}
    for r in (1, 2)
    for seat in ("Chair", "Rights")
]
END = {"kind": "end", "status": "completed", "decision": "A"}
REPAIR = {"kind": "turn_repair", "round": 2, "seat": "Rights", "text": "Again."}
GPU = {"gpu": "L4", "torch": "2.13.0"}


def journal(
    path: Path,
    entries: Sequence[dict[str, Any]] = (*TURNS, END),
    environment: dict[str, str] | None = None,
    **head: Any,
) -> Path:
    """A real journal with these entries."""
    first = {**HEAD, **head, **({"environment": environment} if environment else {})}
    with Journal(path, first) as written:
        for entry in entries:
            written.append(entry)
    return path


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """Two journals of one replicate: the first as it is, the second as told."""

    def made(*given: Any, first: Any = None, **named: Any) -> tuple[Path, Path]:
        one = journal(tmp_path / "c0" / "000.jsonl", **(first or {}))
        return one, journal(tmp_path / "c0-rerun1" / "000.jsonl", *given, **named)

    return made


@pytest.mark.parametrize(
    ("second", "first", "outcome", "line"),
    [
        ({}, {}, "artifact-identical", None),
        ({"settings": "gain=2"}, {}, "differs", 1),
        ({"entries": TURNS[:3]}, {}, "pending", None),
        ({"entries": TURNS[:3]}, {"entries": TURNS[:3]}, "pending", None),  # no identity
        ({"entries": [{**TURNS[0], "text": "Otherwise."}]}, {}, "differs", 2),  # before the end
        ({"entries": [*TURNS, REPAIR, END]}, {}, "differs", 6),  # one alone has the line
    ],
)
def test_the_outcome_and_the_first_line_that_differs(
    pair: Callable[..., tuple[Path, Path]],
    second: dict[str, Any],
    first: dict[str, Any],
    outcome: str,
    line: int | None,
) -> None:
    found = compare_journals(*pair(first=first, **second))
    assert (found.outcome, found.difference and found.difference.line) == (outcome, line)


def test_the_first_differing_byte_is_found_with_its_entry(
    pair: Callable[..., tuple[Path, Path]],
) -> None:
    changed = [dict(turn) for turn in TURNS]
    changed[2]["text"] = "Because of Cheir, in round 2."
    first, second = pair([*changed, END])
    found = compare_journals(first, second)
    assert found.outcome == "differs"
    d = found.difference
    assert d is not None
    one, other = first.read_bytes(), second.read_bytes()
    at = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert (d.offset, d.line) == (at, 4)
    assert one[at : at + 2] == b"ai"
    assert d.place == "turn, round 2, Chair"
    assert "of Chair, in" in d.first
    assert "of Cheir, in" in d.second


def test_going_on_elsewhere_is_an_environment(pair: Callable[..., tuple[Path, Path]]) -> None:
    elsewhere = {"kind": "reopen", "environment": {**GPU, "torch": "2.14.0"}}
    entries = [*TURNS[:2], elsewhere, *TURNS[2:], END]
    found = compare_journals(*pair(entries, GPU, first={"environment": GPU}))
    assert found.outcome == "environment"
    assert found.environment == {"torch": ("2.13.0", "2.13.0 then 2.14.0")}


# --- the report --------------------------------------------------------------------------------


def held(monkeypatch: pytest.MonkeyPatch, conditions: dict[str, list[TrackedCondition]]) -> None:
    """Put a study in the store's place that holds these conditions."""
    study = SimpleNamespace(reruns=conditions)
    monkeypatch.setattr(reruns, "Study", lambda name, uri: study)


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RerunSettings:
    """A study of one condition with three replicates, run twice."""
    factors = dict.fromkeys(FACTORS, "x")
    numbered = [{**factors, "settings": f"rerun={number}"} for number in (0, 1)]
    runs = [TrackedCondition("s1", "c0", "", settings, 3, 0, {}) for settings in numbered]
    held(monkeypatch, {"c0": runs, "c1": runs[:1]})
    monkeypatch.setattr(reruns, "log_report", lambda *given: None)
    return RerunSettings("s1", "sqlite:///unused.db", tmp_path / "journals", tmp_path / "out")


def fill(chosen: RerunSettings, *numbers: int, **second: Any) -> None:
    for number in numbers:
        name = f"{number:03d}.jsonl"
        journal(chosen.journals / "c0" / name, replicate=number)
        journal(chosen.journals / "c0-rerun1" / name, replicate=number, **second)


def test_a_difference_ends_with_status_1_and_is_in_the_csv(
    chosen: RerunSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(chosen, 0)
    fill(chosen, 1, entries=[*TURNS[:3], {**TURNS[3], "text": "Otherwise."}, END])
    assert reruns.publish(chosen) == 1
    out = capsys.readouterr().out
    assert "1 artifact-identical, 1 differs, 1 missing" in out
    assert "turn, round 2, Rights" in out
    line = pd.read_csv(chosen.out / "reruns.csv").iloc[1]
    found = {k: line[k] for k in ("outcome", "line", "kind", "round", "seat")}
    wanted = {"outcome": "differs", "line": 5, "kind": "turn", "round": 2, "seat": "Rights"}
    assert found == wanted
    data = Path(line["first_file"]).read_bytes()
    assert data[int(line["offset"]) :].startswith(b"Because")


def test_deliberations_that_failed_are_no_strong_check(
    chosen: RerunSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [TURNS[0], {"kind": "end", "status": "failed", "reason": "length"}]
    for folder in ("c0", "c0-rerun1"):
        journal(chosen.journals / folder / "000.jsonl", broken)
    fill(chosen, 1, 2)
    assert reruns.publish(chosen) == 0
    assert "3 artifact-identical; 1 of them failed" in capsys.readouterr().out
    ended = pd.read_csv(chosen.out / "reruns.csv")["ended"]
    assert ended.tolist() == ["failed", "completed", "completed"]


def test_other_environments_are_warned_of_by_key(
    chosen: RerunSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(chosen, 0, 1, 2, environment=GPU)
    assert reruns.publish(chosen) == 0
    out = capsys.readouterr().out
    assert "Warning: the environments differ" in out
    assert "3 environment" in out
    assert pd.read_csv(chosen.out / "reruns.csv")["environment"].tolist() == ["gpu torch"] * 3


def test_where_nothing_has_ended_there_is_nothing_to_say(chosen: RerunSettings) -> None:
    fill(chosen, 0, entries=TURNS[:1])
    with pytest.raises(UserError, match=r"have both ended in .* \(1 pending, 2 missing\)"):
        reruns.publish(chosen)
