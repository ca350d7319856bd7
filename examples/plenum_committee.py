"""plenum's committee as a program under audit, which asks over HTTP as any other one does.

python scripts/audit.py committee=examples/plenum_committee.py:committee case=scenarios/HL-01.yaml

The same condition run by `run.py` has the same prompts, seeds and decisions on the simulated model.
"""

import os
from functools import lru_cache
from typing import Any

import httpx
from hydra import compose, initialize_config_dir
from plenum_run import Case, Decision, Run

from plenum.base import project
from plenum.calls.chat import Chat, Reply
from plenum.committee.condition import CommitteeCondition
from plenum.committee.deliberation import Deliberation
from plenum.design.compose import parse_job

KNOBS = {"memory": ["k15", "k3", "k1"], "roles": ["on", "ablate_chair", "off"]}
"""Settings that an audit may try, the usual one first."""


class Committee:
    """The committee of a sweep's overrides, such as ``rounds=6``, on the case's scenario."""

    def __init__(self, *overrides: str) -> None:
        self._overrides = overrides
        fixed = {override.partition("=")[0] for override in overrides}
        self.knobs = {name: values for name, values in KNOBS.items() if name not in fixed}

    def deliberate(self, case: Case, run: Run) -> Decision:
        """Play the replicate of the run's number, and report states and ballots as they come."""
        chosen = tuple(f"{name}={value}" for name, value in run.knobs.items())
        condition = _condition(case.id, (*self._overrides, *chosen))
        conversation = Deliberation(condition, run.index)
        with httpx.Client(base_url=run.base_url, headers=run.headers, trust_env=False) as client:
            while (ask := conversation.ask) is not None:
                entry = conversation.answer(_reply(client, ask.chat, ask.seat))
                _report(run, condition, entry)
        assert conversation.end is not None
        if conversation.end["status"] == "failed":
            raise RuntimeError(conversation.end["detail"])
        decision = conversation.end["decision"]
        return Decision(decision if decision in case.options else None)


committee = Committee()


@lru_cache
def _condition(scenario: str, overrides: tuple[str, ...]) -> CommitteeCondition:
    os.environ.setdefault(
        "PLENUM_ROOT", str(project.project_root())
    )  # scenarios are options by that
    with initialize_config_dir(str(project.project_root() / "conf"), version_base="1.3"):
        cfg = compose("config", [f"scenario={scenario}", *overrides])
    condition = parse_job(cfg).condition
    assert isinstance(condition, CommitteeCondition)
    return condition


def _reply(client: httpx.Client, chat: Chat, seat: str) -> Reply:
    body = {
        "model": chat.model,
        "messages": [{"role": m.role, "content": m.content} for m in chat.messages],
        "temperature": chat.temperature,
        "max_tokens": chat.max_tokens,
        "seed": chat.seed,
    }
    answer = client.post(
        "chat/completions", json=body, headers={"X-Plenum-Seat": seat}, timeout=600
    )
    data = answer.raise_for_status().json()
    choice, used = data["choices"][0], data["usage"]
    text, finish = choice["message"]["content"] or "", choice["finish_reason"]
    return Reply(text, used["prompt_tokens"], used["completion_tokens"], finish)


def _report(run: Run, condition: CommitteeCondition, entry: dict[str, Any]) -> None:
    labels = condition.scenario.labels
    if "state" in entry:
        state = entry["state"]
        shares = dict(zip(labels, state["pref"], strict=True))
        said = entry.get("argument", entry["text"])
        run.say(entry["round"], entry["seat"], said, shares, state["conf"])
    if "ballot" in entry and entry["ballot"]["decision"] in labels:
        run.vote(entry["seat"], entry["ballot"]["decision"])
