"""Statements of a round's report: up to a declared share contradicts the truth or is incomplete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["plain", "contradictory", "incomplete"]


@dataclass(frozen=True)
class Statement:
    """One sentence of a report.

    ``kind`` goes on the record and is never shown to an agent.
    """

    text: str
    kind: Kind


def kind_of(uniform: float, share: float) -> Kind:
    """What becomes of a statement (paper C.1: up to 20 % are contradictory or incomplete).

    Parameters
    ----------
    uniform
        The statement's draw on [0, 1).
    share
        Probability that it isn't plain; half of it contradicts, half of it is incomplete.
    """
    if uniform < share / 2:
        return "contradictory"
    return "incomplete" if uniform < share else "plain"


def shown(statements: Sequence[Statement]) -> str:
    """The report as agents read it: one line a statement, without its kind."""
    return "\n".join(f"- {s.text}" for s in statements) or "- No reports this round."
