"""A condition's accounts: replicates by status, and calls by model and by outcome."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plenum.records.failed_calls import find_failed_call, group_failures
from plenum.records.journal import TRIAL
from plenum.records.transcript import Transcript

Accounts = dict[str, Any]
_MODEL = ("calls", "repairs", "tokens_in", "tokens_out", "cost", "unpriced", "seconds")
_FATES = ("attempts", "recovered", "ended", "open", "unused")

_CUT = 4
"""Prompts with the same, highest number of tokens by which a cut is recognised. With fewer, equal
lengths may be chance."""

Line = Mapping[str, Any]


def count_usage(
    transcripts: Sequence[Transcript], attempts: Iterable[Line], target: int, stopped: str
) -> Accounts:
    """Count the usage of a condition.

    Parameters
    ----------
    transcripts
        Of every replicate that was begun and whose journal is whole.
    attempts
        Lines of the call log. Those of replicates beyond ``target``, which an earlier run asked
        for, are left out.
    target
        Replicates that were asked for.
    stopped
        Why the begun ones that haven't ended are pending: ``budget``, ``unreachable``, ``held``,
        ``interrupted`` or empty.

    Returns
    -------
    dict
        ``target``, ``completed``, ``failed`` and ``pending`` (by reason), where replicates
        ``failed_at`` (:func:`plenum.records.failed_calls.group_failures`), how many were
        ``retried`` after an answer that couldn't be read, and by model ``models``: calls,
        ``unread`` answers among them, repairs, tokens, cost in US dollars, calls without a known
        price, seconds spent waiting, attempts by outcome, and answers by the provider's system
        fingerprint; where there were any, ``dropped``, what came with answers and didn't fit, by
        its name. Where servers are known, or fingerprints in their place, ``servers`` has the calls
        of each and the replicates that it answered most of, and ``split`` how many replicates had
        several. ``lenient`` counts the answers that a strict reader would have refused, with how
        they differed in ``forms``, ``reasoning`` those that came behind the model's reasoning,
        ``answered_by`` and ``host`` the models and hosts that providers name, and ``counted`` the
        answers whose tokens were counted here. ``trial_calls`` are those of a model's trial
        (:mod:`plenum.execution.rehearsal`): in the cost, and not in calls and tokens. ``batched``
        has calls and cost of the answers in batches, and ``constrained`` the answers of a condition
        that holds them to a form: ``answers``, those with a text that was ``cut``, turns without
        any weight, ``even``, and where there were any, actions with something twice, ``repeated``.
        What a branch inherited from its base isn't counted.

        ``outcomes`` has, by outcome, the ``attempts`` that failed, and what came of the call or
        its repair: ``recovered``, a later attempt was read; ``ended``, the replicate failed at it;
        ``open``, the replicate is pending; ``unused``, the replicate completed without it, as it
        does without the clerk's count. These four add up to ``attempts``.

        ``pending`` holds ``error`` for a replicate that has made calls and has no whole journal: a
        damaged one, or a bug. The run's closing lines name it.
    """
    numbered = (line for line in attempts if isinstance(line["replicate"], int))
    lines = [line for line in numbered if line["replicate"] < target]
    status = Counter(t.status for t in transcripts)
    failed = Counter(str(t.reason) for t in transcripts if t.status == "failed")
    readable = {t.head["replicate"] for t in transcripts}
    broken = {line["replicate"] for line in lines} - readable
    # Where no stop is known a begun replicate without an end was killed.
    pending = Counter({stopped or "interrupted": status["pending"]})
    pending["error"] = len(broken)
    pending["not_begun"] = target - len(readable | broken)
    return {
        "target": target,
        "completed": status["completed"],
        "failed": dict(failed),
        "failed_at": group_failures(filter(None, map(find_failed_call, transcripts))),
        "retried": sum(t.asked_again for t in transcripts),
        "pending": {why: count for why, count in pending.items() if count > 0},
        "models": _models(transcripts, lines),
        "outcomes": _outcomes(transcripts, lines),
    }


def _models(transcripts: Sequence[Transcript], attempts: Sequence[Line]) -> dict[str, Any]:
    models: dict[str, Any] = {}

    def row_of(model: str) -> dict[str, Any]:
        row: dict[str, Any] = models.setdefault(
            model, {**dict.fromkeys(_MODEL, 0), "attempts": Counter(), "fingerprints": Counter()}
        )
        return row

    for transcript in transcripts:
        for entry in transcript.calls:
            row = row_of(entry["model"])
            row["calls"] += 1
            row["repairs"] += entry["kind"].endswith("_repair")
            row["tokens_in"] += entry["tokens_in"]
            row["tokens_out"] += entry["tokens_out"]
            row["cost"] += entry["cost"] or 0.0
            row["unpriced"] += entry["cost"] is None
            row["unread"] = row.get("unread", 0) + ("problem" in entry)
            for name in ("reasoning", "reasoned"):
                if name in entry:
                    row[name] = row.get(name, 0) + 1
            if "forms" in entry:
                row["lenient"] = row.get("lenient", 0) + 1
                row.setdefault("forms", Counter()).update(entry["forms"])
            if transcript.head.get("answers") == "constrained":
                held = row.setdefault("constrained", Counter(answers=0, cut=0, even=0))
                held["answers"] += 1
                held["cut"] += entry.get("finish") == "cut"
                held["even"] += "even" in entry
                if "repeated" in entry:
                    held["repeated"] += 1
        for model, most in _find_cut_prompts(transcript).items():
            row_of(model).setdefault("cut_at", Counter())[most] += 1
    for line in attempts:
        row = row_of(line["model"])
        row["seconds"] += line["latency_s"]
        row["attempts"][line["outcome"]] += 1
        if line["call"].startswith(TRIAL):  # no journal has its answer
            row["trial_calls"] = row.get("trial_calls", 0) + 1
            row["cost"] += line.get("cost_at_most") or 0.0
        for name in ("cached", "written"):
            if tokens := line.get(name):
                row[f"tokens_{name}"] = row.get(f"tokens_{name}", 0) + tokens
        if isinstance(line.get("fingerprint"), str):  # logs of earlier versions may hold more
            row["fingerprints"][line["fingerprint"]] += 1
        for part in ("answered_by", "host"):
            if part in line:
                row.setdefault(part, Counter())[line[part]] += 1
        if line.get("tokens") == "counted":
            row["counted"] = row.get("counted", 0) + 1
        if "dropped" in line:
            row.setdefault("dropped", Counter()).update(line["dropped"])
    for model, answered in _servers(attempts).items():
        models[model] |= answered
    for model, batched in _sum_batched(transcripts, attempts).items():
        models[model]["batched"] = dict(batched)
    return models


def _find_cut_prompts(transcript: Transcript) -> dict[str, int]:
    """Find models whose server seems to cut prompts, and at how many tokens.

    Prompts of several seats, for their turns and their ballots, differ. Where half of them have the
    same number of tokens, and none has more, the server reads no more of them.
    """
    counts: defaultdict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for entry in transcript.calls:
        kind = entry["kind"].removesuffix("_repair")
        counts[entry["model"]].append((entry["tokens_in"], kind, entry["seat"]))
    found = {}
    for model, calls in counts.items():
        # Fewer tokens than the most are prompts that weren't cut.
        most = max(calls)[0]
        longest = [call for call in calls if call[0] == most > 0]
        kinds, seats = (len({call[part] for call in longest}) for part in (1, 2))
        if len(longest) >= max(_CUT, len(calls) / 2) and kinds > 1 and seats > 1:
            found[model] = most
    return found


def _sum_batched(
    transcripts: Sequence[Transcript], attempts: Iterable[Line]
) -> dict[str, dict[str, float]]:
    """Sum up answers that came in batches, by model: ``calls``, and their ``cost``."""
    # The last line of a call counts: an earlier one may have failed in another lane.
    lanes = {
        (line["replicate"], line["call"], line["round"], line["seat"]): line.get("batch", False)
        for line in attempts
    }
    found: dict[str, dict[str, float]] = {}
    for transcript in transcripts:
        replicate = transcript.head["replicate"]
        for entry in transcript.calls:
            if lanes.get((replicate, entry["kind"], entry["round"], entry["seat"])):
                row = found.setdefault(entry["model"], {"calls": 0, "cost": 0.0})
                row["calls"] += 1
                row["cost"] += entry["cost"] or 0.0
    return found


def _servers(attempts: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """Count the servers that answered, by model, as far as they are known."""
    calls: defaultdict[str, defaultdict[int, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for line in attempts:
        server = line.get("server") or line.get("fingerprint")
        if line.get("answered", True) and isinstance(server, str):
            calls[line["model"]][line["replicate"]][server] += 1
    by_model = {}
    for model, replicates in calls.items():
        total = sum(replicates.values(), Counter[str]())
        # A replicate counts for the server that answered most of its calls.
        most = Counter(count.most_common(1)[0][0] for count in replicates.values())
        servers = {s: {"calls": total[s], "replicates": most[s]} for s in total}
        split = sum(len(count) > 1 for count in replicates.values())
        by_model[model] = {"servers": servers, "split": split}
    return by_model


def _outcomes(
    transcripts: Sequence[Transcript], attempts: Iterable[Line]
) -> dict[str, dict[str, int]]:
    """Count the failed attempts by outcome, and how each of them ended."""
    answered = {
        (t.head["replicate"], *_question(entry["kind"], entry))
        for t in transcripts
        for entry in t.calls
        if "problem" not in entry
    }
    fates = {"completed": "unused", "failed": "ended", "pending": "open"}
    status = {t.head["replicate"]: fates[t.status] for t in transcripts}
    outcomes: dict[str, dict[str, int]] = {}
    for line in attempts:
        if line["outcome"] == "ok":
            continue
        row = outcomes.setdefault(line["outcome"], dict.fromkeys(_FATES, 0))
        replicate = line["replicate"]
        recovered = (replicate, *_question(line["call"], line)) in answered
        row["attempts"] += 1
        row["recovered" if recovered else status.get(replicate, "open")] += 1
    return outcomes


def _question(kind: str, line: Line) -> tuple[str, int, str]:
    """Return the key of a question; a repair asks the same again."""
    return kind.removesuffix("_repair"), line["round"], line["seat"]
