"""The prompts: pure functions of scenario, seat, window, state table and frame.

The same inputs give the same bytes. What a member wrote appears only on a line that the prompt
itself begins, with line breaks and control characters flattened, in plenum's frame as a JSON
string: it can open no section, forge no seat label and end no quotation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import Template
from types import MappingProxyType

from plenum.base import flatten
from plenum.committee import state as stateline
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.constrained import turn_example
from plenum.committee.frame import PLENUM, Frame
from plenum.models import Message


@dataclass(frozen=True)
class Remark:
    """An argument in the window, under its speaker's label, in the form of a frame's remark."""

    label: str
    argument: str
    round: int = 0
    form: str = PLENUM.remark

    @staticmethod
    def of(label: str, argument: str, number: int = 0, form: str = PLENUM.remark) -> "Remark":
        """Make a remark whose argument is flattened to one line."""
        return Remark(label, flatten(argument), number, form)

    @cached_property
    def line(self) -> str:
        """The remark as prompts quote it for some rounds."""
        return Template(self.form).substitute(
            label=self.label,
            argument=self.argument,
            quoted=json.dumps(self.argument, ensure_ascii=False),
            round=self.round,
            round02=f"{self.round:02d}",
        )


Window = Sequence[Remark]
StateTable = Mapping[str, stateline.State]
"""The last state of each seat that has spoken, by seat name."""


def turn_prompt(
    condition: CommitteeCondition, seat: Seat, window: Window, table: StateTable, number: int = 1
) -> tuple[Message, ...]:
    """Write the messages that a seat reads when it is its turn to speak."""
    frame = condition.frame
    return _messages(condition, seat, window, table, frame.system, frame.turn, number)


def ballot_prompt(
    condition: CommitteeCondition, seat: Seat, window: Window, table: StateTable
) -> tuple[Message, ...]:
    """Write the messages that a seat reads when it votes in private."""
    frame = condition.frame
    task = frame.ballot if condition.protocol.interaction else frame.ballot_alone
    system = frame.ballot_system
    return _messages(condition, seat, window, table, system, task, condition.rounds)


def clerk_prompt(
    ballots: Sequence[Mapping[str, object]],
    labels: tuple[str, ...],
    frame: Frame = PLENUM,
    discussion: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Message, ...]:
    """Write the messages that the clerk reads: all ballots, and maybe the discussion."""
    lines = "\n".join(flatten(json.dumps(vote, ensure_ascii=False)) for vote in ballots)
    values = {**discussion, "ballots": lines, "clerk_form": clerk_form(labels)}
    return (
        Message("system", Template(frame.clerk_system).substitute()),
        Message("user", Template(frame.clerk).substitute(values)),
    )


def repair_prompt(problem: str, example: str, form: str = PLENUM.repair) -> Message:
    """Write the one request that follows a turn whose state can't be read."""
    return Message("user", Template(form).substitute(problem=problem, state_format=example))


def repair_json_prompt(problem: str, form: str, template: str = PLENUM.repair_ballot) -> Message:
    """Write the one request that follows a malformed ballot or count."""
    return Message("user", Template(template).substitute(problem=problem, form=form))


def turn_form(condition: CommitteeCondition) -> str:
    """Describe the form in which a turn gives its state, for prompts."""
    example = turn_example if condition.constrained else stateline.state_example
    return example(condition.scenario.labels)


@lru_cache(maxsize=256)
def ballot_form(labels: tuple[str, ...]) -> str:
    """Describe the form of a ballot, for prompts."""
    return f'{{"decision": {_choices(labels)}, "confidence": NN}}'


@lru_cache(maxsize=256)
def clerk_form(labels: tuple[str, ...]) -> str:
    """Describe the form of the clerk's answer, for prompts."""
    return f'{{"decision": {_choices((*labels, "NONE"))}, "majority_count": N, "total": N}}'


def _choices(labels: tuple[str, ...]) -> str:
    return "|".join(f'"{label}"' for label in labels)


def known_values(
    condition: CommitteeCondition, seats: Sequence[Seat], window: Window, table: StateTable
) -> dict[str, str]:
    """Collect the values of placeholders that all of these seats know."""
    labels = condition.scenario.labels
    return {
        "scenario": condition.scenario.named or condition.scenario.id,
        "labels": ", ".join(labels),
        "columns": " | ".join(labels),
        "order": ", ".join(seat.label for seat in condition.speaking_order),
        "members": str(len(condition.seats)),
        "argument_words": str(condition.protocol.argument_words),
        "k": str(condition.protocol.window),
        "rounds": str(condition.rounds),
        "state_format": turn_form(condition),
        "ballot_form": ballot_form(labels),
        "clerk_form": clerk_form(labels),
        "window": _quoted(condition, window),
        "table": "\n".join(_row(condition, seat, table.get(seat.name)) for seat in seats),
    }


def _quoted(condition: CommitteeCondition, window: Window) -> str:
    """Quote the arguments in the window, or the sentence that replaces an empty window."""
    if not condition.protocol.feedback:
        return Template(condition.frame.withheld).substitute()
    quoted = "\n".join(remark.line for remark in window)
    return quoted or Template(condition.frame.nothing).substitute()


def _round(condition: CommitteeCondition, number: int) -> dict[str, str]:
    """Collect the placeholders of a round: ``$round_line`` only if the protocol has one."""
    frame = condition.frame
    last = Template(frame.last).substitute() if number == condition.rounds else ""
    values = {"round": str(number), "rounds": str(condition.rounds), "last": last}
    line = Template(frame.round_line).substitute(values)
    return {**values, "round_line": line if condition.protocol.round_lines else ""}


def _messages(
    condition: CommitteeCondition,
    seat: Seat,
    window: Window,
    table: StateTable,
    system: str,
    task: str,
    number: int,
) -> tuple[Message, ...]:
    shown = condition.seats if condition.protocol.interaction else (seat,)
    mandate = _mandate(condition.frame, seat)
    values = {
        **known_values(condition, shown, window, table),
        "packet": condition.scenario.packet,
        "label": seat.label,
        "mandate": mandate,
        **_round(condition, number),
    }
    preamble = _preamble(
        condition.preamble,
        len(condition.seats),
        condition.protocol.argument_words,
        condition.scenario.labels,
        turn_form(condition),
    )
    rules = Template(system).substitute(preamble=preamble, label=seat.label, mandate=mandate)
    text = Template(task).substitute(values)
    before, packet, _ = text.partition(condition.scenario.packet)
    shared = len(before) + len(packet) if packet else 0  # what ends with it returns in other calls
    return Message("system", rules), Message("user", text, shared=shared)


def _mandate(frame: Frame, seat: Seat) -> str:
    return Template(frame.mandate).substitute(mandate=seat.mandate) if seat.mandate else ""


@lru_cache(maxsize=1024)
def _preamble(
    preamble: str, members: int, words: int, labels: tuple[str, ...], example: str
) -> str:
    return Template(preamble).safe_substitute(
        members=members,
        argument_words=words,
        labels=", ".join(labels),
        state_format=example,
    )


def _row(condition: CommitteeCondition, seat: Seat, state: stateline.State | None) -> str:
    """Write a seat's row of the committee table."""
    frame, options = condition.frame, len(condition.scenario.labels)
    if state is None and condition.protocol.initial_state == "even":
        state = stateline.even_state(options)
    if state is None:
        blanks = " | ".join("-" * options)
        return Template(frame.blank).substitute(label=seat.label, blanks=blanks)
    return _filled_row(frame.row, seat.label, state)


@lru_cache(maxsize=1024)
def _filled_row(row: str, label: str, state: stateline.State) -> str:
    first, second = state.tags
    return Template(row).substitute(
        label=label,
        cells=state.cells,
        pref=",".join(f"{p:.2f}" for p in state.pref),
        conf=state.conf,
        first_tag=first,
        second_tag=second,
    )
