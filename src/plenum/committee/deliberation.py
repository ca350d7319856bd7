"""The windowed-summary deliberation as a state machine that does no input or output.

Whoever conducts it calls the model for :attr:`Deliberation.ask` and hands the reply to
:meth:`Deliberation.answer`, which returns the journal entry that the reply amounts to. Resuming a
killed run, and branching off another one, is the same loop with recorded replies.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Callable, Generator
from typing import Any

from plenum.committee import ballots, prompts
from plenum.committee import state as stateline
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.failures import unread
from plenum.committee.state import Malformed
from plenum.models import Message, Reply
from plenum.models.conversation import (
    Ask,
    ConversationFailed,
    Entry,
    ScriptedConversation,
    quoted,
)


class Deliberation(ScriptedConversation[CommitteeCondition]):
    """One replicate of a condition, from its first turn to its decision.

    Attributes
    ----------
    ask
        The call that is due; ``None`` when the deliberation is over.
    end
        The last entry, with status, decision and votes; ``None`` while it goes on.
    """

    def __init__(self, condition: CommitteeCondition, replicate: int) -> None:
        self._read = condition.as_read_by(replicate)
        self._windows: defaultdict[str, deque[prompts.Remark]] = defaultdict(
            lambda: deque(maxlen=condition.protocol.window)
        )
        self._table: dict[str, stateline.State] = {}
        super().__init__(condition, replicate)

    def _play(self) -> Generator[Ask, Reply, Entry]:
        for number in range(1, self._condition.rounds + 1):
            for seat in self._condition.speaking_order:
                yield from self._turn(number, seat)
        votes = []
        for seat in self._condition.speaking_order:
            votes.append((yield from self._ballot(seat)))
        count = ballots.tally(votes)
        clerk = yield from self._clerk(votes)
        return {
            "kind": "end",
            "status": "completed",
            "decision": count.decision,
            "votes": count.majority_count,
            "total": count.total,
            "clerk": clerk.decision if clerk else None,
            "clerk_agrees": clerk == count,
        }

    def _turn(self, number: int, seat: Seat) -> Generator[Ask, Reply, None]:
        labels = self._condition.scenario.labels
        messages = prompts.turn(self._read, seat, *self._known(seat))
        ask = self._call("turn", number, seat.name, seat.model, messages)
        reply = yield ask
        try:
            argument, state = stateline.parse(reply.text, len(labels))
            self._note(ask, reply, argument=argument, state=state)
        except Malformed as problem:
            argument = stateline.without_state(reply.text)
            self._note(ask, reply, argument=argument, problem=str(problem))
            follow_up = (quoted(reply), prompts.repair(str(problem), labels))
            ask = self._call("turn_repair", number, seat.name, seat.model, messages + follow_up)
            state = yield from self._repaired(ask, self._read_state, "state")
        self._table[seat.name] = state
        self._window(seat).append(prompts.Remark.of(seat.label, argument))

    def _known(self, seat: Seat) -> tuple[prompts.Window, prompts.StateTable]:
        """What a seat sees of the discussion: all of it, or its own part."""
        table = self._table
        if not self._condition.protocol.interaction:
            table = {name: state for name, state in table.items() if name == seat.name}
        return tuple(self._window(seat)), table

    def _window(self, seat: Seat) -> deque[prompts.Remark]:
        """The common window; without interaction each seat has its own."""
        return self._windows["" if self._condition.protocol.interaction else seat.name]

    def _read_state(self, text: str) -> stateline.State:
        return stateline.parse(text, len(self._condition.scenario.labels))[1]

    def _repaired(
        self, ask: Ask, read: Callable[[str], Any], key: str
    ) -> Generator[Ask, Reply, Any]:
        reply = yield ask
        try:
            value = read(reply.text)
        except Malformed as problem:
            self._note(ask, reply, problem=str(problem))
            raise ConversationFailed(ask, unread(reply), str(problem)) from None
        self._note(ask, reply, **{key: value})
        return value

    def _ballot(self, seat: Seat) -> Generator[Ask, Reply, ballots.Ballot]:
        labels = self._condition.scenario.labels
        messages = prompts.ballot(self._read, seat, *self._known(seat))
        vote: ballots.Ballot = yield from self._json(
            "ballot",
            seat.name,
            seat.model,
            messages,
            lambda text: ballots.parse_ballot(text, labels),
            prompts.ballot_form(labels),
        )
        return vote

    def _clerk(self, votes: list[ballots.Ballot]) -> Generator[Ask, Reply, ballots.Count | None]:
        """The clerk's count; ``None`` where it stays unreadable, since the tally decides."""
        labels = self._condition.scenario.labels
        messages = prompts.clerk([dataclasses.asdict(vote) for vote in votes], labels)
        try:
            count: ballots.Count = yield from self._json(
                "clerk",
                "clerk",
                self._condition.clerk,
                messages,
                lambda text: ballots.parse_count(text, labels),
                prompts.clerk_form(labels),
            )
        except ConversationFailed:
            return None
        return count

    def _json(
        self,
        kind: str,
        seat: str,
        model: str,
        messages: tuple[Message, ...],
        read: Callable[[str], Any],
        form: str,
    ) -> Generator[Ask, Reply, Any]:
        ask = self._call(kind, self._condition.rounds, seat, model, messages)
        reply = yield ask
        try:
            value = read(reply.text)
        except Malformed as problem:
            self._note(ask, reply, problem=str(problem))
            follow_up = (quoted(reply), prompts.repair_json(str(problem), form))
            again = self._call(f"{kind}_repair", ask.round, seat, model, messages + follow_up)
            value = yield from self._repaired(again, read, kind)
            return value
        self._note(ask, reply, **{kind: value})
        return value
