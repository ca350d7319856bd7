"""The proof of a provider: one round in each form of answers, for cents, and what came of it.

Each round is a sweep of one deliberation of two seats, with its retries, limits and budget. What
went over the wire is recorded without headers, so that a user can hand it back.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import Stopped, UserError
from plenum.base.project import code_version
from plenum.base.secrets import redact
from plenum.base.terminal import say
from plenum.calls.api.completions import ReportedError, UnfitReply
from plenum.calls.api.event_streams import parse_answer
from plenum.calls.api.exchanges import record_exchanges
from plenum.calls.api.prices import Prices
from plenum.calls.call_log import read_attempts
from plenum.checks.probe import ProbeSettings, Repeats
from plenum.design.compose import parse_job
from plenum.design.job import Job
from plenum.design.validation import drop_settings
from plenum.execution.condition_folder import find_condition_folder, find_journal
from plenum.execution.cost_estimate import estimate_usage
from plenum.execution.outcomes import Outcome, format_closing
from plenum.execution.sweep import run_sweep
from plenum.records.atomic_files import write_whole
from plenum.records.transcript import WHO, read_transcript

MOST_CALLS = 15
"""Attempts that a proof makes at most, over all its rounds."""
_UP_TO = (9, 14)
"""Attempts by the end of the first rounds, which take five without a repair; the last makes one."""
_KNOWN = ("failed: ", "pending: ", "stopped: budget.calls", "retry_failed", "read such")
"""Beginnings of lines about a sweep that say what the table of a proof has, or doesn't do."""
_WIDTH = 26
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

    @property
    def attempts(self) -> list[dict[str, Any]]:
        log = find_condition_folder(self.job) / "calls.jsonl"
        return [*read_attempts(log)] if log.exists() else []


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
    first, *_ = played = [*rounds.values()]
    model, folder = first.job.condition.models[0], Path(first.job.journals).parent
    say(_describe_price(first.job, model))
    if cfg.dry_run:
        return True
    for number, each in enumerate(played):
        _play(each, played[:number])
        if first.refused or not first.exchanges:
            break  # for want of a key, an account or a server nothing can be played
    columns = {name: _describe(each) for name, each in rounds.items()}
    frame = pd.DataFrame(columns).rename_axis("check").reset_index()
    frame = frame[(frame[[*columns]] != "").any(axis=1)]
    from plenum.show.table import Column, Table
    from plenum.show.terminal_tables import show_tables  # what plays a round needs none

    shown = (Column("check", key=True), *map(Column, columns))
    show_tables([Table("proof", f"Proof of {model}: one round of two seats", frame, shown)])
    ended = [each.outcome for each in played if each.outcome is not None]
    for line in dict.fromkeys(format_closing(ended)[1:]):
        if not line.startswith(_KNOWN):
            say(line)
    exchanges = {name: each.exchanges for name, each in rounds.items()}
    recording = {"plenum": code_version(), "model": model, "table": columns, "exchanges": exchanges}
    text = json.dumps(_hide_account(recording), indent=1, ensure_ascii=False)
    write_whole(folder / "recording.json", text)
    say(f"recorded without key, headers and account: {folder / 'recording.json'}")
    return any(outcome.completed for outcome in ended)


def _describe_price(job: Job, model: str) -> str:
    """Describe what a proof takes at most, by the estimate of its first round."""
    usage = estimate_usage(job.condition)[model] * (MOST_CALLS / job.condition.calls)
    price = Prices(job.prices).of(model)
    dollars = price.of(int(usage.tokens_in), int(usage.tokens_out)) if price else None
    cost = "a price that isn't known" if dollars is None else f"about ${dollars:.4f}"
    tokens = f"{usage.tokens_in:,.0f} tokens in and {usage.tokens_out:,.0f} out"
    return f"proof of {model}: at most {MOST_CALLS} calls, {tokens}, for {cost}"


def _make_rounds(cfg: DictConfig) -> dict[str, _Round]:
    if cfg.backend.name != "api":
        raise UserError(f"prove: {cfg.backend.name} is no provider; it takes backend=api")
    folder = Path(cfg.out) / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S-%f}-proof"
    streamed = not cfg.backend.stream
    rounds = {}
    for name, answers, stream in (
        ("free", "free", not streamed),
        ("constrained", "constrained", not streamed),
        ("in pieces" if streamed else "in one piece", "free", streamed),
    ):
        given, fixed = cfg.copy(), {"roles.agents": 2, "rounds": 1, "replicates": 1}
        for key, value in {**fixed, "protocol.answers": answers, "backend.stream": stream}.items():
            OmegaConf.update(given, key, value)
        job = parse_job(drop_settings(given, ProbeSettings))
        calls = replace(job.calls, max_attempts=min(2, job.calls.max_attempts))
        place = str(folder / name.replace(" ", "_"))
        rounds[name] = _Round(replace(job, calls=calls, journals=place, tracking_uri=None))
        if len(models := set(job.condition.models)) > 1:
            raise UserError(f"prove: {len(models)} models; name one: model.default=PROVIDER/NAME")
    return rounds


def _play(each: _Round, before: Sequence[_Round]) -> None:
    """Play a round within what is left of all attempts; a refusal is part of what is found."""
    made, given = sum(len(one.attempts) for one in before), each.job.budget.calls
    most = (*_UP_TO, min(made + 1, MOST_CALLS))[len(before)]
    budget = replace(each.job.budget, calls=most if given is None else min(most, given))
    job, paid = replace(each.job, budget=budget), [one.job for one in before]
    with record_exchanges() as each.exchanges:
        try:
            (each.outcome,) = run_sweep([job], Repeats(), paid=paid)
        except (Stopped, UserError) as refusal:
            if isinstance(refusal, UserError) and not before:  # then nothing can be played
                raise
            each.refused = str(refusal)


def _describe(each: _Round) -> dict[str, str]:
    """Describe what came of a round, by check."""
    journal, attempts = find_journal(each.job, 0), each.attempts
    entries = read_transcript(journal).calls if journal.exists() else []
    failed = [a for a in attempts if not a["answered"]]
    errors = [f"{a['status'] or a['outcome']}: {a['detail']}" for a in failed]
    errors += [each.refused] if each.refused else []
    remarks = each.outcome.remarks.values() if each.outcome else ()
    cut = [f"cut at {most} tokens" for found in remarks for most in found.get("cut_at", ())]
    thought = {"reasoning": "before the answer", "reasoned": "is the answer"}
    parsed = [_parse(exchange) for exchange in each.exchanges]
    return {
        "attempts": str(len(attempts)),
        "answers": "\n".join(_describe_answers(entries)),
        "envelope": _count(map(_name_envelope, each.exchanges, parsed)),
        "tokens": _count(map(_name_usage, parsed)),
        "prompts": "\n".join(cut),
        "reasoning": _count(thought[name] for e in entries for name in thought if name in e),
        "finish": _count(entry["finish"] for entry in entries),
        **{name: _count(e[name] for e in entries if name in e) for name in WHO},
        "errors": "\n".join(fill(error[:200], _WIDTH) for error in dict.fromkeys(errors)),
    }


def _count(names: Iterable[str]) -> str:
    return "\n".join(f"{name} {count}" for name, count in Counter(filter(None, names)).items())


def _describe_answers(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say how many answers of each kind were read at once, and in which other forms."""
    for kind in ("turn", "ballot", "clerk"):
        if first := ["problem" not in entry for entry in entries if entry["kind"] == kind]:
            yield f"{kind} {sum(first)} of {len(first)}"
    if forms := _count(f"as {form}" for entry in entries for form in entry.get("forms", ())):
        yield forms
    if repaired := sum(e["kind"].endswith("_repair") and "problem" not in e for e in entries):
        yield f"by a repair {repaired}"


def _parse(exchange: Mapping[str, Any]) -> dict[str, Any]:
    """Parse an answer; empty if it is none."""
    try:
        data = parse_answer(exchange["body"].encode())
    except ReportedError as reported:  # by a piece of a stream
        return {"error": reported.error}
    except UnfitReply:
        return {}
    return data if isinstance(data, dict) else {}


def _name_envelope(exchange: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Name the form in which an answer came."""
    (choice, *_) = data.get("choices") or [{}]
    message = choice.get("message") or {}
    content = message.get("content")
    forms = {
        "an error": exchange["status"] != 200,
        "an error with status 200": data.get("error"),
        "an error as its choice": choice.get("finish_reason") == "error",
        "no completion": not choice,
        "parts": isinstance(content, list),
        "text": content,
        "the call of a tool": message.get("tool_calls"),
        "reasoning alone": message.get("reasoning") or message.get("reasoning_content"),
        "empty": True,
    }
    form = next(name for name, holds in forms.items() if holds)
    return f"{form} in pieces" if exchange["type"] == "text/event-stream" else form


def _name_usage(data: Mapping[str, Any]) -> str:
    """Name how an answer says its tokens."""
    usage = data.get("usage") or {}
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    if not data.get("choices") or None in counts:
        return "not said" if data.get("choices") else ""
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
