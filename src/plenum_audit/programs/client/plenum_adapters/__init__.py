"""Adapters that turn a framework's team into a committee for an audit.

They run in the user's interpreter and import only ``plenum_run`` and the framework. A team is built
anew for each run by ``build(case, run)``, which reads known knobs from ``run.knobs``.
"""

from collections import Counter
from collections.abc import Iterable

from plenum_run import Case, Decision, Run

Result = Decision | str | None
"""A decision, or a text to read it from; None if there is none."""


def question(case: Case) -> str:
    """Return the case's text with its options, one per line: the task of a team."""
    options = "\n".join(f"{label}: {name}" for label, name in case.options.items())
    return f"{case.text}\n\nOptions:\n{options}"


class Voices:
    """A reporter of seats' messages; a message's round counts its seat's messages from 1."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turns: Counter[str] = Counter()

    def say(self, seat: str, text: str) -> None:
        """Report one message."""
        self._turns[seat] += 1
        self._run.say(self._turns[seat], seat, text)

    def say_together(self, messages: Iterable[tuple[str, str]]) -> None:
        """Report (seat, text) pairs without a fixed order, sorted by seat."""
        for seat, text in sorted(messages, key=lambda message: message[0]):
            self.say(seat, text)
