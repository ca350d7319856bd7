"""One replicate: a deliberation, its model calls and its journal."""

import dataclasses
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plenum.base.errors import Stopped
from plenum.calls.budget import BudgetSpent
from plenum.calls.call_errors import CallError
from plenum.calls.caller import Caller, describe_bug
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Conversation, make_failure_entry, separate_reasoning
from plenum.committee.failures import classify_failure
from plenum.design.condition import Condition
from plenum.design.job import ALL, RetryFailed
from plenum.execution.branches import MissingBase
from plenum.execution.rehearsal import UnreadVote, rehearse_vote
from plenum.execution.replay import ReadDifferently, open_conversation, replay_answers
from plenum.execution.resumption import may_resume
from plenum.execution.trials import Trial
from plenum.records.chain import DamagedJournal
from plenum.records.failures import Failure
from plenum.records.journal import NO_ANSWERS, Journal, drop_revoked


@dataclass(frozen=True)
class Replicate:
    """One replicate, ready to run.

    Parameters
    ----------
    caller
        Makes its calls.
    prefix
        Entries of another replicate that this one goes on from: a branch's base, up to its round.
    observe
        Called with each journal entry that a call led to.
    complain
        Called with an error of the code that ends the replicate.
    warn
        Called with what a user should know about the replicate.
    trial
        Its part in trying models that nobody could read yet; none by default.
    """

    condition: Condition
    index: int
    journal: Path
    caller: Caller
    retry_failed: RetryFailed
    observe: Callable[[dict[str, Any]], None]
    prefix: Callable[[], Sequence[dict[str, Any]]] = tuple
    complain: Callable[[Exception], object] = traceback.print_exception
    warn: Callable[[str], object] = print
    trial: Trial = field(default_factory=Trial)

    async def run(self) -> bool:
        """Deliberate from the journal's last whole turn to the end.

        Returns
        -------
        bool
            True if anything was written; ``False`` where the replicate had ended before.

        Raises
        ------
        DamagedJournal
            The journal doesn't verify, or doesn't fit the code that reads it.
        BudgetSpent
            The next call doesn't fit the budget; the journal is whole.
        ProviderUnavailable
            Nothing more is sent to a model or its provider; the journal is whole.
        Stopped
            A key was refused, or an account is exhausted.
        """
        try:
            if not self.journal.exists():  # what isn't begun leaves no file
                await self.caller.ticket.begin()
                await self._try_first_model()
            return await self._run()
        finally:
            self.trial.leave()
            self.caller.ticket.end()

    async def _try_first_model(self) -> None:
        if not self.trial.is_settled(self.condition.models):
            first = open_conversation(self.condition, self.index).ask
            if first is not None:
                await self.trial.enter(first.chat.model)

    async def _run(self) -> bool:
        once = dataclasses.replace(self.condition, rerun=0)  # reruns are to have the same bytes
        head = {**once.as_mapping(), "replicate": self.index, **self._circumstances()}
        with Journal(self.journal, head) as journal:
            end = journal.end
            # Before anything is replayed: a kill may have left a part of the prefix.
            self._inherit(journal, ended=end is not None)
            if not self.trial.is_settled(self.condition.models):
                passed = [e for e in journal.calls if "problem" not in e]
                self.trial.note_pass(e["model"] for e in passed if self._shows_all(e["kind"]))
            if end and not may_resume(end, self.retry_failed):
                return False
            conversation = self._replay(journal)
            if end is not None:
                if conversation.ask is None and self.retry_failed != ALL:
                    return False  # a model's answer ended it, not a call
                conversation = self._reopen(journal, conversation)
            # Only now that calls will follow: a journal that has ended gets no more lines.
            self._name_environment(journal)
            if journal.entries:
                calls = self.condition.base.calls  # those of a prefix included
                await self.caller.ticket.begin(len(journal.calls), calls)
            await self._converse(conversation, journal)
            return True

    def _reopen(self, journal: Journal, ended: Conversation[Any]) -> Conversation[Any]:
        """Revoke the journal's end, and the answers that led to it, if any did."""
        if ended.ask is not None:
            journal.append({"kind": "reopen"})
            return ended
        answers = [e for e in drop_revoked(journal.entries) if e["kind"] not in NO_ANSWERS]
        asked = [(e["kind"].removesuffix("_repair"), e["round"], e["seat"]) for e in answers]
        entry = {"kind": "reopen", "again": asked[-2:].count(asked[-1])}  # a repair at most
        journal.append(entry)
        # `append` writes alone; the replay below reads the entries.
        journal.entries.append(entry)
        return self._replay(journal)

    def _name_environment(self, journal: Journal) -> None:
        """Note in the journal if it is continued in another environment than before."""
        now = dict(self._environment())
        named = [e for e in (journal.head, *journal.entries) if "environment" in e]
        before = named[-1]["environment"] if named else {}
        if before == now:
            return
        journal.append({"kind": "reopen", "environment": now})
        changed = ", ".join(
            f"{key} {before.get(key, '-')} -> {now.get(key, '-')}"
            for key in sorted(before.keys() | now.keys())
            if before.get(key) != now.get(key)
        )
        self.warn(
            f"goes on in another environment ({changed}): its bytes may differ from a rerun's"
        )

    def _circumstances(self) -> dict[str, Any]:
        """Return further entries of a journal's head: wording and environment."""
        variant = self.condition.variant(self.index)
        wording = {"variant": variant.name, "family": variant.family} if variant else {}
        environment = dict(self._environment())
        return {**wording, "environment": environment} if environment else wording

    def _environment(self) -> Mapping[str, str]:
        condition = self.condition
        return self.caller.model.environment(condition.models, condition.constrained)

    async def _converse(self, conversation: Conversation[Any], journal: Journal) -> None:
        written = sum(entry["kind"] == "round" for entry in journal.entries)
        written = self._keep_up(conversation, journal, written)
        replies: list[Reply] = []
        while (ask := conversation.ask) is not None:
            await self.trial.enter(ask.chat.model)
            try:
                answer = await self.caller.ask(ask.chat, self._labels(ask))
            except CallError as error:
                journal.append(make_failure_entry(ask, error.failure, error.detail))
                return
            except (BudgetSpent, DamagedJournal, Stopped, OSError):  # no fault of this call
                raise
            # A bug ends this replicate alone; the journal names it, and others go on.
            except Exception as bug:
                journal.append(make_failure_entry(ask, Failure.BUG, describe_bug(bug)))
                self.complain(bug)
                return
            reply = answer.response.reply
            if self.condition.reading == "lenient":
                reply = separate_reasoning(reply)
            entry = conversation.answer(reply)
            # First of all, since it is paid for. A kill before the log's line below leaves the
            # attempt as interrupted: the budget then counts it twice, never too little.
            journal.append(entry)
            read = classify_failure(reply, self.condition.reading) if "problem" in entry else "ok"
            self.caller.note_answer(ask.chat, self._labels(ask), answer, read)
            self.observe(entry)
            # An answer and that to its repair belong to one turn.
            replies = [*replies, reply] if ask.kind.endswith("_repair") else [reply]
            end = conversation.end or {}
            if end.get("status") == "failed":
                self.trial.note_failure(ask.chat.model, end["reason"])
            elif "problem" not in entry or ask.kind.endswith("_repair"):
                await self._note_pass(ask, replies)
            # After the answer's entry: on replay a round follows from the answers before it.
            written = self._keep_up(conversation, journal, written)
        assert conversation.end is not None
        journal.append(conversation.end)

    def _shows_all(self, kind: str) -> bool:
        """Return whether an answer of this kind shows that a model can give the others, too."""
        return self.condition.constrained or not kind.startswith("turn")

    async def _note_pass(self, ask: Ask, replies: Sequence[Reply]) -> None:
        """Note that the model passed a question; where that is a turn, have it vote first."""
        model = ask.chat.model
        if self._shows_all(ask.kind):
            self.trial.note_pass([model])
        elif self.trial.take_vote(model):
            try:
                said = await rehearse_vote(
                    self.condition, self.index, ask, replies, self.caller, self.observe
                )
            except UnreadVote as unread:
                self.trial.note_failure(model, unread.reason, str(unread))
            else:
                self.trial.note_pass([model])
                if said:
                    self.warn(said)

    def _keep_up(self, conversation: Conversation[Any], journal: Journal, written: int) -> int:
        """Journal the rounds that are over; return how many are written."""
        for entry in conversation.rounds[written:]:
            journal.append(entry)
            self.observe(entry)
        return len(conversation.rounds)

    def _inherit(self, journal: Journal, ended: bool) -> None:
        """Copy the prefix, or the part that a kill left out; existing entries must be the same."""
        try:
            prefix = self.prefix()
        except MissingBase:
            if ended:
                return  # it needs its base no more
            raise
        # A kill may have cut the copying short: what is there must be the beginning of the prefix.
        existing = journal.calls[: len(prefix)]
        if existing != [{**entry, "inherited": True} for entry in prefix[: len(existing)]]:
            raise DamagedJournal(
                f"journal {journal.path}: its base has changed since it branched; move it away to "
                "branch afresh"
            )
        if ended:
            return
        for entry in prefix[len(existing) :]:
            inherited = {**entry, "inherited": True}
            journal.append(inherited)
            journal.entries.append(inherited)

    def _replay(self, journal: Journal) -> Conversation[Any]:
        conversation = open_conversation(self.condition, self.index)
        try:
            for _ in replay_answers(conversation, journal.entries):
                pass
        except ReadDifferently as problem:
            raise DamagedJournal(
                f"journal {journal.path}, {problem}; move the file away to start the replicate "
                "afresh"
            ) from None
        return conversation

    def _labels(self, ask: Ask) -> dict[str, Any]:
        """Return the labels of a call in the log."""
        return {"replicate": self.index, "call": ask.kind, "round": ask.round, "seat": ask.seat}
