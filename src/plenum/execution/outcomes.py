"""The outcome of a condition, and the summary at the end of a sweep."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plenum.base.secrets import redact
from plenum.design.job import Job
from plenum.design.schema import StudyConfig
from plenum.design.settings import Api
from plenum.execution.resumption import RETRIABLE
from plenum.records.atomic_files import write_whole
from plenum.records.failed_calls import FailedCall, select_example
from plenum.records.failures import Failure
from plenum.records.transcript import SIMULATED

_LONGEST = 300
"""Characters of an example in a closing line: some four lines of a terminal. The number is plenum's
own."""
_ANSWERED = (Failure.PARSE, Failure.REFUSAL, Failure.LENGTH)
"""Failures whose cause is always an answer."""

_STORE = "sqlite:///mlruns/mlflow.db"
"""The store in which scripts look for a study, by conf/tracking/local.yaml."""
_DIGITS = 8
"""Digits of an identity that are shown: enough to distinguish the conditions of a study."""

_REFUSED = {
    r"context (?:length|window|size)|context_length|max_model_len|prompt is too long|"
    r"too many (?:input |prompt )?tokens": "its prompts outgrow the server's context; a smaller "
    "protocol.window or sampling.max_tokens leaves room",
    r"temperature": "it takes no other temperature; try sampling.temperature=1",
    r"max_completion_tokens": "try backend.max_tokens_field=max_completion_tokens",
    r"\bstream\b": "try backend.stream=true",
}
"""Advice on a request that a server refused, by its words; to repeat the request is no help."""

LISTED = 100
"""The largest number of conditions of a sweep that are listed one by one. The number is plenum's
own: more lines scroll the totals, which come first, out of sight."""

FILE = "outcome.json"
"""The file in each job's output folder, from which any launcher's sweep is summed up."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a condition: target = completed + failed + pending.

    Attributes
    ----------
    name, identity
        The condition.
    target, completed, pending
        Replicates.
    failures
        Failed replicates by reason.
    reused
        Replicates that an earlier run had already ended.
    calls
        Calls made now.
    examples
        One failure of each reason: the seat, the kind of call, and the start of what was written.
    unread
        Models of which no answer could be read, with the reasons.
    held_by
        The ``server`` or the ``backend`` that was to hold the answers to their form; empty if none.
    remarks
        By model, what is to be said of answers that were read, in numbers.
    commands
        By reason, the command that prints the whole answer.
    stopped
        What kept replicates from being begun or ended: a budget that is used up, a provider that
        can't be reached or wants to be left alone.
    errors
        What kept replicates pending, or results from being tracked, in one line each.
    """

    name: str
    identity: str
    study: str
    target: int
    completed: int
    pending: int
    failures: dict[str, int] = field(default_factory=dict)
    reused: int = 0
    calls: int = 0
    errors: tuple[str, ...] = ()
    stopped: str = ""
    examples: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)
    unread: dict[str, list[str]] = field(default_factory=dict)
    held_by: str = ""
    remarks: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Failed replicates."""
        return sum(self.failures.values())

    @property
    def clean(self) -> bool:
        """True if every replicate completed and everything was tracked."""
        return self.completed == self.target and not self.errors

    def counts(self) -> str:
        """Describe the counts in one line."""
        reused = f", {self.reused} reused" if self.reused else ""
        pending = f", {self.pending} pending" if self.pending else ""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.name}: {self.completed}/{self.target} completed{failed}{pending}{reused}"


@dataclass(frozen=True)
class ReplicateResult:
    """The outcome of a replicate.

    ``error`` says why its journal isn't used, ``pending`` why it hasn't ended, and ``stopped`` the
    same in words for the user.
    """

    index: int
    journal: Path
    calls: int = 0
    reused: bool = False
    error: str | None = None
    pending: str = ""
    stopped: str = ""

    @property
    def usable(self) -> bool:
        """True if it has a journal that can be read."""
        return self.error is None and self.journal.exists()


def make_outcome(job: Job, results: Sequence[ReplicateResult], report: dict[str, Any]) -> Outcome:
    """Make the outcome of a condition whose replicates have ended, or are pending."""
    accounts = report["accounts"]
    # Backwards, so that of each reason the first group is the one that stays.
    firsts = {str(group["reason"]): select_example(group) for group in accounts["failed_at"][::-1]}
    tracked = firsts if job.tracking_uri else {}
    wrote = {reason: call for reason, call in tracked.items() if call.wrote is not None}
    return Outcome(
        name=str(job.condition),
        identity=job.condition.identity,
        study=job.study,
        target=job.replicates,
        completed=accounts["completed"],
        pending=sum(accounts["pending"].values()),
        failures=accounts["failed"],
        examples={reason: str(call) for reason, call in firsts.items()},
        unread=_unread_models(accounts["models"]),
        remarks=_find_remarks(accounts["models"]),
        held_by=_describe_holder(job),
        commands={reason: _command(job, call) for reason, call in wrote.items()},
        reused=sum(r.reused and r.error is None for r in results),
        calls=sum(r.calls for r in results),
        errors=tuple(dict.fromkeys(r.error for r in results if r.error is not None)),
        stopped="; ".join(dict.fromkeys(r.stopped for r in results if r.stopped)),
    )


def make_failed_outcome(job: Job, problem: str) -> Outcome:
    """Make the outcome of a condition that couldn't be run."""
    return Outcome(
        name=str(job.condition),
        identity=job.condition.identity,
        study=job.study,
        target=job.replicates,
        completed=0,
        pending=job.replicates,
        errors=(problem,),
    )


def save_outcome(outcome: Outcome, folder: Path) -> None:
    """Write an outcome into a job's output folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, json.dumps(asdict(outcome), indent=1))


def collect_outcomes(folder: Path, only: str | None = None) -> list[Outcome]:
    """Read every outcome below a sweep's folder, or of one job of it, in the order of the jobs."""
    files = list(folder.glob(f"{only or '*'}/{FILE}"))
    files.sort(key=lambda file: (len(file.parent.name), file.parent.name))  # 2 before 10
    outcomes = []
    for file in files:
        data = json.loads(file.read_text(encoding="utf-8"))
        outcomes.append(Outcome(**(data | {"errors": tuple(data["errors"])})))
    return outcomes


def format_closing(outcomes: Sequence[Outcome]) -> list[str]:
    """Write the closing lines: totals, reused replicates, and every failure by name."""
    target = sum(o.target for o in outcomes)
    completed, failed = sum(o.completed for o in outcomes), sum(o.failed for o in outcomes)
    pending, reused = sum(o.pending for o in outcomes), sum(o.reused for o in outcomes)
    lines = [
        f"{len(outcomes)} condition{'s' if len(outcomes) != 1 else ''}: {_replicates(target)} = "
        f"{completed} completed + {failed} failed + {pending} pending; "
        f"{sum(o.calls for o in outcomes)} calls made now"
    ]
    if reused:
        were = f"{_replicates(reused)} {'was' if reused == 1 else 'were'}"
        lines.append(f"{were} taken from journals of an earlier run")
    unclean = []
    for outcome in outcomes:
        for reason, count in sorted(outcome.failures.items()):
            unclean.append(f"failed: {outcome.name}: {count} x {reason}{_example(outcome, reason)}")
        if outcome.pending:
            unclean.append(f"pending: {outcome.name}: {_replicates(outcome.pending)}")
    lines += shorten_list(unclean, f"the output folders' {FILE}")
    lines += shorten_list(_errors(outcomes), f"the output folders' {FILE}")
    stopped = [f"stopped: {reason}" for reason in {o.stopped: 0 for o in outcomes if o.stopped}]
    lines += shorten_list(stopped, f"the output folders' {FILE}")
    lines += _describe_answers(outcomes)
    return [*lines, *_advice(outcomes), *_unheld(outcomes), *_remedies(outcomes)]


def _describe_holder(job: Job) -> str:
    if not job.condition.constrained:
        return ""
    return "server" if isinstance(job.condition.backend, Api) else "backend"


def _unread_models(models: dict[str, Any]) -> dict[str, list[str]]:
    """Find models without a readable answer, and the reasons."""
    return {
        name: sorted(row["attempts"].keys() - {"ok"})
        for name, row in models.items()
        if row["calls"] and row.get("unread") == row["calls"]
    }


def _find_remarks(models: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Find what is to be said of models' answers that were read."""
    found = {}
    for name, row in models.items():
        several = [part for part in ("answered_by", "host") if len(row.get(part, ())) > 1]
        remarks = ["reasoning", "reasoned", "lenient", "forms", "counted", "cut_at", *several]
        found[name] = {part: row[part] for part in remarks if row.get(part)}
        if SIMULATED in row.get("fingerprints", ()):  # their answers have one length
            found[name].pop("cut_at", None)
    return {name: row for name, row in found.items() if row}


def _describe_answers(outcomes: Sequence[Outcome]) -> list[str]:
    """Describe once for each model of the sweep how its answers came, and who gave them."""
    models: dict[str, Counter[Any]] = {}
    for outcome in outcomes:
        for name, row in outcome.remarks.items():
            total = models.setdefault(name, Counter())
            for part, value in row.items():
                each = value if isinstance(value, dict) else {"": value}
                total.update({(part, what): count for what, count in each.items()})
    lines = []
    for model, total in sorted(models.items()):
        parts = {part: _list_counts(total, part) for part, _ in total}
        if "reasoning" in parts:
            lines.append(
                f"model {model} thinks aloud: {total['reasoning', '']} answers came with its "
                "reasoning, which the journals keep apart and no other seat reads"
            )
        if "reasoned" in parts:
            lines.append(
                f"model {model}: {total['reasoned', '']} answers came as its reasoning alone, "
                "which was read as the answer: other seats read all of it"
            )
        if "lenient" in parts:
            lines.append(
                f"model {model}: {total['lenient', '']} answers that strict reading refuses had "
                f"one meaning, and were read ({parts['forms']})"
            )
        if "counted" in parts:
            lines.append(
                f"model {model}: its server says no numbers of tokens; those of "
                f"{total['counted', '']} answers were counted here"
            )
        if "cut_at" in parts:
            lines.append(
                f"warning: model {model}: its prompts grow, and the server still counts "
                f"{max(what for part, what in total if part == 'cut_at')} tokens of them: it seems "
                "to cut them (Ollama does where num_ctx is smaller)"
            )
        lines += [
            f"warning: model {model} was answered by several: {parts[part]}; what differs between "
            "them counts as the committee's own spread"
            for part in ("answered_by", "host")
            if part in parts
        ]
    return lines


def _list_counts(total: Counter[Any], part: str) -> str:
    found = {what: count for (name, what), count in total.items() if name == part}
    return ", ".join(f"{what} {found[what]}" for what in sorted(found))


def _advice(outcomes: Sequence[Outcome]) -> list[str]:
    """Give advice for each model without a readable answer in some condition."""
    reasons: dict[tuple[str, bool], set[str]] = {}
    for outcome in outcomes:
        for model, why in outcome.unread.items():
            reasons.setdefault((model, bool(outcome.held_by)), set()).update(why)
    form = "protocol.answers=constrained, which holds answers to their form, "
    more_room = "a larger sampling.max_tokens, "
    return [
        f"model {model} writes no answer that can be read ({', '.join(sorted(why))}). "
        f"Try {'' if held else form}{more_room if Failure.LENGTH in why else ''}shorter arguments "
        "(protocol.argument_words=40) or a stronger instruct model; where a server of the same "
        "name was mended, retry_failed=all"
        for (model, held), why in reasons.items()
    ]


def _unheld(outcomes: Sequence[Outcome]) -> list[str]:
    """Name the models whose server was to hold answers to their form, and seems to ignore it."""
    held = (outcome.unread.items() for outcome in outcomes if outcome.held_by == "server")
    models = sorted({model for unread in held for model, why in unread if Failure.PARSE in why})
    return [
        f"model {model}: its server seems to ignore the form of protocol.answers=constrained; "
        "docs/providers.md#constrained-answers says what each server takes"
        for model in models
    ]


def _remedies(outcomes: Sequence[Outcome]) -> list[str]:
    """List the commands that show failed answers, and the settings that retry failures."""
    # Reversed, so that the first condition's command is the one that stays.
    commands = {reason: c for o in reversed(outcomes) for reason, c in o.commands.items()}
    lines = [f"read such an answer in full: {commands[reason]}" for reason in sorted(commands)]
    met = {reason for o in outcomes for reason in o.failures}
    refused = [o.examples.get(Failure.REQUEST, "") for o in outcomes if "request" in o.failures]
    advice = {_find_advice(text) for text in refused}
    lines += [f"a request was refused: {each}" for each in sorted(advice) if each]
    if all(advice):  # then another attempt would be refused as well
        met.discard(Failure.REQUEST)
    if met.intersection(RETRIABLE):
        lines.append("retry_failed=true continues replicates that failed without an answer")
    if commands or met.intersection(_ANSWERED):
        lines.append(
            "retry_failed=all also asks again where an answer couldn't be read; the answers so far "
            "stay in the journals"
        )
    return lines


def _find_advice(refusal: str) -> str:
    """Return what helps against the refusal of a request; empty where it isn't known."""
    found = (advice for words, advice in _REFUSED.items() if re.search(words, refusal, re.I))
    return next(found, "")


def _command(job: Job, call: FailedCall) -> str:
    """Write the command that prints the answer of a failed call."""
    wanted = {
        "study": job.study,
        "condition": job.condition.identity[:_DIGITS],
        "replicate": call.replicate,
        "call": call.call.removesuffix("_repair"),
        "round": call.round,
        "seat": call.seat,
    }
    if job.tracking_uri != _STORE:
        wanted["tracking.uri"] = redact(str(job.tracking_uri))
    if job.journals != StudyConfig.journals:
        wanted["journals"] = job.journals
    words = [shlex.quote(f"{key}={value}") for key, value in wanted.items()]
    return " ".join(["python scripts/prompt.py", *words, "answer=true"])


def list_problems(outcomes: Sequence[Outcome], of: str = "") -> tuple[str, ...]:
    """Describe what cut conditions short, and errors, one line each; ``of`` opens the lines."""
    stopped = {f"{of}stopped: {o.stopped}" for o in outcomes if o.stopped}
    errors = {f"{of}error: {o.name}: {error}" for o in outcomes for error in o.errors}
    return (*sorted(stopped), *sorted(errors))


def shorten_list(lines: Sequence[str], where: str) -> list[str]:
    """Shorten a long list of lines; ``where`` says where the others are."""
    if len(lines) <= LISTED:
        return list(lines)
    return [*lines[:LISTED], f"... and {len(lines) - LISTED} more: see {where}"]


def _replicates(number: int) -> str:
    return f"{number} replicate{'s' if number != 1 else ''}"


def _errors(outcomes: Sequence[Outcome]) -> list[str]:
    """List every error once, with the first condition that had it."""
    met: dict[str, list[str]] = {}
    for outcome in outcomes:
        for error in outcome.errors:
            met.setdefault(error, []).append(outcome.name)
    return [
        f"error: {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {error}"
        for error, names in met.items()
    ]


def _example(outcome: Outcome, reason: str) -> str:
    example = " ".join(outcome.examples.get(reason, "").split())
    return f", such as: {example[:_LONGEST]}" if example else ""
