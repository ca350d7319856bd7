"""The backend of runs that were logged elsewhere: nothing is called."""

from collections.abc import Mapping

from plenum.design.condition import Sampling
from plenum.models.chat import CallError, Chat, Response
from plenum.records import Failure


class RecordedBackend:
    """Answers nothing.

    Parameters
    ----------
    provider
        Who answered, or answers elsewhere.
    """

    def __init__(self, provider: str = "logs") -> None:
        self._provider = provider

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Nothing can be missing."""

    def provider(self, model: str) -> str:
        """Who doesn't answer here."""
        return self._provider

    def server(self, chat: Chat) -> str:
        """Nowhere."""
        return ""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Refuse the call."""
        raise CallError(Failure.REQUEST, "these runs were logged: nothing is called", reached=False)

    async def close(self) -> None:
        """Nothing is held."""

    def environment(self, models: tuple[str, ...]) -> Mapping[str, str]:
        """Nobody can say."""
        return {}
