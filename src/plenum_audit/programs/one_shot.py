"""The control of an audit: seats are asked once each, without interaction, and vote."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base.identity import derive_seed, digest
from plenum.records.transcript import Transcript
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.decision import GivenDecision, UnreadableDecision, read_decision

KNOBS = {"interaction": False}
"""Knobs that distinguish a control's condition from the program's own."""

_RULES = ("", "name")


@dataclass(frozen=True)
class ControlSeat:
    """A seat's first question in a run of the program."""

    name: str
    model: str
    system: str
    question: str
    temperature: float | None

    def request(self, options: Sequence[str]) -> dict[str, Any]:
        """Return the same question, to be answered by a label alone."""
        ask = f"Decide on your own now. Answer with one label alone: {' or '.join(options)}."
        system = [{"role": "system", "content": self.system}] if self.system else []
        messages = [*system, {"role": "user", "content": f"{self.question}\n\n{ask}"}]
        sampling = {} if self.temperature is None else {"temperature": self.temperature}
        return {"model": self.model, "messages": messages, **sampling}


def list_seats(pilot: Transcript) -> tuple[ControlSeat, ...]:
    """Return the seats of a run, each with its first question."""
    first: dict[str, dict[str, Any]] = {}
    for entry in pilot.entries:
        if entry["kind"] == "call":
            first.setdefault(entry["seat"], entry)
    return tuple(
        ControlSeat(
            name=name,
            model=str(entry["model"]),
            system=str(entry.get("system", "")),
            question=str(entry.get("question", "")),
            temperature=entry.get("temperature"),
        )
        for name, entry in first.items()
    )


class OneShot:
    """The seats of a program, by case, as a program of its own.

    Parameters
    ----------
    name
        Name of the program.
    by_case
        Its seats by case id.
    """

    def __init__(self, name: str, by_case: Mapping[str, Sequence[ControlSeat]]) -> None:
        self.name, self._by_case = name, by_case
        first = {case: [vars(seat) for seat in each] for case, each in by_case.items()}
        self.identity: Mapping[str, Any] = {"control": "one_shot", "seats": digest(first)}
        self.knobs: Mapping[str, Sequence[Any]] = {}

    async def run(self, case: AuditCase, session: Any) -> None:
        """Ask every seat at once; the most frequent vote decides, with ties drawn."""
        first = self._by_case[case.id]
        votes = await asyncio.gather(*(self._vote(seat, case, session) for seat in first))
        counts = Counter(vote for vote in votes if vote)
        most = max(counts.values(), default=0)
        tied = sorted(option for option, count in counts.items() if count == most)
        session.decide(
            {"option": tied[derive_seed(session.seed, "tie") % len(tied)]} if tied else ""
        )

    async def close(self) -> None:
        """Do nothing, since no resources are held."""

    async def _vote(self, seat: ControlSeat, case: AuditCase, session: Any) -> str:
        """Return the option that a seat names; empty if it names none."""
        body = seat.request(tuple(case.options))
        _, answer = await session.call("chat", body, {"X-Plenum-Seat": seat.name})
        text = str(answer["choices"][0]["message"].get("content") or "")
        for rule in _RULES:
            try:
                option = read_decision(GivenDecision(text=text), case.options, rule)
            except UnreadableDecision:
                continue
            if option in case.options:
                session.report("vote", {"seat": seat.name, "option": option})
                return option
        return ""
