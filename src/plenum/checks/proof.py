"""The proof of a provider: one round in each form of answers, for cents, and what came of it.

Each round is a sweep of one deliberation of two seats, with its retries, limits and budget. What
went over the wire is recorded without headers, so that a user can hand it back.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from plenum.base import Stopped, UserError, code_version, redact, say
from plenum.checks.probe import ProbeSettings, Repeats
from plenum.design import Job, drop_settings, parse_job
from plenum.execution import (
    Outcome,
    estimate_usage,
    find_condition_folder,
    find_journal,
    format_closing,
    run_sweep,
)
from plenum.models import Prices, ReportedError, UnfitReply, parse_answer, record_exchanges
from plenum.records import WHO, Usage, read, read_attempts, write_whole

MOST_CALLS = 15
"""Attempts that a proof makes at most, over all its rounds."""
_UP_TO = (9, 14)
"""Attempts by the end of the first rounds, which take five without a repair; the last makes one."""
_KNOWN = ("failed: ", "pending: ", "stopped: budget.calls", "retry_failed", "read such")
"""Beginnings of lines about a sweep that say what the table of a proof has, or doesn't do."""
_WIDTH = 26
_KINDS = ("turn", "ballot", "clerk")
_ACCOUNT = re.compile(
    r"\b(?:sk|org|proj|user|acct|cus|key|req)[-_](?=[\w-]*\d)[\w-]{6,}"
    r"|[\w.+-]+@[\w-]+\.[\w.]+|https?://[^\s\"'\\<>]+"
    r"|(?<=user_id\":)\s*\"[^\"]*\"|(?<=organization\":)\s*\"[^\"]*\"",
    re.IGNORECASE,
)
"""Names of accounts and where they lie, which errors quote."""
_PERSONAL = ("user", "user_id", "metadata", "safety_identifier", "prompt_cache_key")


@dataclass
class _Round:
    """One form of answers: its job, what came of it, and what went over the wire."""

    job: Job
    outcome: Outcome | None = None
    refused: str = ""
    exchanges: list[dict[str, Any]] = field(default_factory=list)


def prove(cfg: DictConfig) -> bool:
    """Say the price of a proof, play it, print what the provider honours, and record it.

    Returns
    -------
    bool
        True if a whole round was read.

    Raises
    ------
    UserError
        A setting is malformed, or the backend isn't ``api``.
    """
    rounds = _make_rounds(cfg)
    jobs = [each.job for each in rounds.values()]
    say(_describe_price(jobs[:2]))
    if cfg.dry_run:
        return True
    for number, each in enumerate(rounds.values()):
        _play(each, number, jobs[:number])
        if not number and (each.refused or not each.exchanges):
            break  # for want of a key, an account or a server nothing can be played
    columns = {name: _describe(each) for name, each in rounds.items()}
    frame = pd.DataFrame(columns).rename_axis("check").reset_index()
    frame = frame[(frame[[*columns]] != "").any(axis=1)]
    from plenum.reports import Column, Table, show  # what plays a round needs none

    model = jobs[0].condition.models[0]
    shown = [Column("check", key=True), *map(Column, columns)]
    show([Table("proof", f"Proof of {model}: one round of two seats", frame, shown)])
    ended = [each.outcome for each in rounds.values() if each.outcome is not None]
    for line in dict.fromkeys(format_closing(ended)[1:]):
        if not line.startswith(_KNOWN):
            say(line)
    file = Path(jobs[0].journals).parent / "recording.json"
    recording = {"plenum": code_version(), "model": model, "table": columns}
    recording["exchanges"] = {name: each.exchanges for name, each in rounds.items()}
    write_whole(file, json.dumps(_hide_account(recording), indent=1, ensure_ascii=False))
    say(f"recorded without key, headers and account: {file}")
    return any(outcome.completed for outcome in ended)


def _describe_price(jobs: Sequence[Job]) -> str:
    """Describe what a proof takes at most, by the estimate of its two rounds."""
    model, calls = jobs[0].condition.models[0], sum(job.condition.calls for job in jobs)
    usage = sum((estimate_usage(job.condition)[model] for job in jobs), Usage())
    usage *= MOST_CALLS / calls
    price = Prices(jobs[0].prices).of(model)
    dollars = price.of(int(usage.tokens_in), int(usage.tokens_out)) if price else None
    cost = "a price that isn't known" if dollars is None else f"about ${dollars:.4f}"
    return (
        f"proof of {model}: at most {MOST_CALLS} calls, {usage.tokens_in:,.0f} tokens in and "
        f"{usage.tokens_out:,.0f} out, for {cost}"
    )


def _make_rounds(cfg: DictConfig) -> dict[str, _Round]:
    if cfg.backend.name != "api":
        raise UserError(f"prove: {cfg.backend.name} is no provider; it takes backend=api")
    piecewise = not cfg.backend.stream
    forms: dict[str, dict[str, Any]] = {
        "free": {"protocol.answers": "free"},
        "constrained": {"protocol.answers": "constrained"},
        "in pieces" if piecewise else "in one piece": {"backend.stream": piecewise},
    }
    folder = Path(cfg.out) / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}-proof"
    rounds = {}
    for name, changes in forms.items():
        given = cfg.copy()
        fixed = {"roles.agents": 2, "rounds": 1, "replicates": 1, "protocol.answers": "free"}
        for key, value in (fixed | changes).items():
            OmegaConf.update(given, key, value)
        job = parse_job(drop_settings(given, ProbeSettings))
        calls = replace(job.calls, max_attempts=min(2, job.calls.max_attempts))
        place = str(folder / name.replace(" ", "_"))
        rounds[name] = _Round(replace(job, calls=calls, journals=place, tracking_uri=None))
    job = rounds["free"].job
    if len(models := set(job.condition.models)) > 1:
        raise UserError(f"prove: {len(models)} models; name one, as model.default=PROVIDER/NAME")
    return rounds


def _play(each: _Round, number: int, paid: Sequence[Job]) -> None:
    """Play a round within what is left of all attempts; a refusal is part of what is found."""
    given, made = each.job.budget.calls, sum(len(_list_attempts(job)) for job in paid)
    most = (*_UP_TO, min(made + 1, MOST_CALLS))[number]
    limit = most if given is None else min(most, given)
    job = replace(each.job, budget=replace(each.job.budget, calls=limit))
    with record_exchanges() as each.exchanges:
        try:
            (each.outcome,) = run_sweep([job], Repeats(), paid=paid)
        except (Stopped, UserError) as refusal:
            if isinstance(refusal, UserError) and not number:  # then nothing can be played
                raise
            each.refused = str(refusal)


def _list_attempts(job: Job) -> list[dict[str, Any]]:
    log = find_condition_folder(job) / "calls.jsonl"
    return [*read_attempts(log)] if log.exists() else []


def _describe(each: _Round) -> dict[str, str]:
    """Describe what came of a round, by check."""
    journal = find_journal(each.job, 0)
    entries = read(journal).calls if journal.exists() else []
    attempts = _list_attempts(each.job)
    failed = [a for a in attempts if not a["answered"]]
    errors = [f"{a['status'] or a['outcome']}: {a['detail']}" for a in failed]
    errors += [each.refused] if each.refused else []
    remarks = each.outcome.remarks if each.outcome else {}
    cut = [most for found in remarks.values() for most in found.get("cut_at", ())]
    return {
        "attempts": str(len(attempts)),
        "answers": _describe_answers(entries),
        "envelope": _count(map(_name_envelope, each.exchanges)),
        "tokens": _count(map(_name_usage, each.exchanges)),
        "prompts": f"cut at {max(cut)} tokens" if cut else "",
        "reasoning": _describe_reasoning(entries),
        "finish": _count(entry["finish"] for entry in entries),
        **{name: _count(e[name] for e in entries if name in e) for name in WHO},
        "errors": "\n".join(fill(error[:200], _WIDTH) for error in dict.fromkeys(errors)),
    }


def _count(names: Iterable[str]) -> str:
    return "\n".join(f"{name} {count}" for name, count in Counter(filter(None, names)).items())


def _describe_answers(entries: Sequence[Mapping[str, Any]]) -> str:
    """Say how many answers of each kind were read at once, and in which other forms."""
    lines = []
    for kind in _KINDS:
        first = [entry for entry in entries if entry["kind"] == kind]
        read_at_once = sum("problem" not in entry for entry in first)
        lines += [f"{kind} {read_at_once} of {len(first)}"] if first else []
    repaired = sum(e["kind"].endswith("_repair") and "problem" not in e for e in entries)
    lines += [f"by a repair {repaired}"] if repaired else []
    forms = _count(f"as {form}" for entry in entries for form in entry.get("forms", ()))
    return "\n".join([*lines, *filter(None, [forms])])


def _describe_reasoning(entries: Sequence[Mapping[str, Any]]) -> str:
    alone = sum("reasoned" in entry for entry in entries)
    apart = sum("reasoning" in entry for entry in entries)
    return _count(["before the answer"] * apart + ["is the answer"] * alone)


def _parse(exchange: Mapping[str, Any]) -> Any:
    try:
        return parse_answer(exchange["body"].encode())
    except UnfitReply:
        return None
    except ReportedError as reported:  # by a piece of a stream
        return {"error": reported.error}


def _name_envelope(exchange: Mapping[str, Any]) -> str:
    """Name the form in which an answer came."""
    data = _parse(exchange)
    if exchange["status"] != 200:
        return "an error"
    try:
        choice = data["choices"][0]
        message = choice["message"]
    except (TypeError, KeyError, IndexError):
        reported = isinstance(data, dict) and "error" in data
        return "an error with status 200" if reported else "no completion"
    content = message.get("content")
    if choice.get("error") or choice.get("finish_reason") == "error":
        return "an error as its choice"
    if not content and message.get("tool_calls"):
        return "the call of a tool"
    if not content:
        reasoned = any(message.get(name) for name in ("reasoning", "reasoning_content"))
        return "reasoning alone" if reasoned else "empty"
    form = "parts" if isinstance(content, list) else "text"
    return f"{form} in pieces" if exchange["type"] == "text/event-stream" else form


def _name_usage(exchange: Mapping[str, Any]) -> str:
    """Name how an answer says its tokens."""
    data = _parse(exchange)
    if not isinstance(data, dict) or not data.get("choices"):
        return ""
    usage = data.get("usage")
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens")] if usage else [None]
    if None in counts:
        return "not said"
    if not all(type(count) is int for count in counts):
        return "not as whole numbers"
    cached = usage.get("prompt_tokens_details") or "prompt_cache_hit_tokens" in usage
    return "said, cached ones too" if cached else "said"


def _hide_account(value: Any) -> Any:
    """Take names of accounts, addresses and secrets off a recording."""
    if isinstance(value, dict):
        return {k: _hide_account(v) for k, v in value.items() if k not in _PERSONAL}
    if isinstance(value, list):
        return [_hide_account(each) for each in value]
    if not isinstance(value, str):
        return value
    return _ACCOUNT.sub(lambda m: '"<hidden>"' if '"' in m[0] else "<hidden>", redact(value))
