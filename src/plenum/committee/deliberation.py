"""The windowed-summary deliberation as a state machine that does no input or output.

Whoever conducts it calls the model for :attr:`Deliberation.ask` and hands the reply to
:meth:`Deliberation.answer`, which returns the journal entry that the reply amounts to. Resuming a
killed run, and branching off another one, is the same loop with recorded replies.
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from plenum.base.errors import UserError
from plenum.calls.chat import Reply
from plenum.calls.conversation import Ask, Conversation, ConversationFailed, Entry
from plenum.committee import (
    answer_forms,
    ballots,
    moderator,
    prompts,
    state_reading,
    vote_reading,
)
from plenum.committee import state as stateline
from plenum.committee.bounded_step import bound_step
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.failures import classify_failure
from plenum.committee.placebo import write_placebo
from plenum.committee.scripted import write_turn
from plenum.committee.state import Malformed


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
        # Last, since it begins to play, which reads the fields above.
        super().__init__(condition, replicate)

    def _play(self) -> Generator[Ask, Reply, Entry]:
        for number in range(1, self._condition.rounds + 1):
            yield from self._round(number)
        votes, answers = [], []
        # In the speaking order: the position of a call names its seed, and replays meet the same
        # one.
        for seat in self._condition.asked:
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

    def _round(self, number: int) -> Generator[Ask, Reply, None]:
        """Let every seat speak; what it said reaches the others at once, or after the round."""
        condition, said = self._condition, dict[str, Entry]()
        at_once = condition.protocol.order == "simultaneous"
        for seat in condition.speaking_order:
            if seat in condition.asked:
                said[seat.name] = yield from self._turn(number, seat)
            # A scripted seat makes no call and no entry: the case says again what it said.
            elif scripted := write_turn(condition.scenario, condition.protocol.majority, number):
                said[seat.name] = scripted
            if seat.name in said and not at_once:
                self._hear(number, seat, said[seat.name])
        if at_once:
            # As listed, not as asked: so no prompt of the next round shows the order of calls.
            for seat in (s for s in condition.seats if s.name in said):
                self._hear(number, seat, said[seat.name])
        if condition.moderated:
            yield from self._summary(number, said)

    def _decision(
        self, votes: list[ballots.Ballot], count: ballots.Count, clerk: ballots.Count | None
    ) -> str:
        """Decide by the protocol's rule."""
        condition = self._condition
        states = tuple(self._table[seat.name] for seat in condition.asked)
        voted, labels = tuple(vote.decision for vote in votes), condition.scenario.labels
        ended = ballots.EndedDeliberation(labels, voted, states, count, clerk)
        rule = condition.protocol.decision
        decided = ballots.RULES[rule](ended)
        if decided not in (*labels, ballots.NONE):
            raise UserError(f"protocol.decision: {rule} decided {decided!r}, which is no option")
        return decided

    def _turn(self, number: int, seat: Seat) -> Generator[Ask, Reply, Entry]:
        labels, frame = self._condition.scenario.labels, self._condition.frame
        messages = prompts.turn_prompt(self._read, seat, *self._select_seen(seat), number)
        held = answer_forms.turn_schema(labels) if self._condition.constrained else None
        ask = self._call("turn", number, seat.name, seat.model, messages, held)
        example = self._condition.fixed_values["state_format"]
        turn = yield from self._ask(
            ask,
            lambda text, repaired: self._bound(seat, self._parse_turn(text, repaired, seat)),
            lambda p: prompts.repair_prompt(p, example, frame.repair),
        )
        assert turn is not None
        return turn

    def _bound(self, seat: Seat, turn: Entry) -> Entry:
        """Bound how far a turn moves its seat's state; what was stated stays in the entry."""
        protocol, labels = self._condition.protocol, self._condition.scenario.labels
        last = self._table.get(seat.name)
        # A first statement has nothing to move from, but where the table showed an even state.
        if last is None and protocol.initial_state == "even":
            last = stateline.make_even_state(len(labels))
        if last is None or protocol.step == 1:
            return turn
        state = bound_step(last, turn["state"], protocol.step)
        return turn if state == turn["state"] else {**turn, "state": state, "stated": turn["state"]}

    def _hear(self, number: int, seat: Seat, turn: Entry) -> None:
        """Take a turn into the table and, unless a moderator sums it up, into the window."""
        self._table[seat.name] = turn["state"]
        if not self._condition.moderated:
            self._window(seat).append(self._remark(number, seat, turn["argument"]))

    def _remark(self, number: int, seat: Seat, argument: str) -> str:
        condition = self._condition
        if condition.placebo:  # drawn for all replicates alike: else it would drive them apart
            drawn_for = (condition.scenario.id, condition.seed, number, seat.name)
            argument = write_placebo(condition.placebo, len(argument.split()), *drawn_for)
        return prompts.quote_remark(seat.label, argument, number, condition.frame.remark)

    def _summary(self, number: int, said: dict[str, Entry]) -> Generator[Ask, Reply, None]:
        """Have the moderator, who is the clerk's model, sum up; that is all the window holds."""
        condition, window = self._condition, self._windows[""]
        spoke = [seat for seat in condition.seats if seat.name in said]
        # As listed: simultaneous turns are summed up without the order of calls.
        remarks = [self._remark(number, s, said[s.name]["argument"]) for s in spoke]
        messages = moderator.summary_prompt(remarks, window, condition.protocol.argument_words)
        ask = self._call("summary", number, moderator.NAME, condition.clerk, messages)
        read = yield from self._ask(ask, moderator.read_summary, moderator.repair_summary_prompt)
        assert read is not None
        form = condition.frame.remark
        # Each summary is of the whole discussion, so that an older one would say things twice.
        window.clear()
        window.append(prompts.quote_remark(moderator.LABEL, read["summary"], number, form))

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
                # The repair brings a state alone: this answer's argument is the turn's.
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
        """Return the window and the states that a seat sees: its own where it is alone."""
        table = self._table
        if self._condition.protocol.alone:
            table = {name: state for name, state in table.items() if name == seat.name}
        return tuple(self._window(seat)), table

    def _window(self, seat: Seat) -> deque[str]:
        """Return the common window, or the seat's own one where it is alone."""
        return self._windows[seat.name if self._condition.protocol.alone else ""]

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
        # With its reasons, which the published clerk reads too.
        return ballots.read_contents(self._entry["text"])

    def _clerk(self, votes: list[dict[str, Any]]) -> Generator[Ask, Reply, ballots.Count | None]:
        """Ask the clerk for its count; ``None`` if it stays unreadable, since the tally decides."""
        condition, labels = self._condition, self._condition.scenario.labels
        known = prompts.collect_values(
            self._read, condition.seats, tuple(self._windows[""]), self._table
        )
        messages = prompts.clerk_prompt(votes, labels, condition.frame, known)
        members = len(condition.asked)
        held = answer_forms.make_count_schema(labels, members) if condition.constrained else None
        ask = self._call("clerk", condition.rounds, "clerk", condition.clerk, messages, held)
        parse = vote_reading.read_count if self._lenient else ballots.parse_count
        try:
            count: ballots.Count = yield from self._json(
                ask, parse, ballots.clerk_form(labels), condition.frame.repair_clerk
            )
        # The tally needs no clerk: a count that can't be read ends no replicate.
        except ConversationFailed:
            return None
        return count

    def _json(
        self, ask: Ask, parse: Callable[..., Any], form: str, template: str
    ) -> Generator[Ask, Reply, Any]:
        kind, labels = ask.kind, self._condition.scenario.labels

        def parse_object(text: str, repaired: bool) -> Entry:
            # Strict reading has one form, and so none to note.
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
