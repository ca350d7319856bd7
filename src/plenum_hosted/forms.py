"""Constrained answers: which tokens may come next, so that an answer is the object that is asked.

Each row has a :class:`Form` of its own, which sees nothing but the row's tokens, so that what it
allows never depends on other rows.
"""

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from llguidance import LLMatcher, LLTokenizer
from llguidance import hf as wrapping
from numpy.typing import NDArray

from plenum.models import AnswerSchema

Bits = NDArray[np.int32]
"""One bit for each token of the vocabulary, 32 in a number."""

_LAYOUT: Any = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
}
"""The layout that prompts show; with spaces left free, a small model may write nothing else."""

_LATE = 0.8
"""Share of its tokens from which an argument is closed where a sentence ends."""

_SENTENCE_ENDS = tuple(mark.encode() for mark in (".", "!", "?", "。"))


class Forms:
    """The forms of one model's answers.

    Parameters
    ----------
    tokenizer
        A tokenizer of transformers.
    vocabulary
        Number of logits.
    stops
        Tokens that end an answer.

    Raises
    ------
    ValueError
        The library can't read this tokenizer.
    """

    def __init__(self, tokenizer: Any, vocabulary: int, stops: frozenset[int]) -> None:
        size = max(vocabulary, len(tokenizer))
        self._reader = wrapping.from_tokenizer(tokenizer, size, sorted(stops))
        self._grammar = lru_cache(maxsize=256)(self._made)

    def start(self, answer: AnswerSchema, limit: int) -> "Form":
        """Start the form of an answer that may have ``limit`` tokens."""
        return Form(self._grammar(json.dumps(answer.schema)), self.tokens, limit)

    @cached_property
    def tokens(self) -> "Vocabulary":
        """The vocabulary, as the forms need it."""
        return Vocabulary(self._reader)

    def _made(self, schema: str) -> "Grammar":
        return Grammar(self._reader, json.loads(schema))


class Vocabulary:
    """The tokens' texts, as far as they matter.

    Attributes
    ----------
    texts
        The bytes of each token.
    quote
        The token of a quotation mark.
    ends
        Tokens that begin with what ends a value.
    """

    def __init__(self, reader: LLTokenizer) -> None:
        special = reader.is_special_token
        self.texts = [
            b"" if special(token) else reader.decode_bytes([token])
            for token in range(reader.vocab_size)
        ]
        self.quote = self.texts.index(b'"')
        ends = np.zeros(-(-reader.vocab_size // 32) * 32, dtype=bool)
        ends[: len(self.texts)] = [text[:1] in (b'"', b",", b"}", b"]") for text in self.texts]
        self.ends: Bits = np.packbits(ends, bitorder="little").view(np.int32)


class Grammar:
    """The common part of answers of one schema: the grammar, and the tokens that its parts take.

    Attributes
    ----------
    matcher
        The grammar before the first token.
    argued
        Whether the object begins with free text.
    least
        Tokens that the shortest rest takes behind each number of quotation marks.
    usual
        Tokens that an ordinary rest takes from the end of the free text.
    """

    def __init__(self, reader: LLTokenizer, schema: Mapping[str, Any]) -> None:
        grammar = LLMatcher.grammar_from_json_schema(dict(schema), overrides=_LAYOUT)
        self.matcher = LLMatcher(reader, grammar)
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())
        self.argued = next(iter(schema["properties"].values())) == {"type": "string"}

        def sizes(text: str) -> list[int]:
            parts = text.split('"')
            rests = ['"'.join(parts[n:]) for n in range(len(parts))]
            # One more for each value, since tokens may be cut there, and some to end what is begun.
            return [len(reader.tokenize_str(rest)) + rest.count(":") + 4 for rest in rests]

        self.least = sizes(json.dumps(_example(schema, "a", 0)))
        self.usual = sizes(json.dumps(_example(schema, "common_example", 50)))[3 * self.argued]


class Form:
    """The form of one answer, as far as it is written.

    Where it begins with free text, this is closed while there are tokens for what has to follow:
    at the end of a sentence if one comes late enough, and at the latest when the rest needs all
    that are left.

    Parameters
    ----------
    grammar
        The grammar.
    tokens
        The vocabulary.
    limit
        Maximal number of tokens of the answer.

    Attributes
    ----------
    cut
        Whether the free text was closed before the model did.
    """

    def __init__(self, grammar: Grammar, tokens: Vocabulary, limit: int) -> None:
        self.cut = False
        self._grammar, self._vocabulary, self._limit = grammar, tokens, limit
        self._matcher = grammar.matcher.deep_copy()
        self._bits: Bits = np.empty_like(tokens.ends)
        self._written, self._quotes, self._escaped, self._last = 0, 0, False, b""
        least = grammar.least[3 * grammar.argued] + 4  # an escape may have to end before
        # Where tokens are few the argument has half of them: what follows is kept short, too.
        self._room = limit - max(least, min(grammar.usual, limit // 2))

    @property
    def whole(self) -> bool:
        """True if the answer is complete, so that nothing can follow."""
        return self._matcher.is_stopped()

    def allowed(self) -> Bits:
        """Return the tokens that may come next."""
        forced = self._matcher.compute_ff_tokens()
        if forced:
            self._bits[:] = 0
            self._bits.view(np.uint32)[forced[0] // 32] = 1 << forced[0] % 32
            return self._bits
        bits = self._bits
        self._matcher.unsafe_compute_mask_ptr(bits.ctypes.data, bits.nbytes)
        if not self._arguing and self._limit - self._written <= self._needed:
            ends = bits & self._vocabulary.ends
            return ends if ends.any() else bits
        return bits

    def take(self, token: int) -> int:
        """Go on by the chosen token; return it, or the one that has to be taken instead."""
        if self._due and not self._closes(token):
            token, self.cut = self._vocabulary.quote, True
        if not self._matcher.consume_token(token):
            raise RuntimeError(self._matcher.get_error())
        text = self._vocabulary.texts[token]
        self._written += 1
        self._last = (self._last + text)[-4:]
        self._quotes, self._escaped = self._read(text)
        return token

    @property
    def _arguing(self) -> bool:
        return self._grammar.argued and self._quotes == 3

    @property
    def _needed(self) -> int:
        least = self._grammar.least
        return least[min(self._quotes, len(least) - 1)]

    @property
    def _due(self) -> bool:
        """Return True if the free text has to be closed here, and can be."""
        if not self._arguing or self._escaped or self._written < self._room * _LATE:
            return False
        ended = self._last.endswith(_SENTENCE_ENDS) and not self._last[-2:-1].isdigit()
        quote = self._vocabulary.quote
        possible = self._bits.view(np.uint32)[quote // 32] >> quote % 32 & 1
        return bool(possible) and (ended or self._written >= self._room)

    def _closes(self, token: int) -> bool:
        return self._read(self._vocabulary.texts[token])[0] > self._quotes

    def _read(self, text: bytes) -> tuple[int, bool]:
        """Count quotation marks up to the end of a text, but those that are escaped."""
        quotes, escaped = self._quotes, self._escaped
        for byte in text:
            quotes += byte == ord('"') and not escaped
            escaped = byte == ord("\\") and not escaped
        return quotes, escaped


def _example(schema: Mapping[str, Any], text: str, number: int) -> Any:
    """Make a value of a schema, with this text and number wherever they are free."""
    if "enum" in schema:
        return max(schema["enum"], key=len)
    if schema["type"] == "object":
        return {k: _example(value, text, number) for k, value in schema["properties"].items()}
    if schema["type"] == "array":
        return [_example(schema["items"], text, number)] * schema.get("minItems", 1)
    return text if schema["type"] == "string" else number
