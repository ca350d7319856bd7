"""Which backend answers a condition's prompts."""

from plenum.conditions import Api, Calls, Condition
from plenum.models.chat import ChatModel
from plenum.models.prices import Prices
from plenum.models.retry import Policy


def build(condition: Condition, calls: Calls, prices: Prices) -> ChatModel:
    """The backend that the condition names; heavy libraries are imported only here."""
    if isinstance(condition.backend, Api):
        from plenum.models.api import ApiBackend

        backend = condition.backend
        return ApiBackend(backend.api_base, backend.send_seed, calls, prices)
    from plenum.models.simulated import SimulatedBackend

    return SimulatedBackend(condition.backend)


def policy(calls: Calls) -> Policy:
    """The retry policy that the config asks for."""
    return Policy(calls.max_attempts, calls.timeout_s, calls.backoff_s, calls.backoff_max_s)
