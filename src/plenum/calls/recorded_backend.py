"""The backend of runs that were logged elsewhere; it calls nothing."""

from collections.abc import Mapping

from plenum.calls.call_errors import CallError
from plenum.calls.chat import Chat, Response
from plenum.design.settings import Backend, Sampling
from plenum.records.failures import Failure


class RecordedBackend:
    """A backend that answers nothing.

    Parameters
    ----------
    provider
        Who answered, or answers elsewhere.
    """

    def __init__(self, provider: str = "logs") -> None:
        self._provider = provider

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Accept everything, since nothing can be missing."""

    def provider(self, model: str) -> str:
        """Name the provider that answered elsewhere."""
        return self._provider

    def server(self, chat: Chat) -> str:
        """Return no server."""
        return ""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Refuse the call."""
        raise CallError(Failure.REQUEST, "these runs were logged: nothing is called", reached=False)

    async def close(self) -> None:
        """Do nothing, since nothing is held."""

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return nothing, since the environment isn't known."""
        return {}


def build(settings: Backend, *_: object) -> RecordedBackend:
    """Build the backend."""
    return RecordedBackend(settings.name)
