"""Why an attempt or a replicate failed."""

from enum import StrEnum


class Failure(StrEnum):
    """Typed reasons of failure.

    ``parse``: no readable answer after one repair, refusals and cut-off answers included.
    ``request``: the provider refused the request itself, for instance an unknown model.
    """

    PARSE = "parse"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    AUTH = "auth"
    CONTENT_FILTER = "content_filter"
    REQUEST = "request"
    BUG = "bug"

    @property
    def transient(self) -> bool:
        """Whether another attempt at the same call may succeed."""
        return self in (Failure.TIMEOUT, Failure.RATE_LIMIT, Failure.SERVER)
