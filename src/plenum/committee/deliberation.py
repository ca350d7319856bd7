"""The windowed-summary deliberation as a state machine that does no input or output.

Whoever conducts it calls the model for :attr:`Deliberation.ask` and hands the reply to
:meth:`Deliberation.answer`, which returns the journal entry that the reply amounts to. Resuming a
killed run, and branching off another one, is the same loop with recorded replies.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from plenum.committee import answer_forms, ballots, prompts, state_reading, vote_reading
from plenum.committee import state as stateline
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.failures import classify_failure
from plenum.committee.state import Malformed
from plenum.models import Ask, Conversation, ConversationFailed, Entry, Reply


class Deliberation(Conversation[CommitteeCondition]):
    """One replicate of a condition, from its first turn to its decision.

    Its :attr:`end` has the status, the decision and the votes.
    """

    def __init__(self, condition: CommitteeCondition, replicate: int) -> None:
        self._read = condition.as_read_by(replicate)
        self._form = ballots.FORMS[condition.frame.answers]
        self._lenient = condition.reading == "lenient"
        self._windows: defaultdict[str, deque[str]] = defaultdict(
            lambda: deque(maxlen=condition.protocol.window)
        )
        self._table: dict[str, stateline.State] = {}
        super().__init__(condition, replicate)

    def _play(self) -> Generator[Ask, Reply, Entry]:
        for number in range(1, self._condition.rounds + 1):
            for seat in self._condition.speaking_order:
                yield from self._turn(number, seat)
        votes, answers = [], []
        for seat in self._condition.speaking_order:
            votes.append((yield from self._ballot(seat)))
            answers.append(self._format_ballot(votes[-1]))
        count = ballots.tally(votes)
        clerk = yield from self._clerk(answers)
        return {
            "kind": "end",
            "status": "completed",
            "decision": self._decision(votes, count, clerk),
            "votes": count.majority_count,
            "total": count.total,
            "clerk": clerk.decision if clerk else None,
            "clerk_agrees": clerk == count,
        }

    def _decision(
        self, votes: list[ballots.Ballot], count: ballots.Count, clerk: ballots.Count | None
    ) -> str:
        """Decide by the protocol's rule."""
        condition = self._condition
        states = tuple(self._table[seat.name] for seat in condition.speaking_order)
        voted, labels = tuple(vote.decision for vote in votes), condition.scenario.labels
        ended = ballots.EndedDeliberation(labels, voted, states, count, clerk)
        return ballots.RULES[condition.protocol.decision](ended)

    def _turn(self, number: int, seat: Seat) -> Generator[Ask, Reply, None]:
        labels, frame = self._condition.scenario.labels, self._condition.frame
        messages = prompts.turn_prompt(self._read, seat, *self._select_seen(seat), number)
        held = answer_forms.turn_schema(labels) if self._condition.constrained else None
        ask = self._call("turn", number, seat.name, seat.model, messages, held)
        example = self._condition.fixed_values["state_format"]
        turn = yield from self._ask(
            ask,
            lambda text, repaired: self._parse_turn(text, repaired, seat),
            lambda p: prompts.repair_prompt(p, example, frame.repair),
        )
        assert turn is not None
        self._table[seat.name] = turn["state"]
        remark = prompts.quote_remark(seat.label, turn["argument"], number, frame.remark)
        self._window(seat).append(remark)

    def _parse_turn(self, text: str, repaired: bool, seat: Seat) -> Entry:
        """Parse a turn's argument and state; of a repair the state alone."""
        if self._condition.constrained:
            return self._parse_constrained(text)
        labels, noted = self._condition.scenario.labels, dict[str, Any]()
        try:
            if self._lenient:
                others = [other.label for other in self._condition.seats if other != seat]
                argument, state, forms = state_reading.read_answer(text, labels, others)
                noted = _note_forms(forms)
            else:
                argument, state = stateline.parse_answer(text, len(labels), self._form.closed)
        except Malformed as problem:
            if not repaired:
                problem.noted = {"argument": stateline.strip_state(text)}
            raise
        return noted | ({"state": state} if repaired else {"argument": argument, "state": state})

    def _parse_constrained(self, text: str) -> Entry:
        """Parse a constrained turn; ``even`` notes that all of its weights are zero."""
        labels = self._condition.scenario.labels
        argument, state, even = answer_forms.parse_turn(text, labels)
        entry = {"argument": argument, "state": state}
        return entry | {"even": True} if even else entry

    def _unread(self, ask: Ask, reply: Reply, problem: str) -> None:
        raise ConversationFailed(ask, classify_failure(reply, self._condition.reading), problem)

    def _select_seen(self, seat: Seat) -> tuple[prompts.Window, prompts.StateTable]:
        """Return the window and the states that a seat sees: its own without interaction."""
        table = self._table
        if not self._condition.protocol.interaction:
            table = {name: state for name, state in table.items() if name == seat.name}
        return tuple(self._window(seat)), table

    def _window(self, seat: Seat) -> deque[str]:
        """Return the common window, or the seat's own one without interaction."""
        return self._windows["" if self._condition.protocol.interaction else seat.name]

    def _ballot(self, seat: Seat) -> Generator[Ask, Reply, ballots.Ballot]:
        labels, frame = self._condition.scenario.labels, self._condition.frame
        messages = prompts.ballot_prompt(self._read, seat, *self._select_seen(seat))
        held = answer_forms.ballot_schema(labels) if self._condition.constrained else None
        ask = self._call("ballot", self._condition.rounds, seat.name, seat.model, messages, held)
        form = ballots.ballot_form(labels)
        parse = vote_reading.read_ballot if self._lenient else ballots.parse_ballot
        vote: ballots.Ballot = yield from self._json(ask, parse, form, frame.repair_ballot)
        return vote

    def _format_ballot(self, vote: ballots.Ballot) -> dict[str, Any]:
        """Return the last ballot in the form that the clerk reads."""
        if self._form.closed:
            return dataclasses.asdict(vote)
        return ballots.read_contents(self._entry["text"])

    def _clerk(self, votes: list[dict[str, Any]]) -> Generator[Ask, Reply, ballots.Count | None]:
        """Ask the clerk for its count; ``None`` if it stays unreadable, since the tally decides."""
        condition, labels = self._condition, self._condition.scenario.labels
        known = prompts.collect_values(
            self._read, condition.seats, tuple(self._windows[""]), self._table
        )
        messages = prompts.clerk_prompt(votes, labels, condition.frame, known)
        members = len(condition.seats)
        held = answer_forms.make_count_schema(labels, members) if condition.constrained else None
        ask = self._call("clerk", condition.rounds, "clerk", condition.clerk, messages, held)
        parse = vote_reading.read_count if self._lenient else ballots.parse_count
        try:
            count: ballots.Count = yield from self._json(
                ask, parse, ballots.clerk_form(labels), condition.frame.repair_clerk
            )
        except ConversationFailed:
            return None
        return count

    def _json(
        self, ask: Ask, parse: Callable[..., Any], form: str, template: str
    ) -> Generator[Ask, Reply, Any]:
        kind, labels = ask.kind, self._condition.scenario.labels

        def parse_object(text: str, repaired: bool) -> Entry:
            if not self._lenient:
                return {kind: parse(text, labels, self._form)}
            value, forms = parse(text, labels)
            return {kind: value} | _note_forms(forms)

        read = yield from self._ask(
            ask,
            parse_object,
            lambda problem: prompts.repair_json_prompt(problem, form, template),
        )
        assert read is not None
        return read[kind]


def _note_forms(forms: Sequence[str]) -> Entry:
    """Note how an answer differs from the prescribed form, if it does."""
    return {"forms": list(forms)} if forms else {}
