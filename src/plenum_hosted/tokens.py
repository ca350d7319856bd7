"""From a chat to tokens: the shared prefix, and the rest."""

from functools import cached_property, lru_cache
from typing import Any

from plenum.models.chat import Message

_CUT = "\ue000cut\ue001"
"""Stands for a moment where the shared part of a message ends."""

_TODAY = "{% macro strftime_now(format) %}26 Jul 2024{% endmacro %}{{ '' }}"
"""The date given to templates that write one, on every day: the default of Llama 3.1."""


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
        last = max((n for n, message in enumerate(messages) if message.shared), default=-1)
        marked = [self._marked(m, m.shared if n == last else 0) for n, m in enumerate(messages)]
        head, mark, tail = self.render(tuple(marked)).partition(_CUT)
        if not mark or not tail:
            return (), self._encode(head)
        return self._encoded(head), self._encode(tail)

    def render(self, messages: tuple[Message, ...]) -> str:
        """The conversation as the model's template writes it, up to where the answer begins."""
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return str(
            self._tokenizer.apply_chat_template(
                plain,
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
            )
        )

    def text(self, tokens: list[int]) -> str:
        """The text of an answer."""
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def pieces(self, tokens: list[int]) -> list[str]:
        """The text of each token."""
        return [str(self._tokenizer.decode([token])) for token in tokens]

    @cached_property
    def _template(self) -> str:
        template = str(self._tokenizer.get_chat_template())
        return _TODAY + template if "strftime_now" in template else template

    @cached_property
    def _control(self) -> list[str]:
        """Tokens that build conversations; the longest first, since some begin others."""
        added = self._tokenizer.added_tokens_decoder.values()
        special = {str(t) for t in added if t.special or str(t) in self._template}
        return sorted((t for t in special if len(t.strip()) > 1), key=lambda t: (-len(t), t))

    def _marked(self, message: Message, shared: int) -> Message:
        """The message with a mark behind its shared part, and with no control token in it.

        A space parts each of these, so that nobody who wrote a piece of it can end the message.
        """
        parts = [message.content[:shared], message.content[shared:]]
        for token in (_CUT, *self._control):
            parts = [part.replace(token, f"{token[0]} {token[1:]}") for part in parts]
        return Message(message.role, (_CUT if shared else "").join(parts))

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))
