"""The prompts: pure functions of scenario, seat, window and state table.

The same inputs give the same bytes. What a member wrote appears only as a JSON string on a line
that the prompt itself begins, with line breaks and control characters flattened: it can open no
section, forge no seat label and end no quotation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import Template

from plenum.base.text import flatten
from plenum.committee import state as stateline
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.models import Message
from plenum.scenarios import Scenario

REPAIR = (
    "Your previous answer had no valid STATE line ($problem). Answer with the corrected STATE "
    "line and nothing else, in this form:\n$state_format"
)
REPAIR_JSON = (
    "Your previous answer was not the JSON object that was asked for ($problem). Answer with "
    "that object and nothing else:\n$form"
)

NOT_SHOWN = "## Recent arguments\nArguments are not shown."
LAST_ROUND = (
    " It is the final round: say plainly which option you favour now, and name the one doubt "
    "that weighs most."
)


@dataclass(frozen=True)
class Remark:
    """An argument in the window, under its speaker's label."""

    label: str
    argument: str

    @staticmethod
    def of(label: str, argument: str) -> "Remark":
        """A remark whose argument is flattened to one line."""
        return Remark(label, flatten(argument))

    @cached_property
    def line(self) -> str:
        """The remark as the prompt quotes it; it is read by every seat for some rounds."""
        return f"{self.label}: {json.dumps(self.argument, ensure_ascii=False)}"


Window = Sequence[Remark]
StateTable = Mapping[str, stateline.State]
"""The last state of each seat that has spoken, by seat name."""


def turn(
    condition: CommitteeCondition, seat: Seat, window: Window, table: StateTable, number: int = 1
) -> tuple[Message, ...]:
    """What a seat reads when it is its turn to speak in a round, by the round's number."""
    task = (
        f"## Your turn\nYou are {seat.label}.{_round(condition, number)} "
        "Give your argument, then your STATE line:\n"
        f"{stateline.example(condition.scenario.labels)}"
    )
    return _messages(condition, seat, window, table, task)


def ballot(
    condition: CommitteeCondition, seat: Seat, window: Window, table: StateTable
) -> tuple[Message, ...]:
    """What a seat reads when it votes in private."""
    over = "The discussion is over. " if condition.protocol.interaction else ""
    task = (
        f"## Private ballot\nYou are {seat.label}. {over}Nobody sees your vote. "
        f"Answer with one JSON object and nothing else, no argument and no STATE line:\n"
        f"{ballot_form(condition.scenario.labels)}"
    )
    return _messages(condition, seat, window, table, task)


def clerk(ballots: Sequence[Mapping[str, object]], labels: tuple[str, ...]) -> tuple[Message, ...]:
    """What the clerk reads: all ballots, nothing of the discussion."""
    lines = "\n".join(json.dumps(vote) for vote in ballots)
    return (
        Message("system", "You are the clerk of a committee. You count its ballots."),
        Message(
            "user",
            f"The private ballots, one a line:\n{lines}\n\n"
            "Find the option that more than half of the ballots name. If there is none, the "
            'decision is "NONE" and majority_count the largest number of votes for one option. '
            f"Answer with one JSON object and nothing else:\n{clerk_form(labels)}",
        ),
    )


def repair(problem: str, labels: tuple[str, ...]) -> Message:
    """The one request that follows a malformed STATE line."""
    text = Template(REPAIR).substitute(problem=problem, state_format=stateline.example(labels))
    return Message("user", text)


def repair_json(problem: str, form: str) -> Message:
    """The one request that follows a malformed ballot or count."""
    return Message("user", Template(REPAIR_JSON).substitute(problem=problem, form=form))


def ballot_form(labels: tuple[str, ...]) -> str:
    """The form of a ballot."""
    return f'{{"decision": {_choices(labels)}, "confidence": NN}}'


def clerk_form(labels: tuple[str, ...]) -> str:
    """The form of the clerk's answer."""
    return f'{{"decision": {_choices((*labels, "NONE"))}, "majority_count": N, "total": N}}'


def _choices(labels: tuple[str, ...]) -> str:
    return "|".join(f'"{label}"' for label in labels)


def _round(condition: CommitteeCondition, number: int) -> str:
    """The line that says which round it is, where the protocol has one."""
    if not condition.protocol.round_lines:
        return ""
    last = LAST_ROUND if number == condition.rounds else ""
    return f" This is round {number} of {condition.rounds}.{last}"


def _messages(
    condition: CommitteeCondition, seat: Seat, window: Window, table: StateTable, task: str
) -> tuple[Message, ...]:
    shown = condition.seats if condition.protocol.interaction else (seat,)
    said = _arguments(window) if condition.protocol.feedback else NOT_SHOWN
    dynamic = f"{said}\n\n{_table(condition, shown, table)}\n\n{task}"
    static = _static(condition.scenario)
    return (
        Message("system", _system(condition, seat)),
        Message("user", f"{static}\n\n{dynamic}", shared=len(static)),
    )


@lru_cache(maxsize=256)
def _static(scenario: Scenario) -> str:
    return f"## Scenario\n{scenario.packet}"


def _system(condition: CommitteeCondition, seat: Seat) -> str:
    return _fill(
        condition.preamble,
        len(condition.seats),
        condition.protocol.argument_words,
        condition.scenario.labels,
        seat.label,
        seat.mandate,
    )


@lru_cache(maxsize=1024)
def _fill(
    preamble: str, members: int, words: int, labels: tuple[str, ...], label: str, mandate: str
) -> str:
    text = Template(preamble).safe_substitute(
        members=members,
        argument_words=words,
        labels=", ".join(labels),
        state_format=stateline.example(labels),
    )
    seat = f"\n\nYour seat: {label}"
    return text + seat + (f"\nYour mandate: {mandate}" if mandate else "")


def _arguments(window: Window) -> str:
    if not window:
        return "## Recent arguments\nNobody has spoken yet."
    return "## Recent arguments\n" + "\n".join(remark.line for remark in window)


def _table(condition: CommitteeCondition, seats: Sequence[Seat], table: StateTable) -> str:
    head = f"| seat | {' | '.join(condition.scenario.labels)} | confidence | tags |"
    rows = ["## Committee table", head]
    for seat in seats:
        state = table.get(seat.name)
        cells = state.cells if state else _unspoken(condition)
        rows.append(f"| {seat.label} | {cells} |")
    return "\n".join(rows)


def _unspoken(condition: CommitteeCondition) -> str:
    """The cells of a seat that has not spoken."""
    options = len(condition.scenario.labels)
    if condition.protocol.initial_state == "even":
        return stateline.even(options).cells
    return " | ".join("-" for _ in range(options + 2))
