"""The budget of a sweep: what is spent, what may still be spent, and the hard stop."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from plenum.design.condition import Budget
from plenum.models import Chat, Reply
from plenum.models.api.prices import Price

_CHARACTERS_A_TOKEN = 3
"""For an upper estimate: English prose has four to five characters to a token."""


class BudgetSpent(Exception):
    """The next call might exceed the budget: nothing more is called."""


@dataclass(frozen=True)
class Sum:
    """Dollars, tokens and calls."""

    dollars: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(
            self.dollars + other.dollars, self.tokens + other.tokens, self.calls + other.calls
        )

    def __sub__(self, other: "Sum") -> "Sum":
        return Sum(
            self.dollars - other.dollars, self.tokens - other.tokens, self.calls - other.calls
        )

    def above_zero(self) -> "Sum":
        """Each part, or 0 where it is negative."""
        return Sum(max(self.dollars, 0.0), max(self.tokens, 0), max(self.calls, 0))

    def share(self, part: float) -> "Sum":
        """A part of it, in whole tokens and calls."""
        return Sum(self.dollars * part, math.ceil(self.tokens * part), math.ceil(self.calls * part))


class Ledger:
    """Reserves what a call may cost before it is made, and books what it did cost.

    Parameters
    ----------
    budget
        The limits.
    price
        The price of a model.
    spent
        What the sweep's conditions have cost in earlier runs.

    Attributes
    ----------
    spent
        What is used up.
    refusal
        What a user should know, once a call was refused.
    """

    def __init__(
        self, budget: Budget, price: Callable[[str], Price | None], spent: Sum | None = None
    ) -> None:
        self._budget, self.price = budget, price
        self._reserved = Sum()
        self._needs: dict[object, Sum] = {}
        self._beginning = asyncio.Lock()
        self._settled = asyncio.Event()
        self.spent = spent or Sum()
        self.refusal: str | None = None

    async def begin(self, replicate: object, needs: Sum) -> None:
        """Wait until a replicate can be finished within the budget, too, or no other one runs.

        So a budget that is too small ends in whole replicates, and not in many half-done ones.

        Parameters
        ----------
        replicate
            Names it.
        needs
            What it still takes, by estimate.

        Raises
        ------
        BudgetSpent
            A call was refused before.
        """
        if not self._budget.limited:
            return
        async with self._beginning:
            while self.refusal is None and self._needs and not self._fits(self._due() + needs):
                self._settled.clear()
                await self._settled.wait()
            if self.refusal is not None:
                raise BudgetSpent(self.refusal)
            self._needs[replicate] = needs

    def end(self, replicate: object) -> None:
        """Say that a replicate makes no more calls."""
        if self._needs.pop(replicate, None) is not None:
            self._settled.set()

    async def reserve(self, chat: Chat) -> Sum:
        """Set aside what a call costs at most.

        Where calls under way may turn out cheaper, this waits for them.

        Raises
        ------
        BudgetSpent
            The call doesn't fit, or another one didn't before.
        """
        if not self._budget.limited:
            return Sum()
        most = self.at_most(chat)
        while self.refusal is None and not self._fits(self.spent + self._reserved + most):
            if not self._reserved.calls or not self._fits(self.spent + most):
                self.refusal = self._told(most)
                self._settled.set()
                break
            self._settled.clear()
            await self._settled.wait()
        if self.refusal is not None:
            raise BudgetSpent(self.refusal)
        self._reserved += most
        return most

    def settle(
        self, reserved: Sum, used: Reply | None, billed: bool, replicate: object = None
    ) -> None:
        """Book a call that ended.

        Parameters
        ----------
        reserved
            What :meth:`reserve` returned.
        used
            The reply, if there was one.
        billed
            Whether a call without a reply may be billed all the same: then all of it is booked.
        replicate
            Whose call it was, as :meth:`begin` names it.
        """
        if not self._budget.limited:
            return
        self._reserved -= reserved
        booked = reserved if billed else Sum(calls=1)
        if used is not None:
            booked = Sum(used.cost or 0.0, used.tokens_in + used.tokens_out, 1).above_zero()
            if replicate in self._needs:
                self._needs[replicate] = (self._needs[replicate] - booked).above_zero()
        self.spent += booked
        self._settled.set()

    def cancel(self, reserved: Sum) -> None:
        """Give back what was set aside for a call that wasn't made."""
        self._reserved -= reserved
        self._settled.set()

    def at_most(self, chat: Chat) -> Sum:
        """What a call takes at most; dollars are 0 where no price is known."""
        prompt, answer = tokens_at_most(chat)
        price = self.price(chat.model)
        return Sum(price.of(prompt, answer) if price else 0.0, prompt + answer, 1)

    def _due(self) -> Sum:
        """What is spent, and what the running replicates still take."""
        return sum(self._needs.values(), self.spent)

    def _fits(self, total: Sum) -> bool:
        limits = (self._budget.dollars, self._budget.tokens, self._budget.calls)
        amounts = (total.dollars, total.tokens, total.calls)
        return all(
            limit is None or amount <= limit + 1e-9
            for amount, limit in zip(amounts, limits, strict=True)
        )

    def _told(self, most: Sum) -> str:
        after = self.spent + most
        if self._budget.dollars is not None and after.dollars > self._budget.dollars:
            limit = f"budget.dollars={self._budget.dollars:g}"
            spent, more = f"${self.spent.dollars:.4f}", f"${most.dollars:.4f}"
        elif self._budget.tokens is not None and after.tokens > self._budget.tokens:
            limit = f"budget.tokens={self._budget.tokens}"
            spent, more = f"{self.spent.tokens} tokens", f"{most.tokens} tokens"
        else:
            limit = f"budget.calls={self._budget.calls}"
            spent, more = f"{self.spent.calls} calls", "1 call"
        return (
            f"{limit} is reached: this sweep's conditions have used {spent} over all runs, and "
            f"the next call may take {more}; a larger budget goes on from here"
        )


def tokens_at_most(chat: Chat) -> tuple[int, int]:
    """Tokens of the prompt, estimated from above, and of the longest answer."""
    return 16 + sum(_most(message.content) for message in chat.messages), chat.max_tokens


def _most(text: str) -> int:
    """Tokens of a text at most: other scripts than Latin may take a token for every byte."""
    if text.isascii():
        return len(text) // _CHARACTERS_A_TOKEN
    plain = sum(map(str.isascii, text))
    return plain // _CHARACTERS_A_TOKEN + len(text.encode(errors="replace")) - plain
