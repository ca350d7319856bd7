"""What a report says that it follows from: all that can change it, and no computed number."""

from dataclasses import replace
from typing import Any

import pytest

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.execution import summarise
from plenum.records.transcript import Transcript

HEAD = {"backend": "simulated", "options": ["A", "B"]}
ACCOUNTS: dict[str, Any] = {
    **{"target": 2, "completed": 0, "failed": {"parse": 1}, "pending": {"budget": 1}},
    "models": {},
}


def transcripts(task: str) -> list[Transcript]:
    return [
        Transcript({**HEAD, "task": task, "replicate": n}, (), {}, None, (), f"link{n}")
        for n in range(2)
    ]


def made_from(given: list[Transcript], accounts: dict[str, Any] = ACCOUNTS) -> str:
    return str(summarise.report_condition(given, accounts)["made_from"])


def test_a_kind_whose_estimate_is_faulty_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = [replace(t, end={"status": "completed"}) for t in transcripts("none")]
    committee = type(KINDS["committee"])
    monkeypatch.setattr(committee, "estimate", lambda *_: {"metrics": {}, "divergence": []})
    with pytest.raises(UserError, match="committee: estimate returns no interval, line"):
        made_from(ended)
    monkeypatch.setattr(committee, "estimate", lambda *_: {}["metrics"])
    with pytest.raises(UserError, match="committee: estimate: KeyError: 'metrics'"):
        made_from(ended)


@pytest.mark.needs("plenum_worlds", "plenum_audit")
@pytest.mark.parametrize("task", ["none", "disaster", "program"])
def test_a_report_follows_from_journals_counts_and_estimators(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = transcripts(task)
    first = made_from(given)
    others = [
        made_from([given[0], replace(given[1], link="another")]),
        made_from(given[:1]),
        made_from(given, {**ACCOUNTS, "target": 3}),
        made_from(given, {**ACCOUNTS, "failed": {"refusal": 1}}),
        made_from(given, {**ACCOUNTS, "pending": {"interrupted": 1}}),
    ]
    for name in summarise.SETTINGS:
        with monkeypatch.context() as patched:
            patched.setitem(summarise.SETTINGS, name, "another")
            others.append(made_from(given))
    with monkeypatch.context() as patched:
        patched.setattr(summarise, "ESTIMATORS_VERSION", 0)
        others.append(made_from(given))
    assert len({first, *others}) == 11
    assert made_from(transcripts(task)) == first
    assert made_from(given, {**ACCOUNTS, "cost": 2.5}) == first
