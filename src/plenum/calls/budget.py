"""The budget of a sweep: spent and reserved amounts, and the hard stop."""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.calls.api.prices import Price, explain_prices
from plenum.calls.call_log import read_attempts
from plenum.calls.chat import Chat, Reply
from plenum.design.settings import Budget
from plenum.records.usage import Usage

PriceOf = Callable[[str], Price | None]
"""From a model to its price."""
Call = tuple[str, str]
"""A call by its session and its seed."""
_CHARACTERS_A_TOKEN = 3
"""Characters a token, for an upper estimate; English prose has four to five."""


class BudgetSpent(Exception):
    """Raised if the next call might exceed the budget; no further call is made."""


@dataclass(slots=True)
class Demand:
    """The highest usage of a call: tokens of its prompt, and of its longest answer.

    ``server`` is the one that it goes to, if its provider has several. ``hour`` says that its
    prompt may be cached for an hour, ``batched`` that it goes in a batch, and then ``call`` names
    it.
    """

    model: str
    prompt: int
    answer: int
    server: str = ""
    hour: bool = False
    batched: bool = False
    call: Call | None = None

    @property
    def tokens(self) -> int:
        """Tokens of prompt and answer together."""
        return self.prompt + self.answer


def compute_demand(chat: Chat, batched: bool = False) -> Demand:
    """Compute the highest usage of a call."""
    call = (chat.session, f"{chat.seed:016x}") if batched else None
    hour = chat.request is not None and chat.request.cached_for_an_hour
    return Demand(chat.model, *tokens_at_most(chat), chat.server, hour, batched, call)


class Ledger:
    """The ledger of a budget, which reserves the highest cost of a call and books the real one.

    Parameters
    ----------
    budget
        The limits.
    price
        The price of a model.
    spent
        What the sweep's conditions have cost in earlier runs.
    held
        Of that, what calls may cost that are still in batches: it is set aside until they are made
        again, which takes up their answers.

    Attributes
    ----------
    limited
        True if anything is limited.
    spent
        What is used up.
    refusal
        What a user should know, once a call was refused.
    """

    def __init__(
        self,
        budget: Budget,
        price: Callable[[str], Price | None],
        spent: Usage | None = None,
        held: Mapping[Call, Usage] | None = None,
    ) -> None:
        self._budget, self.price = budget, price
        self.limited = budget.limited
        limits = (budget.dollars, budget.tokens, budget.calls)
        # Sums of many dollars are off in their last digits, which mustn't refuse a call.
        self._most = [math.inf if limit is None else limit + 1e-9 for limit in limits]
        self._held = dict(held or {})
        self._aside = self._reserved = sum(self._held.values(), Usage())
        self._needs: dict[object, Usage] = {}
        self._beginning = asyncio.Lock()
        self._settled = asyncio.Event()
        # The call log counts these calls as spent at most: they are set aside here, not counted
        # twice.
        self.spent = (spent or Usage()) - self._aside
        self.refusal: str | None = None

    @property
    def counts_tokens(self) -> bool:
        """True if tokens or dollars are limited, so that a server has to say its tokens."""
        return self._budget.dollars is not None or self._budget.tokens is not None

    async def begin(self, replicate: object, needs: Usage) -> None:
        """Wait until a replicate fits into the budget as a whole, or no other one runs.

        So a budget that is too small ends in whole replicates, and not in many incomplete ones.

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
        if not self.limited:
            return
        # One at a time, in the order of asking: a small replicate mustn't overtake a large one.
        async with self._beginning:
            while self.refusal is None and self._needs and not self._fits(self._due() + needs):
                self._settled.clear()
                await self._settled.wait()
            if self.refusal is not None:
                raise BudgetSpent(self.refusal)
            self._needs[replicate] = needs

    def end(self, replicate: object) -> None:
        """Note that a replicate makes no more calls."""
        if self._needs.pop(replicate, None) is not None:
            self._settled.set()

    def reserve_now(self, demand: Demand) -> Usage | None:
        """Do as :meth:`reserve`; return ``None`` if that would wait or refuse."""
        if not self.limited:
            return Usage()
        most = self.price_of(demand)
        reserved = self._reserved + most
        # While calls of an earlier run are held, reserve has to look whether this is one of them.
        if self._held or self.refusal is not None or not self._fits(self.spent + reserved):
            return None
        if self._lacks_price(demand):
            return None
        self._reserved = reserved
        return most

    async def reserve(self, demand: Demand) -> Usage:
        """Reserve the highest cost of a call, in a batch or by itself.

        If calls under way may turn out cheaper, this waits for them.

        Raises
        ------
        BudgetSpent
            The call doesn't fit, or another one didn't before.
        UserError
            Dollars are limited, and the price of the model isn't known.
        """
        if not self.limited:
            return Usage()
        if demand.call in self._held:
            held = self._held.pop(demand.call)
            self._aside -= held
            return held
        most = self.price_of(demand)
        if self._lacks_price(demand):
            why = explain_prices([demand.model])
            raise UserError(f"budget.dollars: no price is known for {demand.model}; {why}")
        while self.refusal is None and not self._fits(self.spent + self._reserved + most):
            # Only calls under way may turn out cheaper; what is set aside stays as it is.
            waits = self._reserved.calls > self._aside.calls
            # Not even if all calls under way came for nothing: waiting can't help.
            if not waits or not self._fits(self.spent + self._aside + most):
                self.refusal = self._refuse(most)
                # The others that wait must see the refusal and stop, too.
                self._settled.set()
                break
            # Nothing runs between the check above and this: no settlement is missed.
            self._settled.clear()
            await self._settled.wait()
        if self.refusal is not None:
            raise BudgetSpent(self.refusal)
        self._reserved += most
        return most

    def settle(
        self,
        reserved: Usage,
        used: Reply | None,
        billed: bool,
        replicate: object = None,
        reached: bool = True,
    ) -> None:
        """Book a call that ended.

        Parameters
        ----------
        reserved
            What :meth:`reserve` returned.
        used
            The reply, if there was one.
        billed
            True if a call without a reply may be billed all the same: then all of it is booked.
        replicate
            Whose call it was, as :meth:`begin` names it.
        reached
            False if no server was reached, so that it counts as no call.
        """
        if not self.limited:
            return
        self._reserved -= reserved
        # Without a reply a call counts by itself, and costs nothing unless it may be billed.
        booked = reserved if billed else Usage(calls=int(reached))
        if used is not None:
            booked = Usage(1, used.tokens_in, used.tokens_out, used.cost or 0.0).above_zero()
            # What it needed by estimate shrinks by what is booked: else it would count twice in
            # `_due`.
            if replicate in self._needs:
                self._needs[replicate] = (self._needs[replicate] - booked).above_zero()
        self.spent += booked
        self._settled.set()

    def cancel(self, reserved: Usage) -> None:
        """Release the reservation for a call that wasn't made."""
        self._reserved -= reserved
        self._settled.set()

    def at_most(self, chat: Chat, batched: bool = False) -> Usage:
        """Return the highest usage of a call; dollars are 0 if no price is known."""
        return self.price_of(compute_demand(chat, batched))

    def price_of(self, demand: Demand) -> Usage:
        """Compute the highest usage of a call from its demand."""
        price = self.find_price(demand.model, demand.batched)
        dollars = price.at_most(demand.prompt, demand.answer, demand.hour) if price else 0.0
        return Usage(1, demand.prompt, demand.answer, dollars)

    def _lacks_price(self, demand: Demand) -> bool:
        """Return whether dollars are limited, and nobody knows how many a call may cost."""
        return self._budget.dollars is not None and self.price(demand.model) is None

    def find_price(self, model: str, batched: bool) -> Price | None:
        """Return the price of a model, in a batch or by itself; ``None`` if it isn't known."""
        price = self.price(model)
        return price.batched if price and batched else price

    def _due(self) -> Usage:
        """Sum up spent usage, and the remaining usage of the running replicates."""
        return sum(self._needs.values(), self.spent)

    def _fits(self, total: Usage) -> bool:
        dollars, tokens, calls = self._most
        return total.dollars <= dollars and total.tokens <= tokens and total.calls <= calls

    def _refuse(self, most: Usage) -> str:
        after = self.spent + self._aside + most
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
    """Estimate from above the tokens of the prompt, and of the longest answer."""
    # 16 for what the model's template writes around the messages, which isn't known here.
    return 16 + sum(_most(message.content) for message in chat.messages), chat.max_tokens


def _most(text: str) -> int:
    """Bound the tokens of a text; other scripts than Latin may take a token for every byte."""
    if text.isascii():
        return len(text) // _CHARACTERS_A_TOKEN
    # The rest by its bytes in UTF-8: a byte-level vocabulary needs no more tokens than that.
    plain = sum(map(str.isascii, text))
    return plain // _CHARACTERS_A_TOKEN + len(text.encode(errors="replace")) - plain


def sum_answers(entries: Iterable[dict[str, Any]], price: Callable[[str], Price | None]) -> Usage:
    """Sum up the usage of a journal's answers; those that a branch inherited are paid elsewhere."""
    total = Usage()
    for entry in entries:
        if "tokens_in" in entry and "inherited" not in entry:
            tokens_in, tokens_out = entry["tokens_in"], entry["tokens_out"]
            cost = _cost(entry["cost"], price(entry["model"]), tokens_in, tokens_out)
            total += Usage(1, tokens_in, tokens_out, cost)
    return total


def bound_failures(log: Path, price: Callable[[str], Price | None]) -> Usage:
    """Bound the usage of the failed attempts in a call log, or in those of a folder."""
    total = Usage()
    for line in read_attempts(log):
        if not line["answered"]:
            total += bound_failure(line, price)
    return total


def bound_failure(line: dict[str, Any], price: Callable[[str], Price | None]) -> Usage:
    """Return the highest usage of a failed attempt, by its line in a call log."""
    most = line.get("tokens_at_most") or 0
    # None is a price that was unknown then; a line without the field may not be billed.
    known = line.get("cost_at_most", 0.0)
    # All as output, the dearer of the two: how much was prompt isn't in the log.
    return Usage(
        int(line.get("reached", True)), 0, most, _cost(known, price(line["model"]), 0, most)
    )


def _cost(known: float | None, price: Price | None, tokens_in: int, tokens_out: int) -> float:
    if known is not None:
        return float(known)
    return price.of(tokens_in, tokens_out) if price else 0.0
