"""A model whose answers a function gives."""

from collections.abc import Callable

from plenum.calls.chat import Chat, Reply, Response
from plenum.calls.simulated import SimulatedBackend
from plenum.design.settings import Simulated


class ScriptedModel(SimulatedBackend):
    """Answers what a function says."""

    def __init__(self, answer: Callable[[Chat], str]) -> None:
        super().__init__(Simulated())
        self._script = answer

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt."""
        return Response(Reply(self._script(chat), 1, 1))
