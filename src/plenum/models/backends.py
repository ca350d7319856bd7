"""Which backend answers a condition's prompts."""

from plenum.conditions import Api, Calls, Condition, Hosted
from plenum.errors import UserError
from plenum.models.chat import ChatModel
from plenum.models.prices import Prices
from plenum.models.retry import Policy


def build(condition: Condition, calls: Calls, prices: Prices) -> ChatModel:
    """The backend that the condition names; heavy libraries are imported only here."""
    if isinstance(condition.backend, Api):
        from plenum.models.api import ApiBackend

        backend = condition.backend
        return ApiBackend(backend.api_base, backend.send_seed, calls, prices)
    if isinstance(condition.backend, Hosted):
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError as error:
            raise UserError(
                f"backend: hosted needs {error.name}; "
                "install it with pip install -c constraints.txt -e '.[hosted]'"
            ) from None
        from plenum.models.hosted import HostedBackend

        return HostedBackend(condition.backend)
    from plenum.models.simulated import SimulatedBackend

    return SimulatedBackend(condition.backend)


def policy(calls: Calls) -> Policy:
    """The retry policy that the config asks for."""
    return Policy(calls.max_attempts, calls.timeout_s, calls.backoff_s, calls.backoff_max_s)
