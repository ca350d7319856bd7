"""The choice of the backend that answers prompts."""

from collections.abc import Callable

from plenum.base import UserError, say
from plenum.design import HOSTS, Api, Backend, Calls, Hosted, Recorded
from plenum.models.api.prices import Prices
from plenum.models.chat import ChatModel
from plenum.models.retry import Policy


def build_backend(
    settings: Backend,
    calls: Calls,
    prices: Prices,
    here: bool = True,
    say: Callable[[str], object] = say,
) -> ChatModel:
    """Build the backend of these settings; heavy libraries are imported only here.

    Hosted models that don't run ``here`` are named alone. ``say`` prints a line for the user.

    Raises
    ------
    UserError
        It can't work: a library is missing, or there is nothing that could go in batches.
    """
    if isinstance(settings, Api):
        from plenum.models.api.backend import ApiBackend

        return ApiBackend(
            settings.fleets, settings.send_seed, calls, prices, say, settings.answer_form
        )
    if isinstance(settings, Hosted) and not here:
        from plenum.models.recorded import RecordedBackend

        return RecordedBackend(settings.name)
    if isinstance(settings, Hosted):
        hosted: ChatModel = HOSTS[settings.name].build(settings)
        return hosted
    if isinstance(settings, Recorded):
        from plenum.models.recorded import RecordedBackend

        return RecordedBackend()
    from plenum.models.simulated import SimulatedBackend

    return SimulatedBackend(settings)


def require_live_calls(calls: Calls) -> None:
    """Refuse batches for calls that no replicate makes (``UserError``)."""
    if calls.batch:
        raise UserError("calls.batch: only deliberations and worlds of backend=api go in batches")


def make_retry_policy(calls: Calls) -> Policy:
    """Make the retry policy that the config asks for."""
    timeout_s = None if calls.batch else calls.timeout_s  # a batch takes hours
    return Policy(calls.max_attempts, timeout_s, calls.backoff_s, calls.backoff_max_s)
