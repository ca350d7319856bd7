"""The look and names of options and decisions, equal in all figures; *no majority* is apart."""

from collections.abc import Iterable, Sequence

from plenum.dynamics.decisions import NO_MAJORITY, tally
from plenum.reports.figures.words import clean, option_labels
from plenum.show.style import COLOURS, MARKERS

_NAME = "no majority"

_COLOURS, _MARKERS = COLOURS[:-1], MARKERS[:-1]
"""Colours and markers of options; the last of both is kept for no majority."""


def choose_look(decision: str) -> tuple[str, str]:
    """Return colour and marker of a decision; black and a cross without a majority."""
    place = option_labels(26).find(decision) if len(decision) == 1 else -1
    if place < 0:
        return COLOURS[-1], MARKERS[-1]
    again = place // len(_COLOURS)  # from the seventh option on colours have other markers
    return _COLOURS[place % len(_COLOURS)], _MARKERS[(place + again) % len(_MARKERS)]


def name_options(decision: str) -> str:
    """Return the name of a decision."""
    return _NAME if decision == NO_MAJORITY else decision


def sort_decisions(decisions: Iterable[str]) -> list[str]:
    """Sort the different decisions by label; without a majority last."""
    return sorted(set(decisions), key=lambda d: (d == NO_MAJORITY, d))


def format_decisions(decisions: Sequence[str]) -> str:
    """Write the counts of decisions, the most frequent first."""
    return clean(", ".join(f"{name_options(d)} {count}" for d, count in tally(decisions).items()))


def describe_end(decision: str) -> str:
    """Describe how a replicate ended: its decision, or no majority."""
    return _NAME if decision == NO_MAJORITY else f"decides {clean(decision)}"
