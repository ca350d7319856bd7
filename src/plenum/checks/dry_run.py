"""The dry run of a sweep: its conditions, calls, time and cost, without a call."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from plenum.base.errors import UserError
from plenum.base.text import format_duration
from plenum.calls.api.prices import Price, Prices, explain_prices
from plenum.calls.backends import build_backend, check_backends
from plenum.calls.call_log import read_attempts
from plenum.calls.chat import ChatModel
from plenum.design.backend_extensions import BACKENDS
from plenum.design.job import Job, RetryFailed
from plenum.design.kinds import KINDS
from plenum.execution.condition_folder import find_condition_folder, find_journal
from plenum.execution.cost_estimate import estimate_usage
from plenum.execution.executors import choose_executor
from plenum.execution.open_files import raise_file_limit
from plenum.execution.outcomes import LISTED
from plenum.execution.preflight import (
    describe_new_factors,
    describe_strict_runs,
    require_jobs,
    require_one_kind_a_study,
    require_shared_settings,
)
from plenum.execution.resumption import may_resume
from plenum.execution.spending import sum_spent_before
from plenum.records.chain import DamagedJournal, read_entries
from plenum.records.journal import drop_revoked
from plenum.records.usage import Usage

if TYPE_CHECKING:
    from plenum.show.table import Table

_ASSUMED_LATENCY_S = 2.0
_ASSUMED_BATCH_S = 3600.0
"""Assumed seconds of a batch: providers promise a day, and mostly take less than an hour."""
FIRST_CALLS = ("turn", "summary", "ballot", "clerk", "message", "action")
"""Kinds of calls, repairs aside."""


@dataclass(frozen=True)
class _RemainingWork:
    """The remaining work of a condition: whole deliberations, or parts of them, by model.

    ``longest`` is the number of calls in sequence that it takes.
    """

    job: Job
    begun: int
    longest: int
    by_model: dict[str, Usage]

    @property
    def replicates(self) -> int:
        """Replicates that this work is worth, rounded up."""
        calls = self.job.condition.calls  # none in a condition of scripted policies
        return math.ceil(self.total.calls / calls) if calls else 0

    @property
    def charged(self) -> bool:
        """True if a provider answers, which has prices and limits."""
        return self.job.condition.backend.charged

    @property
    def total(self) -> Usage:
        return sum(self.by_model.values(), Usage())


def show_dry_run(jobs: Sequence[Job]) -> None:
    """Print conditions, replicates, calls, tokens, cost by model, and a provider's time."""
    require_jobs(jobs)
    require_one_kind_a_study(jobs)
    require_shared_settings(jobs)
    check_backends("require_limited_models", jobs)
    check_backends("require_parameters", jobs)
    prices = Prices(jobs[0].prices, batched=jobs[0].calls.batch)
    backend = {
        repr(j.condition.backend): build_backend(j.condition.backend, j.calls, prices) for j in jobs
    }
    executor = choose_executor(jobs)
    if executor.together:  # models that can't move together are refused
        executor.check(jobs)
    left, seen = [], set[str]()
    for job in jobs:
        left.append(_compute_remaining(job, again=job.condition.folder in seen))
        seen.add(job.condition.folder)
    from plenum.show.terminal_tables import (
        show_tables as show_tables,  # what runs a sweep needs none
    )

    for line in _conditions(left[:LISTED]):
        print(line)
    if len(left) > LISTED:
        print(f"... and {len(left) - LISTED} more conditions")
    by_model = _sum(left)
    free = by_model.keys() - _sum([item for item in left if item.charged])
    show_tables([_models(by_model, prices, free)])
    for line in (
        *describe_new_factors(jobs),
        *describe_strict_runs(jobs),
        *_format_closing(left, by_model, backend, prices, free),
    ):
        print(line)


def _compute_remaining(job: Job, again: bool) -> _RemainingWork:
    """Compute the remaining work of a condition; none if the sweep has it twice."""
    full = estimate_usage(job.condition)
    calls = sum(use.calls for use in full.values())
    begun, still, longest = 0, 0.0, 0
    for index in range(job.replicates):
        done, ended = _count_made(find_journal(job, index), job.retry_failed)
        begun += find_journal(job, index).exists()
        left = 0.0 if ended or again else max(calls - done, 0)
        still += left / calls if calls else 0.0
        longest = max(longest, math.ceil(left))
    return _RemainingWork(
        job, begun, longest, {model: usage * still for model, usage in full.items()}
    )


def _count_made(journal: Path, retry_failed: RetryFailed) -> tuple[int, bool]:
    """Count the calls that a replicate has made, and tell if it has ended for good.

    Repairs aren't counted.
    """
    try:
        entries = read_entries(journal) if journal.exists() else []
    except DamagedJournal as damage:
        raise UserError(str(damage)) from None
    done = Counter(e["kind"] for e in drop_revoked(entries) if "inherited" not in e)
    ended = bool(entries) and entries[-1]["kind"] == "end"
    again = ended and may_resume(entries[-1], retry_failed)
    unread = again and "problem" in entries[-2]  # that call is made anew
    return sum(done[kind] for kind in FIRST_CALLS) - unread, ended and not again


def _conditions(left: Sequence[_RemainingWork]) -> Iterator[str]:
    for item in left:
        job, total = item.job, item.total
        yield (
            f"{job.condition.identity}  {job.condition}: {job.replicates} replicates of "
            f"{job.condition.calls} calls, {item.begun} begun or done; left: "
            f"{total.calls:.0f} calls, {_tokens(total.tokens_in)} tokens in, "
            f"{_tokens(total.tokens_out)} out"
        )


def _sum(left: Sequence[_RemainingWork]) -> dict[str, Usage]:
    by_model: defaultdict[str, Usage] = defaultdict(Usage)
    for item in left:
        for model, use in item.by_model.items():
            by_model[model] += use
    return dict(by_model)


def _models(by_model: dict[str, Usage], prices: Prices, free: Set[str]) -> "Table":
    """Make the table of each model's remaining calls, and their cost."""
    import pandas as pd

    from plenum.show.table import Column, Table, make_keys

    records = [
        {
            "model": model,
            "calls": use.calls,
            "free": model in free,
            "tokens_in": use.tokens_in,
            "tokens_out": use.tokens_out,
            "price": None if model in free else prices.of(model),
            "cost": _cost(use, prices, model),
        }
        for model, use in by_model.items()
    ]
    columns = (
        *make_keys(["model"]),
        Column("calls", format="{:.0f}".format),
        *(Column(name, format=_tokens) for name in ("tokens_in", "tokens_out")),
        Column("price", "$ per M in/out", _per_million),
        Column(("cost", "price", "free"), "cost", _dollars),
    )
    return Table("models", "by model", pd.DataFrame(records, dtype=object), columns)


def _per_million(price: Price | None) -> str:
    return f"{price.input * 1e6:g} / {price.output * 1e6:g}" if price else "-"


def _dollars(cost: float, price: Price | None, free: bool) -> str:
    return f"${cost:.2f}" if price else "$0" if free else "unknown"


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _format_closing(
    left: Sequence[_RemainingWork],
    by_model: dict[str, Usage],
    backend: dict[str, ChatModel],
    prices: Prices,
    free: Set[str],
) -> Iterator[str]:
    jobs = [item.job for item in left]
    unknown = [m for m in by_model if m not in free and prices.of(m) is None]
    cost = sum(_cost(use, prices, m) for m, use in by_model.items() if m not in free)
    backends_used = {job.condition.backend.name for job in jobs}
    costs = [BACKENDS[name].costs for name in sorted(backends_used) if name in BACKENDS]
    kinds = dict.fromkeys(sorted(job.condition.kind for job in jobs))
    basis = " and ".join(KINDS[kind].assumed_answers for kind in kinds)
    yield (
        f"tokens: estimated with {basis}; cost left: {_cost_left(cost, bool(unknown))}"
        + (", simulated agents cost nothing" if backends_used == {"simulated"} else "")
        + "".join(f", {line}" for line in costs if line)
    )
    if unknown:
        yield f"no price is known for {', '.join(unknown)}; {explain_prices(unknown)}"
    if jobs and jobs[0].budget.limited:
        spent = sum_spent_before(jobs, prices.of)
        dollars = "cost unknown" if unknown and not spent.dollars else f"${spent.dollars:.4f}"
        limits = ", ".join(f"{k}={v:g}" for k, v in vars(jobs[0].budget).items() if v is not None)
        yield (
            f"budget: {limits}; used so far: {dollars}, {spent.tokens} tokens, {spent.calls} calls"
        )
    yield from check_backends("warn_idle_slots", jobs)
    charged = [item for item in left if item.charged]
    if charged:
        yield from _times(charged, backend)
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    yield (
        f"in all {_format_count(len(jobs), 'condition')}, "
        f"{_format_count(sum(job.replicates for job in jobs), 'replicate')}, "
        f"{calls} calls before repairs; nothing was run"
    )


def _cost_left(cost: float, unknown: bool) -> str:
    """Write the cost of models with a price; without one it is unknown, and never 0."""
    if unknown:
        return f"${cost:.2f} and an unknown part" if cost else "unknown"
    return f"${cost:.2f}"


def _times(left: Sequence[_RemainingWork], backend: dict[str, ChatModel]) -> Iterator[str]:
    """Estimate the time: the longest of one replicate's calls, and each stated limit."""
    jobs = [item.job for item in left]
    observed = [_latencies(job) for job in jobs]
    known = [latency for latencies in observed for latency in latencies]
    waiting = sum(item.replicates for item in left)
    if jobs[0].calls.batch:
        waves = math.ceil(waiting / raise_file_limit())
        turns, batch_s = waves * max(i.longest for i in left), median(known or [_ASSUMED_BATCH_S])
        source = "as observed" if known else "assumed; providers promise 24 h"
        yield (
            f"time: about {format_duration(turns * batch_s)}: {turns} calls in sequence, each turn "
            f"a batch of {format_duration(batch_s)} ({source}), at half the price"
        )
        return
    latency = median(known) if known else _ASSUMED_LATENCY_S
    waves = math.ceil(waiting / max(job.calls.max_concurrency for job in jobs))
    longest = max(job.condition.calls for job in jobs)
    source = "as observed" if known else "assumed"
    yield (
        f"time: at least {format_duration(waves * longest * latency)}: {waves} x {longest} calls "
        f"in sequence at {latency:.2g} s each ({source})"
    )
    paid = jobs[0].calls
    for name, use in _by_limit(left, backend).items():
        for key, amount in (("rpm", use.calls), ("tpm", use.tokens_in + use.tokens_out)):
            limit = getattr(paid, key).get(name)
            if limit:
                least = format_duration(60 * amount / limit)
                yield f"time: at least {least} at calls.{key}.{name}={limit}"


def _by_limit(left: Sequence[_RemainingWork], backend: dict[str, ChatModel]) -> dict[str, Usage]:
    """Sum up the remaining usage by provider, and by model: either may have limits."""
    sums: defaultdict[str, Usage] = defaultdict(Usage)
    for item in left:
        model_of = backend[repr(item.job.condition.backend)]
        for model, use in item.by_model.items():
            for name in {model_of.provider(model), model}:
                sums[name] += use
    return dict(sums)


def _latencies(job: Job) -> list[float]:
    lines = read_attempts(find_condition_folder(job))
    wanted = (line for line in lines if line.get("batch", False) == job.calls.batch)
    return [line["latency_s"] for line in wanted if line["status"] == 200]


def _cost(use: Usage, prices: Prices, model: str) -> float:
    price = prices.of(model)
    return use.tokens_in * price.input + use.tokens_out * price.output if price else 0.0


def _tokens(count: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if count >= size:
            number = count / size
            return f"{number:,.0f}{unit}" if number >= 999.5 else f"{number:.3g}{unit}"
    return f"{count:.0f}"
