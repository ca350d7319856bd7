"""A model that takes its time."""

import asyncio

from plenum.calls.chat import Chat, Reply, Response
from plenum.calls.simulated import SimulatedBackend
from plenum.design.settings import Simulated


class SlowModel(SimulatedBackend):
    """Answers ``A`` after some seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Simulated())
        self._seconds = seconds

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Make one attempt."""
        await asyncio.sleep(self._seconds)
        return Response(Reply("A", 1, 1))
