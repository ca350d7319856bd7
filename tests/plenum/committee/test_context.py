"""Windows whose arguments can't fit a model's context are refused, and what fits is named."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from plenum.base.errors import UserError
from plenum.calls.chat import Message
from plenum.calls.pace import TokenCounting
from plenum.committee.condition import CommitteeCondition
from plenum.committee.context import require_context
from plenum.design.settings import Sampling

Make = Callable[..., CommitteeCondition]


class Words:
    """A model whose tokens are words; it keeps the prompts that it counted."""

    def __init__(self, context: int) -> None:
        self._context = context
        self.counted: list[str] = []

    def count(self, model: str, messages: tuple[Message, ...]) -> int:
        self.counted.append("\n".join(message.content for message in messages))
        return len(self.counted[-1].split())

    def context(self, model: str) -> int:
        return self._context


def refusal(condition: CommitteeCondition, context: int) -> str:
    """What refuses a condition under a context; empty if nothing does."""
    try:
        require_context(condition, Words(context))
    except UserError as refused:
        return str(refused)
    return ""


def test_backends_that_count_tokens_are_told_apart() -> None:
    assert isinstance(Words(1), TokenCounting)
    assert not isinstance(object(), TokenCounting)


def test_the_window_that_fits_is_named_and_fits(condition: Make) -> None:
    asked = condition()
    assert asked.protocol.window == 15
    assert not refusal(asked, 100_000)
    told = refusal(asked, 2_000)
    found = re.fullmatch(
        r"protocol\.window: 15, but with arguments of 110 words a prompt has (\d+) tokens and its "
        r"answer may have 400, and model .* has a context of 2000; protocol\.window=(\d+) fits",
        told,
    )
    assert found, told
    length, k = map(int, found.groups())
    assert length > 15 * 110
    assert 1 < k < 15
    for window, refused in ((k, False), (k + 1, True)):
        other = replace(asked, protocol=replace(asked.protocol, window=window))
        assert bool(refusal(other, 2_000)) is refused
    assert not refusal(asked, length + 400)
    assert refusal(asked, length + 399)


def test_where_no_window_fits_the_answer_is_too_long(condition: Make) -> None:
    assert refusal(condition(), 401).endswith("; a smaller sampling.max_tokens makes room")


def test_arguments_are_no_longer_than_their_answers(condition: Make) -> None:
    short = replace(condition(), sampling=Sampling(max_tokens=50))
    assert "with arguments of 40 words" in refusal(short, 500)


@pytest.mark.parametrize(("rounds", "shown"), [(1, 4), (2, 9), (9, 15)])
def test_the_window_is_no_fuller_than_it_gets(condition: Make, rounds: int, shown: int) -> None:
    asked = condition(f"rounds={rounds}")
    assert len(asked.seats) == 5
    model = Words(100_000)
    require_context(asked, model)
    assert model.counted[-1].count(': "order order') == shown
