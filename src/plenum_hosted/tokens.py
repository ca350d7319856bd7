"""Conversion of a chat to tokens: the shared prefix, and the rest."""

from functools import cached_property, lru_cache
from typing import Any

from plenum.calls.chat import Message

_CUT = "\ue000cut\ue001"
"""A temporary mark at the end of a message's shared part, of code points for private use."""

_TODAY = "{% macro strftime_now(format) %}26 Jul 2024{% endmacro %}{{ '' }}"
"""The constant date given to templates that write one; it is the default of Llama 3.1."""


class ChatTokenizer:
    """A tokenizer with its chat template.

    Parameters
    ----------
    tokenizer
        A tokenizer of transformers.

    Attributes
    ----------
    merges
        True if the template takes no system message, so that its text begins the first user turn.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.merges = False
        # A head a seat and wording: more than any sweep has in flight.
        self._encoded = lru_cache(maxsize=4096)(self._encode)

    def prompt(self, messages: tuple[Message, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the tokens of a conversation: the prefix shared with other calls, and the rest.

        The two are tokenised separately, so that the place of the cut never depends on what
        follows.
        """
        messages = merge_system(messages) if self.merges else messages
        last = max((n for n, message in enumerate(messages) if message.shared), default=-1)
        marked = [self._mark(m, m.shared if n == last else 0) for n, m in enumerate(messages)]
        head, mark, tail = self.render(tuple(marked)).partition(_CUT)
        # With nothing behind it a prefix would leave no token to decode first.
        if not mark or not tail:
            return (), self._encode(head)
        # Heads come again with every call of a seat, tails never: only heads are kept.
        return self._encoded(head), self._encode(tail)

    def render(self, messages: tuple[Message, ...]) -> str:
        """Write the conversation by the model's template, up to where the answer begins."""
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return str(
            self.tokenizer.apply_chat_template(
                plain,
                chat_template=self._template,
                tokenize=False,
                add_generation_prompt=True,
            )
        )

    def text(self, tokens: list[int]) -> str:
        """Return the text of an answer."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))

    def pieces(self, tokens: list[int]) -> list[str]:
        """Return the text of each token."""
        return [str(self.tokenizer.decode([token])) for token in tokens]

    @cached_property
    def _template(self) -> str:
        template = str(self.tokenizer.get_chat_template())
        return _TODAY + template if "strftime_now" in template else template

    @cached_property
    def _control(self) -> list[str]:
        """Control tokens of conversations, the longest first, since some are prefixes of others."""
        added = self.tokenizer.added_tokens_decoder.values()
        # Models also write turns with tokens that aren't marked special: the template shows them.
        special = {str(t) for t in added if t.special or str(t) in self._template}
        # A single character can't be split by a space.
        return sorted((t for t in special if len(t.strip()) > 1), key=lambda t: (-len(t), t))

    def _mark(self, message: Message, shared: int) -> Message:
        """Mark the end of the message's shared part, and defuse control tokens within the message.

        A space splits each control token, so that the author of a part can't end the message.
        """
        parts = [message.content[:shared], message.content[shared:]]
        for token in (_CUT, *self._control):
            parts = [part.replace(token, f"{token[0]} {token[1:]}") for part in parts]
        return Message(message.role, (_CUT if shared else "").join(parts))

    def _encode(self, text: str) -> tuple[int, ...]:
        # The template writes the control tokens; the tokenizer's own would come twice.
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))


def merge_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Put a leading system message before the text of the user turn that follows it.

    What is shared grows by it: it ends where it ended, and begins with the system message.
    """
    if len(messages) < 2 or [m.role for m in messages[:2]] != ["system", "user"]:
        return messages
    system, first = messages[:2]
    before = f"{system.content}\n\n"
    shared = len(before) + first.shared if first.shared else system.shared
    return (Message("user", before + first.content, shared), *messages[2:])
