"""The prompts: pure functions of scenario, seat, window, state table and frame.

The same inputs give the same bytes. What a member wrote appears only on a line that the prompt
itself begins, with line breaks and control characters flattened, in plenum's frame as a JSON
string: it can open no section, forge no seat label and end no quotation.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import Template
from types import MappingProxyType

from plenum.base.text import flatten
from plenum.calls.chat import Message
from plenum.committee import state as stateline
from plenum.committee.ballots import clerk_form
from plenum.committee.condition import CommitteeCondition, Seat
from plenum.committee.frame import PLENUM, Frame, fill
from plenum.committee.parts import describe_parts

Window = Sequence[str]
"""The latest arguments, each as :func:`quote_remark` writes it."""
StateTable = Mapping[str, stateline.State]
"""The last state of each seat that has spoken, by seat name."""


def quote_remark(label: str, argument: str, number: int = 0, form: str = PLENUM.remark) -> str:
    """Write an argument as the window shows it, flattened, in the form of a frame's remark."""
    said = flatten(argument)
    quoted, number02 = json.dumps(said, ensure_ascii=False), f"{number:02d}"
    return fill(form, label=label, argument=said, quoted=quoted, round=number, round02=number02)


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
    task = frame.ballot_alone if condition.protocol.alone else frame.ballot
    system = frame.ballot_system
    return _messages(condition, seat, window, table, system, task, condition.rounds)


def clerk_prompt(
    ballots: Sequence[Mapping[str, object]],
    labels: tuple[str, ...],
    frame: Frame = PLENUM,
    discussion: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Message, ...]:
    """Write the messages that the clerk reads: all ballots, and maybe the discussion."""
    # One line each: a ballot's reasons can't add a ballot.
    lines = "\n".join(flatten(json.dumps(vote, ensure_ascii=False)) for vote in ballots)
    values = {**discussion, "ballots": lines, "clerk_form": clerk_form(labels)}
    return (
        Message("system", fill(frame.clerk_system)),
        Message("user", fill(frame.clerk, **values)),
    )


def repair_prompt(problem: str, example: str, form: str = PLENUM.repair) -> Message:
    """Write the one request that follows a turn whose state can't be read."""
    return Message("user", fill(form, problem=problem, state_format=example))


def repair_json_prompt(problem: str, form: str, template: str = PLENUM.repair_ballot) -> Message:
    """Write the one request that follows a malformed ballot or count."""
    return Message("user", fill(template, problem=problem, form=form))


def collect_values(
    condition: CommitteeCondition, seats: Sequence[Seat], window: Window, table: StateTable
) -> dict[str, str]:
    """Collect the values of placeholders that all of these seats know."""
    rows = [_row(condition, seat, table.get(seat.name)) for seat in seats]
    return {**condition.fixed_values, "window": _quote(condition, window), "table": "\n".join(rows)}


def _quote(condition: CommitteeCondition, window: Window) -> str:
    """Join the arguments in the window, or write the sentence that replaces an empty window."""
    if condition.protocol.exchange == "stance":
        return fill(condition.frame.withheld)
    return "\n".join(window) or fill(condition.frame.nothing)


def _round(condition: CommitteeCondition, number: int) -> dict[str, str]:
    """Collect the placeholders of a round.

    ``$round_line`` has the round only if the protocol names it, and the parts of the protocol.
    """
    frame = condition.frame
    last = fill(frame.last) if number == condition.rounds else ""
    values = {"round": str(number), "rounds": str(condition.rounds), "last": last}
    line = fill(frame.round_line, **values)
    line = line if condition.protocol.round_lines else ""
    return {**values, "round_line": line + describe_parts(condition.protocol, number)}


def _messages(
    condition: CommitteeCondition,
    seat: Seat,
    window: Window,
    table: StateTable,
    system: str,
    task: str,
    number: int,
) -> tuple[Message, ...]:
    shown = (seat,) if condition.protocol.alone else condition.seats
    values = {
        **collect_values(condition, shown, window, table),
        "label": seat.label,
        # In front of the mandate, which ends the system message.
        "mandate": _list_facts(condition, seat)
        + (fill(condition.frame.mandate, mandate=seat.mandate) if seat.mandate else ""),
        **_round(condition, number),
    }
    # In characters of this prompt: a backend keeps what it computed up to there.
    shared = len(fill(_up_to_packet(task), **values))
    user = Message("user", fill(task, **values), shared=shared)
    return Message("system", fill(system, **values)), user


def _list_facts(condition: CommitteeCondition, seat: Seat) -> str:
    """List the facts that a seat has besides the packet, under a line that says who knows them."""
    shared = condition.protocol.facts == "all"
    head = "Further facts of the case" if shared else "Facts that only you know"
    return "\n- ".join([f"\n{head}:", *seat.facts]) if seat.facts else ""


# Templates are few: turn and ballot of each set of prompts.
@lru_cache(maxsize=256)
def _up_to_packet(task: str) -> str:
    """Return a template up to its packet: what ends with that returns in other calls."""
    found = Template.pattern.finditer(task)
    ends = (each.end() for each in found if "packet" in each.group("named", "braced"))
    return task[: next(ends, 0)]


def _row(condition: CommitteeCondition, seat: Seat, state: stateline.State | None) -> str:
    """Write a seat's row of the committee table."""
    frame, options = condition.frame, len(condition.scenario.labels)
    if state is None and condition.protocol.initial_state == "even":
        state = stateline.make_even_state(options)
    if state is None:
        blanks = " | ".join("-" * options)
        return fill(frame.blank, label=seat.label, blanks=blanks)
    return _fill_row(frame.row, seat.label, state)


# A row stands in the prompts of all seats until its seat speaks again.
@lru_cache(maxsize=1024)
def _fill_row(row: str, label: str, state: stateline.State) -> str:
    first, second = state.tags
    return fill(
        row,
        label=label,
        cells=state.cells,
        pref=",".join(f"{p:.2f}" for p in state.pref),
        conf=state.conf,
        first_tag=first,
        second_tag=second,
    )
