"""Measures of dialogue: references between agents, and changes of course (paper, RQ3 and F.1)."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

from plenum.base.text import blank_invisible
from plenum_worlds.metrics import average
from plenum_worlds.prompts import WorldRemark

_BRACKETED = re.compile(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)")
_COUNTED = r"([0-9]+(?:(?:[\s,/#]|\band\b|&)+[0-9]+)*)"
_NODES = re.compile(rf"\b(?:node|id)s?\b[\s:#\[(]*{_COUNTED}", re.IGNORECASE)
_AMOUNT = re.compile(r"(?<![\w.-])[0-9]+(?:\.[0-9]+)?(?!\w|\.[0-9]|\s*%)")
SAME_AMOUNT = 0.5
"""Largest difference of amounts that count as the same choice, in units of the public good."""

_WHOLE, _DIGITS = re.compile(r"[0-9]{1,9}"), re.compile(r"[0-9]+")
_NO_AMOUNT = (
    r"\b(?:rounds?|threshold|benefit|costs?|c_?max)\b\W{{0,2}}(?:(?:of|is|was|at)\s+)?[0-9]+(?:\.[0-9]+)?"
    r"|\b(?:{title}|agent)s?\s+(?:#\s*)?[0-9]+\b|\b[0-9]+\s+(?:{title}|agent)s?\b"
)


def refers(remark: WorldRemark, heard: Sequence[WorldRemark]) -> list[str]:
    """Return the agents whose proposals a message mentions, among those that its speaker read.

    It mentions a proposal if it names the agent that made it, or if it contains the proposal itself
    and the speaker doesn't propose the same. An agent is named as *Drone 2*, *Drone #2*, *Drone-2*,
    *agent 2* or among *drones 2 and 3*, in any case. A proposal is written

    - as a list in brackets, or of several numbers in parentheses: ``[1,2]``, ``(1, 2)``;
    - after the word *node*, *id* or their plural, in any order: ``nodes 7, 3 and 12``, ``ids 7/3``;
    - for an amount, as a number of the same value: ``6`` is 6.0. The numbers of agents, rounds,
      thresholds, benefits, costs and C_max, and percentages, don't count.

    Numbers are compared as a whole: 16.0 doesn't mention 6.0, and ``[11,2]`` doesn't mention
    ``[1,2]``. A fact that the world shows to all may be written for its own sake; it still counts
    if another agent proposes it.

    Returns
    -------
    list of str
        Names without duplicates, in order.
    """
    remark = dataclasses.replace(
        remark, message=blank_invisible(remark.message)
    )  # as the others read it
    names = {
        earlier.name
        for earlier in heard
        if earlier.name != remark.name and _speaks_of(remark, earlier)
    }
    return sorted(names)


def measures(rounds: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Measure the dialogue of a run: messages, references, and changes of choices.

    Returns
    -------
    dict
        ``messages``, turns of the discussion with words that could be read; ``silent``, turns
        without a readable answer (one with a proposal but no words is neither); ``cut``, answers
        of the run whose object was cut, also those that were repaired; ``references``, the share
        of the messages that refer to another agent's action; ``changes``, the share of agents and
        rounds in which the final choice is another than the agent's first proposal in the round
        (an amount by more than ``SAME_AMOUNT``); the same share where the agent's own message
        referred to another's action (``changes_after_reference``) and where none did
        (``changes_otherwise``). NaN where nothing is to be counted; abstentions are left out of
        choices.
    """
    referred: list[bool] = []
    silent = cut = 0
    changed: list[bool] = []
    after: list[bool] = []
    otherwise: list[bool] = []
    for record in rounds:
        first: dict[int, Any] = {}
        referring = set()
        cut += record["cut"]
        for remark in record["spoken"]:
            silent += remark["action"] is None
            if remark["words"]:
                referred.append(bool(remark["refers"]))
            if remark["refers"]:
                referring.add(remark["agent"])
            if remark["action"] is not None:
                first.setdefault(remark["agent"], remark["action"])
        for agent, proposal in first.items():
            choice = record["proposals"][agent] if agent < len(record["proposals"]) else None
            if choice is not None:
                other = _other(choice, proposal)
                changed.append(other)
                (after if agent in referring else otherwise).append(other)
    return {
        "messages": float(len(referred)),
        "silent": float(silent),
        "cut": float(cut),
        "references": average(referred),
        "changes": average(changed),
        "changes_after_reference": average(after),
        "changes_otherwise": average(otherwise),
    }


def _other(choice: Any, proposal: Any) -> bool:
    """Return whether a choice differs from a proposal; amounts by more than half a unit."""
    if isinstance(choice, (int, float)) and isinstance(proposal, (int, float)):
        return abs(choice - proposal) > SAME_AMOUNT
    return bool(choice != proposal)


def _speaks_of(remark: WorldRemark, earlier: WorldRemark) -> bool:
    if earlier.action is None:
        return False
    if _names(earlier.name, remark.message):
        return True
    return earlier.action != remark.action and _writes(remark, earlier.action)


def _names(name: str, message: str) -> bool:
    """Return whether a message names an agent, alone or among several."""
    title, _, number = name.rpartition(" ")
    of = rf"\b(?:{re.escape(title)}|agent)"
    if re.search(rf"{of}[\s-]+(?:#\s*)?{re.escape(number)}\b", message, re.IGNORECASE):
        return True
    several = re.findall(rf"{of}s[\s#]+{_COUNTED}\b", message, re.IGNORECASE)
    return any(number in _DIGITS.findall(numbers) for numbers in several)


def _writes(remark: WorldRemark, action: Any) -> bool:
    """Return whether a message contains an action, in one of the forms of :func:`refers`."""
    if isinstance(action, list):
        matches = _BRACKETED.finditer(remark.message)
        lists = [_list(f[1] or f[2] or "") for f in matches if f[2] is None or "," in f[2]]
        named = [_run(text) for text in _NODES.findall(remark.message)]
        return action in lists or sorted(action) in named
    title = re.escape(remark.name.rpartition(" ")[0])
    plain = re.sub(_NO_AMOUNT.format(title=title), " ", remark.message, flags=re.IGNORECASE)
    return any(float(number) == action for number in _AMOUNT.findall(plain))


def _list(inside: str) -> list[int] | None:
    """Return the whole numbers between two brackets; None if there is anything else."""
    items = [item.strip() for item in inside.split(",")] if inside.strip() else []
    return [int(item) for item in items] if all(map(_WHOLE.fullmatch, items)) else None


def _run(text: str) -> list[int]:
    """Return the numbers of an enumeration in ascending order; ids have few digits."""
    return sorted(int(number[:9]) for number in _DIGITS.findall(text))
