"""Committees: their seats, prompts, answers, deliberation and decision."""

from plenum.base.moved import find_moved

__getattr__ = find_moved(
    __name__,
    {
        "committee.ballots": "EndedDeliberation",
    },
)
