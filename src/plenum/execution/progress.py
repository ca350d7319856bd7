"""Progress of a sweep on standard error: a live display on a terminal, else plain lines."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console, Group
from rich.live import Live

from plenum.base.processes import name_other_work
from plenum.base.terminal import make_safe, say
from plenum.calls.pace import Pace
from plenum.records.journal import TRIAL
from plenum.records.usage import Usage

_PLAIN_EVERY_S = 10.0
"""Seconds between lines where there is no terminal. The number is plenum's own: a log of an hour
then has 360 lines."""
_SILENT_AT_MOST_S = 30.0
"""Seconds without a line after which the counts are printed. The number is plenum's own: a longer
silence looks like a program that hangs."""
_TICK_S = 1.0
"""Seconds between looks at waits, which are told in whole seconds."""
_SETTLED_S = 10.0
"""Seconds of answers before the time left is told: the rate of the first few says little. The
number is plenum's own."""


class Progress:
    """The counts of replicates, rounds, calls, tokens and cost, and their display.

    Parameters
    ----------
    calls
        Calls that the whole sweep takes without repairs.
    replicates
        Replicates of the whole sweep.
    """

    def __init__(self, calls: int, replicates: int) -> None:
        self._status: Callable[[], str] = lambda: "in flight -"
        self._waiting: Callable[[], str] = lambda: ""
        self._pace: Callable[[], Pace | None] = lambda: None
        self._longest = 0
        self.usage = Usage()
        self.ended = self.rounds = self.repairs = self.unpriced = 0
        self._target_calls, self._target = calls, replicates
        self._skipped = 0
        self._began = self._printed = self._last = self._spoke = time.monotonic()
        self._first: float | None = None
        self._waited = False
        self._said: set[str] = set()
        self._printed_wait = float("-inf")
        self._console = Console(stderr=True)
        self._live: Live | None = None

    def __enter__(self) -> "Progress":
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, get_renderable=self._render, refresh_per_second=4
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def follow(
        self,
        status: Callable[[], str],
        waiting: Callable[[], str],
        pace: Callable[[], Pace | None] = lambda: None,
        longest: int = 0,
    ) -> None:
        """Show more than is counted here.

        Parameters
        ----------
        status
            What else is worth knowing: calls in flight, what MLflow has.
        waiting
            What calls wait for, and for how long; empty where they don't.
        pace
            Of models on this machine; ``None`` where there are none.
        longest
            Tokens that an answer has at most.
        """
        self._status, self._waiting = status, waiting
        self._pace, self._longest = pace, longest

    def entry(self, entry: dict[str, Any], last_seat: str) -> None:
        """Count an answered call; ``last_seat`` closes a round of a committee."""
        if entry["kind"] == "round":
            self.rounds += 1
            return
        self._last = time.monotonic()
        self._first = self._first or self._last
        self.usage += Usage(1, entry["tokens_in"], entry["tokens_out"], entry["cost"] or 0.0)
        self.unpriced += entry["cost"] is None
        on_trial, repair = entry["kind"].startswith(TRIAL), entry["kind"].endswith("_repair")
        # Repairs and trials weren't planned: the target grows with them, so that the rest stays
        # true.
        self._target_calls += on_trial or repair
        self.repairs += repair and not on_trial
        if "state" in entry and entry["seat"] == last_seat:
            self.rounds += 1
        if self._live is None and time.monotonic() - self._printed > _PLAIN_EVERY_S:
            self._printed = time.monotonic()
            self.say(self.line())

    def replicate(self, calls_left: int, ended: bool = True) -> None:
        """Count a replicate that ended, or is given up, with ``calls_left`` calls not made."""
        self.ended += ended
        self._skipped += calls_left

    async def watch(self) -> None:
        """Report waits and progress while no call is answered, until cancelled."""
        while True:
            await asyncio.sleep(_TICK_S)
            self.tick()

    def tick(self) -> None:
        """Print pending waits, and after a long silence the counts; a terminal shows both anyway.

        Of waits in quick succession, as those for a limit a minute, one is printed.
        """
        if self._live is not None:
            return
        now, waiting = time.monotonic(), self._waiting()
        if waiting and not self._waited and now - self._printed_wait >= _PLAIN_EVERY_S:
            self._printed_wait = now
            self.say(waiting)
        elif now - self._spoke >= _SILENT_AT_MOST_S:
            self.say(" | ".join(filter(None, (self.line(), waiting))))
        self._waited = bool(waiting)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._spoke = time.monotonic()
        if self._live is not None:
            self._live.console.print(make_safe(text), markup=False, highlight=False)
        else:
            say(text)

    def say_once(self, text: str) -> None:
        """Print a line that stays, unless it was printed before."""
        if text not in self._said:
            self._said.add(text)
            self.say(text)

    def line(self) -> str:
        """Describe the counts in one line."""
        calls = self.usage.calls
        # Before the first answer no time has passed: the rate is 0 then, and not 0/0.
        rate = calls / max(self._last - self._began, 1e-9)
        left = max(self._target_calls - self._skipped - calls, 0)
        known = f"${self.usage.dollars:.4f}"
        cost = f"{known} + unpriced" if self.usage.dollars and self.unpriced else known
        cost = "unknown" if self.unpriced and not self.usage.dollars else cost
        pace = self._pace()
        speed = pace.tokens_a_second if pace else 0.0
        eta = _duration(left / rate) if self._settled else "-"
        if speed and not self._settled:  # an answer takes minutes: the first tokens tell
            eta = f"at most {_duration(left * self._longest / speed)}{name_other_work()}"
        tokens = f"{self.usage.tokens:,}"
        if pace and speed:
            rows = f"{pace.rows} of {pace.slots} rows"
            tokens += f" ({speed:.{0 if speed >= 10 else 1}f}/s written, {rows})"
        return (
            f"replicates {self.ended}/{self._target} | rounds {self.rounds} | calls {calls} "
            f"({_rate(rate)}/s) | repairs {self.repairs} | tokens {tokens} | cost {cost} | "
            f"left {eta} | {self._status()}"
        )

    @property
    def _settled(self) -> bool:
        """True if answers have come for at least as long as the first one took."""
        if self._first is None:
            return False
        # A slow model's first answers come all at once: then ten seconds tell no rate.
        return self._last - self._first >= max(_SETTLED_S, self._first - self._began)

    def _render(self) -> Group:
        done = self.ended / max(self._target, 1)
        filled = round(40 * done)
        bar = f"[green]{'━' * filled}[/][dim]{'━' * (40 - filled)}[/] {done:4.0%}"
        return Group(bar, *filter(None, (self.line(), self._waiting())))


def _rate(calls: float) -> str:
    return f"{calls:.1f}" if calls < 10 else f"{calls:.0f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
