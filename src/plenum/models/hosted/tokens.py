"""From a chat to tokens: the shared prefix, and the rest."""

from functools import lru_cache
from typing import Any

from plenum.models.chat import Message


class Tokens:
    """A tokenizer with its chat template.

    Parameters
    ----------
    tokenizer
        Of transformers.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._encoded = lru_cache(maxsize=4096)(self._encode)

    def prompt(self, messages: tuple[Message, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The tokens of a conversation: what other calls share, and the rest.

        The two are tokenised apart, so that where the text is cut never depends on what follows.
        """
        text = self.render(messages)
        cut = _cut(text, messages)
        return self._encoded(text[:cut]) if cut else (), self._encode(text[cut:])

    def render(self, messages: tuple[Message, ...]) -> str:
        """The conversation as the model's template writes it, up to where the answer begins."""
        said = [{"role": message.role, "content": message.content} for message in messages]
        return str(
            self._tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        )

    def text(self, tokens: list[int]) -> str:
        """The text of an answer."""
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def pieces(self, tokens: list[int]) -> list[str]:
        """The text of each token."""
        return [str(self._tokenizer.decode([token])) for token in tokens]

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))


def _cut(text: str, messages: tuple[Message, ...]) -> int:
    """Where the shared part ends: behind the last message that says so."""
    for message in reversed(messages):
        if message.shared:
            start = text.find(message.content)
            return start + message.shared if start >= 0 else 0
    return 0
