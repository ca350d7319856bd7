"""The pace and the context of a model on this machine, known before its first answer has ended."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from plenum.calls.chat import Message


@dataclass(frozen=True)
class Pace:
    """The progress of models on this machine so far.

    Attributes
    ----------
    rows, slots
        Rows that decode at the moment, and rows that are computed in each step.
    tokens
        Tokens of answers, those that still grow included.
    prefill_s, decode_s
        Seconds spent on prompts, and on answers.
    """

    rows: int = 0
    slots: int = 0
    tokens: int = 0
    prefill_s: float = 0.0
    decode_s: float = 0.0

    def __add__(self, other: "Pace") -> "Pace":
        return Pace(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    @property
    def tokens_a_second(self) -> float:
        """Tokens of answers by the time spent, prompts included; 0 before the first."""
        # With the time for prompts: what remains to be waited for includes them.
        seconds = self.prefill_s + self.decode_s
        return self.tokens / seconds if seconds else 0.0


@runtime_checkable
class PacedBackend(Protocol):
    """A backend that computes on this machine."""

    def pace(self) -> Pace:
        """Return its progress so far."""


@runtime_checkable
class TokenCounting(Protocol):
    """A backend that counts tokens as its models do."""

    def count(self, model: str, messages: tuple[Message, ...]) -> int:
        """Return the number of tokens of a prompt."""

    def context(self, model: str) -> int:
        """Return the number of tokens that a prompt and its answer may have together."""
