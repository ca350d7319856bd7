"""A condition's accounts: replicates by how they stand, and calls by model and by outcome."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plenum.records import Transcript

Accounts = dict[str, Any]
_MODEL = ("calls", "repairs", "tokens_in", "tokens_out", "cost", "unpriced", "seconds")


def account(
    transcripts: Sequence[Transcript],
    attempts: Iterable[Mapping[str, Any]],
    target: int,
    stopped: str,
) -> Accounts:
    """Count what a condition took.

    Parameters
    ----------
    transcripts
        Of every replicate that was begun.
    attempts
        Lines of the call log.
    target
        Replicates that were asked for.
    stopped
        Why the begun ones that haven't ended are pending: ``budget``, ``interrupted`` or empty.

    Returns
    -------
    dict
        ``target``, ``completed``, ``failed`` and ``pending`` (by reason), and by model ``models``:
        calls, repairs, tokens, cost in US dollars, calls without a known price, seconds spent
        waiting, and attempts by outcome. What a branch inherited from its base isn't counted.
    """
    status = Counter(t.status for t in transcripts)
    failed = Counter(str(t.reason) for t in transcripts if t.status == "failed")
    pending = Counter({stopped or "interrupted": status["pending"]})
    pending["not_begun"] = target - len(transcripts)
    return {
        "target": target,
        "completed": status["completed"],
        "failed": dict(failed),
        "pending": {why: count for why, count in pending.items() if count > 0},
        "models": _models(transcripts, attempts),
    }


def _models(
    transcripts: Sequence[Transcript], attempts: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    models: dict[str, Any] = {}

    def of(model: str) -> dict[str, Any]:
        row: dict[str, Any] = models.setdefault(
            model, {**dict.fromkeys(_MODEL, 0), "attempts": Counter()}
        )
        return row

    for transcript in transcripts:
        for entry in transcript.calls:
            row = of(entry["model"])
            row["calls"] += 1
            row["repairs"] += entry["kind"].endswith("_repair")
            row["tokens_in"] += entry["tokens_in"]
            row["tokens_out"] += entry["tokens_out"]
            row["cost"] += entry["cost"] or 0.0
            row["unpriced"] += entry["cost"] is None
    for line in attempts:
        row = of(line["model"])
        row["seconds"] += line["latency_s"]
        row["attempts"][line["outcome"]] += 1
    return models
