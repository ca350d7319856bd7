"""Shared parts of the tables of accounts: reasons in order, and the usage of calls as a frame."""

from collections.abc import Iterable, Sequence

import pandas as pd

from plenum.reports.rows import Row
from plenum.tracking.usage import REASONS, ConditionUsage

WHY = {
    "budget": "the budget is used up",
    "unreachable": "a model's provider couldn't be reached, or answered nothing but errors",
    "held": "a model's provider asked for a wait of more than calls.max_wait_s",
    "unread": "no answer of the model could be read by those that tried it",
    "interrupted": "stopped by Ctrl-C, SIGTERM or another call",
    "not_begun": "stopped before the first call",
    "error": "a damaged journal or a bug, which the run's closing lines name",
    "unknown": "killed, or still running",
}
"""Reasons why replicates are pending, in words."""

_SUMMED = ("tokens_in", "tokens_out", "cost", "unpriced", "seconds")
SPENT = ["calls", "repairs", "attempts", "failed_attempts", *_SUMMED]
"""Usage of calls; failed attempts are among the attempts."""

CACHE = ["tokens_cached", "tokens_written"]
"""Tokens of prompts that came from a provider's cache, and that were written to it."""


def calls(usages: Sequence[ConditionUsage]) -> pd.DataFrame:
    """Make the frame of usage: one row a condition, by its number, and model."""
    outcomes = sort_reasons({name for usage in usages for name in usage.outcomes or {}})
    models = [model for usage in usages for model in (usage.models or {}).values()]
    cache = [key for key in CACHE if any(model.get(key) for model in models)]
    records = []
    for number, usage in enumerate(usages):
        for name, model in (usage.models or {}).items():
            tried = model["attempts"]
            attempts = sum(tried.values())
            records.append(
                {
                    "condition": number,
                    "model": name,
                    "attempts": attempts,
                    **{key: model[key] for key in ("calls", "repairs", *_SUMMED)},
                    **{key: model.get(key, 0) for key in cache},
                    "failed_attempts": attempts - tried.get("ok", 0),
                    **{f"attempts_{outcome}": tried.get(outcome, 0) for outcome in outcomes},
                }
            )
    by_outcome = [f"attempts_{outcome}" for outcome in outcomes]
    return pd.DataFrame(records, columns=["condition", "model", *SPENT, *cache, *by_outcome])


def select_distinct(usages: Iterable[ConditionUsage]) -> list[ConditionUsage]:
    """Select each condition once; under two labels it has the same replicates."""
    return list({usage.tracked.identity: usage for usage in reversed(list(usages))}.values())[::-1]


def make_rows(usages: Iterable[ConditionUsage]) -> list[Row]:
    """Make rows of the conditions without estimates."""
    return [Row(usage.tracked, None) for usage in usages]


def list_reasons(usages: Iterable[ConditionUsage]) -> list[str]:
    """List the reasons of failed replicates that occur."""
    return sort_reasons({name for u in usages for name, n in u.tracked.failures.items() if n})


def list_waits(usages: Iterable[ConditionUsage]) -> list[str]:
    """List the reasons of pending replicates that occur; first those without words."""
    names = {why for usage in usages for why, n in usage.pending.items() if n}
    return sorted(names, key=lambda why: (list(WHY).index(why) if why in WHY else -1, why))


def sort_reasons(reasons: set[str]) -> list[str]:
    """Sort reasons by the order of the taxonomy."""
    return sorted(reasons, key=lambda r: (REASONS.index(r) if r in REASONS else len(REASONS), r))


def unknown(usages: Sequence[ConditionUsage]) -> dict[str, int]:
    """Count, for notes, conditions whose calls aren't known, and all."""
    return {"unknown": sum(usage.models is None for usage in usages), "lines": len(usages)}
