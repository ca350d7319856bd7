"""Calls of models: admission, retries, the call log, and errors that stop all further calls.

Replicates and the judge of meaning call through a :class:`Caller`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from plenum.base.errors import Stopped
from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.calls.admission import Ticket
from plenum.calls.call_errors import CallError
from plenum.calls.call_log import CallLog
from plenum.calls.chat import Answer, Attempt, Chat, ChatModel
from plenum.calls.retry import Policy, call_with_retries
from plenum.records.failures import Failure

_POINTLESS = {Failure.AUTH: "the key was refused", Failure.BUDGET: "the account's quota is used up"}
_NOT_FOUND = 404


@dataclass(frozen=True)
class Caller:
    """The caller of one replicate, or of one question; it makes one call at a time.

    Parameters
    ----------
    model
        What answers.
    policy
        How often and how patiently a call is tried.
    ticket
        Admission to the sweep's budget and the provider's limits.
    log
        Where attempts are noted; ``None`` where no log is kept.
    """

    model: ChatModel
    policy: Policy
    ticket: Ticket
    log: CallLog | None = None

    async def ask(
        self,
        chat: Chat,
        labels: Mapping[str, Any],
        failed: Callable[[Attempt], object] = lambda attempt: None,
    ) -> Answer:
        """Call until an answer comes, or none can come any more.

        Parameters
        ----------
        labels
            What names the call in the log.
        failed
            Called with each attempt that failed.

        Raises
        ------
        CallError
            The call failed for good; others may not.
        BudgetSpent
            It doesn't fit the budget.
        ProviderUnavailable
            Nothing more is sent to the model's provider.
        Stopped
            A key was refused, an account is exhausted, or there is no such model.
        """

        def note_failed(attempt: Attempt) -> None:
            # A batch that is still out hasn't failed: the next run reads its answer.
            if self.ticket.continues(attempt):
                return
            self._append(chat, labels, attempt, {"outcome": attempt.outcome, "answered": False})
            failed(attempt)

        try:
            return await call_with_retries(
                self.model,
                replace(chat, session=self.ticket.session),
                self.policy,
                self.ticket,
                note_failed,
                lambda number: self._note_sent(chat, labels, number),
            )
        except CallError as error:
            # First whether the provider is gone, which makes replicates pending and not failed.
            await self.ticket.give_up(chat.model, error, self.policy.max_attempts)
            if why := _pointless(error):
                raise Stopped(f"model {chat.model}: {why}: {error.detail}") from None
            raise

    def note_answer(
        self,
        chat: Chat,
        labels: Mapping[str, Any],
        answer: Answer,
        outcome: str = "ok",
        journaled: bool = True,
    ) -> None:
        """Log the attempt that was answered; ``outcome`` says how the answer was read.

        One that no journal has is logged with its usage, as one is whose answer was lost.

        Raises
        ------
        Stopped
            It doesn't say its tokens, and the budget counts them.
        """
        response = answer.response
        more: dict[str, Any] = {}
        if response.fingerprint:
            more["fingerprint"] = response.fingerprint
        if response.counted:
            more["tokens"] = "counted"
        known = {**vars(response), **vars(response.reply)}
        for name in ("answered_by", "host", "cached", "written", "dropped", "logprobs"):
            if value := known[name]:
                more[name] = value
        if not journaled:  # a budget that is read from logs and journals finds it here alone
            reply = response.reply
            tokens = reply.tokens_in + reply.tokens_out
            more |= {"tokens_at_most": tokens, "cost_at_most": reply.cost}
        said = {"outcome": outcome, "answered": journaled}
        self._append(chat, labels, answer.attempt, said, more)
        # Only now, when the answer is journaled: it was paid for.
        if response.counted and self.ticket.counts_tokens:
            raise Stopped(
                f"model {chat.model}: its server says no numbers of tokens, which "
                "budget.dollars and budget.tokens need; limit budget.calls instead"
            )

    def _note_sent(self, chat: Chat, labels: Mapping[str, Any], number: int) -> None:
        if self.log is not None:
            unanswered = {"answered": False, "status": None, "latency_s": 0.0}
            # At most, since a kill may leave this as the only line about a call that was billed.
            most = self.ticket.at_most()
            self.log.note_sent({**self._name(chat, labels, number), **unanswered, **most})

    def _append(
        self,
        chat: Chat,
        labels: Mapping[str, Any],
        attempt: Attempt,
        outcome: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        if self.log is None:
            return
        rare: dict[str, Any] = {"server": attempt.server} if attempt.server else {}
        if not attempt.reached:  # it counts for no budget
            rare["reached"] = False
        billing = self.ticket.describe_billing(attempt) if more is None else more
        self.log.append(
            {
                **self._name(chat, labels, attempt.number),
                **outcome,
                "status": attempt.status,
                # Microseconds: the clock is no better, and more digits fill the log.
                "latency_s": round(attempt.latency_s, 6),
                "at": datetime.fromtimestamp(attempt.started, UTC).isoformat(),
                "detail": attempt.detail,
                **rare,
                **billing,
            }
        )

    def _name(self, chat: Chat, labels: Mapping[str, Any], number: int) -> dict[str, Any]:
        name = f"{chat.seed:016x}-{number}"
        named = {"model": chat.model, "id": name, "attempt": number}
        return {**labels, **named, **self.ticket.labels}


def _pointless(error: CallError) -> str:
    """Return the reason why no further call to the model can succeed; empty if one may."""
    return "not found" if error.status == _NOT_FOUND else _POINTLESS.get(error.failure, "")


def describe_bug(bug: Exception) -> str:
    """Describe an error of the code in one printable line without secrets."""
    return flatten(redact(f"{type(bug).__name__}: {bug}"))
