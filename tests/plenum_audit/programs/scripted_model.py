"""A model whose answers a function gives."""

from collections.abc import Callable

from plenum.design import Simulated
from plenum.models import Chat, Reply, Response
from plenum.models.simulated import SimulatedBackend


class ScriptedModel(SimulatedBackend):
    """Answers what a function says."""

    def __init__(self, answer: Callable[[Chat], str]) -> None:
        super().__init__(Simulated())
        self._script = answer

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt."""
        return Response(Reply(self._script(chat), 1, 1))
