"""Failed attempts to call a model, with what the provider said."""

from plenum.base.secrets import redact
from plenum.base.text import flatten
from plenum.records.failures import Failure

_LONGEST_DETAIL = 10_000
"""Characters of a provider's message that are looked at. More would take time, and of the rest
nothing is kept."""


class CallError(Exception):
    """A failed attempt.

    Parameters
    ----------
    failure
        The typed reason.
    detail
        What the provider said; it is kept as one printable line without secrets.
    status
        The HTTP status, where there was one.
    retry_after
        Seconds to wait, where the provider asked for it.
    reached
        False where the request can't have reached the provider, and so can't be billed.
    starting
        True where its server may be there soon: it refuses connections, or is loading its model.

    Attributes
    ----------
    server
        The server of a fleet that it happened at; else empty.
    """

    server = ""

    def __init__(
        self,
        failure: Failure,
        detail: str,
        status: int | None = None,
        retry_after: float | None = None,
        reached: bool = True,
        starting: bool = False,
    ) -> None:
        self.failure = failure
        # Redacted before it is cut: half a key is no longer recognised as one.
        # 500 are enough for a reason, and stand in the call log at every failed attempt.
        self.detail = flatten(redact(detail)[:_LONGEST_DETAIL])[:500]
        super().__init__(self.detail)
        self.status = status
        self.retry_after = retry_after
        self.reached = reached
        self.starting = starting
