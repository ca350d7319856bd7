"""What answers calls: the contract :class:`plenum.models.ChatModel`."""

import re
from collections.abc import Mapping

from parrot.settings import ParrotSettings
from plenum.design import Sampling
from plenum.models import Chat, Reply, Response

_STATE = re.compile(r"STATE: pref=\[([^]]*)\]; conf=NN")
_VOTE = re.compile(r'\{"decision": ("\w+"(?:\|"\w+")+), (.*)\}')


class Parrot:
    """A model that is for one option, whatever it hears."""

    def __init__(self, settings: ParrotSettings) -> None:
        self._option = settings.option - 1

    def check(self, models: tuple[str, ...], sampling: Sampling) -> None:
        """Accept every model and sampling; a real backend refuses what can't work."""

    def provider(self, model: str) -> str:
        """Name what limits of calls are counted for."""
        return "parrot"

    def server(self, chat: Chat) -> str:
        """Return no server, since there is no fleet."""
        return ""

    async def attempt(self, chat: Chat, number: int) -> Response:
        """Answer; a real backend raises :class:`plenum.models.CallError` where it fails."""
        text = self._fill("\n".join(message.content for message in chat.messages))
        return Response(Reply(text, tokens_in=10, tokens_out=len(text.split())))

    def _fill(self, prompt: str) -> str:
        if voted := _VOTE.search(prompt):
            options, rest = voted[1].replace('"', "").split("|"), voted[2]
            filled = rest.replace("NN", "90").replace("N", "5")
            return f'{{"decision": "{options[self._option]}", {filled}}}'
        (names,) = _STATE.findall(prompt)[-1:] or [""]
        shares = [float(n == self._option) for n in range(len(names.split(",")))]
        return f'Polly agrees.\nSTATE: pref={shares}; conf=90; tags=["cracker","wanted"]'

    async def close(self) -> None:
        """Hold nothing, release nothing."""

    def environment(self, models: tuple[str, ...], constrained: bool = False) -> Mapping[str, str]:
        """Return nothing: its answers depend on no library."""
        return {}
