"""Why an attempt or a replicate failed."""

from enum import StrEnum


class Failure(StrEnum):
    """Typed reasons of failure."""

    PARSE = "parse"
    REFUSAL = "refusal"
    EMPTY = "empty"
    LENGTH = "length"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    AUTH = "auth"
    CONTENT_FILTER = "content_filter"
    REQUEST = "request"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    BUG = "bug"

    @property
    def transient(self) -> bool:
        """Whether another attempt at the same call may succeed."""
        return self in (Failure.TIMEOUT, Failure.RATE_LIMIT, Failure.SERVER)
