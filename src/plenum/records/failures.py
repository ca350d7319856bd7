"""Reasons why an attempt or a replicate failed, or why a replicate is pending."""

from enum import StrEnum


class Failure(StrEnum):
    """Typed reasons.

    Of an answer that couldn't be read, after one repair where it ends a replicate:

    - ``parse``: it breaks the format
    - ``refusal``: the model declined
    - ``empty``: no text, or no choice at all
    - ``length``: cut off at ``max_tokens``
    - ``content_filter``: withheld by the provider

    Of a call without an answer:

    - ``timeout``: none in time
    - ``rate_limit``: refused for now (429)
    - ``server``: 5xx, a broken connection, a body that isn't what it claims to be
    - ``auth``: the key was refused (401, 403)
    - ``request``: the request itself was refused (any other 4xx), such as an unknown model

    Of calls that weren't made, or not waited for; the replicate is pending then, not failed:

    - ``budget``: the sweep's budget, or the account's quota, is used up
    - ``unreachable``: the provider can't be reached, or answers nothing but errors
    - ``held``: the provider asks to be left alone for longer than ``calls.max_wait_s``
    - ``unread``: none of the replicates that tried the model wrote an answer that could be read
    - ``interrupted``: Ctrl-C, SIGTERM, or another call stopped the sweep

    Of a program under audit:

    - ``program``: it ended without a decision, by an error of its own; ``timeout``: not in its time

    And ``bug``: an error of the code; ``unrecorded``: published runs of which the authors kept
    nothing, since they failed.
    """

    PARSE = "parse"
    REFUSAL = "refusal"
    EMPTY = "empty"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    TIMEOUT = "timeout"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    AUTH = "auth"
    REQUEST = "request"
    BUDGET = "budget"
    UNREACHABLE = "unreachable"
    HELD = "held"
    UNREAD = "unread"
    INTERRUPTED = "interrupted"
    PROGRAM = "program"
    BUG = "bug"
    UNRECORDED = "unrecorded"

    @property
    def transient(self) -> bool:
        """True if another attempt at the same call may succeed."""
        return self in (Failure.TIMEOUT, Failure.RATE_LIMIT, Failure.SERVER, Failure.EMPTY)

    @property
    def retriable(self) -> bool:
        """True if ``retry_failed`` resumes a replicate that failed for this reason."""
        return self.transient or self in (Failure.CONTENT_FILTER, Failure.REQUEST, Failure.BUG)
