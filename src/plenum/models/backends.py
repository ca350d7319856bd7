"""Which backend answers prompts."""

from plenum.base.errors import UserError
from plenum.design.condition import Api, Backend, Calls, Hosted, Recorded
from plenum.models.api.prices import Prices
from plenum.models.chat import ChatModel
from plenum.models.retry import Policy


def build(settings: Backend, calls: Calls, prices: Prices) -> ChatModel:
    """The backend of these settings; heavy libraries are imported only here."""
    if isinstance(settings, Api):
        from plenum.models.api.backend import ApiBackend

        return ApiBackend(settings.fleets, settings.send_seed, calls, prices)
    if isinstance(settings, Hosted):
        try:
            import torch  # noqa: F401
            import transformers  # noqa: F401
        except ImportError as error:
            raise UserError(
                f"backend: hosted needs {error.name}; "
                "install it with sh scripts/install.sh .venv/bin/python hosted"
            ) from None
        from plenum.models.hosted import HostedBackend

        return HostedBackend(settings)
    if isinstance(settings, Recorded):
        from plenum.models.recorded import RecordedBackend

        return RecordedBackend()
    from plenum.models.simulated import SimulatedBackend

    return SimulatedBackend(settings)


def policy(calls: Calls) -> Policy:
    """The retry policy that the config asks for."""
    return Policy(calls.max_attempts, calls.timeout_s, calls.backoff_s, calls.backoff_max_s)
