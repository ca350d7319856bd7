"""Adapters: a framework's team as a committee that can be audited.

They run in the user's interpreter and import ``plenum_run`` and the framework alone. A team is made
anew for each run by ``build(case, run)``, which takes the knobs that it knows from ``run.knobs``.
"""

from collections import Counter
from collections.abc import Iterable

from plenum_run import Case, Decision, Run

Result = Decision | str | None
"""A decision, or a text that it is read from; none where there is none."""


def question(case: Case) -> str:
    """The case's text with its options, a line each: what a team gets as its task."""
    options = "\n".join(f"{label}: {name}" for label, name in case.options.items())
    return f"{case.text}\n\nOptions:\n{options}"


class Voices:
    """Reports what seats say; a message's round is how often its seat has spoken, from 1 on."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turns: Counter[str] = Counter()

    def say(self, seat: str, text: str) -> None:
        """Report one message."""
        self._turns[seat] += 1
        self._run.say(self._turns[seat], seat, text)

    def say_together(self, messages: Iterable[tuple[str, str]]) -> None:
        """Report (seat, text) that came in no fixed order, by seat."""
        for seat, text in sorted(messages, key=lambda message: message[0]):
            self.say(seat, text)
