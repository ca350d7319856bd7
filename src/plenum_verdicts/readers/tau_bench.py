"""Trajectories of tau-bench and tau2-bench: tasks are cases, trials runs, rewards scores."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from plenum.base.json_reply import refuse_repeats
from plenum.base.regular_files import require_regular_file
from plenum_verdicts.readers import json_stream
from plenum_verdicts.readers.data_sets import Wrong
from plenum_verdicts.readers.fields import drop_missing, list_records, make_text
from plenum_verdicts.readers.log_reader import LogReader, LogSource, Records

_NO_RUN = ("infrastructure_error", "context_window_exceeded", "unexpected_error")
"""Reasons why a simulation of tau2-bench ended without a result."""

_TOLERANCE = 1e-6
"""A reward that is this near to 1 counts as right, as in tau-bench."""


def _read_first(source: LogSource) -> Records:
    for place, record in list_records(source):
        info = record.get("info") or {}
        reward = _finite(record["reward"])
        row = drop_missing(
            case=str(record["task_id"]),
            run=record.get("trial"),
            score=reward,
            right=abs(reward - 1) <= _TOLERANCE,
            text=(info.get("task") or {}).get("instruction"),
            messages=_list_messages(record.get("traj")),
            error=info.get("error"),
        )
        yield place, row


def _read_second(source: LogSource) -> Records:
    info = _about(source)
    agent = info.get("agent_info") or {}
    domain = (info.get("environment_info") or {}).get("domain_name")
    for place, record in _simulations(source):
        reward = (record.get("reward_info") or {}).get("reward")
        reward = None if reward is None else _finite(reward)
        ended = record.get("termination_reason")
        row = drop_missing(
            case=str(record["task_id"]),
            content=domain,
            domain=domain,
            run=record.get("trial"),
            score=reward,
            right=None if reward is None else abs(reward - 1) <= _TOLERANCE,
            messages=_list_messages(record.get("messages")),
            cost=record.get("agent_cost"),
            model=agent.get("llm"),
            version=info.get("git_commit"),
            time=record.get("start_time"),
            seed=record.get("seed"),
            id=record.get("id"),
            error=make_text(ended) if reward is None or ended in _NO_RUN else None,
        )
        yield place, row


def _simulations(source: LogSource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the simulations: of the file, else of the folder ``simulations`` next to it."""
    inside = False
    for record in list_records(source, "simulations"):
        inside = True
        yield record
    if inside:
        return
    for path in sorted((source.path.parent / "simulations").glob("*.json")):
        require_regular_file(path)
        held = json.loads(path.read_bytes(), object_pairs_hook=refuse_repeats(Wrong))
        yield f"simulations/{path.name}", held


def _finite(reward: Any) -> float:
    if not math.isfinite(number := float(reward)):
        raise ValueError(f"reward: {number}")
    return number


def _list_messages(messages: Any) -> list[dict[str, str]]:
    """Return what the agent and the user said, without the calls of tools."""
    return [
        {"seat": each["role"], "text": each["content"]}
        for each in messages or []
        if each.get("role") in ("assistant", "user") and isinstance(each.get("content"), str)
    ]


def _about(source: LogSource) -> Mapping[str, Any]:
    try:
        info = json_stream.member(source.path, "info")
    except json_stream.Missing:
        return {}
    if not isinstance(info, Mapping):
        raise TypeError("info is no object")
    return info


def _describe(source: LogSource) -> dict[str, Any]:
    info = _about(source)
    named = {"task": (info.get("environment_info") or {}).get("domain_name")}
    named["agent"] = (info.get("agent_info") or {}).get("implementation")
    return drop_missing(**named)


TAU_BENCH = LogReader(
    "tau_bench",
    "trajectories of tau-bench",
    lambda source: {"[].task_id", "[].reward"} <= source.keys,
    _read_first,
    verdict="reward",
)
TAU2 = LogReader(
    "tau2",
    "simulations of tau2-bench",
    lambda source: "simulations[].task_id" in source.keys or "info.agent_info" in source.keys,
    _read_second,
    _describe,
    verdict="reward",
)
