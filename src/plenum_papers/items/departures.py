"""Departures of a condition from the papers' condition whose numbers it is compared with."""

from collections.abc import Sequence

from plenum.design.settings import Protocol
from plenum.tracking.conditions import TrackedCondition

SEATS = ("Chair", "Welfare", "Rights", "Equity", "Security")
"""The papers' seats in speaking order, in all of their released runs."""

ROUNDS = "20"
"""The papers' number of rounds."""

MEANINGS = {
    "texts": "scenario, mandates and prompts in other words",
    "round_lines": "no line that names the round",
    "order": "not Chair, Welfare, Rights, Equity, Security, as in all released runs",
    "labels": "Member 1 to 5, where the papers' seats without mandates keep their names",
    "options": "other options than the released packet's three",
    "rounds": "not 20",
    "decision": "a majority of ballots or another rule, where the papers' clerk decides",
    "initial_state": "dashes for seats that haven't spoken, where the papers have an even state",
    "protocol": "a setting of the protocol that the released runs don't have",
    "answers": "enforced JSON objects, where the papers' agents write freely",
}
"""Possible departures, in words."""

_LEVELS = ("deliberation", "no_feedback", "one_shot")
"""Levels of the factor ``protocol`` that the papers' released code has."""

_NAMED = {"round_lines", "order", "decision", "initial_state", "answers", "reading", "window"}
"""Settings of the protocol that the papers' runs have, or that a departure of their own names."""


def departures(condition: TrackedCondition) -> tuple[str, ...]:
    """Return the keys of ``MEANINGS`` that apply; none for the authors' own runs.

    Conditions with a random speaking order under ``roles=off`` are older than the option to keep
    it, and had neutral labels.
    """
    if condition.published:
        return ()
    settings = set(condition.factors.get("settings", "").split())
    named = {word.partition("=")[0] for word in settings}
    ordered = condition.seats == SEATS or not condition.seats
    options = condition.preferences.shape[-1] or 3
    departing = {
        "texts": not settings >= {"edition=published", "prompts=published"},
        "round_lines": "round_lines=True" not in settings,
        "order": not ordered,
        "labels": not ordered and condition.factors["roles"] == "off",
        "options": options != 3,
        "rounds": condition.factors.get("rounds", ROUNDS) != ROUNDS,
        "decision": "decision=clerk" not in settings,
        "initial_state": not settings & {"initial_state=even", "prompts=published"},
        "protocol": condition.factors.get("protocol", _LEVELS[0]) not in _LEVELS
        or bool(named & (vars(Protocol()).keys() - _NAMED)),
        "answers": "answers=constrained" in settings,
    }
    return tuple(key for key, departs in departing.items() if departs)


def sum_up(conditions: Sequence[TrackedCondition]) -> list[str]:
    """Summarise the departures of several conditions: each with its count and meaning."""
    known = [departures(condition) for condition in conditions]
    met = {key: sum(key in own for own in known) for key in MEANINGS}
    return [
        f"{key} ({'all' if n == len(known) else f'{n} of {len(known)}'}): {MEANINGS[key]}"
        for key, n in met.items()
        if n
    ]
