"""Usage of model calls: one class for estimates, budgets, call logs and totals."""

from dataclasses import dataclass


@dataclass
class Usage:
    """Calls, tokens, dollars, attempts and time; sums and differences go part by part.

    Attributes
    ----------
    calls
        Answers, or calls that are due; a fraction where part of a replicate is left.
    tokens_in, tokens_out
        Tokens of prompts and of answers.
    dollars
        US dollars, as far as prices are known.
    attempts, failed_attempts
        Requests, repeated ones included, and those without an answer.
    seconds
        Time spent waiting for the model.
    """

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0
    dollars: float = 0.0
    attempts: int = 0
    failed_attempts: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> float:
        """Tokens of prompts and answers together."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: "Usage") -> "Usage":
        # written out: a sweep of calls under a budget adds some 20,000 times a second
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.dollars + other.dollars,
            self.attempts + other.attempts,
            self.failed_attempts + other.failed_attempts,
            self.seconds + other.seconds,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls - other.calls,
            self.tokens_in - other.tokens_in,
            self.tokens_out - other.tokens_out,
            self.dollars - other.dollars,
            self.attempts - other.attempts,
            self.failed_attempts - other.failed_attempts,
            self.seconds - other.seconds,
        )

    def __mul__(self, share: float) -> "Usage":
        return Usage(*[part * share for part in vars(self).values()])

    def above_zero(self) -> "Usage":
        """Replace negative parts by 0."""
        parts = vars(self).values()
        return self if min(parts) >= 0 else Usage(*[max(part, 0) for part in parts])
